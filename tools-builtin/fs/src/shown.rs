//! [`Shown`]: a file that is read after it was judged.

use std::fs::Metadata;
use std::path::PathBuf;

use host::placed::change_times;
use tools::context::FileAuthors;

use crate::files::Files;
use crate::path::RelativePath;

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
        let times = change_times(files.workspace.root(), &path, file);
        Self { files, path, times }
    }
}

impl Drop for Shown<'_> {
    fn drop(&mut self) {
        let is_judged = self.files.cx.service::<FileAuthors>().is_some();
        let now = is_judged.then(|| self.path.symlink_metadata().ok());
        let root = self.files.workspace.root();
        if now.is_some_and(|now| self.times != change_times(root, &self.path, now)) {
            self.files.cx.record_exposure();
        }
    }
}
