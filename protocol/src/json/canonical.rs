//! The canonical form of JSON, over which digests are computed.

use std::io::Write;

use super::{Kind, Node};

/// Writes a value in the canonical form of [RFC 8785](https://www.rfc-editor.org/rfc/rfc8785): no white space, keys
/// sorted by UTF-16 code units, numbers as ECMAScript prints them.
///
/// One deliberate deviation: integers beyond 2^53 keep their digits. RFC 8785 would round them to the nearest double, so that
/// different calls could get the same digest.
///
/// ```
/// use protocol::canonical_json;
/// use serde_json::json;
///
/// assert_eq!(canonical_json(&json!({"b": 1.0, "a": [1e21, 9007199254740993u64]})), r#"{"a":[1e+21,9007199254740993],"b":1}"#);
/// ```
pub fn canonical_json<'a>(value: impl Into<Node<'a>>) -> String {
    write_text(value.into(), true)
}

/// Writes a value without white space. Keeps the order of members and the form of floats.
pub(crate) fn compact_json(value: Node<'_>) -> String {
    write_text(value, false)
}

fn write_text(value: Node<'_>, is_canonical: bool) -> String {
    let mut text = Vec::new();
    write_value(&mut text, value, is_canonical);
    // The output is always UTF-8.
    String::from_utf8(text).unwrap_or_default()
}

fn write_value(text: &mut Vec<u8>, value: Node<'_>, is_canonical: bool) {
    match value.kind() {
        Kind::Null => text.extend(b"null"),
        Kind::Bool(true) => text.extend(b"true"),
        Kind::Bool(false) => text.extend(b"false"),
        // Writing to memory cannot fail.
        Kind::Unsigned(number) => drop(write!(text, "{number}")),
        Kind::Negative(number) => drop(write!(text, "{number}")),
        Kind::Float(number) if !is_canonical => {
            drop(write!(text, "{}", serde_json::Value::from(number)))
        }
        // RFC 8785 prints numbers as ECMAScript does.
        Kind::Float(number) => text.extend(ryu_js::Buffer::new().format(number).bytes()),
        Kind::BigInteger(digits) => text.extend(digits.bytes()),
        Kind::String(string) => write_string(text, string),
        Kind::Array => {
            text.push(b'[');
            for (index, element) in value.elements().enumerate() {
                if index > 0 {
                    text.push(b',');
                }
                write_value(text, element, is_canonical);
            }
            text.push(b']');
        }
        Kind::Object => {
            let mut members: Vec<_> = value.members().collect();
            if is_canonical {
                // RFC 8785, section 3.2.3 sorts by UTF-16, which differs from the order of UTF-8 beyond the first plane.
                members.sort_by(|(a, _), (b, _)| a.encode_utf16().cmp(b.encode_utf16()));
            }
            text.push(b'{');
            for (index, (key, member)) in members.into_iter().enumerate() {
                if index > 0 {
                    text.push(b',');
                }
                write_string(text, key);
                text.push(b':');
                write_value(text, member, is_canonical);
            }
            text.push(b'}');
        }
    }
}

/// Writes a string as `serde_json` does, whose escapes are those of RFC 8785, section 3.2.2.2.
fn write_string(text: &mut Vec<u8>, string: &str) {
    // Writing to memory cannot fail.
    drop(serde_json::to_writer(text, string));
}
