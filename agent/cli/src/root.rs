//! [`RootOption`]: the workspace of a command, and its services.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

#[cfg(feature = "builtin")]
use agent::WorkspaceDomain;
use agent::{Direct, Models, Plan, SubAgents, ToolFinder};
use clap::Args;
use tools::{OutputStore, Services, Tasks, ToolContext};

#[cfg(feature = "builtin")]
use crate::aside;
use crate::authorship;
use crate::config::{ProgramSettings as _, Setting, Settings};
use crate::error::Error;
use crate::git_settings;
#[cfg(feature = "default")]
use crate::jobs;
#[cfg(feature = "builtin")]
use crate::notice;
#[cfg(feature = "builtin")]
use crate::own_programs;
use crate::program;
use crate::reserved_files;
use host::{ControlFolders, SessionRoot, folders};

/// The option of commands that open the workspace.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct RootOption {
    /// The directory that confines file tools [default: the current directory]
    #[arg(long, value_name = "DIR")]
    root: Option<PathBuf>,
}

impl RootOption {
    /// Returns the root, as an absolute path if the current directory is known.
    pub(crate) fn setting(&self) -> Setting<PathBuf> {
        let absolute = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        match &self.root {
            Some(root) => Setting::from_flag("--root", absolute(root)),
            None => Setting::from_default(absolute(Path::new("."))),
        }
    }

    /// Returns the path of the root that names the workspace of a recorded session, with links resolved.
    ///
    /// # Errors
    /// - Returns an error if it is not a directory.
    /// - Returns an error if it is not UTF-8: several roots would have one name, and with it each other's jobs and approvals.
    pub(crate) fn workspace(&self) -> Result<String, Error> {
        let root = self.setting().value;
        let is_directory = |root: PathBuf| {
            if root.is_dir() {
                Ok(root)
            } else {
                Err(io::ErrorKind::NotADirectory.into())
            }
        };
        let resolved = root.canonicalize().and_then(is_directory);
        let resolved = resolved.map_err(|error| Error::Root {
            path: root,
            reason: error.to_string(),
        })?;
        let refused = |path: OsString| Error::Root {
            path: path.into(),
            reason: "its path is not UTF-8".to_owned(),
        };
        resolved.into_os_string().into_string().map_err(refused)
    }

    /// Returns the services of a session that makes no calls.
    pub(crate) fn services(&self, settings: &Settings) -> Result<Services, Error> {
        let mut services = self.services_hiding(Vec::new(), true, settings)?;
        services.insert(Plan::new());
        services.insert(unused_models());
        services.insert_absent::<ToolFinder>(
            "a session offers it if it has more tools than its requests offer",
        );
        Ok(services)
    }

    /// Returns a context over the root. Tools and their programs reach none of the files that the settings hide. A write of a control file
    /// asks: those of the settings and of git's, these of MCP servers, and the folders of families.
    pub(crate) fn context(
        &self,
        reads_project: bool,
        settings: &Settings,
        of_servers: &[PathBuf],
    ) -> Result<ToolContext, Error> {
        let workspace = self.workspace()?;
        let hidden = settings.files_hidden_in(&workspace);
        let services = self.services_hiding(hidden, reads_project, settings)?;
        reserved_files::create(
            &services,
            settings.secret_files().iter().map(PathBuf::as_path),
        )?;
        let of_families = control_files(&services, Path::new(&workspace));
        let of_git = git_settings::files();
        let others = of_servers.iter().chain(&of_families).chain(&of_git);
        let control = settings.control_files().chain(others.map(PathBuf::as_path));
        Ok(in_workspace(
            ToolContext::new().with_services(services),
            control,
        ))
    }

    /// Returns the services for tools, which hide these files and the program's own folders.
    fn services_hiding(
        &self,
        hidden: Vec<PathBuf>,
        reads_project: bool,
        settings: &Settings,
    ) -> Result<Services, Error> {
        let mut services = program::services();
        if services.get::<SubAgents>().is_none() {
            services.insert(SubAgents::new());
        }
        services.insert(OutputStore::new());
        Tasks::offer(&mut services);
        let hidden = folders::own().chain(hidden);
        insert_workspace(
            &mut services,
            self.root.as_deref().unwrap_or(Path::new(".")),
            hidden,
        )?;
        services.insert(SessionRoot {
            workspace: self.workspace()?,
            reads_project,
        });
        host::insert_control_folders(settings, &mut services);
        insert_sandbox(&mut services, settings);
        authorship::insert(&mut services, Path::new(&self.workspace()?));
        #[cfg(feature = "default")]
        jobs::insert(&mut services, self.workspace()?);
        host::insert_services(settings, &mut services)?;
        Ok(services)
    }
}

