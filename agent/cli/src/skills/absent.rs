//! The skills of a program that has no tools for them.

use std::path::PathBuf;

use agent::ToolSet;
use tools::{Services, ToolContext};

use crate::config::Settings;

/// Adds nothing.
pub(crate) fn insert(_services: &mut Services, _root: Option<&str>, _settings: &Settings) {}

/// Warns of nothing.
pub(crate) fn warn(_cx: &ToolContext) {}

/// Returns no text.
pub(crate) fn section(_cx: &ToolContext, _tools: &ToolSet) -> String {
    String::new()
}

/// Returns no file.
pub(crate) fn control_files(_settings: &Settings) -> Vec<PathBuf> {
    Vec::new()
}

/// Returns no line.
pub(crate) fn report(_root: &str, _settings: &Settings) -> Vec<String> {
    Vec::new()
}

/// Returns no finding.
pub(crate) fn findings(_root: &str, _settings: &Settings) -> Vec<String> {
    Vec::new()
}
