//! The encoding that a text names itself.

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE};
use memchr::memmem;

use crate::label;

/// The part of a text that may declare its encoding, in bytes.
const HEAD: usize = 4096;

/// Returns the encoding that a text names at its beginning: in its XML declaration, in `<meta>`, in `@charset` of a style sheet, or after
/// `coding` in the first two lines, as Python and editors do.
pub(crate) fn find_declared(bytes: &[u8]) -> Option<&'static Encoding> {
    let head = bytes[..bytes.len().min(HEAD)].to_ascii_lowercase();
    let label = if head.starts_with(b"<?xml") {
        let end = memmem::find(&head, b"?>")?;
        label_after(&head[..end], b"encoding")
    } else if head.starts_with(b"@charset") {
        label_after(&head, b"@charset")
    } else {
        let mut lines = head.split(|byte| *byte == b'\n').take(2);
        // Not only the first `<meta>`: others, as the one of the viewport, may stand before that of the charset.
        let meta = memmem::find_iter(&head, b"<meta").find_map(|at| {
            let tag = &head[at..];
            let end = memchr::memchr(b'>', tag).unwrap_or(tag.len());
            label_after(&tag[..end], b"charset")
        });
        meta.or_else(|| lines.find_map(|line| label_after(line, b"coding")))
    }?;
    let encoding = label::encoding(std::str::from_utf8(label).ok()?)?;
    // A text whose declaration can be read as ASCII is not UTF-16.
    Some(if [UTF_16LE, UTF_16BE].contains(&encoding) {
        UTF_8
    } else {
        encoding
    })
}

/// Returns the value after a name and `=` or `:`, or after `@charset`.
fn label_after<'a>(text: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    let after = text[memmem::find(text, name)? + name.len()..].trim_ascii_start();
    let value = after
        .strip_prefix(b"=")
        .or_else(|| after.strip_prefix(b":"));
    let value = value
        .or_else(|| name.starts_with(b"@").then_some(after))?
        .trim_ascii_start();
    let value = value
        .strip_prefix(b"\"")
        .or_else(|| value.strip_prefix(b"'"))
        .unwrap_or(value);
    let mut bytes = value.iter();
    let end = bytes.position(|byte| byte.is_ascii_whitespace() || b"\"';/?>".contains(byte));
    Some(&value[..end.unwrap_or(value.len())])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_names_its_encoding_in_many_ways() {
        for (text, name) in [
            (
                "<?xml version='1.0' encoding='ISO-8859-2'?>",
                Some("ISO-8859-2"),
            ),
            ("<?xml version='1.0'?><meta charset=koi8-r>", None),
            (
                "<html><META http-equiv=x content='text/html; charset=koi8-r'>",
                Some("KOI8-R"),
            ),
            (
                "<p><meta name=a><meta charset = \"MacCyrillic\"/>",
                Some("x-mac-cyrillic"),
            ),
            ("@charset \"windows-1250\";", Some("windows-1250")),
            (
                "#!/usr/bin/python\n# -*- coding: latin-1 -*-\n",
                Some("windows-1252"),
            ),
            (
                "# vim: set fileencoding=iso-8859-15 :\n",
                Some("ISO-8859-15"),
            ),
            ("a\nb\n# coding: koi8-r\n", None),
            ("<meta charset=utf-16>", Some("UTF-8")),
            ("<meta charset=nonesuch>", None),
            ("my coding style", None),
            ("", None),
        ] {
            assert_eq!(
                find_declared(text.as_bytes()).map(Encoding::name),
                name,
                "{text}"
            );
        }
    }
}
