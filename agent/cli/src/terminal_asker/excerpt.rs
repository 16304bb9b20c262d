//! [`Excerpt`]: the beginning of a long text, such as one of a question.

use anstyle::Style;
use terminal::mark_rows;

/// Text of a question that may be cut.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Excerpt {
    pub(crate) text: String,
    /// True if a part of the text is not shown.
    pub(crate) is_cut: bool,
    /// True if the question does not have the part elsewhere, so that a person has not seen it.
    pub(crate) is_unseen: bool,
    /// True if the call has a part that no question shows.
    pub(crate) is_hidden: bool,
}

impl Excerpt {
    /// Returns one escaped line, marked, and at most `most` characters of it. Says how many more there are, and how to view them.
    pub(crate) fn from_line(
        line: &str,
        most: usize,
        style: Style,
        width: usize,
        how: &str,
    ) -> Self {
        match line.char_indices().nth(most) {
            Some((end, _)) => {
                let more = line[end..].chars().count();
                let shown = mark_rows(&line[..end], style, width);
                Self {
                    text: format!("{shown}{}", rest(more, "character", how)),
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
    pub(crate) fn is_approvable(&self) -> bool {
        !self.is_unseen && !self.is_hidden
    }

    /// Appends another text.
    pub(crate) fn push(&mut self, next: Self) {
        self.text += &next.text;
        self.is_cut |= next.is_cut;
        self.is_unseen |= next.is_unseen;
        self.is_hidden |= next.is_hidden;
    }
}

/// The way to view the rest of a question.
pub(crate) const ANSWER_V: &str = ", [v] to view";

/// Returns a line about the rest of a text, with the way to view it, which may be empty.
pub(crate) fn rest(more: usize, unit: &str, how: &str) -> String {
    let (end, them) = if more == 1 { ("", "it") } else { ("s", "them") };
    let how = if how.is_empty() {
        String::new()
    } else {
        format!("{how} {them}")
    };
    format!("… and {more} more {unit}{end}{how}\n")
}
