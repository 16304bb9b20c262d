//! [`Recording`]: the journal of the running session.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use agent::{Run, Session};
use tools::{Grant, ToolContext};
use tools_journal::{Durability, JournalOptions as SqliteOptions, SessionStart, SqliteJournal};

use super::JournalOptions;
use crate::config::{ConfigError, Origin, Setting, Settings, Values};
use crate::error::Error;
use crate::notice;
use crate::provider_choice::ProviderChoice;
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
    /// The start of a resumed session. A session of an earlier version has none.
    first: Option<SessionStart>,
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
    /// Opens the session of this workspace to resume. Returns `None` if a new one starts.
    pub(super) async fn resumed(options: &JournalOptions, workspace: &str) -> Result<Option<Self>, Error> {
        let Some(id) = &options.resume else { return Ok(None) };
        let content = content(options);
        let recording = match (&options.journal, id, &options.session) {
            (None, id, _) => Self::resume_in_folder(id.as_deref(), content, workspace).await?,
            (Some(file), None, Some(name)) => {
                if !file.exists() {
                    return Err(Error::NoJournalFile(file.clone()));
                }
                let journal = SqliteJournal::open(file, content)?;
                Self::resume(journal, name.clone(), workspace, None).await?
            }
            (Some(_), _, _) => return Err(Error::ResumedName),
        };
        Ok(Some(recording))
    }

    /// Starts to record a session. Returns `None` if the session is not recorded.
    pub(super) async fn new(
        options: &JournalOptions,
        workspace: String,
        settings: &Settings,
        choice: &ProviderChoice,
    ) -> Result<Option<Self>, Error> {
        let content = content(options);
        let base_url = settings.base_url.as_ref().map(|url| url.value.clone());
        let start = SessionStart::new(workspace, settings.grant()).with_provider(&choice.provider);
        let start = start.with_model(choice.model.clone()).with_base_url(base_url);
        match &options.journal {
            Some(file) => Self::begin_in_file(file, options.session.clone(), content, start).await.map(Some),
            None if !settings.record_sessions.value => match options.journal_arguments {
                false => Ok(None),
                true => Err(not_recorded(&settings.record_sessions).into()),
            },
            None => match Self::begin_in_folder(content, start, &Retention::from_settings(settings)).await {
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
        Ok(Self { journal, name, is_resumed: false, first: None, _session: None })
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

    async fn resume_in_folder(id: Option<&str>, content: SqliteOptions, workspace: &str) -> Result<Self, Error> {
        let folder = SessionFolder::new()?;
        let id = match id {
            Some(id) => folder.find(id)?,
            None => folder.newest(workspace)?,
        };
        let locked = folder.lock(id)?;
        let file = folder.private_journal(id)?;
        let session = FolderSession::Resumed { _locked: locked };
        let journal = SqliteJournal::open(&file, in_folder(content))?;
        let recording = Self::resume(journal, id.to_string(), workspace, Some(session)).await?;
        notice::note(&format!("resuming the session {id}"));
        Ok(recording)
    }

    /// Continues a session in this workspace.
    async fn resume(
        journal: SqliteJournal,
        name: String,
        workspace: &str,
        session: Option<FolderSession>,
    ) -> Result<Self, Error> {
        let first = journal.find_start(&name).await.map_err(Error::Journal)?;
        if let Some(first) = first.as_ref().filter(|first| first.workspace != workspace) {
            return Err(SessionError::OtherWorkspace { name, workspace: first.workspace.clone() }.into());
        }
        let first = first.map(|mut first| {
            first.grant = first.grant.with_origin(FIRST_GRANT);
            first
        });
        Ok(Self { journal, name: Some(name), is_resumed: true, first, _session: session })
    }

    /// Sets the provider and the model that a resumed session began with, unless the flags name others.
    pub(crate) fn with_model(&self, mut flags: Values) -> Values {
        let (Some(first), Some(name)) = (&self.first, &self.name) else { return flags };
        let began_with = |value: &Option<String>| {
            value.clone().map(|value| Setting { value, origin: Origin::Session(name.clone()) })
        };
        let provider = flags.provider.take().or_else(|| began_with(&first.provider));
        // Another provider does not have the model of the one before.
        if flags.model.is_none() && provider.as_ref().map(|provider| &provider.value) == first.provider.as_ref() {
            flags.model = began_with(&first.model);
        }
        flags.provider = provider;
        flags
    }

    /// Returns an error if the recorded provider would have another service than the session began with, because nothing names its
    /// URL any more. The journal alone must not choose the service that is given a key, and no other one may read the session.
    pub(crate) fn check_service(&self, settings: &Settings) -> Result<(), SessionError> {
        let provider = settings.provider.as_ref().filter(|provider| provider.origin.session().is_some());
        match self.first.as_ref().and_then(|first| first.base_url.as_deref()) {
            Some(url) if let (Some(provider), None) = (provider, &settings.base_url) => {
                Err(SessionError::OtherService {
                    name: self.name.clone().unwrap_or_default(),
                    provider: provider.value.clone(),
                    url: url.to_owned(),
                })
            }
            _ => Ok(()),
        }
    }

    /// Adds the journal and the session's name to the context. Narrows the grant to the one that the session began with.
    pub(crate) fn context(&self, context: ToolContext) -> ToolContext {
        let mut context = context.with_journal(Arc::new(self.journal.clone()));
        if let Some(name) = &self.name {
            context = context.with_session(name.as_str());
        }
        let Some(first) = self.first_grant() else { return context };
        let grant = context.grant().intersect(first);
        if grant != *context.grant() {
            notice::note(&format!("the session keeps to the grant that it began with: {first}"));
        }
        context.with_grant(grant)
    }

    /// Returns the grant that a resumed session began with, which limits its grant.
    pub(crate) fn first_grant(&self) -> Option<&Grant> {
        self.first.as_ref().map(|first| &first.grant)
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

fn content(options: &JournalOptions) -> SqliteOptions {
    SqliteOptions::new().with_arguments(options.journal_arguments)
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
