//! The options for journals.

mod recording;

use std::path::PathBuf;

use agent::Session;
use clap::Args;
use host::{CommandError, Exit, RecordPlace, shell};
use tools::journal::SessionStart;

pub(crate) use self::recording::Recording;
use crate::config::{ProgramSettings as _, RECORDING, Setting, Settings, SettingsError};
use crate::error::Error;
use crate::program;
use crate::provider_choice::ProviderChoice;

/// The hint about a session that cannot be recorded.
const UNRECORDED: &str = "the session cannot be recorded; make room in the state folder, or let sessions run without a record with --no-journal or sessions.record = false";

/// The flag of the key `sessions.record`.
const NO_JOURNAL: &str = "--no-journal";

/// The option for the content of journals.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct ContentOption {
    /// Record the arguments of calls, which may contain secrets, in addition to their digests
    #[arg(long, conflicts_with = NO_JOURNAL, help_heading = RECORDING)]
    journal_arguments: bool,
}

/// The options for journals and resumption.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct JournalOptions {
    /// Record the session in this file, created if missing, instead of the state folder. File tools cannot reach it
    #[arg(long, value_name = "FILE", conflicts_with = NO_JOURNAL, help_heading = RECORDING)]
    journal: Option<PathBuf>,

    /// Name the session in the file of --journal, and record its conversation for --resume. Without --resume the name must be
    /// new in the journal
    #[arg(long, value_name = "NAME", requires = "journal", help_heading = RECORDING)]
    session: Option<String>,

    /// Continue a recorded session: the newest one of this workspace, or the one whose ID begins with ID. With --journal, the one
    /// of --session. Finished calls are not run again, and the session keeps the grant that it began with. It has the provider
    /// and the model that it began with too, unless --provider or --model names another. A journal of --journal does not choose
    /// the provider
    #[arg(long, value_name = "ID", num_args = 0..=1, conflicts_with = NO_JOURNAL, help_heading = RECORDING)]
    resume: Option<Option<String>>,

    #[command(flatten)]
    content: ContentOption,
}

impl JournalOptions {
    /// Creates the options of calls that belong to no conversation: they are recorded in a file alone.
    pub(crate) fn for_calls(journal: Option<PathBuf>, journal_arguments: bool) -> Self {
        Self {
            journal,
            content: ContentOption { journal_arguments },
            ..Self::default()
        }
    }

    /// Returns the options of a new session in the state folder, or of one with this name in a journal of its own, which has the session
    /// already or begins with it.
    pub(crate) fn for_session(content: ContentOption, own: Option<(PathBuf, String)>) -> Self {
        let (journal, session) = own.unzip();
        let is_begun = journal.as_ref().is_some_and(|file| file.exists());
        Self {
            journal,
            session,
            resume: is_begun.then_some(None),
            content,
        }
    }

    /// Returns these options for another session of the same records.
    pub(crate) fn with_resume(&self, id: Option<String>) -> Self {
        Self {
            resume: Some(id),
            ..self.clone()
        }
    }

    /// Returns the journal, as an absolute path if the current directory is known.
    pub(crate) fn file(&self) -> Option<Setting<PathBuf>> {
        let path = self.journal.as_ref()?;
        let absolute = std::path::absolute(path).unwrap_or_else(|_| path.clone());
        Some(Setting::from_flag("--journal", absolute))
    }

    /// Returns the journal and the files that SQLite creates next to it.
    pub(crate) fn files(&self) -> Vec<PathBuf> {
        ["", "-wal", "-shm", "-journal"]
            .into_iter()
            .filter_map(|end| {
                let mut path = self.journal.clone()?.into_os_string();
                path.push(end);
                Some(PathBuf::from(path))
            })
            .collect()
    }

    /// Returns the name of the session.
    pub(crate) fn name(&self) -> Option<Setting<&str>> {
        let name = self.session.as_deref();
        name.map(|name| Setting::from_flag("--session", name))
    }

