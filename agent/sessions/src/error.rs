//! [`SessionError`]: a recorded session cannot be found or used.

use std::io;
use std::path::{Path, PathBuf};

use host::{CommandError, Exit, program};
use tools::join;
use tools::journal::{JournalError, SessionStart};
use tools_journal::{AuditError, EraseError, ForkError, InvalidHead, OpenError};

use crate::id::SessionId;

/// The number of sessions that an error names.
const NAMED: usize = 5;

/// An error about recorded sessions.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SessionError {
    #[error("there is no home folder to keep sessions in; set HOME or XDG_STATE_HOME")]
    NoHome,
    #[error("cannot keep sessions in {}: {source}; make it a folder that only you can read and write", path.display())]
    Folder { path: PathBuf, source: io::Error },
    #[error("cannot use the journal {}: {source}; erase the session, or make its file one that only you can read", path.display())]
    Access { path: PathBuf, source: io::Error },
    #[error(
        "no recorded session has an ID that begins with {text:?}; run {} sessions --all to see all",
        program::name()
    )]
    Unknown { text: String },
    #[error(
        "{text:?} is neither a journal file nor the beginning of the ID of a recorded session; run {} sessions --all to see the IDs",
        program::name()
    )]
    NoJournal { text: String },
    #[error(
        "several sessions have an ID that begins with {text:?}: {}; type more of it",
        list_ids(ids)
    )]
    Ambiguous { text: String, ids: Vec<SessionId> },
    #[error(
        "no session of the workspace {workspace} can be continued; run {} sessions --all to see all",
        program::name()
    )]
    NoneHere { workspace: String },
    #[error(
        "the session {id} is in use by another process; wait until it ends, or name another session"
    )]
    Open { id: SessionId },
    #[error(
        "the session {name} belongs to the workspace {workspace}; resume it there, or with --root"
    )]
    OtherWorkspace { name: String, workspace: String },
    #[error(
        "the session {name} is a run of job {job}, whose limits it would lose; see {program} cron log {job}, and make the job anew to \
         run it again",
        program = program::name()
    )]
    OfJob { name: String, job: i64 },
    #[error(transparent)]
    Journal(#[from] AuditError),
    #[error("cannot remove the session {id}: {source}; check the permissions of its files")]
    Erase { id: SessionId, source: io::Error },
    #[error("with --journal, --resume takes no ID; name the session with --session")]
    ResumedName,
    #[error(
        "the journal already has a session {0:?}; continue it with --resume, or choose another name"
    )]
    Exists(String),
    #[error("there is no journal at {}; pass the session's journal with --journal", .0.display())]
    NoJournalFile(PathBuf),
    #[error("the journal has no call of a session {name:?}; {advice}")]
    NoCalls { name: String, advice: String },
    #[error(transparent)]
    OpenJournal(#[from] OpenError),
    #[error(transparent)]
    Head(#[from] InvalidHead),
    #[error(transparent)]
    EraseRows(#[from] EraseError),
    #[error(transparent)]
    Fork(#[from] ForkError),
    /// A command that reads a journal found it damaged.
    #[error(transparent)]
    Damaged(AuditError),
    #[error(transparent)]
    Record(#[from] JournalError),
}

impl SessionError {
    /// Returns the conversion of the error of a folder.
    pub(crate) fn folder(path: &Path) -> impl Fn(io::Error) -> Self + Copy {
        |source| Self::Folder {
            path: path.to_owned(),
            source,
        }
    }

    /// Returns an error if the session runs a job.
    pub(crate) fn check_no_job(name: &str, start: &SessionStart) -> Result<(), Self> {
        let name = name.to_owned();
        start
            .job
            .map_or(Ok(()), |job| Err(Self::OfJob { name, job }))
    }
}

impl From<SessionError> for CommandError {
    fn from(error: SessionError) -> Self {
        let exit = match &error {
            // The file is no journal, which is no damage.
            SessionError::Damaged(AuditError::Open(_)) => Exit::Usage,
            SessionError::Damaged(_) => Exit::Problems,
            SessionError::Record(_) => Exit::Internal,
            _ => Exit::Usage,
        };
        Self::new(exit, error)
    }
}

fn list_ids(ids: &[SessionId]) -> String {
    let more = ids.len().checked_sub(NAMED + 1);
    let more = more.map(|more| format!("and {} more", more + 1));
    let named = ids.iter().take(NAMED).map(SessionId::to_string);
    join(named.chain(more), ", ")
}
