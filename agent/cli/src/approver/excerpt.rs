//! [`Excerpt`]: the beginning of a long text in a question.

use anstyle::Style;

use crate::quote::quoted;

/// Text of a question that may be cut.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Excerpt {
    pub(super) text: String,
    /// True if a part of the text is not shown.
    pub(super) is_cut: bool,
}

impl Excerpt {
    /// Returns one escaped line, marked, and at most `most` characters of it. Says how many more there are.
    pub(super) fn from_line(line: &str, most: usize, style: Style, width: usize) -> Self {
        match line.char_indices().nth(most) {
            Some((end, _)) => {
                let more = line[end..].chars().count();
                let shown = quoted(&line[..end], style, width);
                Self { text: format!("{shown}… and {more} more characters, [v] to view them\n"), is_cut: true }
            }
            None => Self { text: quoted(line, style, width), is_cut: false },
        }
    }

    /// Appends another text.
    pub(super) fn push(&mut self, next: Self) {
        self.text += &next.text;
        self.is_cut |= next.is_cut;
    }
}
