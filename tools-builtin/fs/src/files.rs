//! [`Files`]: the files of a workspace, as one call reaches them.

use tools::{Access, ToolContext, ToolError};
use tools_workspace::Workspace;

use crate::error::FsError;
use crate::path::RelativePath;

/// A call and the workspace in which it works. Nearly every step of a file tool needs both.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Files<'a> {
    pub(crate) cx: &'a ToolContext,
    pub(crate) workspace: &'a Workspace,
}

impl<'a> Files<'a> {
    pub(crate) fn new(cx: &'a ToolContext, workspace: &'a Workspace) -> Self {
        Self { cx, workspace }
    }

    /// Checks a path that the call has found against its grant and its policy.
    pub(crate) fn require(self, access: Access, path: &RelativePath) -> Result<(), ToolError> {
        self.cx.require(access, "fs", path.as_str())
    }

    /// Records that the content of a file, or the target of a link, is shown to the model.
    pub(crate) fn show_content(self, path: &RelativePath) {
        let root = self.workspace.root();
        self.cx.record_contents(|| vec![root.join(path.as_str())]);
    }

    /// Records that the names of files and folders are shown to the model.
    pub(crate) fn show_names(self, paths: impl IntoIterator<Item: AsRef<str>>) {
        self.cx.record_names(|| {
            let paths = paths.into_iter();
            let paths = paths.map(|path| self.workspace.root().join(path.as_ref()));
            paths.collect()
        });
    }

    /// Notes that an entry is about to be changed; see [`ToolContext::note_write`].
    pub(crate) fn note_write(self, path: &RelativePath) -> Result<(), FsError> {
        let noted = self
            .cx
            .note_write(&self.workspace.root().join(path.as_str()));
        noted.map_err(FsError::change("write", path))
    }

    /// Notes that a folder is about to be moved; see [`ToolContext::note_move`].
    pub(crate) fn note_move(self, from: &RelativePath, to: &RelativePath) -> Result<(), FsError> {
        let [old, new] = [from, to].map(|path| self.workspace.root().join(path.as_str()));
        self.cx
            .note_move(&old, &new)
            .map_err(FsError::change("move", from))
    }
}
