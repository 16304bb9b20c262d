//! [`Sandbox`]: the service that runs programs behind walls that follow from a call's grant.

use std::path::{Path, PathBuf};

use once_cell::sync::OnceCell;
use tools::protocol::Access;
use tools::{ToolContext, ToolError, ToolErrorKind, TreePath, Trees};
use tools_fs::Workspace;

use crate::walls::{Confinement, Layers, Limits, Network, Walls};

/// Runs programs behind walls that follow from the grant of the call. The service that the tools of this crate take from the context.
///
/// The host chooses the limits of each program. What a program may read and write follows from the `fs` clauses of the grant and from
/// the [`Workspace`] of the call.
#[derive(Debug)]
pub struct Sandbox {
    limits: Limits,
    layers: OnceCell<Layers>,
}

impl Sandbox {
    /// Creates a sandbox with limits that builds and tests do not reach: files of 8 GiB, 4,096 processes, and an hour of processor time
    /// for each process. Address space is not limited, because several runtimes reserve more than they use.
    pub fn new() -> Self {
        let limits =
            Limits { file_size: Some(8 << 30), processes: Some(4096), cpu_seconds: Some(3600), ..Limits::default() };
        Self { limits, layers: OnceCell::new() }
    }

    /// Sets the limits of each program.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Returns the layers of this machine. The first call starts bubblewrap to try it, so it blocks for some milliseconds.
    pub fn layers(&self) -> &Layers {
        self.layers.get_or_init(Layers::probe)
    }

    /// Returns how this machine confines programs.
    ///
    /// # Errors
    /// Returns [`ToolErrorKind::Unavailable`] if it cannot.
    pub(crate) fn confinement(&self) -> Result<Confinement, ToolError> {
        self.layers().confinement().map_err(|error| ToolErrorKind::Unavailable { reason: error.to_string() }.into())
    }

    /// Returns the walls for a program with this grant. `scratch` is a folder for its temporary files.
    pub(crate) fn walls(
        &self,
        granted: &Granted,
        workspace: &Workspace,
        scratch: &Path,
        protected: Vec<PathBuf>,
    ) -> Walls {
        Walls {
            read: on_disk(workspace, &granted.readable),
            write: on_disk(workspace, &granted.writable),
            protected,
            hidden: workspace.hidden_paths().iter().map(|path| without_links(path)).collect(),
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

    /// Returns true if a clause about files does not reach programs.
    pub(crate) fn is_narrower(&self) -> bool {
        self.readable.is_narrower || self.writable.is_narrower
    }
}

/// Returns the path to which the links in `path` lead. Parts that do not exist stay as they are.
fn without_links(path: &Path) -> PathBuf {
    let resolved = path.ancestors().find_map(|above| Some((above, above.canonicalize().ok()?)));
    match resolved.and_then(|(above, real)| Some((path.strip_prefix(above).ok()?, real))) {
        Some((rest, real)) if rest.as_os_str().is_empty() => real,
        Some((rest, real)) => real.join(rest),
        None => path.to_owned(),
    }
}

/// Returns the absolute paths. The kernel would extend a clause for a directory alone to its content, so it is left out.
fn on_disk(workspace: &Workspace, trees: &Trees) -> Vec<PathBuf> {
    let absolute = |path: &TreePath| match path.path.as_str() {
        "." => workspace.root().to_owned(),
        path => workspace.root().join(path),
    };
    let granted = trees.paths.iter().filter(|path| path.is_tree || !absolute(path).is_dir());
    granted.map(absolute).collect()
}
