//! The preview of a call, in an approval question and after a call about which nobody was asked.

use anstyle::Style;
use tools::Preview;

use super::excerpt::{Excerpt, rest};
use crate::notice::{BAD, FAINT, GOOD};
use tools::visible::visible_diff_line;

/// The number of lines shown at first.
const MAX_LINES: usize = 20;

/// The number of characters of a line shown at first.
const MAX_CHARACTERS: usize = 160;

/// Returns the lines of a preview, marked. Shows only the beginning unless `is_whole`, and says how to view the rest.
pub(crate) fn lines(preview: &Preview, is_whole: bool, width: usize, how: &str) -> Excerpt {
    let text = preview.text();
    let is_diff = preview.is_diff;
    // Not split at CR, whose change a person must see.
    let mut lines = text.strip_suffix('\n').unwrap_or(text).split('\n');
    let (most, characters) = if is_whole {
        (usize::MAX, usize::MAX)
    } else {
        (MAX_LINES, MAX_CHARACTERS)
    };
    let mut shown = Excerpt::default();
    for line in lines.by_ref().take(most) {
        let style = if is_diff { style(line) } else { Style::new() };
        let line = visible_diff_line(line);
        shown.push(Excerpt::from_line(&line, characters, style, width, how));
    }
    let more = lines.count();
    shown.is_cut |= more > 0;
    shown.is_unseen |= more > 0;
    if more > 0 {
        shown.text += &rest(more, "line", how);
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

#[cfg(test)]
mod tests {
    use super::super::excerpt::ANSWER_V;
    use super::*;
    use crate::notice::paint;

    const WIDTH: usize = 1000;

    /// Returns the text without styles and marks.
    fn plain(preview: &Preview, is_whole: bool) -> String {
        anstream::adapter::strip_str(&lines(preview, is_whole, WIDTH, ANSWER_V).text)
            .to_string()
            .replace("  | ", "")
    }

    #[test]
    fn lines_beyond_the_first_are_shown_on_demand() {
        let preview = |count: usize| Preview::diff("+a\n".repeat(count));
        assert_eq!(plain(&preview(MAX_LINES), false), "+a\n".repeat(MAX_LINES));
        assert!(
            plain(&preview(MAX_LINES + 1), false)
                .ends_with("+a\n… and 1 more line, [v] to view it\n")
        );
        assert!(
            plain(&preview(MAX_LINES + 2), false)
                .ends_with("+a\n… and 2 more lines, [v] to view them\n")
        );
        assert_eq!(
            plain(&preview(MAX_LINES + 2), true),
            "+a\n".repeat(MAX_LINES + 2)
        );
        let long = Preview::summary("é".repeat(MAX_CHARACTERS + 3));
        assert!(plain(&long, false).ends_with("é\n… and 3 more characters, [v] to view them\n"));
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
        assert!(
            lines(&Preview::diff(text), false, WIDTH, "")
                .text
                .contains(&paint(GOOD, "+c"))
        );
        assert!(
            !lines(&Preview::summary(text), false, WIDTH, "")
                .text
                .contains('\u{1b}')
        );
    }
}
