//! [`SessionRecords`]: records of sessions, which a later process continues.

use std::any::Any;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;

use tools::journal::{Journal, SessionStart};
use tools::tasks::{StoredTasks, TaskStore};

use crate::extension::CommandError;
use crate::sessions::RecordedSession;
use crate::settings::Settings;

/// A future of [`SessionRecords`].
pub type RecordFuture<'a> =
    Pin<Box<dyn Future<Output = Result<SessionRecord, CommandError>> + Send + 'a>>;

/// Records of sessions, which a later process continues: their files and their format.
#[derive(Clone, Copy, Debug)]
pub struct SessionRecords {
    /// Begins to record a session. The limits of older records are in the settings.
    pub begin: for<'a> fn(&'a RecordPlace, SessionStart, &'a Settings) -> RecordFuture<'a>,
    /// Continues a session of this workspace, which comes last: the one whose ID begins with this text, or the newest one. In a file of the
    /// user's choice it is the named one.
    pub resume: for<'a> fn(&'a RecordPlace, Option<&'a str>, &'a str) -> RecordFuture<'a>,
    /// Returns the sessions of a workspace, or of all, the newest first. Sessions without a prompt and those of jobs are left out.
    pub list: fn(Option<&str>) -> Result<Vec<RecordedSession>, CommandError>,
    /// Returns the session with this whole ID.
    pub find: fn(&str) -> Result<Option<RecordedSession>, CommandError>,
}

/// The place of a record.
#[derive(Clone, Debug)]
pub struct RecordPlace {
    /// The file of the user's choice. `None` stands for the state folder.
    pub file: Option<PathBuf>,
    /// The name of the session in that file. `None` if only its calls are recorded.
    pub name: Option<String>,
    /// True if arguments are recorded, which may have secrets, in addition to their digests.
    pub with_arguments: bool,
}

/// The record of the running session. Drop it after the session.
pub struct SessionRecord {
    /// The journal of the calls.
    pub journal: Arc<dyn Journal>,
    /// The name of the session. `None` if only its calls are recorded.
    pub name: Option<String>,
    /// The start of a resumed session. A session of an earlier version has none.
    pub first: Option<SessionStart>,
    /// The tasks of an earlier process that other parties keep, and their store. `None` in a file of the user's choice.
    pub tasks: Option<(StoredTasks, Arc<dyn TaskStore>)>,
    /// Keeps other processes from the session. Dropped after the journal.
    pub lock: Option<Box<dyn Any + Send + Sync>>,
}
