//! Notes on sensitive files in results.

use tools::ToolContext;

use crate::path::RelativePath;

/// Returns a note ` (…)` on a written file if it is a [sensitive path](tools::policy::SensitivePaths), otherwise an empty string.
pub(crate) fn note(cx: &ToolContext, path: &RelativePath) -> String {
    let entry = cx.sensitive_paths().find(path.as_str());
    entry.map_or_else(String::new, |entry| {
        format!(" ({})", entry.describe(path.as_str()))
    })
}
