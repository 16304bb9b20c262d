//! The settings of programs, and the sandbox that they describe.

mod aside;

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use host::settings::{
    Base, Key, ProjectRule, RUNS, SensitivePlace, Setting, Settings, SettingsError, boolean, items,
};
use host::{Extension, FamilyReport, Finding, declare_keys, folders, inventory, program};
use tools::{Host, Services, source};
use tools_fs::Workspace;
use tools_store::private;

use crate::walls::Layers;
use crate::{Sandbox, Toolchain, enter};

inventory::submit! {
    Extension::new("exec", source!())
        .with_default_grants(&["program:read:**", "program:write:**"])
        .with_keys(|| vec![Box::new(SandboxKeys::default())])
        .with_start(enter)
        .with_recovery(aside::recover)
        .with_services(&["fs"], insert)
        .with_context(prepare)
        .with_report(|settings, _| Box::pin(async { Ok(report(settings)) }))
}

/// Adds the sandbox of a session, with the toolchains of the user. One that the program adds itself stays.
fn insert(settings: &Settings, services: &mut Services) -> Result<(), SettingsError> {
    if services.get::<Sandbox>().is_some() {
        return Ok(());
    }
    let keys: &SandboxKeys = settings.of();
    let reserved = settings.reserved_folders().iter().cloned();
    let mut sandbox = Sandbox::new()
        .with_unconfined(keys.unconfined.value)
        .with_reserved(folders::own_folders().chain(reserved))
        // Where the call has no observer that shows it, such as behind `serve`.
        .with_teller(|files| {
            for file in files {
                program::warn(&file.to_string());
            }
        });
    if let Some(aside) = aside::folder() {
        sandbox = sandbox.with_aside(aside);
    }
    if let Some((home, cache)) = folders::toolchains() {
        let toolchains = keys
            .toolchains
            .iter()
            .filter_map(|name| name.value.parse().ok());
        sandbox = sandbox.with_toolchains(toolchains, &home, &cache);
    }
    services.insert(sandbox);
    Ok(())
}

/// Creates the files that no program may create, and protects the programs on the `PATH`.
fn prepare(settings: &Settings, host: Host) -> Result<Host, SettingsError> {
    let Some(workspace) = host.service::<Workspace>() else {
        return Ok(host);
    };
    create(&workspace, &settings.secret_files()).map_err(SettingsError::service)?;
    Ok(workspace.protect(host, &places(&workspace)))
}

declare_keys! {
    /// The keys of the sandbox.
    pub(crate) struct SandboxKeys;

    /// The toolchains that programs may use outside of the workspace: rust, node or python
    pub(crate) toolchains: Vec<Setting<String>> = Key::new("programs.toolchains", items(toolchain), Vec::new(), r#"["rust"]"#)
        .with_project(ProjectRule::never(RUNS));

    /// Run programs without walls on a machine that cannot confine them; they can then read and change everything
    pub(crate) unconfined: Setting<bool> =
        Key::new("programs.unconfined", boolean(), Setting::from_default(false), "true")
            .with_project(ProjectRule::never(RUNS));
}

fn toolchain(text: &str, _: Base<'_>) -> Result<String, String> {
    text.parse::<Toolchain>()
        .map(|toolchain| toolchain.name().to_owned())
        .map_err(|error| format!("is invalid: {error}"))
}

/// The note of a program.
const NOTE: &str = "a program in a folder of the PATH, which shells run by its name";

/// The name of a folder for programs. The others on a path, such as those of build outputs, are written by the tools that own them.
const PROGRAMS: &str = "bin";

/// Returns the folders of programs as places whose content shells run. In the other folders on the `PATH`, those are places that shells run
/// instead of a program elsewhere, such as a `git` in the `bin` of a virtual environment.
fn places(workspace: &Workspace) -> Vec<SensitivePlace> {
    let place = |path, is_folder| SensitivePlace {
        path,
        is_folder,
        note: NOTE,
    };
    let path = std::env::var_os("PATH").unwrap_or_default();
    // Login shells add it.
    let of_home = std::env::home_dir().map(|home| home.join(PROGRAMS));
    // A shell looks below its own folder. There, new scripts are asked about anyway.
    let (inside, elsewhere): (Vec<_>, Vec<_>) = std::env::split_paths(&path)
        .filter(|folder| folder.is_absolute() || folder.file_name().is_some())
        .map(|folder| workspace.root().join(folder))
        .chain(of_home)
        // The root itself has no path, but its files have.
        .partition(|folder| !workspace.paths_to(folder.join(PROGRAMS)).is_empty());
    let (whole, others): (Vec<_>, Vec<_>) = inside.into_iter().partition(|folder| {
        let paths = workspace.paths_to(folder);
        paths.iter().any(|path| is_for_programs(Path::new(path)))
    });
    let names: BTreeSet<_> = if others.is_empty() {
        BTreeSet::new()
    } else {
        elsewhere
            .iter()
            .filter_map(|folder| folder.read_dir().ok())
            .flat_map(|entries| entries.flatten())
            .map(|entry| entry.file_name())
            .collect()
    };
    let others: BTreeSet<PathBuf> = others.into_iter().collect();
    let hidden = others
        .iter()
        .flat_map(|folder| names.iter().map(|name| folder.join(name)))
        .map(|path| place(path, false));
    let whole = whole.into_iter().map(|path| place(path, true));
    whole.chain(hidden).collect()
}

/// Returns true for a folder of programs that is not in a dot folder, which is in the table, or in one of dependencies, in which tools such as
/// `pip` write programs.
fn is_for_programs(folder: &Path) -> bool {
    folder.ends_with(PROGRAMS)
        && !folder.iter().any(|name| {
            let name = name.to_string_lossy();
            name.starts_with('.') || ["node_modules", "vendor", "venv"].contains(&&*name)
        })
}

/// The error for a file that is missing and cannot be created.
#[derive(Debug, thiserror::Error)]
#[error(
    "{} is missing, and a program that runs in the root could create it: {reason}; create the file, or name one outside of \
     the root in the settings",
    path.display()
)]
struct ReservedFileError {
    path: PathBuf,
    reason: io::Error,
}

