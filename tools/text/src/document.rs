//! The text of a document of the web.

use std::borrow::Cow;

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE};
use memchr::memmem;

use crate::TextEncoding;

/// The part of a document that may declare its charset, in bytes.
const HEAD: usize = 4096;

/// Decodes a document. Bytes that are invalid in its charset become replacement characters.
///
/// The charset is that of the byte order mark, of the content type, of the document's own declaration, or that of [`TextEncoding::of`].
/// `declared` is the label of the content type.
pub fn decode_document<'a>(bytes: &'a [u8], declared: Option<&str>) -> Cow<'a, str> {
    if let Some((encoding, length)) = Encoding::for_bom(bytes) {
        return encoding.decode_without_bom_handling(&bytes[length..]).0;
    }
    let declared = declared.and_then(|label| Encoding::for_label(label.as_bytes()));
    let encoding =
        declared.or_else(|| from_document(bytes)).map_or_else(|| TextEncoding::of(bytes), TextEncoding::from);
    encoding.decode(bytes)
}

/// Returns the charset that `<meta>` or the XML declaration at the beginning names.
fn from_document(bytes: &[u8]) -> Option<&'static Encoding> {
    let head = bytes[..bytes.len().min(HEAD)].to_ascii_lowercase();
    let label = if head.starts_with(b"<?xml") {
        let end = memmem::find(&head, b"?>")?;
        label_after(&head[..end], b"encoding")
    } else {
        memmem::find_iter(&head, b"<meta").find_map(|at| {
            let tag = &head[at..];
            let end = memchr::memchr(b'>', tag).unwrap_or(tag.len());
            label_after(&tag[..end], b"charset")
        })
    }?;
    let encoding = Encoding::for_label(label)?;
    // A document whose declaration can be read as ASCII is not UTF-16.
    Some(if [UTF_16LE, UTF_16BE].contains(&encoding) { UTF_8 } else { encoding })
}

/// Returns the value after a name and `=`.
fn label_after<'a>(text: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    let after = text[memmem::find(text, name)? + name.len()..].trim_ascii_start();
    let value = after.strip_prefix(b"=")?.trim_ascii_start();
    let value = value.strip_prefix(b"\"").or_else(|| value.strip_prefix(b"'")).unwrap_or(value);
    let is_end = |byte: &u8| byte.is_ascii_whitespace() || b"\"';/?>".contains(byte);
    let end = value.iter().position(is_end).unwrap_or(value.len());
    Some(&value[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_of_mark_header_declaration_and_content_counts() {
        let cases: [(&[u8], Option<&str>, &str); 13] = [
            (b"\xEF\xBB\xBF\xC3\xA9", Some("iso-8859-1"), "é"),
            (b"\xFF\xFE\xE9\x00", Some("utf-8"), "é"),
            (b"\xE9", Some("ISO-8859-1"), "é"),
            (b"\x83\x65", Some("shift_jis"), "テ"),
            (b"<meta charset=windows-1251>\xE9", None, "<meta charset=windows-1251>й"),
            (
                b"<META http-equiv=x content='text/html; charset=koi8-r'>\xCA",
                None,
                "<META http-equiv=x content='text/html; charset=koi8-r'>й",
            ),
            (b"<?xml version='1.0' encoding='ISO-8859-2'?>\xB1", None, "<?xml version='1.0' encoding='ISO-8859-2'?>ą"),
            (b"<meta charset=utf-16>\xC3\xA9", None, "<meta charset=utf-16>é"),
            (b"<meta charset=nonesuch>\xC3\xA9", None, "<meta charset=nonesuch>é"),
            (b"\xC3\xA9", None, "é"),
            (b"caf\xE9 \x80 5", None, "café € 5"),
            (b"\xEF\xF0\xE8\xE2\xE5\xF2 \xEC\xE8\xF0, \xEA\xE0\xEA \xE4\xE5\xEB\xE0", None, "привет мир, как дела"),
            (b"\xC3\xA9\xE9", Some("utf-8"), "é\u{FFFD}"),
        ];
        for (bytes, declared, expected) in cases {
            assert_eq!(decode_document(bytes, declared), expected);
        }
    }
}
