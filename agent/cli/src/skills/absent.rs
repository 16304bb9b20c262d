//! The skills of a program that has no tools for them.

use std::path::{Path, PathBuf};

use agent::ToolSet;
use tools::{Entry, Services, ToolContext};

use crate::config::Settings;

/// No skills.
#[derive(Default)]
pub(crate) struct Library(());

impl Library {
    /// Finds no skill.
    pub(crate) fn load(_workspace: String, _reads_project: bool, _settings: &Settings) -> Self {
        Self(())
    }

    /// Returns no place.
    #[cfg(feature = "builtin")]
    pub(crate) fn places(&self) -> &[PathBuf] {
        &[]
    }
}

/// Adds nothing.
pub(crate) fn insert(_services: &mut Services, _library: &Library) {}

/// Warns of nothing.
pub(crate) fn warn(_cx: &ToolContext) {}

/// Warns of nothing.
pub(crate) fn warn_for(_cx: &ToolContext, _tool: &Entry) {}

/// Returns no text.
pub(crate) fn section(_cx: &ToolContext, _tools: &ToolSet) -> String {
    String::new()
}

/// Returns no file.
pub(crate) fn control_files(_library: &Library, _root: &Path) -> Vec<PathBuf> {
    Vec::new()
}

/// Returns no line.
pub(crate) fn report(_library: &Library) -> Vec<String> {
    Vec::new()
}

/// Returns no finding.
pub(crate) fn findings(_library: &Library) -> Vec<String> {
    Vec::new()
}
