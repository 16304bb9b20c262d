//! [`LineEnding`]: the line ending style of a text.

use std::borrow::Cow;

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
        let lines = text
            .split_inclusive(|byte| *byte == b'\n')
            .filter(|line| line.ends_with(b"\n"));
        let (all, crlf) = lines.fold((0_usize, 0), |(all, crlf), line| {
            (all + 1, crlf + usize::from(line.ends_with(b"\r\n")))
        });
        match all {
            0 => text.contains(&b'\r').then_some(Self::Cr),
            _ if crlf > all - crlf => Some(Self::CrLf),
            _ => Some(Self::Lf),
        }
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