    /// Opens the session of this workspace to resume. Returns `None` if a new one starts.
    pub(crate) async fn resume(&self, workspace: &str) -> Result<Option<Recording>, Error> {
        let Some(id) = &self.resume else {
            return Ok(None);
        };
        let records = host::session_records().ok_or_else(no_records)?;
        let record = (records.resume)(&self.place(), id.as_deref(), workspace).await;
        let record = record.map_err(|mut error| {
            // A prompt behind the flag is read as its ID.
            if id
                .as_ref()
                .is_some_and(|id| id.contains(char::is_whitespace))
            {
                error.hint = Some(
                    "write the ID before the prompt, or the prompt before --resume".to_owned(),
                );
            }
            error
        })?;
        Ok(Some(self.to_recording(record, true)))
    }

    /// Starts to record a session in this workspace, which may run a job. Returns `None` if the session is not recorded.
    pub(crate) async fn recording(
        &self,
        workspace: String,
        settings: &Settings,
        choice: &ProviderChoice,
        job: Option<i64>,
    ) -> Result<Option<Recording>, Error> {
        let record = &settings.program().record_sessions;
        let is_off = self.journal.is_none() && !record.value;
        let Some(records) = host::session_records().filter(|_| !is_off) else {
            let wants_records = self.journal.is_some() || self.content.journal_arguments;
            return if wants_records && is_off {
                Err(not_recorded(record).into())
            } else if wants_records {
                Err(no_records().into())
            } else {
                Ok(None)
            };
        };
        let base_url = settings.program().base_url.as_ref();
        let mut start = SessionStart::new(workspace, settings.grant());
        // A resumed session keeps to these, so that no other service reads its conversation.
        start.provider = Some(choice.provider.clone());
        start.model = choice.model.clone();
        start.base_url = base_url.map(|url| url.value.clone());
        start.job = job;
        match (records.begin)(&self.place(), start, settings).await {
            Ok(record) => Ok(Some(self.to_recording(record, false))),
            // An unrecorded session is the decision of a person, not of a full disk.
            Err(error) if self.journal.is_none() => Err(Error::Unfinished {
                error: Box::new(error.into()),
                hint: UNRECORDED.to_owned(),
            }),
            Err(error) => Err(error.into()),
        }
    }

    fn place(&self) -> RecordPlace {
        RecordPlace {
            file: self.journal.clone(),
            name: self.session.clone(),
            with_arguments: self.content.journal_arguments,
        }
    }

    fn to_recording(&self, record: host::SessionRecord, is_resumed: bool) -> Recording {
        Recording {
            record,
            is_resumed,
            is_of_user: self.journal.is_none(),
        }
    }

    /// Returns the flags that continue the session of this name.
    pub(crate) fn resume_flags(&self, name: &str) -> String {
        match &self.journal {
            None => format!("--resume {name}"),
            Some(file) => {
                let file = file.to_string_lossy();
                let (file, name) = (shell::quote(&file), shell::quote(name));
                format!("--journal {file} --session {name} --resume")
            }
        }
    }

    /// Adds the command line that continues the session, if the error ended a recorded session before its answer. `flags` names it.
    pub(crate) async fn add_hint(
        error: Error,
        session: &Session,
        command: &str,
        flags: impl Fn(&str) -> String,
    ) -> Error {
        let stored = session.stored_run().await.ok().flatten();
        let (Some(name), Some(false)) = (
            session.context().session(),
            stored.map(|run| run.is_answered()),
        ) else {
            return error;
        };
        let program = program::name();
        let flags = flags(name);
        let mut hint = format!("to continue it: {program} {command} {flags}");
        if matches!(error, Error::Waiting(_)) {
            hint += " --approve REQUEST, or --deny REQUEST";
        }
        Error::Unfinished {
            error: Box::new(error),
            hint,
        }
    }
}

/// Returns the error for arguments to be recorded in a session that is not recorded.
fn not_recorded(record: &Setting<bool>) -> SettingsError {
    let reason =
        "is false, so --journal-arguments records nothing; add --journal FILE, or drop the flag";
    SettingsError::value(&record.origin, "sessions.record", reason)
}

/// Returns the error of a program that keeps no records.
pub(crate) fn no_records() -> CommandError {
    CommandError::new(
        Exit::Usage,
        "this program was built without journals; rebuild it with its default features",
    )
}
