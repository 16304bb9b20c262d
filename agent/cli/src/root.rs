//! [`RootOption`]: the workspace of a command, and its services.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use agent::{Direct, Models, Plan, SubAgents, ToolFinder};
use clap::Args;
use host::{ControlFolders, Protection, folders};
use tools::{Host, OutputStore, Services, Tasks};

use crate::config::{Setting, Settings};
use crate::error::Error;
use crate::program;

/// The option of commands that open the workspace.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct RootOption {
    /// The directory that confines file tools [default: the current directory]
    #[arg(long, value_name = "DIR")]
    root: Option<PathBuf>,
}

impl RootOption {
    /// Returns the root if the flag names it.
    pub(crate) fn given(&self) -> Option<&Path> {
        self.root.as_deref()
    }

    /// Returns the root, as an absolute path if the current directory is known.
    pub(crate) fn setting(&self) -> Setting<PathBuf> {
        let absolute = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        match &self.root {
            Some(root) => Setting::from_flag("--root", absolute(root)),
            None => Setting::from_default(absolute(Path::new("."))),
        }
    }

    /// Returns the option for a root.
    pub(crate) fn at(root: &Path) -> Self {
        Self {
            root: Some(root.to_owned()),
        }
    }

    /// Returns the path of the root that names the workspace of a recorded session, with links resolved.
    pub(crate) fn workspace(&self) -> Result<String, Error> {
        // A path that is not UTF-8 is refused, since another root could share its jobs and approvals.
        Ok(folders::workspace(&self.setting().value)?)
    }

    /// Returns the services of a session that makes no calls.
    pub(crate) fn services(&self, settings: &Settings) -> Result<Services, Error> {
        let settings = settings.clone().with_root(self.workspace()?.into());
        let mut services = self.services_of_calls(&settings)?;
        services.insert(Plan::new());
        services.insert(unused_models());
        services.insert_absent::<ToolFinder>(
            "a session offers it if it has more tools than its requests offer",
        );
        Ok(services)
    }

    /// Returns a host over the root. Tools and their programs reach none of the files that the settings hide. A write of a control file
    /// asks: those of the settings and of git's, of MCP servers, and the skills of the user.
    pub(crate) fn host(&self, reads_project: bool, settings: &Settings) -> Result<Host, Error> {
        let workspace = PathBuf::from(self.workspace()?);
        let mut settings = settings.clone().with_root(workspace.clone());
        settings.ignores_project = !reads_project;
        let mut services = self.services_of_calls(&settings)?;
        let of_families = control_files(&services, &workspace);
        // Those of the files, also if this session has no server: another one has.
        let of_servers = host::remote_tools().control_files(&self.setting().value);
        // The next session runs it without walls.
        let own = host::program::file().map(Path::to_owned);
        let control = of_servers.into_iter().chain(of_families).chain(own);
        let protection = Protection::new(settings.with_control_files(control));
        services.insert(protection.clone());
        Ok(protection.prepare(Host::new().with_services(services))?)
    }

    /// Returns the services for tools, with these settings of the root.
    fn services_of_calls(&self, settings: &Settings) -> Result<Services, Error> {
        let mut services = program::services();
        // The program may bring its own.
        if services.get::<SubAgents>().is_none() {
            services.insert(SubAgents::default());
        }
        services.insert(OutputStore::default());
        Tasks::offer(&mut services);
        let control = host::insert_control_folders(settings, &mut services);
        let mut settings = settings.clone();
        settings.reserved.extend(control);
        host::insert_services(&settings, &mut services)?;
        Ok(services)
    }
}

/// Returns the folders of families that tools must not change without a question, and everything in them.
fn control_files(services: &Services, root: &Path) -> Vec<PathBuf> {
    let folders = services.get::<ControlFolders>().unwrap_or_default();
    let folders = folders.0.iter().filter(|folder| !is_own(folder));
    let files = folders.flat_map(|folder| {
        let content = match folder.canonicalize() {
            // The root lies in the folder, so that all of the root belongs to it.
            Ok(real) if root.starts_with(&real) => root.join("**"),
            _ => folder.join("**"),
        };
        [content, folder.clone()]
    });
    files.collect()
}

/// Returns true for the program's own folders. No tool reaches them, except by the links in them.
fn is_own(path: &Path) -> bool {
    folders::own_folders().any(|own| path.starts_with(own))
        && !path.ancestors().any(Path::is_symlink)
}

/// Returns the models of a session that makes no calls: the provider without a model stands for its own.
pub(crate) fn unused_models() -> Models {
    Models::new(Arc::new(Direct))
}

#[cfg(test)]
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
            RootOption { root: Some(root) }
                .host(true, &Settings::default())
                .unwrap()
                .domain("fs")
                .to_owned()
        };
        let [domain, again] = [(); 2].map(|()| domain_of(one.path().join(".")));
        assert_eq!(domain, again);
        assert_ne!(domain, domain_of(other.path().to_owned()));
    }
}
