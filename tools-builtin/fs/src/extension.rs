//! The workspace of a session, and its place in the system text: how the family joins a program.

use std::io;
use std::path::{Path, PathBuf};

use host::settings::{SensitivePlace, Settings, SettingsError};
use host::{Extension, Parts, folders, inventory};
use tools::call::FileRoot;
use tools::context::WorkspaceDomain;
use tools::visible::visible;
use tools::{Host, Services, ToolContext, source};
use tools_workspace::Workspace;

use crate::workspace_access::open_named;

inventory::submit! {
    Extension::new("fs", source!(), Parts {
        default_grants: &["fs:read:**"],
        services: insert,
        host: |settings, host| Ok(prepare(settings, host)),
        section: Some(("workspace", |cx, _| Ok(section(cx)))),
        open_file: |cx, path| open_named(&*cx.service::<Workspace>()?, cx, path),
        ..Parts::NONE
    })
}

/// The error for a root that cannot be the workspace.
#[derive(Debug, thiserror::Error)]
#[error("cannot use {} as the root: {reason}; choose a directory with --root", path.display())]
struct RootError {
    path: PathBuf,
    reason: io::Error,
}

/// Adds the workspace in the root. It takes the place of one that the program brings.
fn insert(settings: &Settings, services: &mut Services) -> Result<(), SettingsError> {
    let Some(root) = settings.root() else {
        return Ok(());
    };
    let workspace = Workspace::open(root)
        .and_then(|workspace| workspace.with_hidden(settings.paths_hidden_in(root)))
        .map_err(|reason| {
            let path = root.to_owned();
            SettingsError::service(RootError { path, reason })
        })?;
    services.insert(FileRoot::new(workspace.root()));
    services.insert(workspace);
    Ok(())
}

/// Puts the host into the domain of its workspace, with its control files and the files that other programs run.
fn prepare(settings: &Settings, host: Host) -> Host {
    let Some(workspace) = host.service::<Workspace>() else {
        return host;
    };
    let control = settings
        .control_files()
        .flat_map(|file| workspace.paths_to(file));
    // The built-in table has the settings files of `toolcrib` alone.
    let host = WorkspaceDomain::new(workspace.identity())
        .with_control_files(control)
        .with_control_name(folders::settings_name())
        .enter(host);
    let home = folders::home().unwrap_or_default();
    let is_root = home
        .canonicalize()
        .is_ok_and(|home| home == workspace.root());
    let homes = workspace.paths_to(&home).into_iter();
    let homes = homes.chain(is_root.then(|| ".".to_owned()));
    let paths = host.sensitive_paths().clone();
    let paths = homes.fold(paths, |paths, home| paths.with_home(&home));
    let mut paths = paths.below(&workspace.root().to_string_lossy());
    for folder in folders::of_data() {
        let folder = folder.canonicalize().unwrap_or(folder);
        if let Ok(below) = workspace.root().strip_prefix(folder) {
            // It may have another name.
            let below = Path::new("/.local/share").join(below);
            paths = paths.below(&below.to_string_lossy());
        }
    }
    workspace.protect(host.with_sensitive_paths(paths), &places(settings))
}

/// Returns the places in which files with ordinary names run or configure programs: those that settings and links name, such as a folder of
/// hooks, and the folders of the user's settings.
fn places(settings: &Settings) -> Vec<SensitivePlace> {
    let control = settings
        .control_files()
        .filter(|file| file.ends_with("**"))
        .filter_map(Path::parent);
    let folder = |path: PathBuf, note| SensitivePlace {
        path,
        is_folder: true,
        note,
    };
    let control = control.map(|path| folder(path.to_owned(), "in a folder that settings name"));
    let of_user = folders::of_settings().into_iter();
    let of_user = of_user.map(|path| folder(path, "in the folder of your programs' settings"));
    let named = settings.sensitive.iter().cloned();
    named.chain(control).chain(of_user).collect()
}

fn section(cx: &ToolContext) -> String {
    let Some(workspace) = cx.service::<Workspace>() else {
        return String::new();
    };
    let root = workspace.root().to_string_lossy();
    format!(
        "The workspace is the directory {}. File tools take and return paths relative to it, such as src/main.rs; the workspace \
         itself is `.`. File tools cannot reach anything outside it.",
        visible(&root)
    )
}
