//! [`TextStyle`]: the byte order mark and the line endings that a file keeps when its whole text is replaced.

use std::borrow::Cow;

use memchr::{memchr, memchr_iter, memmem};
use tools_text::MARK;

/// A byte order mark and line endings, which a model cannot see and so does not write again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TextStyle {
    has_mark: bool,
    ends: Option<Ends>,
}

/// The line endings of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ends {
    All(LineEnding),
    Mixed,
}

impl TextStyle {
    /// Returns the style of the text of a file. A text that is not UTF-8 has none.
    pub(crate) fn of(bytes: &[u8]) -> Self {
        if std::str::from_utf8(bytes).is_err() || memchr(0, bytes).is_some() {
            return Self::default();
        }
        let (crlf, lf): (Vec<&[u8]>, Vec<&[u8]>) = bytes
            .split_inclusive(|byte| *byte == b'\n')
            .filter(|line| line.ends_with(b"\n"))
            .partition(|line| line.ends_with(b"\r\n"));
        let is_mixed = !crlf.is_empty() && !lf.is_empty();
        let ends = if is_mixed {
            Some(Ends::Mixed)
        } else {
            LineEnding::detect(bytes).map(Ends::All)
        };
        Self {
            has_mark: bytes.starts_with(MARK.as_bytes()),
            ends,
        }
    }

    /// Returns the text in this style. Line endings stay as they are if the text has a CR of its own.
    pub(crate) fn apply(self, text: &str) -> Cow<'_, str> {
        let mark = if self.has_mark && !text.is_empty() && !text.starts_with(MARK) {
            MARK
        } else {
            ""
        };
        let text = match self.ends {
            Some(Ends::All(end)) if !text.contains('\r') => end.apply(text),
            _ => text.into(),
        };
        if mark.is_empty() {
            text
        } else {
            format!("{mark}{text}").into()
        }
    }

    /// Describes which parts of this style the text kept when it was `written`, and which it changed. Empty without any.
    pub(crate) fn note(self, text: &str, written: &str) -> String {
        let asked = Self::of(text.as_bytes());
        let after = Self::of(written.as_bytes());
        let mark = (after.has_mark && !asked.has_mark).then(|| "byte order mark".to_owned());
        let ends = after.ends.filter(|ends| Some(*ends) != asked.ends);
        let ends = ends.map(|ends| format!("{ends} line endings"));
        let mut note = match (mark, ends) {
            (None, None) => String::new(),
            (Some(mark), None) => format!("; its {mark} was kept"),
            (None, Some(ends)) => format!("; its {ends} were kept"),
            (Some(mark), Some(ends)) => format!("; its {mark} and its {ends} were kept"),
        };
        if self.has_mark && !after.has_mark {
            note += "; its byte order mark was removed";
        }
        if let (Some(before), Some(after)) = (self.ends, after.ends)
            && before != after
        {
            note += &format!("; its {before} line endings are {after} now");
        }
        note
    }
}

impl std::fmt::Display for Ends {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::All(LineEnding::Lf) => "LF",
            Self::All(LineEnding::CrLf) => "CR LF",
            Self::All(LineEnding::Cr) => "CR",
            Self::Mixed => "mixed",
        })
    }
}

/// A line ending style.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LineEnding {
    Lf,
    CrLf,
    /// Only in texts without LF. In other texts a lone CR is an ordinary character.
    Cr,
}

impl LineEnding {
    /// Returns the most common line ending of a text, LF if there is a tie. Returns `None` if the text has a single line.
    pub(crate) fn detect(text: &[u8]) -> Option<Self> {
        let has_cr = memchr(b'\r', text).is_some();
        let crlf = if has_cr {
            memmem::find_iter(text, b"\r\n").count()
        } else {
            0
        };
        if crlf == 0 && memchr(b'\n', text).is_none() {
            return has_cr.then_some(Self::Cr);
        }
        let all = if crlf == 0 {
            0
        } else {
            memchr_iter(b'\n', text).count()
        };
        Some(if crlf > all - crlf {
            Self::CrLf
        } else {
            Self::Lf
        })
    }

    /// Converts the line endings of a text in this style to LF.
    pub(crate) fn to_lf(self, text: &str) -> String {
        let text = text.replace("\r\n", "\n");
        if self == Self::Cr {
            text.replace('\r', "\n")
        } else {
            text
        }
    }

    /// Converts LF line endings to this style.
    pub(crate) fn apply(self, text: &str) -> Cow<'_, str> {
        match self {
            Self::Lf => text.into(),
            Self::CrLf => text.replace('\n', "\r\n").into(),
            Self::Cr => text.replace('\n', "\r").into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_gets_the_mark_and_the_line_ends_of_the_file_that_it_replaces_and_the_note_says_so() {
        let kept = |what: &str| format!("; its {what} kept");
        for (before, text, written, note) in [
            (
                "a\r\nb\r\n",
                "a\nc\n",
                "a\r\nc\r\n",
                kept("CR LF line endings were"),
            ),
            (
                "\u{FEFF}a\r\nb",
                "a\nc",
                "\u{FEFF}a\r\nc",
                kept("byte order mark and its CR LF line endings were"),
            ),
            (
                "\u{FEFF}a\n",
                "b\n",
                "\u{FEFF}b\n",
                kept("byte order mark was"),
            ),
            ("\u{FEFF}a\n", "\u{FEFF}b\n", "\u{FEFF}b\n", String::new()),
            (
                "\u{FEFF}a\n",
                "",
                "",
                "; its byte order mark was removed".to_owned(),
            ),
            ("a\rb\r", "a\nc\n", "a\rc\r", kept("CR line endings were")),
            (
                "a\r\nb\r\n",
                "a\r\nc\n",
                "a\r\nc\n",
                "; its CR LF line endings are mixed now".to_owned(),
            ),
            (
                "a\r\nb\n",
                "a\nc\n",
                "a\nc\n",
                "; its mixed line endings are LF now".to_owned(),
            ),
            (
                "a\nb\n",
                "a\r\nc\r\n",
                "a\r\nc\r\n",
                "; its LF line endings are CR LF now".to_owned(),
            ),
            ("a\nb\rc\n", "a\nc\n", "a\nc\n", String::new()),
            ("a\r\nb\r\n", "c", "c", String::new()),
            ("a", "a\nc\n", "a\nc\n", String::new()),
            ("", "a\nc\n", "a\nc\n", String::new()),
            ("a\0\r\n", "a\nc\n", "a\nc\n", String::new()),
        ] {
            let style = TextStyle::of(before.as_bytes());
            assert_eq!(style.apply(text), written, "{before:?} {text:?}");
            assert_eq!(style.note(text, written), note, "{before:?} {text:?}");
        }
        assert_eq!(TextStyle::of(b"caf\xE9\r\n"), TextStyle::default());
    }
}

#[cfg(test)]
mod line_ending_tests {
    use super::*;

    #[test]
    fn the_most_common_line_end_counts() {
        for (text, expected) in [
            ("", None),
            ("one", None),
            ("a\nb\r\nc", Some(LineEnding::Lf)),
            ("a\nb\r\nc\r\n", Some(LineEnding::CrLf)),
            ("a\rb", Some(LineEnding::Cr)),
            ("a\rb\rc\n", Some(LineEnding::Lf)),
            ("a\rb\rc\r\n", Some(LineEnding::CrLf)),
        ] {
            assert_eq!(LineEnding::detect(text.as_bytes()), expected, "{text:?}");
        }
    }
}
