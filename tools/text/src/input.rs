//! Text that a person or another program wrote for this program: settings, prompts, arguments.

use std::borrow::Cow;
use std::io::{self, Read};

use crate::encoding::TextEncoding;

/// The error for bytes that are no text for this program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line} is not {encoding}; save the text as UTF-8")]
pub struct NotText {
    /// The first line with such bytes, from 1 on.
    pub line: usize,
    /// The name of the encoding that was expected.
    pub encoding: &'static str,
}

impl From<NotText> for io::Error {
    fn from(error: NotText) -> Self {
        Self::new(io::ErrorKind::InvalidData, error)
    }
}

/// Decodes text without its byte order mark, which decides between UTF-8 and UTF-16. Guesses nothing, because settings must not mean
/// something else.
///
/// # Errors
/// Returns an error if a byte is invalid.
pub fn decode_input(bytes: &[u8]) -> Result<Cow<'_, str>, NotText> {
    let encoding = TextEncoding::from_mark(bytes).unwrap_or(TextEncoding::UTF_8);
    encoding.decode_strictly(bytes).ok_or_else(|| {
        // Only for the error: the strict decoder does not say where it stopped.
        let text = encoding.decode(bytes);
        let valid = text.find(char::REPLACEMENT_CHARACTER).unwrap_or(text.len());
        NotText {
            line: 1 + text[..valid].matches('\n').count(),
            encoding: encoding.name(),
        }
    })
}

/// Reads and decodes text like [`decode_input`].
///
/// # Errors
/// Returns an error if the text cannot be read, has more than `most` bytes, or an invalid one.
pub fn read_input(input: impl Read, most: u64) -> io::Result<String> {
    let mut bytes = Vec::new();
    input.take(most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        return Err(io::Error::other(format!("it is longer than {most} bytes")));
    }
    Ok(decode_input(&bytes)?.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn input_is_utf8_or_has_a_mark_and_is_never_guessed() {
        for (bytes, text) in [
            (&b""[..], Ok("")),
            (b"a\r\n\xC3\xA9", Ok("a\r\né")),
            (b"\xEF\xBB\xBFa", Ok("a")),
            (b"\xEF\xBB\xBF\xEF\xBB\xBFa", Ok("\u{FEFF}a")),
            (b"\xFF\xFEa\0\r\0\n\0", Ok("a\r\n")),
            (b"\xFE\xFF\0a", Ok("a")),
            (b"\xEF\xBF\xBD", Ok("\u{FFFD}")),
            (
                b"a\nb\ncaf\xE9\n",
                Err(NotText {
                    line: 3,
                    encoding: "UTF-8",
                }),
            ),
            (
                b"caf\xC3",
                Err(NotText {
                    line: 1,
                    encoding: "UTF-8",
                }),
            ),
            (
                b"\xFF\xFEa\0\n\0a",
                Err(NotText {
                    line: 2,
                    encoding: "UTF-16LE",
                }),
            ),
            (
                b"\xFF\xFE\x00\xD8a\0",
                Err(NotText {
                    line: 1,
                    encoding: "UTF-16LE",
                }),
            ),
        ] {
            assert_eq!(
                decode_input(bytes).as_deref(),
                text.as_ref().copied(),
                "{}",
                bytes.escape_ascii()
            );
        }
    }

    #[test]
    fn input_is_read_up_to_its_limit() {
        assert_eq!(read_input(&b"\xEF\xBB\xBFab"[..], 5).unwrap(), "ab");
        assert!(read_input(&b"\xEF\xBB\xBFab"[..], 4).is_err());
        assert_eq!(
            read_input(&b"\xE9"[..], 4).unwrap_err().kind(),
            io::ErrorKind::InvalidData
        );
    }
}
