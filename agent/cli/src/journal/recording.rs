//! [`Recording`]: the journal of the running session.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use agent::{Run, Session};
use tools::{Grant, ToolContext};
use tools_journal::{Durability, JournalOptions as SqliteOptions, SessionStart, SqliteJournal};

use super::JournalOptions;
use crate::config::{ConfigError, Setting, Settings};
use crate::error::Error;
use crate::notice;
use crate::sessions::{LockedSession, Retention, SessionError, SessionFolder, StoredSession};

/// The origin of the clauses that a resumed session began with.
const FIRST_GRANT: &str = "the start of the session";

/// The journal of the running session. Drop it after the session.
#[derive(Debug)]
pub(crate) struct Recording {
    journal: SqliteJournal,
    /// The name of the session, or `None` if only its calls are recorded.
    name: Option<String>,
    is_resumed: bool,
    /// The grant that a resumed session began with.
    first_grant: Option<Grant>,
    /// Dropped after the journal, which closes the file.
    _session: Option<FolderSession>,
}

/// A session of the folder. Dropping it unlocks the session, and removes a new one that had no prompt.
#[derive(Debug)]
enum FolderSession {
    New(LockedSession),
    Resumed { _locked: LockedSession },
}

impl Recording {
    pub(super) async fn new(
        options: &JournalOptions,
        workspace: String,
        settings: &Settings,
    ) -> Result<Option<Self>, Error> {
        let content = SqliteOptions::new().with_arguments(options.journal_arguments);
        let start = SessionStart::new(workspace, settings.grant());
        match (&options.journal, &options.resume) {
            (Some(file), None) => Self::begin_in_file(file, options.session.clone(), content, start).await.map(Some),
            (Some(file), Some(None)) if let Some(name) = &options.session => {
                if !file.exists() {
                    return Err(Error::NoJournalFile(file.clone()));
                }
                let journal = SqliteJournal::open(file, content)?;
                Self::resume(journal, name.clone(), &start, None).await.map(Some)
            }
            (Some(_), Some(_)) => Err(Error::ResumedName),
            (None, Some(id)) => Self::resume_in_folder(id.as_deref(), content, &start).await.map(Some),
            (None, None) if !settings.record_sessions.value => match options.journal_arguments {
                false => Ok(None),
                true => Err(not_recorded(&settings.record_sessions).into()),
            },
            (None, None) => match Self::begin_in_folder(content, start, &Retention::from_settings(settings)).await {
                Ok(recording) => Ok(Some(recording)),
                Err(error) => {
                    notice::warning(&format!("the session is not recorded, so it cannot be resumed: {error}"));
                    Ok(None)
                }
            },
        }
    }

    async fn begin_in_file(
        file: &Path,
        name: Option<String>,
        content: SqliteOptions,
        start: SessionStart,
    ) -> Result<Self, Error> {
        let journal = SqliteJournal::open(file, content)?;
        if let Some(name) = &name
            && !journal.start(name, start).await.map_err(Error::Journal)?
        {
            return Err(Error::SessionExists(name.clone()));
        }
        Ok(Self { journal, name, is_resumed: false, first_grant: None, _session: None })
    }

    async fn begin_in_folder(
        content: SqliteOptions,
        start: SessionStart,
        retention: &Retention,
    ) -> Result<Self, Error> {
        let folder = SessionFolder::new()?;
        let locked = folder.create()?;
        let (file, name) = (locked.journal(), locked.id.to_string());
        let session = FolderSession::New(locked);
        if let Err(error) = folder.prune(retention) {
            notice::warning(&format!("old sessions are kept: {error}"));
        }
        let recording = Self::begin_in_file(&file, Some(name), in_folder(content), start).await?;
        Ok(Self { _session: Some(session), ..recording })
    }

    async fn resume_in_folder(id: Option<&str>, content: SqliteOptions, start: &SessionStart) -> Result<Self, Error> {
        let folder = SessionFolder::new()?;
        let id = match id {
            Some(id) => folder.find(id)?,
            None => folder.newest(&start.workspace)?,
        };
        let locked = folder.lock(id)?;
        let file = folder.private_journal(id)?;
        let session = FolderSession::Resumed { _locked: locked };
        let journal = SqliteJournal::open(&file, in_folder(content))?;
        let recording = Self::resume(journal, id.to_string(), start, Some(session)).await?;
        notice::note(&format!("resuming the session {id}"));
        Ok(recording)
    }

    /// Continues a session. `now` has the workspace and the grant of this process.
    async fn resume(
        journal: SqliteJournal,
        name: String,
        now: &SessionStart,
        session: Option<FolderSession>,
    ) -> Result<Self, Error> {
        // A session of an earlier version has no start.
        let first = journal.find_start(&name).await.map_err(Error::Journal)?;
        if let Some(first) = first.as_ref().filter(|first| first.workspace != now.workspace) {
            return Err(SessionError::OtherWorkspace { name, workspace: first.workspace.clone() }.into());
        }
        let first_grant = first.map(|first| first.grant.with_origin(FIRST_GRANT));
        Ok(Self { journal, name: Some(name), is_resumed: true, first_grant, _session: session })
    }

    /// Adds the journal and the session's name to the context. Narrows the grant to the one that the session began with.
    pub(crate) fn context(&self, context: ToolContext) -> ToolContext {
        let mut context = context.with_journal(Arc::new(self.journal.clone()));
        if let Some(name) = &self.name {
            context = context.with_session(name.as_str());
        }
        let Some(first) = &self.first_grant else { return context };
        let grant = context.grant().intersect(first);
        if grant != *context.grant() {
            notice::note(&format!("the session keeps to the grant that it began with: {first}"));
        }
        context.with_grant(grant)
    }

    /// Returns the grant that a resumed session began with, which limits its grant.
    pub(crate) fn first_grant(&self) -> Option<&Grant> {
        self.first_grant.as_ref()
    }

    /// Returns the run to resume, or `None` if a new one starts.
    pub(crate) async fn stored_run(&self, session: &Session) -> Result<Option<Run>, Error> {
        if !self.is_resumed {
            return Ok(None);
        }
        let run = session.stored_run().await.map_err(Error::Driver)?;
        run.map(Some).ok_or_else(|| Error::NoSession(self.name.clone().unwrap_or_default()))
    }
}

/// Returns the error for arguments to be recorded in a session that is not recorded.
fn not_recorded(record: &Setting<bool>) -> ConfigError {
    let reason = "is false, so --journal-arguments records nothing; add --journal FILE, or drop the flag".to_owned();
    ConfigError::Value { origin: record.origin.clone(), key: "sessions.record".to_owned(), reason }
}

/// A folder session survives any end of the process. After a loss of power its last records may be missing.
fn in_folder(content: SqliteOptions) -> SqliteOptions {
    content.with_durability(Durability::Process)
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
