//! [`Sandbox`]: the service that runs programs behind walls that follow from a call's grant.

use std::io;
use std::path::{Path, PathBuf};

use once_cell::sync::OnceCell;
use tools::protocol::{Access, Digest};
use tools::trees::{TreePath, Trees};
use tools::{ProtectedFile, ToolContext, ToolError, ToolErrorKind};
use tools_fs::Workspace;

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
#[derive(Debug)]
pub struct Sandbox {
    limits: Limits,
    layers: OnceCell<Layers>,
    toolchains: Vec<Toolchain>,
    /// The home of the user, and the folder of the caches.
    homes: (PathBuf, PathBuf),
    reserved: Vec<PathBuf>,
    may_run_unconfined: bool,
    aside: Option<Aside>,
    /// The folder of the private homes of programs.
    private_homes: Option<PathBuf>,
    teller: Option<Teller>,
}

impl Sandbox {
    /// Creates a sandbox with limits that builds and tests do not reach: files of 8 GiB, 32 GiB of a disk, 4,096 processes, and an hour of
    /// processor time for each process. Address space is not limited, because several runtimes reserve more than they use.
    pub fn new() -> Self {
        let limits = Limits {
            file_size: Some(8 << 30),
            disk: Some(32 << 30),
            processes: Some(4096),
            cpu_seconds: Some(3600),
            ..Limits::default()
        };
        Self {
            limits,
            layers: OnceCell::new(),
            toolchains: Vec::new(),
            homes: Default::default(),
            reserved: Vec::new(),
            may_run_unconfined: false,
            aside: None,
            private_homes: None,
            teller: None,
        }
    }

    /// Sets the limits of each program.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Uses these layers, for a host that has [probed](Layers::probe) this machine already. A layer that the machine lacks makes
    /// programs fail.
    #[must_use]
    pub fn with_layers(mut self, layers: Layers) -> Self {
        self.layers = OnceCell::with_value(layers);
        self
    }

    /// Lets programs use these toolchains in the folder `home`. Below `cache`, each workspace has a cache of its own, which is all that its
    /// programs see of it if the [`Workspace`] hides it.
    #[must_use]
    pub fn with_toolchains(
        mut self,
        toolchains: impl IntoIterator<Item = Toolchain>,
        home: &Path,
        cache: &Path,
    ) -> Self {
        self.toolchains = toolchains.into_iter().collect();
        self.homes = (home.to_owned(), cache.to_owned());
        self
    }

    /// Keeps programs from creating these folders: each that is missing in a tree that a program may write is created before it starts. The
    /// [`Workspace`] hides them, or they are [sensitive](tools::policy::SensitivePaths).
    #[must_use]
    pub fn with_reserved(mut self, folders: impl IntoIterator<Item = PathBuf>) -> Self {
        self.reserved = folders.into_iter().collect();
        self
    }

    /// Lets programs run without walls on a Linux machine that cannot confine them. They can then do whatever the host can. Only the
    /// user of the host may decide this.
    #[must_use]
    pub fn with_unconfined(mut self, may_run_unconfined: bool) -> Self {
        self.may_run_unconfined = may_run_unconfined;
        self
    }

    /// Moves the protected files that programs create or change to this folder, until a person puts them back. Without one they remain, and
    /// the result of the call names them. No tool may reach the folder.
    #[must_use]
    pub fn with_aside(mut self, aside: Aside) -> Self {
        self.aside = Some(aside);
        self
    }

    /// Makes the private home of each program in this folder, instead of where the system keeps temporary files. No tool may reach it, and
    /// whatever else lies in it is removed.
    #[must_use]
    pub fn with_private_homes(mut self, folder: impl Into<PathBuf>) -> Self {
        self.private_homes = Some(folder.into());
        self
    }

    /// Calls `tell` with the protected files that programs created or changed, unless the
    /// [`ProgressSink`](tools::ProgressSink) of the call shows them. It must not block.
    #[must_use]
    pub fn with_teller(mut self, tell: impl Fn(&[ProtectedFile]) + Send + Sync + 'static) -> Self {
        self.teller = Some(Teller::new(tell));
        self
    }

    pub(crate) fn aside(&self) -> Option<&Aside> {
        self.aside.as_ref()
    }

    /// Creates the private home of a program. Blocks.
    pub(crate) fn private_home(&self) -> io::Result<PrivateHome> {
        match &self.private_homes {
            Some(folder) => PrivateHome::create(folder),
            None => PrivateHome::create_in(&std::env::temp_dir()),
        }
    }

    pub(crate) fn teller(&self) -> Option<&Teller> {
        self.teller.as_ref()
    }

    /// Returns the limits of each program.
    pub(crate) fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Returns the home of the user. Empty without toolchains.
    pub(crate) fn home(&self) -> &Path {
        &self.homes.0
    }

    /// Returns true if programs with this grant may write the home of the user itself, and so the dot files that shells run.
    pub(crate) fn opens_home(&self, cx: &ToolContext, workspace: &Workspace) -> bool {
        let (home, granted) = (without_links(self.home()), Granted::from_context(cx));
        let mut writable = granted.writable_on_disk(workspace).into_iter();
        self.home().is_absolute() && writable.any(|tree| home.starts_with(without_links(&tree)))
    }

    /// Returns the folders of the toolchains for programs in this workspace.
    pub(crate) fn toolchains(&self, workspace: &Workspace) -> Vec<Folders> {
        let (home, cache) = &self.homes;
        // A program that changes its cache changes what later programs run, in this workspace alone.
        let name = Digest::hash_bytes(workspace.root().as_os_str().as_encoded_bytes()).to_string();
        // Variables name the cache, and behind the walls the links on the way to it do not exist. It is none itself.
        let above = cache.parent().unwrap_or(cache);
        let cache = without_links(above)
            .join(cache.file_name().unwrap_or_default())
            .join(&name[..16]);
        let folders =
            |toolchain: &Toolchain| toolchain.folders(home, &cache, &|name| std::env::var_os(name));
        self.toolchains.iter().map(folders).collect()
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
        let has = |folders: &Folders| {
            folders
                .search
                .iter()
                .any(|folder| is_program(&folder.join(program)))
        };
        self.others().find(has).map(|found| found.toolchain)
    }

    /// Returns the toolchain that a file belongs to, if programs may not use it.
    pub(crate) fn other_toolchain_of(&self, file: &Path) -> Option<Toolchain> {
        self.others()
            .find(|folders| folders.read.iter().any(|read| file.starts_with(read)))
            .map(|found| found.toolchain)
    }

    /// Returns the toolchains that programs may not use.
    fn others(&self) -> impl Iterator<Item = Folders> {
        let homes = Some(&self.homes).filter(|(home, _)| home.is_absolute());
        let others = Toolchain::ALL
            .into_iter()
            .filter(|toolchain| !self.toolchains.contains(toolchain));
        others.filter_map(move |other| {
            let (home, cache) = homes?;
            Some(other.folders(home, cache, &|name| std::env::var_os(name)))
        })
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

    /// The folders of the host that no program may create.
    pub(crate) fn reserved(&self) -> &[PathBuf] {
        &self.reserved
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
        let caches: Vec<_> = toolchains
            .iter()
            .map(|folders| folders.cache.clone())
            .collect();
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
    fn default() -> Self {
        Self::new()
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
    let absolute = |path: &TreePath| match path.path.as_str() {
        "." => workspace.root().to_owned(),
        path => workspace.root().join(path),
    };
    let granted = trees
        .paths
        .iter()
        .filter(|path| path.is_tree || !absolute(path).is_dir());
    granted.map(absolute).collect()
}
