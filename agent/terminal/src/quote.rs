//! [`mark_rows`]: untrusted words, marked on each line.

use anstyle::Style;

use host::fit;
use host::style::paint;

const MARK: &str = "  | ";

/// The narrowest room for words, in columns.
const MIN_ROOM: usize = 16;

/// Returns one line of untrusted words, with a mark before each row. The caller escapes it and may keep tabs. The line is broken
/// before the terminal breaks it, which would start a row without a mark.
pub fn mark_rows(line: &str, style: Style, width: usize) -> String {
    let room = width.saturating_sub(1).max(MARK.len() + MIN_ROOM) - MARK.len();
    let rows = fit::rows(line, MARK.len(), room).into_iter();
    rows.map(|row| format!("{MARK}{}\n", paint(style, row)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_marked_and_shorter_than_the_terminal() {
        let quoted = |line: &str, width| mark_rows(line, Style::new(), width);
        assert_eq!(quoted("", 80), "  | \n");
        assert_eq!(
            quoted(&"x".repeat(20), 21),
            format!("  | {}\n  | xxxx\n", "x".repeat(16))
        );
        assert_eq!(
            quoted(&"語".repeat(9), 21),
            format!("  | {}\n  | 語\n", "語".repeat(8))
        );
        assert_eq!(
            quoted(&"é".repeat(17), 21),
            format!("  | {}\n  | é\n", "é".repeat(16))
        );
        assert_eq!(quoted("narrow terminals", 1), "  | narrow terminals\n");
    }
}
