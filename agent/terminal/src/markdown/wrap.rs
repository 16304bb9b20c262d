//! [`Spans`]: styled text, wrapped at words.

use anstyle::Style;

use host::fit;
use host::style::paint;
use tools::visible::harmless;

/// Text in styles. Its line breaks stay.
#[derive(Debug, Default)]
pub(super) struct Spans {
    /// The text without styles.
    pub(super) plain: String,
    /// The text with a style around each word, so that a line break is in none.
    styled: String,
}

impl Spans {
    /// Adds untrusted text, made harmless.
    pub(super) fn push(&mut self, style: Style, text: &str) {
        // A joiner depends on the character before it, also if that has another style or was an entity.
        let before = self.plain.chars().last().unwrap_or(' ').to_string();
        let text = harmless(&format!("{before}{text}"))[before.len()..].replace('\t', " ");
        for piece in text.split_inclusive([' ', '\n']) {
            let word = piece.trim_end_matches([' ', '\n']);
            self.styled += &painted(style, word);
            self.styled += &piece[word.len()..];
        }
        self.plain += &text;
    }

    /// Returns the columns of the longest line.
    pub(super) fn columns(&self) -> usize {
        self.plain.lines().map(fit::columns).max().unwrap_or(0)
    }

    /// Returns lines of at most this number of columns. A longer word of ASCII, such as an URL, stays whole unless `breaks_words`.
    pub(super) fn wrap(&self, room: usize, breaks_words: bool) -> Vec<String> {
        let lines = self.styled.trim_end().split('\n');
        // Texts of wide characters have no spaces.
        let breaks_words = breaks_words || !self.plain.is_ascii();
        let wrap = if breaks_words {
            fit::wrap_words
        } else {
            fit::wrap_text
        };
        let lines = lines.flat_map(|line| wrap(line, room));
        lines.map(close_style).collect()
    }
}

/// Ends the style of a line that breaks a word. The rest of the word has none.
fn close_style(line: String) -> String {
    match line.rsplit_once('\x1b') {
        Some((_, end)) if !end.starts_with("[0m") => line + "\x1b[0m",
        _ => line,
    }
}

/// Returns the text in a style, without control sequences if the style or the text is empty.
pub(super) fn painted(style: Style, text: &str) -> String {
    if style.is_plain() || text.is_empty() {
        text.to_owned()
    } else {
        paint(style, text)
    }
}
