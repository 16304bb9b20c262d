//! [`strict`]: JSON as careless programs write it.

use crate::client::message_limit::MAX_MESSAGE_BYTES;

/// The words that some languages write in their JSON, and the ones of JSON.
const WORDS: [(&str, &str); 12] = [
    ("NaN", "null"),
    ("-NaN", "null"),
    ("nan", "null"),
    ("-nan", "null"),
    ("inf", "null"),
    ("-inf", "null"),
    ("Infinity", "null"),
    ("-Infinity", "null"),
    ("None", "null"),
    ("undefined", "null"),
    ("True", "true"),
    ("False", "false"),
];

/// Returns the JSON that a text means:
///
/// - null in place of numbers that JSON does not have, and of the nothing of other languages; the words of Python for true and false
/// - escapes in place of control characters, and U+FFFD in place of halves of surrogate pairs
/// - quotes of JSON in place of single ones
/// - no comma before the end of a list or an object
///
/// Returns `None` if the text has none of these, or would be too long.
pub(super) fn strict(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    let mut made = String::new();
    let mut copied = 0;
    let mut at = 0;
    // The quote of the string that is being read.
    let mut quote = None;
    while let Some(byte) = bytes.get(at) {
        let (length, instead) = match (byte, quote) {
            (b'"', None) => {
                quote = Some(b'"');
                (1, None)
            }
            (b'\'', None) => {
                quote = Some(b'\'');
                (1, Some("\"".to_owned()))
            }
            (b'"' | b'\'', Some(open)) if *byte == open => {
                quote = None;
                (1, (open == b'\'').then(|| "\"".to_owned()))
            }
            (b'"', Some(_)) => (1, Some("\\\"".to_owned())),
            (b'\\', Some(open)) => escape(text, at, open),
            (0..=0x1f, Some(_)) => (1, Some(format!("\\u{byte:04x}"))),
            (_, Some(_)) => (1, None),
            (b',', None) => (1, is_last(&bytes[at + 1..]).then(String::new)),
            (b'-' | b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z', None) => word(text, at),
            _ => (1, None),
        };
        if let Some(instead) = instead {
            made += &text[copied..at];
            made += &instead;
            copied = at + length;
            if made.len() > MAX_MESSAGE_BYTES {
                return None;
            }
        }
        at += length;
    }
    made += if copied > 0 { &text[copied..] } else { "" };
    (copied > 0).then_some(made)
}

/// Returns the length of the escape at a place, and the text in its place.
fn escape(text: &str, at: usize, quote: u8) -> (usize, Option<String>) {
    let bytes = text.as_bytes();
    match (surrogate(bytes, at), bytes.get(at + 1)) {
        (Some(0xd800..=0xdbff), _) if matches!(surrogate(bytes, at + 6), Some(0xdc00..=0xdfff)) => {
            (12, None)
        }
        (Some(_), _) => (6, Some("\\ufffd".to_owned())),
        (None, Some(b'\'')) if quote == b'\'' => (2, Some("'".to_owned())),
        // Python's escape of a byte.
        (None, Some(b'x')) if quote == b'\'' => match text.get(at + 2..at + 4) {
            Some(digits) if digits.bytes().all(|digit| digit.is_ascii_hexdigit()) => {
                (4, Some(format!("\\u00{digits}")))
            }
            _ => (2, None),
        },
        // The second byte may begin a character of several.
        (None, Some(next)) if next.is_ascii() => (2, None),
        _ => (1, None),
    }
}

/// Returns the length of the word or number at a place, and the one of JSON in its place.
fn word(text: &str, at: usize) -> (usize, Option<String>) {
    let rest = &text[at..];
    let mut bytes = rest.bytes();
    let end = bytes.position(|byte| !byte.is_ascii_alphanumeric() && !b"+-._".contains(&byte));
    let word = &rest[..end.unwrap_or(rest.len())];
    if let Some((_, instead)) = WORDS.iter().find(|(from, _)| *from == word) {
        return (word.len(), Some((*instead).to_owned()));
    }
    // A number that is too large for JSON's readers.
    let is_infinite = word.starts_with(['-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9'])
        && word.contains(['e', 'E'])
        && word.parse::<f64>().is_ok_and(f64::is_infinite);
    (word.len().max(1), is_infinite.then(|| "null".to_owned()))
}

/// Returns true if a list or an object ends next.
fn is_last(rest: &[u8]) -> bool {
    matches!(
        rest.iter().find(|byte| !byte.is_ascii_whitespace()),
        Some(b']' | b'}')
    )
}

/// Returns the half of a surrogate pair that is escaped at a place.
fn surrogate(bytes: &[u8], at: usize) -> Option<u16> {
    let digits = bytes.get(at..at + 6)?.strip_prefix(b"\\u")?;
    let unit = u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
    (0xd800..=0xdfff).contains(&unit).then_some(unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_stays_as_it_is() {
        for text in [
            r#"{"a":[1,-2.5e10,true,false,null,"NaN, None, 'x', ]"],"b":"\ud83d\ude00 \\ \" \\ud800"}"#,
            r#"{"True": "it's", "n": 1e300}"#,
            "",
            "é",
        ] {
            assert_eq!(strict(text), None, "{text}");
        }
    }

    #[test]
    fn deviations_with_one_meaning_become_json() {
        for (text, expected) in [
            (
                "[NaN,-nan,-Infinity,Infinity,-inf,-1, None, undefined]",
                "[null,null,null,null,null,-1, null, null]",
            ),
            ("{'a': True, 'b': False, }", r#"{"a": true, "b": false }"#),
            (
                r#"{'it\'s': "it's", 'b': 'say "x"', 'c': '\x1b\\'}"#,
                r#"{"it's": "it's", "b": "say \"x\"", "c": "\u001b\\"}"#,
            ),
            ("[1,2,\n ]", "[1,2\n ]"),
            ("[1e400,-1e999,1e5]", "[null,null,1e5]"),
            ("[\"a\tb\u{1}\"]", r#"["a\u0009b\u0001"]"#),
            (r#"["\ud83d cut \udc00"]"#, r#"["\ufffd cut \ufffd"]"#),
        ] {
            assert_eq!(strict(text).as_deref(), Some(expected));
            serde_json::from_str::<serde_json::Value>(expected).unwrap();
        }
    }

    #[test]
    fn no_text_is_cut_inside_of_a_character() {
        for text in [
            "\"\\é", "'\\é'", "'\\x", "'\\xé0'", "-é", "\"\\u", "Nané", "{'", "\\",
        ] {
            strict(text);
        }
    }
}
