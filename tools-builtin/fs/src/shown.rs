//! [`Shown`]: a file that is read after it was judged.

use std::fs::Metadata;
use std::path::{Path, PathBuf};

use host::placed::change_time;
use tools::context::FileAuthors;

use crate::files::Files;
use crate::path::RelativePath;
use crate::workspace::Workspace;

/// An open file whose content is shown to the model. A drop records a stranger's text if the file, or a folder around it, has changed since
/// it was opened, because the judgement may have been about another content.
pub(crate) struct Shown<'a> {
    files: Files<'a>,
    path: PathBuf,
    times: Vec<Option<u64>>,
}

impl<'a> Shown<'a> {
    /// Notes the file, with its metadata from before the read. Call [`Files::show_content`] before the drop.
    pub(crate) fn new(files: Files<'a>, path: &RelativePath, file: Option<Metadata>) -> Self {
        let path = files.workspace.root().join(path.as_str());
        let times = times(files.workspace, &path, file);
        Self { files, path, times }
    }
}

impl Drop for Shown<'_> {
    fn drop(&mut self) {
        let is_judged = self.files.cx.service::<FileAuthors>().is_some();
        let now = is_judged.then(|| self.path.symlink_metadata().ok());
        if now.is_some_and(|now| self.times != times(self.files.workspace, &self.path, now)) {
            self.files.cx.record_exposure();
        }
    }
}

/// Returns the times of the last change of the file and of the folders around it below the root. A rename changes that of what it moves.
fn times(workspace: &Workspace, path: &Path, file: Option<Metadata>) -> Vec<Option<u64>> {
    let around = path.ancestors().skip(1);
    let around = around.take_while(|it| *it != workspace.root());
    let around = around.map(|it| it.symlink_metadata().ok());
    let files = [file].into_iter().chain(around);
    files.map(|it| it.as_ref().map(change_time)).collect()
}
