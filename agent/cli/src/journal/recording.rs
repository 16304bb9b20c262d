//! [`Recording`]: the journal of the running session.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use agent::{Run, Selection, Session};
use tools::tasks::StoredTask;
use tools::{Grant, Host, Tasks, ToolContext};
use tools_journal::{Durability, JournalOptions as SqliteOptions, SessionStart, SqliteJournal};

use super::JournalOptions;
use crate::config::{
    Origin, ProgramKeys, ProgramSettings as _, Setting, Settings, SettingsError, Values,
};
use crate::error::Error;
use crate::notice;
use crate::provider_choice::ProviderChoice;
use crate::sessions::{
    LockedSession, OtherService, Retention, SessionError, SessionFolder, StoredSession,
};

/// The origin of the clauses that a resumed session began with.
const FIRST_GRANT: &str = "the start of the session";

/// The hint about a session that cannot be recorded.
const UNRECORDED: &str = "the session cannot be recorded; make room in the state folder, or let sessions run without a record with --no-journal or sessions.record = false";

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
    folder: Option<FolderSession>,
}

/// A session of the folder. Dropping it unlocks the session, and removes a new one that had no prompt.
#[derive(Debug)]
enum FolderSession {
    New(LockedSession),
    Resumed(LockedSession),
}

impl Recording {
    /// Opens the session of this workspace to resume. Returns `None` if a new one starts.
    pub(super) async fn resumed(
        options: &JournalOptions,
        workspace: &str,
    ) -> Result<Option<Self>, Error> {
        let Some(id) = &options.resume else {
            return Ok(None);
        };
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
        job: Option<i64>,
    ) -> Result<Option<Self>, Error> {
        let content = content(options);
        let base_url = settings
            .program()
            .base_url
            .as_ref()
            .map(|url| url.value.clone());
        let start = SessionStart::new(workspace, settings.grant()).with_provider(&choice.provider);
        let start = start
            .with_model(choice.model.clone())
            .with_base_url(base_url)
            .with_job(job);
        match &options.journal {
            Some(file) => Self::begin_in_file(file, options.session.clone(), content, start)
                .await
                .map(Some),
            None if !settings.program().record_sessions.value => {
                match options.content.journal_arguments {
                    false => Ok(None),
                    true => Err(not_recorded(&settings.program().record_sessions).into()),
                }
            }
            None => {
                match Self::begin_in_folder(content, start, &Retention::from_settings(settings))
                    .await
                {
                    Ok(recording) => Ok(Some(recording)),
                    // An unrecorded session is the decision of a person, not of a full disk.
                    Err(error) => Err(Error::Unfinished {
                        error: Box::new(error),
                        hint: UNRECORDED.to_owned(),
                    }),
                }
            }
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
        Ok(Self {
            journal,
            name,
            is_resumed: false,
            first: None,
            folder: None,
        })
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
        Ok(Self {
            folder: Some(session),
            ..recording
        })
    }

    async fn resume_in_folder(
        id: Option<&str>,
        content: SqliteOptions,
        workspace: &str,
    ) -> Result<Self, Error> {
        let folder = SessionFolder::new()?;
        let id = folder.find_or_newest(id, workspace)?;
        let locked = folder.lock(id)?;
        let file = folder.private_journal(id)?;
        let session = FolderSession::Resumed(locked);
        let journal = SqliteJournal::open(&file, in_folder(content))?;
        Self::resume(journal, id.to_string(), workspace, Some(session)).await
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
            return Err(SessionError::OtherWorkspace {
                name,
                workspace: first.workspace.clone(),
            }
            .into());
        }
        first
            .as_ref()
            .map_or(Ok(()), |first| SessionError::check_no_job(&name, first))?;
        let first = first.map(|mut first| {
            first.grant = first.grant.with_origin(FIRST_GRANT);
            first
        });
        Ok(Self {
            journal,
            name: Some(name),
            is_resumed: true,
            first,
            folder: session,
        })
    }

