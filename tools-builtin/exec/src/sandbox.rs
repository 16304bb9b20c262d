//! [`Sandbox`]: the service that runs programs behind walls that follow from a call's grant.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use tools::protocol::{Access, Digest};
use tools::trees::Trees;
use tools::{ToolContext, ToolError, ToolErrorKind};
use tools_workspace::Workspace;

use crate::aside::Aside;
use crate::lookup::{folders, is_program};
use crate::private_home::PrivateHome;
use crate::reserved::without_links;
use crate::teller::Teller;
use crate::toolchain::{Folders, Toolchain};
use crate::walls::beside::beside;
use crate::walls::{Confinement, Layers, Limits, Network, Walls};

/// Runs programs behind walls that follow from the grant of the call. The service that the tools of this crate take from the context.
///
/// The host chooses the limits of each program. What a program may read and write follows from the `fs` clauses of the grant and from
/// the [`Workspace`] of the call.
/// Each of its parts has a default, as in `Sandbox { limits, ..Sandbox::default() }`.
#[derive(Debug)]
pub struct Sandbox {
    /// The limits of each program.
    pub limits: Limits,
    /// The layers of a host that has [probed](Layers::probe) this machine already. Empty, the first use probes it. A layer that the
    /// machine lacks makes programs fail.
    pub layers: OnceLock<Layers>,
    /// The toolchains that programs use.
    pub toolchains: Vec<Toolchain>,
    /// The home of the user, with the toolchains.
    pub home: PathBuf,
    /// The folder of the caches. Below it, each workspace has a cache of its own, which is all that its programs see of it if the
    /// [`Workspace`] hides it.
    pub cache: PathBuf,
    /// The folders that programs cannot create: each that is missing in a tree that a program may write is created before it starts. The
    /// [`Workspace`] hides them, or they are [sensitive](tools::policy::SensitivePaths).
    pub reserved: Vec<PathBuf>,
    /// True if programs run without walls on a Linux machine that cannot confine them. They can then do whatever the host can. Only the
    /// user of the host may decide this.
    pub may_run_unconfined: bool,
    /// The folder to which the protected files move that programs create or change, until a person puts them back. Without one they
    /// remain, and the result of the call names them. No tool may reach the folder.
    pub aside: Option<Aside>,
    /// The folder of the private homes of programs, instead of where the system keeps temporary files. No tool may reach it, and whatever
    /// else lies in it is removed.
    pub private_homes: Option<PathBuf>,
    /// Is told of the protected files that programs created or changed, unless the [`ProgressSink`](tools::ProgressSink) of the call
    /// shows them.
    pub teller: Option<Teller>,
}

impl Sandbox {
    /// Creates the private home of a program. Blocks.
    pub(crate) fn private_home(&self) -> io::Result<PrivateHome> {
        match &self.private_homes {
            Some(folder) => PrivateHome::create(folder),
            None => PrivateHome::create_in(&std::env::temp_dir()),
        }
    }

    /// Returns true if programs with this grant may write the home of the user itself, and so the dot files that shells run, or a folder of
    /// settings.
    pub(crate) fn opens_home(&self, cx: &ToolContext, workspace: &Workspace) -> bool {
        let home = without_links(&self.home);
        let granted = Granted::from_context(cx);
        let writable = granted.writable_on_disk(workspace);
        let mut trees = writable.iter();
        self.home.is_absolute() && trees.any(|tree| home.starts_with(without_links(tree)))
            || !writable.is_empty() && cx.sensitive_paths().is_in_settings_folder()
    }

    /// Returns the folders of the toolchains for programs in this workspace.
    pub(crate) fn toolchains(&self, workspace: &Workspace) -> Vec<Folders> {
        // A program that changes its cache changes what later programs run, in this workspace alone.
        let name = Digest::hash_bytes(workspace.root().as_os_str().as_encoded_bytes()).to_string();
        // Variables name the cache, and behind the walls the links on the way to it do not exist. It is none itself.
        let above = self.cache.parent().unwrap_or(&self.cache);
        let cache = without_links(above)
            .join(self.cache.file_name().unwrap_or_default())
            .join(&name[..16]);
        let own = self.toolchains.iter();
        own.map(|own| own.folders(&self.home, &cache, &|name| std::env::var_os(name)))
            .collect()
    }

    /// Returns the file of a program that is called by this name, without a path. Returns `None` if it is not installed where programs are
    /// looked up.
    pub fn find_program(&self, workspace: &Workspace, name: &str) -> Option<PathBuf> {
        let found = folders(&self.toolchains(workspace))
            .into_iter()
            .map(|folder| folder.join(name));
        found
            .filter(|_| !name.contains('/'))
            .find(|path| is_program(path))
    }

    /// Returns the toolchain of a program on the host's `PATH`, if programs may not use it. A path belongs to none.
    pub(crate) fn other_toolchain(&self, program: &str) -> Option<Toolchain> {
        if program.contains('/') {
            return None;
        }
        let found = self.others().find(|folders| {
            let mut search = folders.search.iter();
            search.any(|folder| is_program(&folder.join(program)))
        });
        found.map(|found| found.toolchain)
    }

    /// Returns the toolchain that a file belongs to, if programs may not use it.
    pub(crate) fn other_toolchain_of(&self, file: &Path) -> Option<Toolchain> {
        self.others()
            .find(|folders| folders.read.iter().any(|read| file.starts_with(read)))
            .map(|found| found.toolchain)
    }

