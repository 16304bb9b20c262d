//! [`LineEnd`]: how the lines of a text end.

use std::borrow::Cow;

/// How the lines of a text end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LineEnd {
    Lf,
    CrLf,
    /// In texts without any LF. Elsewhere a CR alone is a character like others.
    Cr,
}

impl LineEnd {
    /// Returns the most common line end of a text, LF where two are as common. Returns `None` if it is one line.
    pub(crate) fn of(text: &[u8]) -> Option<Self> {
        let lines = text.split_inclusive(|byte| *byte == b'\n').filter(|line| line.ends_with(b"\n"));
        let (all, crlf) =
            lines.fold((0_usize, 0), |(all, crlf), line| (all + 1, crlf + usize::from(line.ends_with(b"\r\n"))));
        match all {
            0 => text.contains(&b'\r').then_some(Self::Cr),
            _ if crlf > all - crlf => Some(Self::CrLf),
            _ => Some(Self::Lf),
        }
    }

    /// Writes every line end of a text as LF. The text is from a file whose lines end like this.
    pub(crate) fn to_lf(self, text: &str) -> String {
        let text = text.replace("\r\n", "\n");
        if self == Self::Cr { text.replace('\r', "\n") } else { text }
    }

    /// Ends the lines of a text, which end with LF, like this.
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
    fn the_most_common_line_end_counts() {
        for (text, expected) in [
            ("", None),
            ("one", None),
            ("a\nb\r\nc", Some(LineEnd::Lf)),
            ("a\nb\r\nc\r\n", Some(LineEnd::CrLf)),
            ("a\rb", Some(LineEnd::Cr)),
            ("a\rb\rc\n", Some(LineEnd::Lf)),
            ("a\rb\rc\r\n", Some(LineEnd::CrLf)),
        ] {
            assert_eq!(LineEnd::of(text.as_bytes()), expected, "{text:?}");
        }
    }
}
