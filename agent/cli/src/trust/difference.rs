//! The difference between two contents of a file.

use std::time::Duration;

use similar::TextDiff;

/// The time limit for finding the shortest difference. After that, a longer one is used.
const MAX_TIME: Duration = Duration::from_millis(500);

/// Returns the lines of a unified diff with three lines of context. The caller escapes them.
pub(super) fn lines(before: &str, after: &str) -> Vec<String> {
    let diff = TextDiff::configure()
        .timeout(MAX_TIME)
        .diff_lines(before, after);
    let text = diff
        .unified_diff()
        .context_radius(3)
        .missing_newline_hint(false)
        .to_string();
    text.lines().map(str::to_owned).collect()
}

/// Returns the number of lines of a diff that add or remove a line.
pub(super) fn changed(lines: &[String]) -> usize {
    lines
        .iter()
        .filter(|line| line.starts_with(['+', '-']))
        .count()
}
