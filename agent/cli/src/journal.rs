//! The options for journals. Without the feature `journal`, opening one fails.

#[cfg(not(feature = "journal"))]
mod absent;
#[cfg(feature = "journal")]
mod sqlite;

use std::path::PathBuf;

use agent::{Driver, Run, Session};
use clap::Args;
use tools::ToolContext;

#[cfg(not(feature = "journal"))]
use self::absent as backend;
#[cfg(feature = "journal")]
use self::sqlite as backend;
use crate::config::Setting;
use crate::error::Error;

pub(crate) use self::backend::{damage, show, verify};

/// The options for journals and resumption.
#[derive(Args, Debug)]
pub(crate) struct JournalOptions {
    /// Record the intent, outcome or refusal of every call in this file, created if missing. File tools cannot reach it.
    /// Requires the feature journal
    #[arg(long, value_name = "FILE")]
    journal: Option<PathBuf>,

    /// Name the session, and record its conversation for --resume. Without --resume the name must be new in the journal
    #[arg(long, value_name = "NAME", requires = "journal")]
    session: Option<String>,

    /// Continue the named session, which ended before its answer. Finished calls are not run again
    #[arg(long, requires = "session")]
    resume: bool,

    /// Record the arguments of calls, which may contain secrets, in addition to their digests
    #[arg(long, requires = "journal")]
    journal_arguments: bool,
}

impl JournalOptions {
    /// Returns the journal, as an absolute path if the current directory is known.
    pub(crate) fn file(&self) -> Option<Setting<PathBuf>> {
        let absolute = |path: &PathBuf| std::path::absolute(path).unwrap_or_else(|_| path.clone());
        self.journal.as_ref().map(|path| Setting::from_flag("--journal", absolute(path)))
    }

    /// Returns the journal and the files that SQLite creates next to it.
    pub(crate) fn files(&self) -> Vec<PathBuf> {
        let sibling = |end: &str| {
            let mut path = self.journal.clone()?.into_os_string();
            path.push(end);
            Some(PathBuf::from(path))
        };
        ["", "-wal", "-shm", "-journal"].into_iter().filter_map(sibling).collect()
    }

    /// Returns the name of the session.
    pub(crate) fn name(&self) -> Option<Setting<&str>> {
        self.session.as_deref().map(|name| Setting::from_flag("--session", name))
    }

    /// Adds the journal and the session's name to the context.
    pub(crate) fn context(&self, context: ToolContext) -> Result<ToolContext, Error> {
        let Some(path) = &self.journal else { return Ok(context) };
        if self.resume && !path.exists() {
            return Err(Error::NoJournalFile(path.clone()));
        }
        let context = context.with_journal(backend::open(path, self.journal_arguments)?);
        Ok(match &self.session {
            Some(session) => context.with_session(session.as_str()),
            None => context,
        })
    }

    /// Enables checkpoints of the conversation if the session has a name.
    pub(crate) fn driver(&self, driver: Driver) -> Driver {
        driver.with_checkpoints(self.session.is_some())
    }

    /// Returns the run to resume, or `None` if a new one starts.
    pub(crate) async fn stored_run(&self, session: &Session) -> Result<Option<Run>, Error> {
        let Some(name) = &self.session else { return Ok(None) };
        match (session.stored_run().await.map_err(Error::Driver)?, self.resume) {
            (Some(run), true) => Ok(Some(run)),
            (None, false) => Ok(None),
            (Some(_), false) => Err(Error::SessionExists(name.clone())),
            (None, true) => Err(Error::NoSession(name.clone())),
        }
    }
}
