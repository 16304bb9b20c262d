//! The servers of a program that has no client of MCP.

use agent::Selection;
use tools::ToolContext;

use super::{PromptCall, ServerReport};
use crate::config::Settings;
use crate::error::Error;
use crate::host::RootOption;

/// The servers of a session.
#[derive(Debug)]
pub(crate) struct Attached;

impl Attached {
    /// Returns no prompt.
    pub(crate) async fn prompts(&self, _connects: bool) -> (Vec<[String; 2]>, Vec<String>) {
        (Vec::new(), Vec::new())
    }

    /// Returns an error.
    pub(crate) async fn prompt(&self, _call: &PromptCall, _cx: &ToolContext) -> Result<String, Error> {
        Err(Error::NoServers)
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

/// Returns the context as it is.
pub(crate) fn with_sampling(cx: ToolContext) -> ToolContext {
    cx
}

/// Returns no server.
pub(crate) fn report(_root: &RootOption) -> Result<Vec<ServerReport>, Error> {
    Ok(Vec::new())
}
