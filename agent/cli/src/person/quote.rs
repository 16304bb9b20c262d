//! [`quoted`]: untrusted words, marked on each line.

use crate::visible::visible;

const MARK: &str = "  | ";

/// The narrowest room for words, in columns.
const MIN_ROOM: usize = 16;

/// Returns untrusted text after a label, with a mark before each line. Invisible characters are escaped, and lines are broken before
/// the terminal breaks them, which would start a line without a mark.
pub(super) fn quoted(label: &str, text: &str, width: usize) -> String {
    let room = width.saturating_sub(MARK.len() + 1).max(MIN_ROOM);
    let mut quoted = String::new();
    for (number, line) in text.lines().enumerate() {
        let label = if number == 0 { label } else { "" };
        quoted += MARK;
        let mut used = 0;
        for c in label.chars().chain(visible(line).chars()) {
            // A character may take two columns.
            let columns = if c.is_ascii() { 1 } else { 2 };
            if used + columns > room {
                quoted.push('\n');
                quoted += MARK;
                used = 0;
            }
            quoted.push(c);
            used += columns;
        }
        quoted.push('\n');
    }
    quoted
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn every_line_is_marked_and_shorter_than_the_terminal() {
        assert_eq!(quoted("1. ", "a\u{1b}[2J\nb\tc", 80), "  | 1. a\\u{1b}[2J\n  | b\\tc\n");
        assert_eq!(quoted("", &"x".repeat(20), 21), format!("  | {}\n  | xxxx\n", "x".repeat(16)));
        assert_eq!(quoted("", &"語".repeat(9), 21), format!("  | {}\n  | 語\n", "語".repeat(8)));
        assert_eq!(quoted("", "narrow terminals", 1), "  | narrow terminals\n");
    }
}