/// Creates each of these files that is missing and lies inside the root: empty, and for the user alone.
///
/// # Errors
/// Returns an error that names the file if it cannot be created.
fn create(workspace: &Workspace, files: &[PathBuf]) -> Result<(), ReservedFileError> {
    for file in files
        .iter()
        .filter(|file| !file.exists() && !workspace.paths_to(file).is_empty())
    {
        let parent = file.parent().filter(|parent| !parent.exists());
        let created = parent
            .map_or(Ok(()), private::prepare_folder)
            .and_then(|()| private::create_file(file));
        // Another session that starts may be faster. A link that leads nowhere is still an error.
        let is_there =
            |error: &io::Error| error.kind() == io::ErrorKind::AlreadyExists && file.exists();
        let created = created
            .map(drop)
            .or_else(|error| if is_there(&error) { Ok(()) } else { Err(error) });
        created.map_err(|reason| ReservedFileError {
            path: file.to_owned(),
            reason,
        })?;
    }
    Ok(())
}

/// Returns the walls of this machine and the files that lie aside, and the fault of the walls.
fn report(settings: &Settings) -> FamilyReport {
    let layers = Layers::probe();
    let walls = layers.to_string();
    let concern = layers.bubblewrap.concern();
    FamilyReport {
        lines: walls
            .lines()
            .map(str::to_owned)
            .chain(aside::report(settings.root()))
            .collect(),
        findings: concern
            .map(|concern| Finding::new("programs", concern))
            .into_iter()
            .collect(),
        ..FamilyReport::default()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;

    use super::*;

    #[test]
    fn sessions_that_start_at_once_create_a_file_together() {
        let root = tempfile::tempdir().unwrap();
        let workspace = Workspace::open(root.path()).unwrap();
        for number in 0..200 {
            let file = root.path().join(format!("{number}.jsonl"));
            let barrier = Barrier::new(4);
            let start = || {
                barrier.wait();
                create(&workspace, std::slice::from_ref(&file)).unwrap();
            };
            std::thread::scope(|scope| (0..4).for_each(|_| drop(scope.spawn(start))));
            assert!(file.exists());
        }
    }

    #[test]
    #[cfg(unix)]
    fn a_link_that_leads_nowhere_is_an_error() {
        let root = tempfile::tempdir().unwrap();
        let workspace = Workspace::open(root.path()).unwrap();
        let link = root.path().join("key");
        std::os::unix::fs::symlink("missing", &link).unwrap();
        assert!(create(&workspace, &[link]).is_err());
    }
}
