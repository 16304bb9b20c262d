//! [`TextStyle`]: the byte order mark and the line endings that a file keeps when its whole text is replaced.

use std::borrow::Cow;

use memchr::memchr;

/// The byte order mark of UTF-8.
pub(crate) const MARK: &str = "\u{FEFF}";

/// A byte order mark and CR LF line endings, which a model cannot see and so does not write again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TextStyle {
    has_mark: bool,
    /// True if each line ends with CR LF.
    has_crlf: bool,
}

impl TextStyle {
    /// Returns the style of the text of a file. A text that is not UTF-8 has none.
    pub(crate) fn of(bytes: &[u8]) -> Self {
        if std::str::from_utf8(bytes).is_err() || memchr(0, bytes).is_some() {
            return Self::default();
        }
        let mut lines = bytes.split_inclusive(|byte| *byte == b'\n').filter(|line| line.ends_with(b"\n")).peekable();
        let has_crlf = lines.peek().is_some() && lines.all(|line| line.ends_with(b"\r\n"));
        Self { has_mark: bytes.starts_with(MARK.as_bytes()), has_crlf }
    }

    /// Returns the text in this style. Line endings stay as they are if the text has a CR of its own.
    pub(crate) fn apply(self, text: &str) -> Cow<'_, str> {
        let mark = if self.has_mark && !text.is_empty() && !text.starts_with(MARK) { MARK } else { "" };
        let is_converted = self.has_crlf && text.contains('\n') && !text.contains('\r');
        match (mark, is_converted) {
            ("", false) => text.into(),
            (mark, false) => format!("{mark}{text}").into(),
            (mark, true) => format!("{mark}{}", text.replace('\n', "\r\n")).into(),
        }
    }

    /// Describes what was kept, for the result of a write that changed `text` into `written`. Empty if they are the same.
    pub(crate) fn note(text: &[u8], written: &[u8]) -> &'static str {
        let is_new = |is_in: fn(&[u8]) -> bool| is_in(written) && !is_in(text);
        let has_mark = |text: &[u8]| text.starts_with(MARK.as_bytes());
        match (is_new(has_mark), is_new(|text| memchr(b'\r', text).is_some())) {
            (false, false) => "",
            (true, false) => "; its byte order mark was kept",
            (false, true) => "; its CR LF line endings were kept",
            (true, true) => "; its byte order mark and its CR LF line endings were kept",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_gets_the_mark_and_the_line_ends_of_the_file_that_it_replaces() {
        for (before, text, written) in [
            ("a\r\nb\r\n", "a\nc\n", "a\r\nc\r\n"),
            ("\u{FEFF}a\r\nb", "a\nc", "\u{FEFF}a\r\nc"),
            ("\u{FEFF}a\n", "b\n", "\u{FEFF}b\n"),
            ("\u{FEFF}a\n", "\u{FEFF}b\n", "\u{FEFF}b\n"),
            ("\u{FEFF}a\n", "", ""),
            ("a\r\nb\r\n", "a\r\nc\n", "a\r\nc\n"),
            ("a\r\nb\n", "a\nc\n", "a\nc\n"),
            ("a", "a\nc\n", "a\nc\n"),
            ("", "a\nc\n", "a\nc\n"),
            ("a\0\r\n", "a\nc\n", "a\nc\n"),
        ] {
            assert_eq!(TextStyle::of(before.as_bytes()).apply(text), written, "{before:?} {text:?}");
        }
        assert_eq!(TextStyle::of(b"caf\xE9\r\n"), TextStyle::default());
    }
}
