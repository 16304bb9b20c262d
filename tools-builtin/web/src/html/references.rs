//! Character references such as `&amp;` and `&#38;`.

use std::borrow::Cow;

use memchr::memchr3;
use quick_xml::escape::resolve_html5_entity;

/// The longest name of a character reference.
const MAX_NAME: usize = 31;

/// The names that are references without a semicolon too.
const LEGACY: [&str; 106] = [
    "AElig", "AMP", "Aacute", "Acirc", "Agrave", "Aring", "Atilde", "Auml", "COPY", "Ccedil",
    "ETH", "Eacute", "Ecirc", "Egrave", "Euml", "GT", "Iacute", "Icirc", "Igrave", "Iuml", "LT",
    "Ntilde", "Oacute", "Ocirc", "Ograve", "Oslash", "Otilde", "Ouml", "QUOT", "REG", "THORN",
    "Uacute", "Ucirc", "Ugrave", "Uuml", "Yacute", "aacute", "acirc", "acute", "aelig", "agrave",
    "amp", "aring", "atilde", "auml", "brvbar", "ccedil", "cedil", "cent", "copy", "curren", "deg",
    "divide", "eacute", "ecirc", "egrave", "eth", "euml", "frac12", "frac14", "frac34", "gt",
    "iacute", "icirc", "iexcl", "igrave", "iquest", "iuml", "laquo", "lt", "macr", "micro",
    "middot", "nbsp", "not", "ntilde", "oacute", "ocirc", "ograve", "ordf", "ordm", "oslash",
    "otilde", "ouml", "para", "plusmn", "pound", "quot", "raquo", "reg", "sect", "shy", "sup1",
    "sup2", "sup3", "szlig", "thorn", "times", "uacute", "ucirc", "ugrave", "uml", "uuml",
    "yacute", "yen", "yuml",
];

/// The longest of the legacy names.
const MAX_LEGACY: usize = 6;

/// The characters of windows-1252 that references to control characters mean.
const WINDOWS: [char; 32] = [
    '€', '\u{81}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{8D}', 'Ž', '\u{8F}',
    '\u{90}', '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{9D}', 'ž', 'Ÿ',
];

/// Returns text with its line breaks as line feeds and without null characters.
pub(super) fn normalize(text: &str) -> Cow<'_, str> {
    decode_with(text, |_| None)
}

/// Returns text with its character references replaced.
pub(super) fn decode(text: &str) -> Cow<'_, str> {
    decode_with(text, |rest| reference(rest, false))
}

/// Returns an attribute's value with its character references replaced.
pub(crate) fn decoded_value(value: &str) -> Cow<'_, str> {
    decode_with(value, |rest| reference(rest, true))
}

fn decode_with<'a>(
    text: &'a str,
    reference: impl Fn(&str) -> Option<(Cow<'static, str>, usize)>,
) -> Cow<'a, str> {
    if memchr3(b'&', b'\r', b'\0', text.as_bytes()).is_none() {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = memchr3(b'&', b'\r', b'\0', rest.as_bytes()) {
        out.push_str(&rest[..at]);
        let special = rest.as_bytes()[at];
        rest = &rest[at + 1..];
        match special {
            b'\r' => {
                out.push('\n');
                rest = rest.strip_prefix('\n').unwrap_or(rest);
            }
            b'\0' => out.push('\u{FFFD}'),
            _ => match reference(rest) {
                Some((replacement, length)) => {
                    out.push_str(&replacement);
                    rest = &rest[length..];
                }
                None => out.push('&'),
            },
        }
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// Reads the reference after `&`. Returns its text and its length.
fn reference(rest: &str, in_attribute: bool) -> Option<(Cow<'static, str>, usize)> {
    if let Some(number) = rest.strip_prefix('#') {
        let (c, length) = numeric(number)?;
        return Some((Cow::Owned(c.to_string()), length + 1));
    }
    let bytes = rest.as_bytes();
    let name = bytes.iter().take(MAX_NAME + 1);
    let length = name.take_while(|byte| byte.is_ascii_alphanumeric()).count();
    if bytes.get(length) == Some(&b';')
        && let Some(text) = resolve_html5_entity(&rest[..length])
    {
        return Some((Cow::Borrowed(text), length + 1));
    }
    let legacy = (2..=length.min(MAX_LEGACY))
        .rev()
        .find(|&length| LEGACY.binary_search(&&rest[..length]).is_ok())?;
    // In addresses, `&copy=1` is a parameter.
    let continues = bytes
        .get(legacy)
        .is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'=');
    if in_attribute && continues {
        return None;
    }
    resolve_html5_entity(&rest[..legacy]).map(|text| (Cow::Borrowed(text), legacy))
}

/// Reads the reference after `&#`. Returns its character and its length.
fn numeric(rest: &str) -> Option<(char, usize)> {
    let (digits, radix, prefix) = match rest.strip_prefix(['x', 'X']) {
        Some(digits) => (digits, 16, 1),
        None => (rest, 10, 0),
    };
    let length = digits.chars().take_while(|digit| digit.is_digit(radix));
    let length = length.count();
    if length == 0 {
        return None;
    }
    // A number that does not fit is none of a character.
    let c = match u32::from_str_radix(&digits[..length], radix).unwrap_or(0) {
        number @ 0x80..=0x9F => WINDOWS[(number - 0x80) as usize],
        0 => char::REPLACEMENT_CHARACTER,
        number => char::from_u32(number).unwrap_or(char::REPLACEMENT_CHARACTER),
    };
    let has_semicolon = digits.as_bytes().get(length) == Some(&b';');
    Some((c, prefix + length + usize::from(has_semicolon)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_legacy_names_are_sorted_and_known() {
        assert!(LEGACY.is_sorted());
        for name in LEGACY {
            assert!(
                resolve_html5_entity(name).is_some() && name.len() <= MAX_LEGACY,
                "{name}"
            );
        }
    }

    #[test]
    fn references_are_replaced() {
        for (text, expected) in [
            ("a&amp;b &lt; &copy 2 &notit; &notin;", "a&b < © 2 ¬it; ∉"),
            (
                "&#65;&#x42;&#67 &#150; &#0; &#xD800; &#99999999999;",
                "ABC – \u{FFFD} \u{FFFD} \u{FFFD}",
            ),
            (
                "& && &; &# &#x &nonesuch; &amp",
                "& && &; &# &#x &nonesuch; &",
            ),
            ("a\r\nb\rc\0", "a\nb\nc\u{FFFD}"),
        ] {
            assert_eq!(decode(text), expected);
        }
        assert_eq!(decoded_value("?a=1&copy=2&lt;&copy"), "?a=1&copy=2<©");
    }
}
