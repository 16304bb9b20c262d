//! The servers of a program that has no client of MCP.

use std::path::PathBuf;
#[cfg(feature = "default")]
use std::sync::Arc;

use agent::Selection;
#[cfg(feature = "default")]
use tools::Task;
#[cfg(feature = "default")]
use tools::tasks::{Lost, StoredTask};
use tools::{CancellationToken, Clause, Effects, ToolContext, ToolName};

use super::{PromptCall, ServerReport};
use crate::config::Settings;
use crate::error::Error;
use crate::root::RootOption;

/// Whether a command waits for servers whose tools are not known yet.
#[derive(Clone, Copy, Debug)]
pub(crate) enum FirstList {
    /// The command is about their tools.
    Needed,
    /// The tools are offered to a session, which may not use them.
    Offered,
}

/// The servers of a session.
#[derive(Debug)]
pub(crate) struct Attached;

impl Attached {
    /// Returns no note.
    pub(crate) fn waiting(&self, _tool: &str) -> Option<String> {
        None
    }

    /// Returns the context as it is.
    pub(crate) fn with_reasons(&self, cx: ToolContext) -> ToolContext {
        cx
    }

    /// Returns no prompt.
    pub(crate) async fn prompts(&self, _connects: bool) -> (Vec<[String; 2]>, Vec<String>) {
        (Vec::new(), Vec::new())
    }

    /// Returns an error.
    pub(crate) async fn prompt(
        &self,
        _call: &PromptCall,
        _cx: &ToolContext,
    ) -> Result<String, Error> {
        Err(Error::NoServers)
    }

    /// Returns a lost task, because this program cannot reach its server.
    #[cfg(feature = "default")]
    pub(crate) fn restore(&self, task: &StoredTask) -> Arc<dyn Task> {
        Arc::new(Lost::unreachable(task, "this program has no client of MCP"))
    }
}

/// Attaches nothing.
pub(crate) async fn attach(
    _root: Option<&RootOption>,
    _settings: &Settings,
    _selection: &Selection,
    _first: FirstList,
    _cancellation: &CancellationToken,
) -> Attached {
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

/// Returns no effects.
pub(crate) fn declared_effects(_root: &RootOption) -> Vec<Effects> {
    Vec::new()
}

/// Returns false.
pub(crate) fn may_permit(_tool: &ToolName) -> bool {
    false
}

/// Returns an error.
pub(crate) fn permit(_root: &RootOption, _tool: &ToolName) -> Result<PathBuf, Error> {
    Err(Error::NoServers)
}

/// Returns no clause.
pub(crate) fn permitted(_root: &RootOption) -> (Vec<Clause>, Vec<Clause>) {
    Default::default()
}

/// Returns the context as it is.
pub(crate) fn with_sampling(cx: ToolContext) -> ToolContext {
    cx
}

/// Returns no server.
pub(crate) fn report(_root: &RootOption) -> Result<(Vec<ServerReport>, Vec<String>), Error> {
    Ok(Default::default())
}

/// Returns no file.
pub(crate) fn control_files(_root: &RootOption) -> Vec<PathBuf> {
    Vec::new()
}
