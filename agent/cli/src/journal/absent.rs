//! The backend of a program without journals: every function fails.

use std::path::Path;

use agent::Run;
use serde_json::Value;
use tools::{Grant, Host, ToolContext};

use super::JournalOptions;
use crate::config::{Settings, Values};
use crate::error::Error;
use crate::provider_choice::ProviderChoice;

/// The journal of the running session. This program has none.
pub(crate) enum Recording {}

impl Recording {
    pub(super) async fn resumed(
        options: &JournalOptions,
        _workspace: &str,
    ) -> Result<Option<Self>, Error> {
        if options.resume.is_some() {
            Err(Error::NoJournal)
        } else {
            Ok(None)
        }
    }

    pub(super) async fn new(
        options: &JournalOptions,
        _workspace: String,
        _settings: &Settings,
        _choice: &ProviderChoice,
        _job: Option<i64>,
    ) -> Result<Option<Self>, Error> {
        let is_asked = options.journal.is_some() || options.content.journal_arguments;
        if is_asked {
            Err(Error::NoJournal)
        } else {
            Ok(None)
        }
    }

    pub(crate) fn settings(
        &self,
        _flags: Values,
        _read: impl FnOnce(Values) -> Result<Settings, Error>,
    ) -> Result<Settings, Error> {
        match *self {}
    }

    pub(crate) fn context(&self, _context: Host) -> Host {
        match *self {}
    }

    pub(crate) fn keep_tasks(&self, _context: &ToolContext, _servers: &dyn host::AttachedTools) {
        match *self {}
    }

    pub(crate) fn first_grant(&self) -> Option<&Grant> {
        match *self {}
    }

    pub(crate) async fn stored_run(&self, _context: &ToolContext) -> Result<Option<Run>, Error> {
        match *self {}
    }
}

pub(crate) fn verify(_path: &Path, _head: Option<&str>) -> Result<(u64, String, u64), Error> {
    Err(Error::NoJournal)
}

pub(crate) fn damage(_error: &Error) -> Option<Value> {
    None
}

pub(crate) fn show(_path: &Path, _session: Option<&str>, _is_json: bool) -> Result<(), Error> {
    Err(Error::NoJournal)
}