    /// Returns the settings of a resumed session, as `read` reads them for the flags.
    ///
    /// - A session of the state folder has the provider and the model that it began with, unless a flag names another.
    /// - A journal in a file may come from elsewhere, so it names only the model: the settings or a flag must name its provider.
    ///
    /// # Errors
    /// Returns an error if the conversation would go to another provider or another service than before, and no flag names it.
    pub(crate) fn settings(
        &self,
        mut flags: Values,
        read: impl FnOnce(Values) -> Result<Settings, Error>,
    ) -> Result<Settings, Error> {
        let named = self.first.as_ref().zip(self.name.as_ref());
        let Some((first, name, provider)) =
            named.and_then(|(first, name)| Some((first, name, first.provider.as_ref()?)))
        else {
            return read(flags);
        };
        let began_with = |value: &String| Setting {
            value: value.clone(),
            origin: Origin::Session(name.clone()),
        };
        let (is_provider_named, is_model_named) = (
            flags.of::<ProgramKeys>().provider.is_some(),
            flags.of::<ProgramKeys>().model.is_some(),
        );
        if self.is_of_user() {
            flags
                .of_mut::<ProgramKeys>()
                .provider
                .get_or_insert_with(|| began_with(provider));
        }
        let mut settings = read(flags)?;
        let chosen = ProviderChoice::from_settings(&settings).provider;
        if chosen != *provider {
            // Another provider does not have the model of the one before.
            let (name, provider) = (name.clone(), provider.clone());
            let other = SessionError::OtherProvider {
                name,
                provider,
                chosen,
            };
            return if is_provider_named {
                Ok(settings)
            } else {
                Err(other.into())
            };
        }
        if let Some(error) =
            self.other_service(name, first, provider, settings.program().base_url.as_ref())
        {
            return Err(error.into());
        }
        if !is_provider_named {
            settings =
                settings.edit(|keys: &mut ProgramKeys| keys.provider = Some(began_with(provider)));
        }
        if !is_model_named {
            settings = settings
                .edit(|keys: &mut ProgramKeys| keys.model = first.model.as_ref().map(began_with));
        }
        Ok(settings)
    }

    /// Returns the error if the provider's service is not the one that the session began with, and no flag names it.
    fn other_service(
        &self,
        name: &str,
        first: &SessionStart,
        provider: &str,
        base_url: Option<&Setting<String>>,
    ) -> Option<SessionError> {
        let is_named = base_url.is_some_and(|url| matches!(url.origin, Origin::Flag(_)));
        if is_named || first.base_url.as_ref() == base_url.map(|url| &url.value) {
            return None;
        }
        Some(SessionError::OtherService(Box::new(OtherService {
            name: name.to_owned(),
            provider: provider.to_owned(),
            began_at: first.base_url.clone(),
            configured: base_url.cloned(),
            is_of_user: self.is_of_user(),
        })))
    }

    /// Returns true if the journal is one of the state folder, which only this user can write.
    fn is_of_user(&self) -> bool {
        self.folder.is_some()
    }

    /// Adds the journal and the session's name to the context. Narrows the grant to the one that the session began with.
    pub(crate) fn context(&self, context: Host) -> Host {
        if let (Some(FolderSession::Resumed(_)), Some(name)) = (&self.folder, &self.name) {
            notice::note(&format!("resuming the session {name}"));
        }
        // The file may come from elsewhere, with a conversation that another program made.
        if self.is_resumed && !self.is_of_user() {
            context.record_exposure();
        }
        let mut context = context.with_journal(Arc::new(self.journal.clone()));
        if let Some(name) = &self.name {
            context = context.with_session(name.as_str());
        }
        let Some(first) = self.first_grant() else {
            return context;
        };
        let grant = context.grant().intersect(first);
        if grant != *context.grant() {
            notice::note(&format!(
                "the session keeps to the grant that it began with: {first}"
            ));
        }
        context.with_grant(grant)
    }

    /// Restores the tasks of an earlier process that other parties have kept, and saves those of this one. A session in a journal file
    /// of the user's choice keeps none.
    pub(crate) fn keep_tasks(&self, context: &ToolContext, servers: &dyn host::AttachedTools) {
        let (Some(folder), Some(tasks)) = (&self.folder, context.service::<Tasks>()) else {
            return;
        };
        let (FolderSession::New(session) | FolderSession::Resumed(session)) = folder;
        let file = session.tasks();
        let find = |stored: &StoredTask| (servers.restore(stored), tools::get(&stored.tool).ok());
        tasks.restore(file.read(), find);
        tasks.set_store(file);
    }

    /// Returns the grant that a resumed session began with, which limits its grant.
    pub(crate) fn first_grant(&self) -> Option<&Grant> {
        self.first.as_ref().map(|first| &first.grant)
    }

    /// Returns the run to resume, or `None` if a new one starts. The context has the journal and the session's name.
    pub(crate) async fn stored_run(&self, context: &ToolContext) -> Result<Option<Run>, Error> {
        if !self.is_resumed {
            return Ok(None);
        }
        // The run decides about the approver of the session, so it is read before there is one.
        let session = Session::new([], Selection::new(), context.clone());
        let run = session.stored_run().await.map_err(Error::Driver)?;
        run.map(Some)
            .ok_or_else(|| Error::NoSession(self.name.clone().unwrap_or_default()))
    }
}

fn content(options: &JournalOptions) -> SqliteOptions {
    SqliteOptions::new().with_arguments(options.content.journal_arguments)
}

/// Returns the error for arguments to be recorded in a session that is not recorded.
fn not_recorded(record: &Setting<bool>) -> SettingsError {
    let reason =
        "is false, so --journal-arguments records nothing; add --journal FILE, or drop the flag"
            .to_owned();
    SettingsError::Value {
        origin: record.origin.clone(),
        key: "sessions.record".to_owned(),
        reason,
    }
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
