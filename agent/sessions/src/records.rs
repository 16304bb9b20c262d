//! [`RECORDS`]: records sessions, and continues them.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use host::{RecordPlace, Retention, SessionRecord, SessionRecords, program};
use tools::journal::SessionStart;
use tools_journal::{Durability, JournalOptions, SqliteJournal};

use crate::error::SessionError;
use crate::folder::SessionFolder;
use crate::lock::LockedSession;
use crate::stored::StoredSession;

/// The origin of the clauses that a resumed session began with.
const FIRST_GRANT: &str = "the start of the session";

/// The records of sessions in SQLite files.
pub(crate) const RECORDS: SessionRecords = SessionRecords {
    begin: |place, start, settings| {
        Box::pin(async move {
            let retention = Retention::from_settings(settings);
            Ok(match &place.file {
                Some(file) => begin_in_file(place, file, start).await?,
                None => begin_in_folder(place, start, &retention).await?,
            })
        })
    },
    resume: |place, id, workspace| {
        Box::pin(async move {
            Ok(match (&place.file, id, &place.name) {
                (None, id, _) => resume_in_folder(place, id, workspace).await?,
                (Some(file), None, Some(name)) => {
                    resume_in_file(place, file, name.clone(), workspace).await?
                }
                (Some(_), _, _) => return Err(SessionError::ResumedName.into()),
            })
        })
    },
};

/// A session of the folder. Dropping it unlocks the session, and removes a new one that had no prompt.
#[derive(Debug)]
enum FolderSession {
    New(LockedSession),
    Resumed(LockedSession),
}

async fn begin_in_file(
    place: &RecordPlace,
    file: &Path,
    start: SessionStart,
) -> Result<SessionRecord, SessionError> {
    begin(
        SqliteJournal::open(file, options(place))?,
        place.name.clone(),
        start,
    )
    .await
}

async fn begin(
    journal: SqliteJournal,
    name: Option<String>,
    start: SessionStart,
) -> Result<SessionRecord, SessionError> {
    if let Some(name) = &name
        && !journal.start(name, start).await?
    {
        return Err(SessionError::Exists(name.clone()));
    }
    Ok(SessionRecord::new(Arc::new(journal), name))
}

async fn begin_in_folder(
    place: &RecordPlace,
    start: SessionStart,
    retention: &Retention,
) -> Result<SessionRecord, SessionError> {
    let folder = SessionFolder::new()?;
    let locked = folder.create()?;
    let (file, name) = (locked.journal(), locked.id.to_string());
    let session = FolderSession::New(locked);
    if let Err(error) = folder.prune(retention) {
        program::warn(&format!("old sessions are kept: {error}"));
    }
    let journal = SqliteJournal::open(&file, in_folder(place))?;
    Ok(session.hold(begin(journal, Some(name), start).await?))
}

async fn resume_in_file(
    place: &RecordPlace,
    file: &Path,
    name: String,
    workspace: &str,
) -> Result<SessionRecord, SessionError> {
    if !file.exists() {
        return Err(SessionError::NoJournalFile(file.to_owned()));
    }
    resume(SqliteJournal::open(file, options(place))?, name, workspace).await
}

async fn resume_in_folder(
    place: &RecordPlace,
    id: Option<&str>,
    workspace: &str,
) -> Result<SessionRecord, SessionError> {
    let folder = SessionFolder::new()?;
    let id = folder.find_or_newest(id, workspace)?;
    let session = FolderSession::Resumed(folder.lock(id)?);
    let journal = SqliteJournal::open(folder.private_journal(id)?, in_folder(place))?;
    Ok(session.hold(resume(journal, id.to_string(), workspace).await?))
}

/// Continues a session in this workspace.
async fn resume(
    journal: SqliteJournal,
    name: String,
    workspace: &str,
) -> Result<SessionRecord, SessionError> {
    let mut first = journal.find_start(&name).await?;
    if let Some(first) = &mut first {
        if first.workspace != workspace {
            return Err(SessionError::OtherWorkspace {
                name,
                workspace: first.workspace.clone(),
            });
        }
        SessionError::check_no_job(&name, first)?;
        first.grant = first.grant.clone().with_origin(FIRST_GRANT);
    }
    Ok(SessionRecord {
        first,
        ..SessionRecord::new(Arc::new(journal), Some(name))
    })
}

fn options(place: &RecordPlace) -> JournalOptions {
    JournalOptions::new().with_arguments(place.with_arguments)
}

/// A folder session survives any end of the process. After a loss of power its last records may be missing.
fn in_folder(place: &RecordPlace) -> JournalOptions {
    options(place).with_durability(Durability::Process)
}

impl FolderSession {
    /// Returns the record with the tasks of the session. The session is locked until the record is dropped.
    fn hold(self, record: SessionRecord) -> SessionRecord {
        let (Self::New(session) | Self::Resumed(session)) = &self;
        let tasks = session.tasks();
        SessionRecord {
            tasks: Some((tasks.read(), Arc::new(tasks))),
            lock: Some(Box::new(self)),
            ..record
        }
    }
}

impl Drop for FolderSession {
    fn drop(&mut self) {
        let Self::New(session) = self else { return };
        let is_empty = fs::metadata(session.journal()).map_or(true, |journal| journal.len() == 0);
        if is_empty || matches!(StoredSession::read_locked(session, 0), Ok(None)) {
            // If this fails, the empty session is not listed, and pruned later.
            let _ = session.erase();
        }
    }
}
