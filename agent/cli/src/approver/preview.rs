//! The preview in an approval question.

use anstyle::Style;
use tools::Preview;

use crate::notice::{BAD, FAINT, GOOD, styled};
use crate::visible::visible_line;

/// The number of lines shown at first.
const MAX_LINES: usize = 20;

/// The number of characters of a line shown at first.
const MAX_WIDTH: usize = 160;

/// Returns the lines of a preview, each ended by a line break. Shows only the beginning unless `is_whole`.
pub(super) fn lines(preview: &Preview, is_whole: bool) -> String {
    let text = preview.text();
    let is_diff = matches!(preview, Preview::Diff { .. });
    // Not split at CR, whose change a person must see.
    let all = || text.strip_suffix('\n').unwrap_or(text).split('\n');
    let (most, width) = if is_whole { (usize::MAX, usize::MAX) } else { (MAX_LINES, MAX_WIDTH) };
    let mut shown = String::new();
    for line in all().take(most) {
        shown += &styled(if is_diff { style(line) } else { Style::new() }, cut(line, width));
        shown.push('\n');
    }
    match all().count().saturating_sub(most) {
        0 => {}
        1 => shown += "… and 1 more line, [v] to view it\n",
        more => shown += &format!("… and {more} more lines, [v] to view them\n"),
    }
    shown
}

/// Returns the style of a line of a diff.
fn style(line: &str) -> Style {
    match line.bytes().next() {
        Some(b'+') if !line.starts_with("+++ ") => GOOD,
        Some(b'-') if !line.starts_with("--- ") => BAD,
        Some(b' ') => Style::new(),
        _ => FAINT,
    }
}

/// Returns a line without control characters, and at most `width` characters of it.
fn cut(line: &str, width: usize) -> String {
    let line = visible_line(line);
    match line.char_indices().nth(width) {
        Some((end, _)) => {
            let more = line[end..].chars().count();
            format!("{} … and {more} more characters, [v] to view them", &line[..end])
        }
        None => line.into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the text without styles.
    fn plain(preview: &Preview, is_whole: bool) -> String {
        anstream::adapter::strip_str(&lines(preview, is_whole)).to_string()
    }

    #[test]
    fn lines_beyond_the_first_are_shown_on_demand() {
        let preview = |count: usize| Preview::diff("+a\n".repeat(count));
        assert_eq!(plain(&preview(MAX_LINES), false), "+a\n".repeat(MAX_LINES));
        assert!(plain(&preview(MAX_LINES + 1), false).ends_with("+a\n… and 1 more line, [v] to view it\n"));
        assert!(plain(&preview(MAX_LINES + 2), false).ends_with("+a\n… and 2 more lines, [v] to view them\n"));
        assert_eq!(plain(&preview(MAX_LINES + 2), true), "+a\n".repeat(MAX_LINES + 2));
        let long = Preview::summary("é".repeat(MAX_WIDTH + 3));
        assert!(plain(&long, false).ends_with("é … and 3 more characters, [v] to view them\n"));
        assert_eq!(plain(&long, true), long.text().to_owned() + "\n");
    }

    #[test]
    fn no_character_of_a_preview_controls_the_terminal() {
        for preview in [Preview::diff, Preview::summary] {
            let preview = preview("+\u{1b}[2J\u{202e}a\tb\r\n+c".to_owned());
            assert_eq!(plain(&preview, true), "+\\u{1b}[2J\\u{202e}a\tb\\r\n+c\n");
        }
    }

    #[test]
    fn only_a_diff_is_coloured() {
        let text = "--- a\n+++ a\n@@ -1 +1 @@\n-b\n+c\n";
        assert!(lines(&Preview::diff(text), false).contains(&styled(GOOD, "+c")));
        assert_eq!(lines(&Preview::summary(text), false), text);
    }
}
