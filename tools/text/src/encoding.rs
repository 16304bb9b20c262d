//! [`TextEncoding`]: the encoding of the text of a file.

use std::borrow::Cow;
use std::fmt;

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{EncoderResult, Encoding, UTF_8, UTF_16BE, UTF_16LE};

use crate::declaration::find_declared;
use crate::label;
use crate::seven_bit::{ISO_2022_JP, seven_bit};

/// The characters beyond ASCII for each invalid sequence in a damaged text of UTF-8.
const CHARACTERS_PER_INVALID: usize = 4;

/// The encoding of a text.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct TextEncoding(&'static Encoding);

/// The error for a label that names no encoding.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{label:?} names no encoding; use a name such as windows-1252, iso-8859-2, koi8-r, shift_jis, gb18030 or utf-16le"
)]
pub struct UnknownEncoding {
    /// The label.
    pub label: String,
}

/// The error for a character that an encoding does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{encoding} has no character {character:?}; write it another way")]
pub struct UnmappableCharacter {
    /// The character.
    pub character: char,
    /// The name of the encoding.
    pub encoding: &'static str,
}

impl TextEncoding {
    /// UTF-8.
    pub const UTF_8: Self = Self(UTF_8);

    /// Returns the encoding with a label of the Encoding Standard or another common name, in any letter case.
    ///
    /// # Errors
    /// Returns an error if there is none.
    pub fn from_label(label: &str) -> Result<Self, UnknownEncoding> {
        label::encoding(label)
            .map(Self)
            .ok_or_else(|| UnknownEncoding {
                label: label.to_owned(),
            })
    }

    /// Returns the encoding that a byte order mark names. Returns `None` for that of UTF-32, which begins like one of UTF-16.
    pub fn from_mark(bytes: &[u8]) -> Option<Self> {
        let marked = Encoding::for_bom(bytes).filter(|_| !bytes.starts_with(b"\xFF\xFE\0\0"));
        marked.map(|(encoding, _)| Self(encoding))
    }

    /// Returns the encoding of a whole text: that of its byte order mark, ISO-2022-JP by its escapes, UTF-8 if the bytes are valid or only damaged, the one that the text
    /// names itself if it has all of its characters, or a guess.
    pub fn of(bytes: &[u8]) -> Self {
        Self::from_mark(bytes).unwrap_or_else(|| {
            let japanese = Self(encoding_rs::ISO_2022_JP);
            // Before the test for UTF-8, because bytes of ISO-2022-JP are all ASCII, and so valid UTF-8 too.
            if seven_bit(bytes) == Some(ISO_2022_JP) && japanese.decode_strictly(bytes).is_some() {
                return japanese;
            }
            if is_mostly_utf8(bytes) {
                return Self(UTF_8);
            }
            if let Some(declared) = find_declared(bytes).map(Self)
                && declared.decode_strictly(bytes).is_some()
            {
                return declared;
            }
            // Both were ruled out above.
            let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
            detector.feed(bytes, true);
            Self(detector.guess(None, Utf8Detection::Deny))
        })
    }

    /// Returns the name of the Encoding Standard, such as `windows-1252`.
    pub fn name(self) -> &'static str {
        self.0.name()
    }

    /// Returns the text without its byte order mark. Bytes that are invalid become U+FFFD.
    pub fn decode(self, bytes: &[u8]) -> Cow<'_, str> {
        self.0.decode_with_bom_removal(bytes).0
    }

    /// Returns the text without its byte order mark, or `None` if a byte is invalid.
    pub fn decode_strictly(self, bytes: &[u8]) -> Option<Cow<'_, str>> {
        let mark = match Encoding::for_bom(bytes) {
            Some((encoding, length)) if encoding == self.0 => length,
            _ => 0,
        };
        self.0
            .decode_without_bom_handling_and_without_replacement(&bytes[mark..])
    }

    /// Returns the bytes of a text, with a byte order mark if `has_mark` and if the encoding has one.
    ///
    /// # Errors
    /// Returns an error for the first character that the encoding does not have.
    pub fn encode(self, text: &str, has_mark: bool) -> Result<Vec<u8>, UnmappableCharacter> {
        let mark = if has_mark { "\u{FEFF}" } else { "" };
        let units = mark.encode_utf16().chain(text.encode_utf16());
        match self.0 {
            // Written by hand: the encoders of `encoding_rs` write UTF-8 for both kinds of UTF-16, because forms of pages
            // need that.
            encoding if encoding == UTF_8 => Ok([mark, text].concat().into_bytes()),
            encoding if encoding == UTF_16LE => Ok(units.flat_map(u16::to_le_bytes).collect()),
            encoding if encoding == UTF_16BE => Ok(units.flat_map(u16::to_be_bytes).collect()),
            encoding => {
                let mut encoder = encoding.new_encoder();
                // The encoder fills the capacity and does not grow the vector.
                let most = encoder.max_buffer_length_from_utf8_without_replacement(text.len());
                let mut bytes = Vec::with_capacity(most.unwrap_or(text.len()));
                match encoder
                    .encode_from_utf8_to_vec_without_replacement(text, &mut bytes, true)
                    .0
                {
                    EncoderResult::Unmappable(character) => Err(UnmappableCharacter {
                        character,
                        encoding: encoding.name(),
                    }),
                    _ => Ok(bytes),
                }
            }
        }
    }
}

