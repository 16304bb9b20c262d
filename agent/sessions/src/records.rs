//! [`RECORDS`]: records sessions, and continues them.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use host::sessions::RecordedSession;
use host::settings::Settings;
use host::{RecordPlace, Retention, SessionRecord, SessionRecords, program};
use jiff::Timestamp;
use tools::journal::SessionStart;
use tools_journal::{Durability, JournalOptions, OpenError, SqliteJournal};

use crate::error::SessionError;
use crate::folder::{SessionFolder, warn_of_skipped};
use crate::id::SessionId;
use crate::lock::LockedSession;
use crate::stored::StoredSession;
use crate::summary::{HEAD, first_prompt};

/// The origin of the clauses that a resumed session began with.
const FIRST_GRANT: &str = "the start of the session";

/// The records of sessions in SQLite files.
pub(crate) const RECORDS: SessionRecords = SessionRecords {
    begin: |place, start, settings| {
        Box::pin(async move { Ok(begin(place, start, settings).await?) })
    },
    resume: |place, id, workspace| Box::pin(async move { Ok(resume(place, id, workspace).await?) }),
    list: |workspace| Ok(list(workspace)?),
    find: |id| Ok(find(id)?),
};

/// A session of the folder. Dropping it unlocks the session, and removes a new one that had no prompt.
#[derive(Debug)]
struct FolderSession {
    session: LockedSession,
    is_new: bool,
}

async fn begin(
    place: &RecordPlace,
    start: SessionStart,
    settings: &Settings,
) -> Result<SessionRecord, SessionError> {
    let (file, name, session) = match &place.file {
        Some(file) => (file.clone(), place.name.clone(), None),
        None => {
            let folder = SessionFolder::new()?;
            let session = FolderSession {
                session: folder.create()?,
                is_new: true,
            };
            if let Err(error) = folder.prune(&Retention::from_settings(settings)) {
                // Cleaning up must not keep a new session from its start.
                program::warn(&format!("old sessions are kept: {error}"));
            }
            let name = session.session.id.to_string();
            (session.session.journal(), Some(name), Some(session))
        }
    };
    let journal = open(&file, place)?;
    if let Some(name) = &name
        && !journal.start(name, start).await?
    {
        return Err(SessionError::Exists(name.clone()));
    }
    Ok(record(journal, name, session))
}

/// Continues a session in this workspace.
async fn resume(
    place: &RecordPlace,
    id: Option<&str>,
    workspace: &str,
) -> Result<SessionRecord, SessionError> {
    let (file, name, session) = match (&place.file, id, &place.name) {
        (None, id, _) => {
            let folder = SessionFolder::new()?;
            let id = folder.find_or_newest(id, workspace)?;
            let session = FolderSession {
                session: folder.lock(id)?,
                is_new: false,
            };
            (folder.private_journal(id)?, id.to_string(), Some(session))
        }
        (Some(file), None, Some(name)) if file.exists() => (file.clone(), name.clone(), None),
        (Some(file), None, Some(_)) => return Err(SessionError::NoJournalFile(file.clone())),
        (Some(_), _, _) => return Err(SessionError::ResumedName),
    };
    let journal = open(&file, place)?;
    let mut first = journal.find_start(&name).await?;
    if let Some(first) = &mut first {
        // Paths of the conversation and of its grant mean other files elsewhere.
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
        ..record(journal, Some(name), session)
    })
}

/// Returns the sessions of a workspace, or of all, the newest first.
fn list(workspace: Option<&str>) -> Result<Vec<RecordedSession>, SessionError> {
    let folder = SessionFolder::new()?;
    let mut listed = Vec::new();
    for id in folder.ids()? {
        match recorded(&folder, id) {
            Ok(session) => listed.extend(session),
            Err(error) => warn_of_skipped(id, &error),
        }
    }
    listed.retain(|session| workspace.is_none_or(|workspace| session.workspace == workspace));
    Ok(listed)
}

/// Returns the session with this whole ID.
fn find(id: &str) -> Result<Option<RecordedSession>, SessionError> {
    let folder = SessionFolder::new()?;
    SessionId::parse(id).map_or(Ok(None), |id| recorded(&folder, id))
}

/// Returns the facts about a session. Returns `None` if it has no prompt, runs a job or was removed.
fn recorded(
    folder: &SessionFolder,
    id: SessionId,
) -> Result<Option<RecordedSession>, SessionError> {
    let Some(files) = folder.files(id) else {
        return Ok(None);
    };
    let stored = folder.read_stored(id, HEAD)?;
    let stored = stored.filter(|stored| stored.start.job.is_none());
    Ok(stored.map(|stored| RecordedSession {
        id: id.to_string(),
        title: first_prompt(&stored.checkpoint),
        workspace: stored.start.workspace,
        changed: Timestamp::try_from(files.changed)
            .unwrap_or_default()
            .to_string(),
    }))
}

fn open(file: &Path, place: &RecordPlace) -> Result<SqliteJournal, OpenError> {
    let durability = match place.file {
        Some(_) => Durability::Power,
        // It survives any end of the process. After a loss of power its last records may be missing.
        None => Durability::Process,
    };
    let options = JournalOptions {
        durability,
        arguments: place.with_arguments,
        ..JournalOptions::default()
    };
    SqliteJournal::open(file, options)
}

/// Returns the record of a session, which is locked until the record is dropped.
fn record(
    journal: SqliteJournal,
    name: Option<String>,
    session: Option<FolderSession>,
) -> SessionRecord {
    let tasks = session.as_ref().map(|session| session.session.tasks());
    SessionRecord {
        journal: Arc::new(journal),
        name,
        first: None,
        tasks: tasks.map(|tasks| (tasks.read(), Arc::new(tasks) as _)),
        lock: session.map(|session| Box::new(session) as _),
    }
}

impl Drop for FolderSession {
    fn drop(&mut self) {
        if !self.is_new {
            return;
        }
        let session = &self.session;
        // An empty file is no journal that could be read.
        let is_empty = fs::metadata(session.journal()).map_or(true, |journal| journal.len() == 0);
        if is_empty || matches!(StoredSession::read_locked(session, 0), Ok(None)) {
            // If this fails, the empty session is not listed, and pruned later.
            let _ = session.erase();
        }
    }
}
