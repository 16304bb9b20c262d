//! [`excerpt`]: the beginning of a long line in a question.

use anstyle::Style;

use crate::quote::quoted;

/// Returns one escaped line, marked, and at most `most` characters of it. Says how many more there are.
pub(super) fn excerpt(line: &str, most: usize, style: Style, width: usize) -> String {
    match line.char_indices().nth(most) {
        Some((end, _)) => {
            let more = line[end..].chars().count();
            format!("{}… and {more} more characters, [v] to view them\n", quoted(&line[..end], style, width))
        }
        None => quoted(line, style, width),
    }
}
