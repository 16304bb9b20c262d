//! [`unified_diff`]: the difference of two texts.

use std::time::Duration;

use similar::TextDiff;

/// The time limit for finding the shortest difference. After that, a longer one is used.
const MAX_TIME: Duration = Duration::from_millis(500);

/// Returns a unified diff of two texts, each with its name, with three lines of context. Returns an empty text if they are equal.
pub fn unified_diff(old: (&str, &str), new: (&str, &str)) -> String {
    within(MAX_TIME, old, new)
}

fn within(
    time: Duration,
    (old_name, before): (&str, &str),
    (new_name, after): (&str, &str),
) -> String {
    let diff = TextDiff::configure()
        .timeout(time)
        .diff_lines(before, after);
    diff.unified_diff()
        .context_radius(3)
        .header(old_name, new_name)
        .to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_line_end_is_shown() {
        let diff = unified_diff(("a", "a\n"), ("b", "a"));
        assert!(
            diff.starts_with("--- a\n+++ b\n") && diff.contains("\\ No newline at end of file"),
            "{diff}"
        );
        assert_eq!(unified_diff(("a", "a\n"), ("b", "a\n")), "");
    }

    #[test]
    fn without_time_a_longer_diff_will_do() {
        let lines = |factor: u64| {
            (0..100)
                .map(|at| format!("{}\n", at * factor % 101))
                .collect::<String>()
        };
        let changed = |time| {
            let diff = within(time, ("a", &lines(7)), ("a", &lines(13)));
            diff.lines()
                .filter(|line| line.starts_with(['+', '-']))
                .count()
        };
        assert!(changed(Duration::ZERO) > changed(Duration::MAX));
    }
}
