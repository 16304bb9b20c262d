//! Notes in results on files that are more than files.

use tools::ToolContext;

use crate::path::RelativePath;

/// Returns ` (…)` with what a file is that was written, nothing if it is a file like any other.
pub(crate) fn note(cx: &ToolContext, path: &RelativePath) -> String {
    let entry = cx.sensitive_paths().find(path.as_str());
    entry.map_or_else(String::new, |entry| format!(" ({})", entry.describe(path.as_str())))
}
