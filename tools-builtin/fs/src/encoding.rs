//! [`Encoding`]: the text encoding of a file.

use std::io::Read;

use memchr::memchr;
use tools::ToolContext;
use tools_text::{TextEncoding, seven_bit};

use crate::error::FsError;
use crate::path::RelativePath;

/// The size of a read, in bytes.
const BLOCK: u64 = 64 * 1024;

/// The text encoding of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Encoding {
    Utf8,
    /// Detected by its byte order mark.
    Utf16,
    /// Text in another, unknown encoding. Its ASCII characters are single bytes.
    Other,
    /// Not text: it has NUL bytes.
    Binary,
}

impl Encoding {
    /// Detects the encoding. Reads up to the first NUL byte, block by block.
    pub(crate) fn detect(
        cx: &ToolContext,
        path: &RelativePath,
        mut file: impl Read,
    ) -> Result<Self, FsError> {
        let mut encoding = Self::Utf8;
        let mut bytes = Vec::new();
        let mut is_first = true;
        loop {
            cx.check_cancelled()?;
            let read = file.by_ref().take(BLOCK).read_to_end(&mut bytes);
            let read = read.map_err(FsError::io(path))?;
            let marked = TextEncoding::from_mark(&bytes);
            if is_first && marked.is_some_and(|marked| marked != TextEncoding::UTF_8) {
                return Ok(Self::Utf16);
            }
            is_first = false;
            if bytes.contains(&0) {
                return Ok(Self::Binary);
            }
            let checked = match std::str::from_utf8(&bytes) {
                // The rest of the character is in the next block, if there is one.
                Err(error) if error.error_len().is_none() && read > 0 => error.valid_up_to(),
                Err(_) => {
                    encoding = Self::Other;
                    bytes.len()
                }
                Ok(_) => bytes.len(),
            };
            bytes.drain(..checked);
            if read == 0 {
                return Ok(encoding);
            }
        }
    }
}

/// Returns true if bytes are text of UTF-16 or UTF-32, which needs no byte order mark: no character is a control character but white space.
pub(crate) fn is_wide_text(bytes: &[u8]) -> bool {
    // ASCII with some NUL bytes would be other characters in pairs.
    let nul = bytes.iter().filter(|byte| **byte == 0).count();
    if bytes.is_ascii() && nul < bytes.len() / 3 {
        return false;
    }
    let is_utf16 = [u16::from_le_bytes, u16::from_be_bytes].iter().any(|unit| {
        let (units, rest) = bytes.as_chunks();
        let mut characters = char::decode_utf16(units.iter().map(|bytes| unit(*bytes)));
        rest.is_empty() && characters.all(|read| read.is_ok_and(is_plain))
    });
    is_utf16
        || [u32::from_le_bytes, u32::from_be_bytes].iter().any(|unit| {
            let (units, rest) = bytes.as_chunks();
            let mut characters = units.iter().map(|bytes| char::from_u32(unit(*bytes)));
            rest.is_empty() && characters.all(|read| read.is_some_and(is_plain))
        })
}

fn is_plain(character: char) -> bool {
    !character.is_control() || character.is_ascii_whitespace()
}

/// The text of a file in another encoding than UTF-8.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Decoded {
    pub(crate) text: String,
    encoding: TextEncoding,
    has_mark: bool,
    is_guess: bool,
}

/// Returns the encoding that a call names.
///
/// # Errors
/// Returns an error if the label names none.
pub(crate) fn parse_label(label: Option<&str>) -> Result<Option<TextEncoding>, FsError> {
    Ok(label.map(TextEncoding::from_label).transpose()?)
}

impl Decoded {
    /// Decodes the bytes of a whole file. `named` is the encoding that the call names. Returns `None` for UTF-8, for bytes that are not
    /// text, and if the call names UTF-8.
    pub(crate) fn from_bytes(bytes: &[u8], named: Option<TextEncoding>) -> Option<Self> {
        let marked = TextEncoding::from_mark(bytes);
        let known = marked.or(named);
        // Text with the escapes of ISO 2022 is ASCII, and so valid UTF-8, too.
        let is_plain = || {
            if bytes.is_ascii() {
                seven_bit(bytes).is_none()
            } else {
                std::str::from_utf8(bytes).is_ok()
            }
        };
        if known.is_none() && (memchr(0, bytes).is_some() || is_plain()) {
            return None;
        }
        let encoding = known.unwrap_or_else(|| TextEncoding::of(bytes));
        if encoding == TextEncoding::UTF_8 {
            return None;
        }
        let text = encoding.decode(bytes).into_owned();
        Some(Self {
            text,
            encoding,
            has_mark: marked.is_some(),
            is_guess: known.is_none(),
        })
    }