/// Returns true for UTF-8, also with some invalid bytes: a log with one wrong line, or the beginning of a text. Bytes in another encoding
/// rarely form characters of UTF-8.
fn is_mostly_utf8(bytes: &[u8]) -> bool {
    let mut characters = 0_usize;
    let mut invalid = 0_usize;
    for chunk in bytes.utf8_chunks() {
        characters += chunk.valid().bytes().filter(|byte| *byte >= 0xC0).count();
        invalid += usize::from(!chunk.invalid().is_empty());
    }
    invalid == 0 || characters >= CHARACTERS_PER_INVALID * invalid
}

impl From<&'static Encoding> for TextEncoding {
    fn from(encoding: &'static Encoding) -> Self {
        Self(encoding)
    }
}

/// Writes the name.
impl fmt::Debug for TextEncoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_mark_decides_then_valid_utf8_then_a_guess() {
        let russian = "Съешь же ещё этих мягких французских булок, да выпей чаю".to_owned();
        let koi8 = TextEncoding::from_label("koi8-r")
            .unwrap()
            .encode(&russian, false)
            .unwrap();
        for (bytes, name, text) in [
            (&b"\xEF\xBB\xBF\xC3\xA9"[..], "UTF-8", "é"),
            (b"\xFF\xFE\xE9\0", "UTF-16LE", "é"),
            (b"\xFE\xFF\0\xE9", "UTF-16BE", "é"),
            ("größe".as_bytes(), "UTF-8", "größe"),
            (b"caf\xE9 au lait", "windows-1252", "café au lait"),
            (&koi8, "KOI8-U", &russian),
            (b"a\x1B$B$\"\x1B(B", "ISO-2022-JP", "aあ"),
            (b"\x1B$)C\n\x0E0!\x0F", "UTF-8", "\x1B$)C\n\x0E0!\x0F"),
            (
                b"# coding: iso-8859-2\n\xB1",
                "ISO-8859-2",
                "# coding: iso-8859-2\ną",
            ),
            (
                "# coding: iso-8859-2\né".as_bytes(),
                "UTF-8",
                "# coding: iso-8859-2\né",
            ),
            (
                b"# coding: shift_jis\nnot \xE9 not",
                "windows-1252",
                "# coding: shift_jis\nnot é not",
            ),
            ("größer ßß\n".as_bytes(), "UTF-8", "größer ßß\n"),
            (
                b"\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9 \xE9\n",
                "UTF-8",
                "éééé \u{FFFD}\n",
            ),
            (
                "\u{e9}\u{e9}\u{e9}\u{e9}\u{e9}"
                    .as_bytes()
                    .split_last()
                    .unwrap()
                    .1,
                "UTF-8",
                "éééé\u{FFFD}",
            ),
        ] {
            let encoding = TextEncoding::of(bytes);
            assert_eq!((encoding.name(), &*encoding.decode(bytes)), (name, text));
        }
        assert_eq!(TextEncoding::from_mark(b"\xFF\xFE\0\0a\0\0\0"), None);
        assert_ne!(
            TextEncoding::of(b"caf\xE9 au lait \xC3\xA9t\xE9"),
            TextEncoding::UTF_8
        );
    }

    #[test]
    fn a_character_that_the_encoding_does_not_have_is_an_error() {
        let latin = TextEncoding::from_label("Latin1").unwrap();
        let error = latin.encode("a 字", false).unwrap_err();
        assert_eq!(
            error,
            UnmappableCharacter {
                character: '字',
                encoding: "windows-1252"
            }
        );
        assert!(TextEncoding::from_label("nonesuch").is_err());
    }

    proptest! {
        #[test]
        fn an_encoded_text_is_decoded_to_itself(
            text in "\\PC*",
            label in prop::sample::select(vec!["utf-8", "utf-16le", "utf-16be", "gb18030", "windows-1251", "shift_jis", "big5"]),
            has_mark in any::<bool>(),
        ) {
            let encoding = TextEncoding::from_label(label).unwrap();
            prop_assume!(!text.starts_with('\u{FEFF}'));
            if let Ok(bytes) = encoding.encode(&text, has_mark && label.starts_with("utf")) {
                prop_assert!(encoding.decode(&bytes) == text || !["utf-8", "utf-16le", "utf-16be"].contains(&label));
            }
        }
    }
}
