//! The servers of a program that has no client of MCP.

#[cfg(feature = "journal")]
use std::sync::Arc;

use agent::Selection;
#[cfg(feature = "journal")]
use tools::Task;
#[cfg(feature = "journal")]
use tools::tasks::{Lost, StoredTask};

use crate::config::Settings;
use crate::error::Error;
use crate::host::RootOption;

/// The servers of a session.
#[derive(Debug)]
pub(crate) struct Attached;

impl Attached {
    /// Returns a lost task, because this program cannot reach its server.
    #[cfg(feature = "journal")]
    pub(crate) fn restore(&self, task: &StoredTask) -> Arc<dyn Task> {
        Arc::new(Lost::unreachable(task, "this program has no client of MCP"))
    }
}

/// Attaches nothing.
pub(crate) async fn attach(_root: Option<&RootOption>, _settings: &Settings, _selection: &Selection) -> Attached {
    Attached
}

/// Attaches nothing.
pub(crate) async fn attach_for(
    _name: &str,
    _root: Option<&RootOption>,
    _settings: impl FnOnce() -> Result<Settings, Error>,
) -> Result<Attached, Error> {
    Ok(Attached)
}

/// Returns no line.
pub(crate) fn report(_root: &RootOption) -> Vec<String> {
    Vec::new()
}
