//! Unified diffs.

use std::time::Duration;

use similar::{Algorithm, TextDiff};
use tools::{ToolContext, head};

use crate::counted::counted;
use crate::path::RelativePath;

/// The maximum size of a diff, in bytes.
const MAX_DIFF: usize = 32 * 1024;

/// The time limit for finding the shortest diff. After that, a longer one is used.
const MAX_TIME: Duration = Duration::from_millis(500);

/// Returns a unified diff with three context lines. A long diff is truncated at the end of a line, and a note says so.
pub(crate) fn render_diff(path: &RelativePath, before: &str, after: &str) -> String {
    unified_within(MAX_TIME, path, before, after)
}

/// Returns a unified diff of any length, for a preview, which the pipeline truncates.
pub(crate) fn unified_whole(path: &RelativePath, before: &str, after: &str) -> String {
    whole_within(MAX_TIME, (path.as_str(), before), (path.as_str(), after))
}

/// Returns a unified diff of a new file, of any length.
pub(crate) fn unified_creation(path: &RelativePath, content: &str) -> String {
    whole_within(MAX_TIME, ("/dev/null", ""), (path.as_str(), content))
}

/// Returns the diff of two texts, each with its name.
fn whole_within(
    time: Duration,
    (old_name, before): (&str, &str),
    (new_name, after): (&str, &str),
) -> String {
    let diff = TextDiff::configure()
        .algorithm(Algorithm::Myers)
        .timeout(time)
        .diff_lines(before, after);
    diff.unified_diff()
        .context_radius(3)
        .header(old_name, new_name)
        .to_string()
}

fn unified_within(time: Duration, path: &RelativePath, before: &str, after: &str) -> String {
    let diff = whole_within(time, (path.as_str(), before), (path.as_str(), after));
    if diff.len() <= MAX_DIFF {
        return diff;
    }
    let begin = head(&diff, MAX_DIFF);
    let end = begin.rfind('\n').map_or(begin.len(), |at| at + 1);
    let rest = counted(diff.len() - end, "byte", "bytes");
    let shown = &diff[..end];
    format!("{shown}[… {rest} of the diff left out; read the file to see the rest …]\n")
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

    #[test]
    fn a_missing_line_end_is_shown() {
        let diff = render_diff(&RelativePath::default(), "a\n", "a");
        assert!(diff.contains("\\ No newline at end of file"), "{diff}");
    }

    #[test]
    fn without_time_a_longer_diff_will_do() {
        let lines = |factor: u64| {
            (0..100)
                .map(|at| format!("{}\n", at * factor % 101))
                .collect::<String>()
        };
        let changed = |time| {
            let diff = unified_within(time, &RelativePath::default(), &lines(7), &lines(13));
            diff.lines()
                .filter(|line| line.starts_with(['+', '-']))
                .count()
        };
        assert!(changed(Duration::ZERO) > changed(Duration::MAX));
    }
}
