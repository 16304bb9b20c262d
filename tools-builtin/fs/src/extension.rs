//! The workspace of a session, and its place in the system text: how the family joins a program.

use std::io;
use std::path::{Path, PathBuf};

use host::settings::{SensitivePlace, Settings, SettingsError};
use host::{Extension, Parts, folders, inventory};
use tools::call::FileRoot;
use tools::context::WorkspaceDomain;
use tools::policy::{SensitivePath, SensitivePaths, Sensitivity};
use tools::visible::visible;
use tools::{Host, Services, ToolContext, source};

use crate::workspace::Workspace;

inventory::submit! {
    Extension::new("fs", source!(), Parts {
        default_grants: &["fs:read:**"],
        services: insert,
        host: |settings, host| Ok(prepare(settings, host)),
        section: Some(("workspace", |cx, _| Ok(section(cx)))),
        open_file: |cx, path| cx.service::<Workspace>()?.open_file(cx, path).ok(),
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
    let mut paths = homes.fold(paths, |paths, home| paths.with_home(&home));
    if is_of_settings(workspace.root(), &paths) {
        paths = paths.in_settings_folder();
    }
    workspace.protect(host.with_sensitive_paths(paths), &settings.sensitive)
}

/// Returns true if files with ordinary names in the root run or configure programs: in a folder of the user's settings, and in one that the
/// table protects with all of its content, such as `.vscode`.
fn is_of_settings(root: &Path, paths: &SensitivePaths) -> bool {
    let name = root.file_name().unwrap_or_default().to_string_lossy();
    let entry = paths.find(&format!("{name}/file"));
    folders::is_of_settings(root)
        || entry.is_some_and(|entry| entry.sensitivity >= Sensitivity::RunsByItself)
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

impl Workspace {
    /// Adds the places below the root to the sensitive paths of a host, as files that other programs run.
    pub fn protect(&self, host: Host, places: &[SensitivePlace]) -> Host {
        let mut entries = Vec::new();
        for place in places {
            let end = if place.is_folder { "/**" } else { "" };
            let (start, paths) = match place.path.to_str() {
                Some(name) if place.path.is_relative() => ("", vec![name.to_owned()]),
                _ => ("/", self.paths_to(&place.path)),
            };
            let paths = paths.iter().filter(|path| *path != ".");
            entries.extend(paths.filter_map(|path| {
                let pattern = format!("{start}{path}{end}");
                SensitivePath::new(pattern, Sensitivity::RunsByItself, place.note).ok()
            }));
        }
        let paths = host.sensitive_paths().clone().with_paths(entries);
        host.with_sensitive_paths(paths)
    }
}