    /// Returns the toolchains that programs may not use.
    fn others(&self) -> impl Iterator<Item = Folders> {
        let others = Toolchain::ALL
            .into_iter()
            .filter(|toolchain| self.home.is_absolute() && !self.toolchains.contains(toolchain));
        others.map(|other| other.folders(&self.home, &self.cache, &|name| std::env::var_os(name)))
    }

    /// Returns the layers of this machine. The first call starts bubblewrap to try it, so it blocks for some milliseconds.
    pub fn layers(&self) -> &Layers {
        self.layers.get_or_init(Layers::probe)
    }

    /// Returns how this machine confines programs. Returns `None` if it cannot, and programs may run without walls.
    ///
    /// # Errors
    /// Returns [`ToolErrorKind::Unavailable`] if it cannot, and they may not.
    pub(crate) fn confinement(&self) -> Result<Option<Confinement>, ToolError> {
        match self.layers().confinement() {
            Ok(confinement) => Ok(Some(confinement)),
            Err(_) if self.may_run_unconfined => Ok(None),
            Err(error) => Err(ToolErrorKind::unavailable(error).into()),
        }
    }

    /// Returns the walls for a program with this grant. `scratch` is a folder for its temporary files.
    pub(crate) fn walls(
        &self,
        granted: &Granted,
        workspace: &Workspace,
        toolchains: &[Folders],
        scratch: &Path,
        protected: Vec<PathBuf>,
    ) -> Walls {
        let caches = toolchains.iter().map(|folders| folders.cache.clone());
        let caches: Vec<_> = caches.collect();
        let hidden = workspace.hidden_paths().iter().flat_map(|path| {
            let path = without_links(path);
            if caches.iter().any(|cache| cache.starts_with(&path)) {
                beside(&path, &caches)
            } else {
                vec![path]
            }
        });
        Walls {
            read: granted.on_disk(workspace, toolchains),
            write: on_disk(workspace, &granted.writable),
            protected,
            hidden: hidden
                .chain(toolchains.iter().flat_map(|folders| folders.hidden.clone()))
                .collect(),
            scratch: Some(scratch.to_owned()),
            network: Network::None,
            limits: self.limits,
        }
    }
}

impl Default for Sandbox {
    /// Returns a sandbox with limits that builds and tests do not reach: files of 8 GiB, 32 GiB of a disk, 4,096 processes, and an hour of
    /// processor time for each process. Address space is not limited, because several runtimes reserve more than they use.
    fn default() -> Self {
        let limits = Limits {
            file_size: Some(8 << 30),
            disk: Some(32 << 30),
            processes: Some(4096),
            cpu_seconds: Some(3600),
            ..Limits::default()
        };
        Self {
            limits,
            layers: OnceLock::new(),
            toolchains: Vec::new(),
            home: PathBuf::new(),
            cache: PathBuf::new(),
            reserved: Vec::new(),
            may_run_unconfined: false,
            aside: None,
            private_homes: None,
            teller: None,
        }
    }
}

/// The files that a grant lets programs use.
pub(crate) struct Granted {
    pub(crate) readable: Trees,
    pub(crate) writable: Trees,
}

impl Granted {
    pub(crate) fn from_context(cx: &ToolContext) -> Self {
        let grant = cx.previewed_grant();
        let readable = Trees::from_grant(grant, Access::Read);
        let writable = Trees::from_grant(grant, Access::Write).intersect(&readable);
        Self { readable, writable }
    }

    /// Returns the paths that programs read beside those of the system.
    pub(crate) fn on_disk(&self, workspace: &Workspace, toolchains: &[Folders]) -> Vec<PathBuf> {
        let of_toolchains = toolchains.iter().flat_map(|folders| folders.read.clone());
        on_disk(workspace, &self.readable)
            .into_iter()
            .chain(of_toolchains)
            .collect()
    }

    /// Returns the paths that programs write.
    pub(crate) fn writable_on_disk(&self, workspace: &Workspace) -> Vec<PathBuf> {
        on_disk(workspace, &self.writable)
    }

    /// Returns true if programs can write a file or a folder that exists.
    pub(crate) fn has_writable(&self, workspace: &Workspace) -> bool {
        self.writable_on_disk(workspace)
            .iter()
            .any(|path| path.exists())
    }

    /// Takes out the writable paths that do not exist, and returns them. Programs cannot create them, because the kernel opens only paths
    /// that are there.
    pub(crate) fn take_missing(&mut self, workspace: &Workspace) -> Vec<String> {
        self.writable
            .paths
            .extract_if(.., |path| !workspace.root().join(&path.path).exists())
            .map(|path| path.to_string())
            .collect()
    }

    /// Returns the clauses about files that do not reach programs.
    pub(crate) fn left_out(&self) -> &[String] {
        // Writing needs the right to read, so this has the clauses of both.
        &self.writable.left_out
    }
}

/// Returns the absolute paths. The kernel would extend a clause for a directory alone to its content, so it is left out.
fn on_disk(workspace: &Workspace, trees: &Trees) -> Vec<PathBuf> {
    let paths = trees.paths.iter().filter_map(|path| {
        let absolute = match path.path.as_str() {
            "." => workspace.root().to_owned(),
            path => workspace.root().join(path),
        };
        (path.is_tree || !absolute.is_dir()).then_some(absolute)
    });
    paths.collect()
}