    /// Decodes bytes that an edit can write again: encoding the text gives the same bytes.
    pub(crate) fn for_edit(bytes: &[u8], named: Option<TextEncoding>) -> Option<Self> {
        Self::from_bytes(bytes, named).filter(|decoded| {
            let encoded = decoded.encode(&decoded.text);
            encoded.is_ok_and(|same| same == bytes)
        })
    }

    /// Decodes text whose encoding is certain: UTF-16 with a byte order mark, or one with escapes. Returns `None` if encoding the text gives
    /// other bytes.
    pub(crate) fn for_replacement(bytes: &[u8]) -> Option<Self> {
        let is_certain = TextEncoding::from_mark(bytes).is_some() || seven_bit(bytes).is_some();
        is_certain.then(|| Self::for_edit(bytes, None)).flatten()
    }

    /// Returns the name of the encoding.
    pub(crate) fn name(&self) -> &'static str {
        self.encoding.name()
    }

    /// Returns the bytes of a text of this file.
    ///
    /// # Errors
    /// Returns an error for a character that the encoding does not have.
    pub(crate) fn encode(&self, text: &str) -> Result<Vec<u8>, FsError> {
        Ok(self.encoding.encode(text, self.has_mark)?)
    }

    /// Returns a note that names the encoding.
    pub(crate) fn note(&self) -> String {
        let name = self.name();
        if self.is_guess {
            format!(
                "[read as {name}, which is a guess; name another `encoding` if the text is wrong]"
            )
        } else {
            format!("[read as {name}]")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tools::Host;

    fn detected(bytes: &[u8]) -> Encoding {
        Encoding::detect(&Host::new(), &RelativePath::default(), bytes).unwrap()
    }

    #[test]
    fn an_encoding_is_known_by_the_bytes() {
        for (bytes, expected) in [
            (&b""[..], Encoding::Utf8),
            ("\u{FEFF}größe".as_bytes(), Encoding::Utf8),
            (b"gr\xF6\xDFe", Encoding::Other),
            (b"\xE9", Encoding::Other),
            (b"\xFF\xFEa\0", Encoding::Utf16),
            (b"\xFE\xFF\x4E\x2D", Encoding::Utf16),
            (b"\x89PNG\r\n\x1A\n\0\0", Encoding::Binary),
        ] {
            assert_eq!(detected(bytes), expected, "{}", bytes.escape_ascii());
        }
    }

    #[test]
    fn the_last_byte_of_a_large_file_counts() {
        let large = std::io::repeat(b'x')
            .take(65 * 1024 * 1024)
            .chain(&b"\xE9"[..]);
        let detected = Encoding::detect(&Host::new(), &RelativePath::default(), large).unwrap();
        assert_eq!(detected, Encoding::Other);
    }

    #[test]
    fn a_character_on_the_border_of_two_blocks_is_one() {
        for filling in BLOCK - 3..=BLOCK {
            let text = "x".repeat(filling as usize);
            assert_eq!(
                detected(format!("{text}\u{1F600}{text}").as_bytes()),
                Encoding::Utf8
            );
            assert_eq!(
                detected(&[text.as_bytes(), b"\xF0\x9F\x98"].concat()),
                Encoding::Other
            );
            assert_eq!(
                detected(&[text.as_bytes(), b"\xE9\n", text.as_bytes(), b"\0"].concat()),
                Encoding::Binary
            );
        }
    }
}

#[cfg(test)]
mod decoded_tests {
    use super::*;

    #[test]
    fn text_in_another_encoding_is_decoded_and_written_back() {
        let latin2 = TextEncoding::from_label("iso-8859-2").unwrap();
        for (bytes, named, text) in [
            (&b"caf\xE9 au lait"[..], None, "café au lait"),
            (b"\xFF\xFEa\0\xE9\0", None, "aé"),
            (b"\xFF\xFEa\0\xE9\0", Some(latin2), "aé"),
            (b"\xB1", Some(latin2), "ą"),
        ] {
            let decoded = Decoded::for_edit(bytes, named).unwrap();
            assert_eq!(
                (&*decoded.text, decoded.encode(text).unwrap()),
                (text, bytes.to_vec())
            );
        }
        for (bytes, named) in [
            ("größe".as_bytes(), None),
            (b"\x89PNG\0\xFF", None),
            (b"caf\xE9", Some(TextEncoding::UTF_8)),
        ] {
            assert_eq!(Decoded::from_bytes(bytes, named), None);
        }
    }
}
