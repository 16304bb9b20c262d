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
#[derive(Debug, Default)]
pub struct Sandbox {
    limits: Limits,
    layers: OnceCell<Layers>,
}

impl Sandbox {
    /// Creates a sandbox with [default limits](Limits::default).
    pub fn new() -> Self {
        Self::default()
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
        self.layers()
            .confinement()
            .map_err(|error| ToolErrorKind::Unavailable { reason: error.to_string() }.into())
    }

    /// Returns the walls for a program of this call. `scratch` is a folder for its temporary files.
    pub(crate) fn walls(&self, cx: &ToolContext, workspace: &Workspace, scratch: &Path, protected: Vec<PathBuf>) -> Walls {
        let readable = Trees::from_grant(cx.grant(), Access::Read);
        let writable = Trees::from_grant(cx.grant(), Access::Write).intersect(&readable);
        Walls {
            read: on_disk(workspace, &readable),
            write: on_disk(workspace, &writable),
            protected,
            hidden: workspace.hidden_paths().to_vec(),
            scratch: Some(scratch.to_owned()),
            network: Network::None,
            limits: self.limits,
        }
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
