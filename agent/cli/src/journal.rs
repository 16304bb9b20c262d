//! The options for journals. In the lean build, opening one fails.

#[cfg(not(feature = "default"))]
mod absent;
#[cfg(feature = "default")]
mod recording;
#[cfg(feature = "default")]
mod sqlite;

use std::path::PathBuf;

use agent::{Run, Session};
use clap::Args;
use tools::ToolContext;

#[cfg(not(feature = "default"))]
use self::absent as backend;
#[cfg(feature = "default")]
use self::sqlite as backend;
use crate::config::{Setting, Settings};
use crate::error::Error;
use crate::provider_choice::ProviderChoice;
use crate::{program, shell};

#[cfg(not(feature = "default"))]
pub(crate) use self::absent::Recording;
pub(crate) use self::backend::{damage, show, verify};
#[cfg(feature = "default")]
pub(crate) use self::{recording::Recording, sqlite::advice};

/// The flag of the key `sessions.record`.
const NO_JOURNAL: &str = "--no-journal";

/// The option for the content of journals.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct ContentOption {
    /// Record the arguments of calls, which may contain secrets, in addition to their digests
    #[arg(long, conflicts_with = NO_JOURNAL)]
    journal_arguments: bool,
}

/// The options for journals and resumption.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct JournalOptions {
    /// Record the session in this file, created if missing, instead of the state folder. File tools cannot reach it
    #[arg(long, value_name = "FILE", conflicts_with = NO_JOURNAL)]
    journal: Option<PathBuf>,

    /// Name the session in the file of --journal, and record its conversation for --resume. Without --resume the name must be
    /// new in the journal
    #[arg(long, value_name = "NAME", requires = "journal")]
    session: Option<String>,

    /// Continue a recorded session: the newest one of this workspace, or the one whose ID begins with ID. With --journal, the one
    /// of --session. Finished calls are not run again, and the session keeps the grant that it began with. It has the provider
    /// and the model that it began with too, unless --provider or --model names another. A journal of --journal does not choose
    /// the provider
    #[arg(long, value_name = "ID", num_args = 0..=1, conflicts_with = NO_JOURNAL)]
    resume: Option<Option<String>>,

    #[command(flatten)]
    content: ContentOption,
}

impl JournalOptions {
    /// Creates the options of calls that belong to no conversation: they are recorded in a file alone.
    #[cfg(feature = "default")]
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

    /// Returns the journal, as an absolute path if the current directory is known.
    pub(crate) fn file(&self) -> Option<Setting<PathBuf>> {
        let absolute = |path: &PathBuf| std::path::absolute(path).unwrap_or_else(|_| path.clone());
        self.journal
            .as_ref()
            .map(|path| Setting::from_flag("--journal", absolute(path)))
    }

    /// Returns the journal and the files that SQLite creates next to it.
    pub(crate) fn files(&self) -> Vec<PathBuf> {
        let sibling = |end: &str| {
            let mut path = self.journal.clone()?.into_os_string();
            path.push(end);
            Some(PathBuf::from(path))
        };
        ["", "-wal", "-shm", "-journal"]
            .into_iter()
            .filter_map(sibling)
            .collect()
    }

    /// Returns the name of the session.
    pub(crate) fn name(&self) -> Option<Setting<&str>> {
        self.session
            .as_deref()
            .map(|name| Setting::from_flag("--session", name))
    }

    /// Opens the session of this workspace to resume. Returns `None` if a new one starts.
    pub(crate) async fn resumed(&self, workspace: &str) -> Result<Option<Recording>, Error> {
        Recording::resumed(self, workspace).await
    }

    /// Starts to record a session in this workspace, which may run a job. Returns `None` if the session is not recorded.
    pub(crate) async fn recording(
        &self,
        workspace: String,
        settings: &Settings,
        choice: &ProviderChoice,
        job: Option<i64>,
    ) -> Result<Option<Recording>, Error> {
        Recording::new(self, workspace, settings, choice, job).await
    }

    /// Returns the flags that continue the session of this name.
    pub(crate) fn resume_flags(&self, name: &str) -> String {
        match &self.journal {
            None => format!("--resume {name}"),
            Some(file) => {
                let file = file.to_string_lossy();
                format!(
                    "--journal {} --session {} --resume",
                    shell::quoted(&file),
                    shell::quoted(name)
                )
            }
        }
    }

    /// Adds the command line that continues the session, if the error ended a recorded session before its answer.
    pub(crate) async fn unfinished(&self, error: Error, session: &Session, command: &str) -> Error {
        let stored = session.stored_run().await.ok().flatten();
        let (Some(name), Some(false)) = (
            session.context().session(),
            stored.map(|run| run.is_answered()),
        ) else {
            return error;
        };
        let flags = self.resume_flags(name);
        let answer = if matches!(error, Error::Waiting(_)) {
            " --approve REQUEST, or --deny REQUEST"
        } else {
            ""
        };
        let hint = format!(
            "to continue it with the same flags: {} {command} {flags}{answer}",
            program::name()
        );
        Error::Unfinished {
            error: Box::new(error),
            hint,
        }
    }
}

/// Returns the run to resume, or `None` if a new one starts. The context is that of the session.
pub(crate) async fn stored_run(
    recording: Option<&Recording>,
    context: &ToolContext,
) -> Result<Option<Run>, Error> {
    match recording {
        Some(recording) => recording.stored_run(context).await,
        None => Ok(None),
    }
}
