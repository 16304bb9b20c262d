//! [`seven_bit`]: encodings whose bytes are those of ASCII.

use memchr::{memchr, memchr_iter, memmem};

/// The escapes that begin the characters of a set, and the encodings that have them.
const DESIGNATIONS: [(&str, &[&[u8]]); 3] = [
    ("ISO-2022-KR", &[b"$)C"]),
    ("ISO-2022-CN", &[b"$)A", b"$)E", b"$)G", b"$*H", b"$+"]),
    (
        ISO_2022_JP,
        &[
            b"$@", b"$A", b"$B", b"$(@", b"$(B", b"$(C", b"$(D", b"(I", b"(J",
        ],
    ),
];

/// The name of the encoding of Japanese mail.
pub(crate) const ISO_2022_JP: &str = "ISO-2022-JP";

/// The least characters of UTF-7 in a text of it, as `+` and `-` stand around words of other texts too.
const LEAST_UTF7: usize = 2;

/// Returns the name of the encoding of a text whose characters beyond ASCII are written in bytes of ASCII: one of ISO 2022, HZ or UTF-7.
/// Returns `None` for other texts.
pub fn seven_bit(bytes: &[u8]) -> Option<&'static str> {
    if !bytes.is_ascii() {
        return None;
    }
    let escapes = memchr_iter(0x1B, bytes).map(|escape| &bytes[escape + 1..]);
    let designated = escapes.into_iter().find_map(|rest| {
        let mut all = DESIGNATIONS.iter();
        all.find(|(_, sets)| sets.iter().any(|set| rest.starts_with(set)))
    });
    designated
        .map(|(name, _)| *name)
        .or_else(|| has_hz(bytes).then_some("HZ-GB-2312"))
        .or_else(|| is_utf7(bytes).then_some("UTF-7"))
}

/// Returns true for pairs of bytes in `~{` and `~}`.
fn has_hz(bytes: &[u8]) -> bool {
    memmem::find_iter(bytes, b"~{").any(|start| {
        let inner = &bytes[start + 2..];
        let inner = &inner[..memmem::find(inner, b"~}").unwrap_or(0)];
        let (pairs, rest) = inner.as_chunks();
        // The rows and cells of GB 2312 in RFC 1843. Other texts have `~{` too.
        let is_character =
            |[row, cell]: &[u8; 2]| (b'!'..=b'w').contains(row) && (b'!'..=b'~').contains(cell);
        rest.is_empty() && !pairs.is_empty() && pairs.iter().all(is_character)
    })
}

/// Returns true if each `+` begins characters in base64, or is one before `-`, and there are enough of these characters.
fn is_utf7(bytes: &[u8]) -> bool {
    let mut characters = 0;
    let mut has_end = false;
    let mut rest = bytes;
    while let Some(plus) = memchr(b'+', rest) {
        rest = &rest[plus + 1..];
        if rest.starts_with(b"-") {
            continue;
        }
        let mut bytes = rest.iter();
        let end = bytes.position(|byte| !byte.is_ascii_alphanumeric() && !b"+/".contains(byte));
        let (digits, after) = rest.split_at(end.unwrap_or(rest.len()));
        let Some(count) = utf16_characters(digits) else {
            return false;
        };
        characters += count;
        has_end |= after.starts_with(b"-");
        rest = after;
    }
    has_end && characters >= LEAST_UTF7
}

/// Returns the number of characters beyond ASCII in digits of base64 that are units of UTF-16. Returns `None` for other digits.
fn utf16_characters(digits: &[u8]) -> Option<usize> {
    let mut units = Vec::new();
    let mut bits = 0_u32;
    let mut count = 0;
    for digit in digits {
        let value = match digit {
            b'A'..=b'Z' => digit - b'A',
            b'a'..=b'z' => digit - b'a' + 26,
            b'0'..=b'9' => digit - b'0' + 52,
            b'+' => 62,
            _ => 63,
        };
        (bits, count) = (bits << 6 | u32::from(value), count + 6);
        if count >= 16 {
            count -= 16;
            units.push((bits >> count) as u16);
            bits &= (1 << count) - 1;
        }
    }
    let mut characters = char::decode_utf16(units.iter().copied());
    let are_other = characters.all(|read| read.is_ok_and(|read| !read.is_ascii_graphic()));
    // RFC 2152: bits that only fill the last digit are zero, and fewer than a digit has.
    (bits == 0 && count < 6 && !units.is_empty() && are_other).then_some(units.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encodings_in_bytes_of_ascii_are_known_by_their_escapes() {
        for (text, name) in [
            ("\x1B$B$\"\x1B(B", Some(ISO_2022_JP)),
            ("a \x1B(I1\x1B(B", Some(ISO_2022_JP)),
            ("\x1B$)C\n\x0E0!\x0F", Some("ISO-2022-KR")),
            ("\x1B$)A\x0E=;\x0F", Some("ISO-2022-CN")),
            ("This is ~{<:Ky2;VpJ)!#~}Bye.", Some("HZ-GB-2312")),
            ("+ZeVnLIqe-", Some("UTF-7")),
            ("Hi +AOk +- +AOQA9g-", Some("UTF-7")),
            ("", None),
            ("größe \x1B$B", None),
            ("\x1B[1mbold\x1B[0m \x1B(B\x1B[m \x1B]0;$B\x07", None),
            (
                "(format t \"~{~a~^, ~}\" list) (format t \"~{~a~}\" x)",
                None,
            ),
            ("let a = b+position - 1;", None),
            ("a + b+AOkAAA-", None),
            ("ada+lists-x@example.org", None),
            ("1+1-1 C++ a+b-c", None),
        ] {
            assert_eq!(seven_bit(text.as_bytes()), name, "{text}");
        }
    }
}
