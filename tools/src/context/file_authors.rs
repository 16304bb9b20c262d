//! [`FileAuthors`]: whose text the files of a workspace have.

use std::any::Any;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::ToolContext;
use crate::sync::atomic::{AtomicBool, Ordering};

/// Judges whose text the files of a workspace have. All paths are absolute, and all methods may block.
pub trait FileJudge: Send + Sync {
    /// Returns true if the user wrote the content of each of these files, and of all files in those that are folders.
    fn is_content_of_user(&self, paths: &[PathBuf]) -> bool;

    /// Returns true if the user chose the name of each of these files and folders.
    fn is_name_of_user(&self, paths: &[PathBuf]) -> bool;

    /// Notes that a file tool is about to write, move or remove an entry. A folder stands for all that is in it.
    ///
    /// # Errors
    /// Returns an error if a later session would take forged text for that of the user, because this cannot be noted.
    fn note_write(&self, path: &Path) -> io::Result<()>;

    /// Notes that a file tool is about to move a folder to another path.
    ///
    /// # Errors
    /// Returns an error as [`note_write`](Self::note_write) does, or while a program runs that would write the folder unnoticed.
    fn note_move(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Notes that a program that is about to start may write these trees, except for the kept ones, until the returned value is dropped.
    ///
    /// # Errors
    /// Returns an error as [`note_move`](Self::note_move) does.
    fn watch_writes(&self, trees: &[PathBuf], kept: &[PathBuf]) -> io::Result<WriteWatch>;
}

/// The time in which a program may write. Drop it after the program has ended.
pub type WriteWatch = Box<dyn Any + Send + Sync>;

/// Tells the files of the user from those of strangers, whose text and names [expose](super::Exposure) an agent: a service of the host.
///
/// Tools that show files of the workspace call [`ToolContext::record_contents`] and [`ToolContext::record_names`]. Without this service,
/// all files count as those of the user.
#[derive(Clone)]
pub struct FileAuthors(Arc<dyn FileJudge>);

impl FileAuthors {
    /// Creates the service.
    pub fn new(judge: impl FileJudge + 'static) -> Self {
        Self(Arc::new(judge))
    }
}

impl ToolContext {
    /// Records that the agent reads these files, and all files in those that are folders. It is [exposed](super::Exposure) from now on,
    /// unless the user wrote all of them. `paths` returns absolute paths. May block.
    ///
    /// Has no effect outside of a call: a host decides itself about the files that it reads for the agent.
    pub fn record_contents(&self, paths: impl FnOnce() -> Vec<PathBuf>) {
        self.judge_files(|judge| judge.is_content_of_user(&paths()));
    }

    /// Records that the agent reads the names of these files and folders, as [`record_contents`](Self::record_contents) does.
    pub fn record_names(&self, paths: impl FnOnce() -> Vec<PathBuf>) {
        self.judge_files(|judge| judge.is_name_of_user(&paths()));
    }

    /// Returns true if the user wrote the content of a file at an absolute path, or if nothing judges files. May block.
    ///
    /// For a host that gives a file to the agent itself, and [records](Self::record_exposure) that it is exposed.
    pub fn is_content_of_user(&self, path: &Path) -> bool {
        self.service::<FileAuthors>()
            .is_none_or(|authors| authors.0.is_content_of_user(&[path.to_owned()]))
    }

    /// Notes that the running tool is about to change a file or folder at an absolute path. May block.
    ///
    /// # Errors
    /// Returns an error as [`FileJudge::note_write`] does.
    pub fn note_write(&self, path: &Path) -> io::Result<()> {
        self.service::<FileAuthors>()
            .map_or(Ok(()), |authors| authors.0.note_write(path))
    }

    /// Notes that the running tool is about to move a folder from an absolute path to another one. May block.
    ///
    /// # Errors
    /// Returns an error as [`FileJudge::note_move`] does.
    pub fn note_move(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.service::<FileAuthors>()
            .map_or(Ok(()), |authors| authors.0.note_move(from, to))
    }

    /// Notes that a program may write these trees, except for the kept ones, until the returned value is dropped. May block.
    ///
    /// # Errors
    /// Returns an error as [`FileJudge::watch_writes`] does.
    pub fn watch_writes(&self, trees: &[PathBuf], kept: &[PathBuf]) -> io::Result<WriteWatch> {
        match self.service::<FileAuthors>() {
            // A program that can write nothing needs no watch, and `toolcrib trust` refuses while there is one.
            Some(authors) if !trees.is_empty() => authors.0.watch_writes(trees, kept),
            _ => Ok(Box::new(())),
        }
    }

    /// Asks the judge, unless the answer changes nothing.
    fn judge_files(&self, is_of_user: impl FnOnce(&dyn FileJudge) -> bool) {
        // Once exposed, a session stays so: the judge, which reads files and commits, has nothing to add.
        if self.tool().is_none() || self.is_exposed() {
            return;
        }
        if let Some(authors) = self.service::<FileAuthors>()
            && !is_of_user(&*authors.0)
        {
            self.record_exposure();
        }
    }

    /// Records that the agent reads text from the open world. Has no effect without the service [`Exposure`].
    pub fn record_exposure(&self) {
        if let Some(exposure) = self.service::<Exposure>() {
            exposure.record();
        }
    }

    /// Returns true if the agent has read text from the open world, or if the host does not record it.
    pub fn is_exposed(&self) -> bool {
        self.service::<Exposure>()
            .is_none_or(|exposure| exposure.is_exposed())
    }
}

/// Records whether the agent of a context has read text from the open world, in which strangers may have hidden instructions.
///
/// The pipeline records it before a tool with [open-world](protocol::Effects::is_open_world) effects runs, and when the journal replays
/// a call, because the calls that were made inside of that one are then not known. A tool that gets such text in another way, such as
/// from a service that the user has configured, calls [`ToolContext::record_exposure`]. A service of a session, which its sub-agents share: once a text is read, all of them may act on it.
/// A session of `toolcrib-agent` has it, and a resumed one begins as the last one ended.
#[derive(Debug, Default)]
pub struct Exposure(AtomicBool);

impl Exposure {
    /// Creates the record of a context that has read nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns true if text from the open world was read.
    pub fn is_exposed(&self) -> bool {
        // A call on another thread that sees the mark also sees what was read before it.
        self.0.load(Ordering::Acquire)
    }

    /// Records that text from the open world was read.
    pub fn record(&self) {
        self.0.store(true, Ordering::Release);
    }
}
