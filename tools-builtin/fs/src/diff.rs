//! Unified diffs.

use std::time::Duration;

use similar::{Algorithm, TextDiff};

use crate::path::RelativePath;

/// How much of a diff is shown, in bytes.
const MAX_DIFF: usize = 32 * 1024;

/// How long the shortest diff is looked for; after that a longer one will do.
const MAX_TIME: Duration = Duration::from_millis(500);

/// What has changed in a file, with three lines around each change. A long diff is cut at a line end, and says so.
pub(crate) fn unified(path: &RelativePath, before: &str, after: &str) -> String {
    let diff = TextDiff::configure().algorithm(Algorithm::Myers).timeout(MAX_TIME).diff_lines(before, after);
    let diff = diff.unified_diff().context_radius(3).header(path.as_str(), path.as_str()).to_string();
    if diff.len() <= MAX_DIFF {
        return diff;
    }
    let most = (0..=MAX_DIFF).rfind(|at| diff.is_char_boundary(*at)).unwrap_or(0);
    let end = diff[..most].rfind('\n').map_or(most, |at| at + 1);
    format!("{}[… {} bytes of the diff left out; read the file to see all of it …]\n", &diff[..end], diff.len() - end)
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    #[test]
    fn a_long_diff_is_cut() {
        let (before, after) = ("é\n".repeat(20_000), "è\n".repeat(20_000));
        let diff = unified(&RelativePath::default(), &before, &after);
        assert!(diff.len() < MAX_DIFF + 200, "{}", diff.len());
        assert!(diff.ends_with("bytes of the diff left out; read the file to see all of it …]\n"));
    }

    #[test]
    fn a_missing_line_end_is_shown() {
        let diff = unified(&RelativePath::default(), "a\n", "a");
        assert!(diff.contains("\\ No newline at end of file"), "{diff}");
    }

    #[test]
    fn the_shortest_diff_is_not_looked_for_at_any_cost() {
        // Lines in another order are what takes longest: minutes, for these.
        let lines = |factor: u64| (0..300_000).map(|at| format!("{}\n", at * factor % 299_993)).collect::<String>();
        let start = Instant::now();
        unified(&RelativePath::default(), &lines(7_919), &lines(104_729));
        assert!(start.elapsed() < 40 * MAX_TIME, "{:?}", start.elapsed());
    }
}
