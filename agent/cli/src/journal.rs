//! The journal of a session, where the program is built with one.

#[cfg(not(feature = "journal"))]
mod absent;
#[cfg(feature = "journal")]
mod sqlite;

use std::path::PathBuf;

use agent::{Driver, Run, Session};
use clap::Args;
use tools::ToolContext;

#[cfg(not(feature = "journal"))]
use self::absent as kept;
#[cfg(feature = "journal")]
use self::sqlite as kept;
use crate::config::Setting;
use crate::error::Error;

pub(crate) use self::kept::{damage, show, verify};

/// Where calls are written down, and what is resumed.
#[derive(Args, Debug)]
pub(crate) struct JournalOptions {
    /// A file that every call is written into: before it is run, how it ended, and that it was refused. Made where it is not there.
    /// No file tool reaches it. Needs a program that was built with the feature journal
    #[arg(long, value_name = "FILE")]
    journal: Option<PathBuf>,

    /// A name for the session, new in the journal. The conversation is kept there as well, so that --resume can go on with it
    #[arg(long, value_name = "NAME", requires = "journal")]
    session: Option<String>,

    /// Go on with the session of that name, which ended before its answer. What it has done is not done again
    #[arg(long, requires = "session")]
    resume: bool,

    /// Keep the arguments of calls in the journal as they are, not as digests alone. They may hold secrets
    #[arg(long, requires = "journal")]
    journal_arguments: bool,
}

impl JournalOptions {
    /// The file, as an absolute path where that can be told.
    pub(crate) fn file(&self) -> Option<Setting<PathBuf>> {
        let absolute = |path: &PathBuf| std::path::absolute(path).unwrap_or_else(|_| path.clone());
        self.journal.as_ref().map(|path| Setting::of_flag("--journal", absolute(path)))
    }

    /// The file, and those that SQLite puts beside it.
    pub(crate) fn files(&self) -> Vec<PathBuf> {
        let beside = |end: &str| {
            let mut path = self.journal.clone()?.into_os_string();
            path.push(end);
            Some(PathBuf::from(path))
        };
        ["", "-wal", "-shm", "-journal"].into_iter().filter_map(beside).collect()
    }

    /// The name of the session.
    pub(crate) fn name(&self) -> Option<Setting<&str>> {
        self.session.as_deref().map(|name| Setting::of_flag("--session", name))
    }

    /// The context with the journal, and with the session's name.
    pub(crate) fn context(&self, context: ToolContext) -> Result<ToolContext, Error> {
        let Some(path) = &self.journal else { return Ok(context) };
        if self.resume && !path.exists() {
            return Err(Error::NoJournalFile(path.clone()));
        }
        let context = context.with_journal(kept::open(path, self.journal_arguments)?);
        Ok(match &self.session {
            Some(session) => context.with_session(session.as_str()),
            None => context,
        })
    }

    /// A driver that keeps the conversation, where the session has a name.
    pub(crate) fn driver(&self, driver: Driver) -> Driver {
        driver.with_checkpoints(self.session.is_some())
    }

    /// The run to go on with; `None` where one is to begin.
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
