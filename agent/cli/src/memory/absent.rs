//! A program whose sessions remember nothing.

use std::path::Path;

use tools::{Services, ToolContext};

/// Adds nothing.
pub(crate) fn insert(_services: &mut Services, _root: &Path) {}

/// Returns an empty text.
pub(crate) fn digest(_cx: &ToolContext) -> String {
    String::new()
}

/// Returns no line.
pub(crate) fn report() -> Vec<String> {
    Vec::new()
}

/// Returns no fault.
pub(crate) fn fault() -> Option<String> {
    None
}
