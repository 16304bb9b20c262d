//! [`Excerpt`]: the beginning of a long text in a question.

use anstyle::Style;

use crate::quote::mark_rows;

/// Text of a question that may be cut.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Excerpt {
    pub(super) text: String,
    /// True if a part of the text is not shown.
    pub(super) is_cut: bool,
    /// True if the question does not have the part elsewhere, so that a person has not seen it.
    pub(super) is_unseen: bool,
    /// True if the call has a part that no question shows.
    pub(super) is_hidden: bool,
}

impl Excerpt {
    /// Returns one escaped line, marked, and at most `most` characters of it. Says how many more there are.
    pub(super) fn from_line(line: &str, most: usize, style: Style, width: usize) -> Self {
        match line.char_indices().nth(most) {
            Some((end, _)) => {
                let more = line[end..].chars().count();
                let shown = mark_rows(&line[..end], style, width);
                Self {
                    text: format!("{shown}… and {more} more characters, [v] to view them\n"),
                    is_cut: true,
                    is_unseen: true,
                    is_hidden: false,
                }
            }
            None => Self {
                text: mark_rows(line, style, width),
                ..Self::default()
            },
        }
    }

    /// Returns true if a person who read the question knows all of the call.
    pub(super) fn is_approvable(&self) -> bool {
        !self.is_unseen && !self.is_hidden
    }

    /// Appends another text.
    pub(super) fn push(&mut self, next: Self) {
        self.text += &next.text;
        self.is_cut |= next.is_cut;
        self.is_unseen |= next.is_unseen;
        self.is_hidden |= next.is_hidden;
    }
}