/// Returns the folders of families that tools must not change without a question, and everything in them.
fn control_files(services: &Services, root: &Path) -> Vec<PathBuf> {
    let content = |folder: &Path| match folder.canonicalize() {
        Ok(real) if root.starts_with(&real) => root.join("**"),
        _ => folder.join("**"),
    };
    // No tool reaches the program's own folders, except by the links in them.
    let is_own = |path: &Path| {
        folders::own_folders().any(|own| path.starts_with(own))
            && !path.ancestors().any(Path::is_symlink)
    };
    let folders = services.get::<ControlFolders>().unwrap_or_default();
    let folders = folders.0.iter().filter(|folder| !is_own(folder));
    folders
        .flat_map(|folder| [content(folder), folder.clone()])
        .collect()
}

/// Returns the models of a session that makes no calls: the provider without a model stands for its own.
pub(crate) fn unused_models() -> Models {
    Models::new(Arc::new(Direct))
}

/// Puts the context into the domain of its workspace, with the control files.
#[cfg(feature = "builtin")]
fn in_workspace<'a>(cx: ToolContext, control: impl Iterator<Item = &'a Path>) -> ToolContext {
    let Some(workspace) = cx.service::<tools_builtin::fs::Workspace>() else {
        return cx;
    };
    let files = control.flat_map(|file| workspace.paths_to(file));
    // The built-in table has the settings files of `toolcrib` alone.
    let domain = WorkspaceDomain::new(workspace.identity()).with_control_files(files);
    let cx = domain.with_control_name(folders::settings_name()).enter(cx);
    own_programs::protect(cx, &workspace)
}

#[cfg(not(feature = "builtin"))]
fn in_workspace<'a>(cx: ToolContext, _control: impl Iterator<Item = &'a Path>) -> ToolContext {
    cx
}

#[cfg(feature = "builtin")]
fn insert_workspace(
    services: &mut Services,
    root: &Path,
    hidden: impl Iterator<Item = PathBuf>,
) -> Result<(), Error> {
    let workspace = tools_builtin::fs::Workspace::open(root)
        .and_then(|workspace| workspace.with_hidden(hidden));
    let workspace = workspace.map_err(|error| Error::Root {
        path: root.to_owned(),
        reason: error.to_string(),
    })?;
    services.insert(tools::call::FileRoot::new(workspace.root()));
    services.insert(workspace);
    Ok(())
}

/// Adds the sandbox of programs, with the toolchains of the user.
#[cfg(feature = "builtin")]
fn insert_sandbox(services: &mut Services, settings: &Settings) {
    use tools_builtin::exec::Sandbox;

    if services.get::<Sandbox>().is_some() {
        return;
    }
    let control = services.get::<ControlFolders>().unwrap_or_default();
    let reserved = folders::own_folders().chain(control.0.iter().cloned());
    let mut sandbox = Sandbox::new()
        .with_unconfined(settings.program().unconfined.value)
        .with_reserved(reserved);
    // Where the call has no observer that shows it, such as behind `serve`.
    sandbox = sandbox.with_teller(|files| {
        files
            .iter()
            .for_each(|file| notice::warning(&file.to_string()))
    });
    if let Some(aside) = aside::folder() {
        sandbox = sandbox.with_aside(aside);
    }
    if let Some((home, cache)) = folders::toolchains() {
        let toolchains = settings
            .program()
            .toolchains
            .iter()
            .filter_map(|name| name.value.parse().ok());
        sandbox = sandbox.with_toolchains(toolchains, &home, &cache);
    }
    services.insert(sandbox);
}

#[cfg(not(feature = "builtin"))]
fn insert_sandbox(_services: &mut Services, _settings: &Settings) {}

#[cfg(not(feature = "builtin"))]
fn insert_workspace(
    _services: &mut Services,
    root: &Path,
    _hidden: impl Iterator<Item = PathBuf>,
) -> Result<(), Error> {
    let refused = |reason: String| Error::Root {
        path: root.to_owned(),
        reason,
    };
    std::fs::read_dir(root)
        .map(drop)
        .map_err(|error| refused(error.to_string()))
}

#[cfg(all(test, feature = "builtin"))]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_os = "linux")]
    fn a_root_that_is_not_utf_8_has_no_name_and_is_refused() {
        use std::os::unix::ffi::OsStrExt as _;

        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join(std::ffi::OsStr::from_bytes(b"a\xff"));
        std::fs::create_dir(&root).unwrap();
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(&root, &link).unwrap();
        for root in [root, link] {
            let option = RootOption { root: Some(root) };
            let refused = option.workspace().unwrap_err().to_string();
            assert!(
                refused.ends_with("its path is not UTF-8; choose a directory with --root"),
                "{refused}"
            );
        }
    }

    #[test]
    fn calls_in_different_roots_do_not_wait_for_each_other() {
        let [one, other] = [(); 2].map(|()| tempfile::tempdir().unwrap());
        let domain_of = |root: PathBuf| {
            let services = RootOption { root: Some(root) }
                .services(&Settings::default())
                .unwrap();
            in_workspace(
                ToolContext::new().with_services(services),
                std::iter::empty(),
            )
            .domain("fs")
            .to_owned()
        };
        let [domain, again] = [(); 2].map(|()| domain_of(one.path().join(".")));
        assert_eq!(domain, again);
        assert_ne!(domain, domain_of(other.path().to_owned()));
    }
}
