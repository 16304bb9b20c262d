//! [`Decoded`]: the text of a file that is not UTF-8.

use memchr::memchr;
use tools_text::{TextEncoding, seven_bit};

use crate::error::FsError;

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
pub(crate) fn named(label: Option<&str>) -> Result<Option<TextEncoding>, FsError> {
    Ok(label.map(TextEncoding::from_label).transpose()?)
}

impl Decoded {
    /// Decodes the bytes of a whole file. `named` is the encoding that the call names. Returns `None` for UTF-8, for bytes that are not
    /// text, and if the call names UTF-8.
    pub(crate) fn from_bytes(bytes: &[u8], named: Option<TextEncoding>) -> Option<Self> {
        let marked = TextEncoding::from_mark(bytes);
        let known = marked.or(named);
        let is_utf8 = || std::str::from_utf8(bytes).is_ok() && seven_bit(bytes).is_none();
        if known.is_none() && (memchr(0, bytes).is_some() || is_utf8()) {
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
            decoded
                .encoded(&decoded.text)
                .is_ok_and(|same| same == bytes)
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
    pub(crate) fn encoded(&self, text: &str) -> Result<Vec<u8>, FsError> {
        Ok(self.encoding.encode(text, self.has_mark)?)
    }

    /// Returns a note that names the encoding.
    pub(crate) fn note(&self) -> String {
        let name = self.name();
        match self.is_guess {
            true => format!(
                "[read as {name}, which is a guess; name another `encoding` if the text is wrong]"
            ),
            false => format!("[read as {name}]"),
        }
    }
}

#[cfg(test)]
mod tests {
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
                (&*decoded.text, decoded.encoded(text).unwrap()),
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
