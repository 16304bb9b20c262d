//! Glob patterns for paths.

use globset::{GlobBuilder, GlobMatcher};

use crate::error::FsError;

/// Compiles a glob pattern. `*` and `?` match within one name, `**` matches across directories.
pub(crate) fn pattern(text: &str) -> Result<GlobMatcher, FsError> {
    if text.starts_with('/') || text.split('/').any(|part| matches!(part, "." | "..")) {
        let reason =
            format!("`{text}` is not relative to the searched directory, or it has `.` or `..`");
        return Err(FsError::Pattern { reason });
    }
    let glob = GlobBuilder::new(text)
        .literal_separator(true)
        .backslash_escape(true)
        .build();
    glob.map(|glob| glob.compile_matcher())
        .map_err(|error| FsError::Pattern {
            reason: error.to_string(),
        })
}
