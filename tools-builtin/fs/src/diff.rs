//! Unified diffs.

use tools::{ToolContext, head};
use tools_text::unified_diff;

use crate::counted::counted;
use crate::path::RelativePath;

/// The maximum size of a diff, in bytes.
const MAX_DIFF: usize = 32 * 1024;

/// Returns a unified diff with three context lines. A long diff is truncated at the end of a line, and a note says so.
pub(crate) fn render_diff(path: &RelativePath, before: &str, after: &str) -> String {
    let diff = unified_whole(path, before, after);
    if diff.len() <= MAX_DIFF {
        return diff;
    }
    let begin = head(&diff, MAX_DIFF);
    let end = begin.rfind('\n').map_or(begin.len(), |at| at + 1);
    let rest = counted(diff.len() - end, "byte", "bytes");
    let shown = &diff[..end];
    format!("{shown}[… {rest} of the diff left out; read the file to see the rest …]\n")
}

/// Returns a unified diff of any length, for a preview, which the pipeline truncates.
pub(crate) fn unified_whole(path: &RelativePath, before: &str, after: &str) -> String {
    unified_diff((path.as_str(), before), (path.as_str(), after))
}

/// Returns a unified diff of a new file, of any length.
pub(crate) fn unified_creation(path: &RelativePath, content: &str) -> String {
    unified_diff(("/dev/null", ""), (path.as_str(), content))
}

/// Returns a note ` (…)` on a written file if it is a [sensitive path](tools::policy::SensitivePaths), otherwise an empty string.
pub(crate) fn note(cx: &ToolContext, path: &RelativePath) -> String {
    let entry = cx.sensitive_paths().find(path.as_str());
    entry.map_or_else(String::new, |entry| {
        format!(" ({})", entry.describe(path.as_str()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_diff_is_cut() {
        let (before, after) = ("é\n".repeat(20_000), "è\n".repeat(20_000));
        let diff = render_diff(&RelativePath::default(), &before, &after);
        assert!(diff.len() < MAX_DIFF + 200, "{}", diff.len());
        assert!(diff.ends_with("bytes of the diff left out; read the file to see the rest …]\n"));
    }
}
