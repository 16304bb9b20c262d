//! The servers of a program that has no client of MCP.

use agent::Selection;

use crate::config::Settings;
use crate::error::Error;
use crate::host::RootOption;

/// The servers of a session.
#[derive(Debug)]
pub(crate) struct Attached;

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
