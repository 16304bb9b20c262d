//! [`Shown`]: a file that is read after it was judged.

use std::fs::{File, Metadata};
use std::path::PathBuf;

use host::placed::{FolderId, change_time};
use tools::ToolContext;
use tools::context::FileAuthors;

use crate::Workspace;
use crate::path::RelativePath;

/// An open file whose content is shown to the model. A drop records a stranger's text if the file has changed since it was opened, because
/// the judgement was about another content.
pub(crate) struct Shown<'a> {
    cx: &'a ToolContext,
    path: PathBuf,
    stamp: Option<Stamp>,
}

type Stamp = (Option<FolderId>, u64, u64);

impl<'a> Shown<'a> {
    /// Records that the content is shown.
    pub(crate) fn record(
        cx: &'a ToolContext,
        workspace: &Workspace,
        path: &RelativePath,
        file: &File,
    ) -> Self {
        let stamp = file.metadata().ok().map(|metadata| stamp(&metadata));
        workspace.show_content(cx, path);
        let path = workspace.root().join(path.as_str());
        Self { cx, path, stamp }
    }
}

impl Drop for Shown<'_> {
    fn drop(&mut self) {
        let now = self.path.symlink_metadata().ok();
        let is_judged = self.cx.service::<FileAuthors>().is_some();
        if is_judged && self.stamp != now.map(|metadata| stamp(&metadata)) {
            self.cx.record_exposure();
        }
    }
}

fn stamp(metadata: &Metadata) -> Stamp {
    let id = FolderId::from_metadata(metadata);
    (id, metadata.len(), change_time(metadata))
}
