//! The text of a document of the web.

use std::borrow::Cow;

use encoding_rs::Encoding;

use crate::declaration::find_declared as declared_in;
use crate::encoding::TextEncoding;
use crate::label;

/// Decodes a document. Bytes that are invalid in its charset become replacement characters.
///
/// The charset is that of the byte order mark, of the content type, of the document's own declaration, or that of [`TextEncoding::of`].
/// `declared` is the label of the content type. A declaration of UTF-8 does not count if the bytes have not one character of it beyond ASCII.
pub fn decode_document<'a>(bytes: &'a [u8], declared: Option<&str>) -> Cow<'a, str> {
    if let Some((encoding, length)) = Encoding::for_bom(bytes) {
        return encoding.decode_without_bom_handling(&bytes[length..]).0;
    }
    let declared = declared
        .and_then(label::encoding)
        .or_else(|| declared_in(bytes));
    let encoding = declared.map_or_else(|| TextEncoding::of(bytes), TextEncoding::from);
    if encoding == TextEncoding::UTF_8 && !has_utf8(bytes) && std::str::from_utf8(bytes).is_err() {
        TextEncoding::of(bytes)
    } else {
        encoding
    }
    .decode(bytes)
}

/// Returns true if there is a valid character of UTF-8 beyond ASCII.
fn has_utf8(bytes: &[u8]) -> bool {
    bytes.utf8_chunks().any(|chunk| !chunk.valid().is_ascii())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_of_mark_header_declaration_and_content_counts() {
        let cases: [(&[u8], Option<&str>, &str); 18] = [
            (b"\xEF\xBB\xBF\xC3\xA9", Some("iso-8859-1"), "é"),
            (b"\xFF\xFE\xE9\x00", Some("utf-8"), "é"),
            (b"\xE9", Some("ISO-8859-1"), "é"),
            (b"\x83\x65", Some("shift_jis"), "テ"),
            (
                b"<meta charset=windows-1251>\xE9",
                None,
                "<meta charset=windows-1251>й",
            ),
            (
                b"<META http-equiv=x content='text/html; charset=koi8-r'>\xCA",
                None,
                "<META http-equiv=x content='text/html; charset=koi8-r'>й",
            ),
            (
                b"<?xml version='1.0' encoding='ISO-8859-2'?>\xB1",
                None,
                "<?xml version='1.0' encoding='ISO-8859-2'?>ą",
            ),
            (
                b"<meta charset=utf-16>\xC3\xA9",
                None,
                "<meta charset=utf-16>é",
            ),
            (
                b"<meta charset=nonesuch>\xC3\xA9",
                None,
                "<meta charset=nonesuch>é",
            ),
            (
                b"<meta charset=iso-2022-jp>\x1B$B$\"\x1B(B",
                None,
                "<meta charset=iso-2022-jp>あ",
            ),
            (
                b"<meta charset=iso-2022-kr>a",
                Some("hz-gb-2312"),
                "<meta charset=iso-2022-kr>a",
            ),
            (b"\xC3\xA9", None, "é"),
            (b"caf\xE9 \x80 5", None, "café € 5"),
            (
                b"\xEF\xF0\xE8\xE2\xE5\xF2 \xEC\xE8\xF0, \xEA\xE0\xEA \xE4\xE5\xEB\xE0",
                None,
                "привет мир, как дела",
            ),
            (b"\xC3\xA9\xE9", Some("utf-8"), "é\u{FFFD}"),
            (b"caf\xE9 au lait", Some("utf-8"), "café au lait"),
            (
                b"<meta charset=utf-8>caf\xE9 au lait",
                None,
                "<meta charset=utf-8>café au lait",
            ),
            (
                b"<meta charset=iso-8859-2>\xB1",
                Some("utf-8"),
                "<meta charset=iso-8859-2>ą",
            ),
        ];
        for (bytes, declared, expected) in cases {
            assert_eq!(decode_document(bytes, declared), expected);
        }
    }
}
