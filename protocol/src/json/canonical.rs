//! The canonical form of JSON that digests are taken over.

use std::fmt::Write;

use super::{Kind, Node};

/// Writes a value in the canonical form of [RFC 8785](https://www.rfc-editor.org/rfc/rfc8785): no white space, keys
/// sorted by UTF-16 code units, numbers as ECMAScript prints them.
///
/// One deviation, on purpose: integers beyond 2^53 keep their decimal digits, where RFC 8785 would round them to the
/// nearest double and so give two different calls one digest.
///
/// ```
/// use protocol::canonical_json;
/// use serde_json::json;
///
/// assert_eq!(canonical_json(&json!({"b": 1.0, "a": [1e21, 9007199254740993u64]})), r#"{"a":[1e+21,9007199254740993],"b":1}"#);
/// ```
pub fn canonical_json<'a>(value: impl Into<Node<'a>>) -> String {
    let mut text = String::new();
    write_value(&mut text, value.into(), true);
    text
}

/// Writes a value without white space, members and floats as they came.
pub(crate) fn compact_json(value: Node<'_>) -> String {
    let mut text = String::new();
    write_value(&mut text, value, false);
    text
}

fn write_value(text: &mut String, value: Node<'_>, is_canonical: bool) {
    match value.kind() {
        Kind::Null => text.push_str("null"),
        Kind::Bool(true) => text.push_str("true"),
        Kind::Bool(false) => text.push_str("false"),
        // Writing to a String cannot fail.
        Kind::Unsigned(number) => drop(write!(text, "{number}")),
        Kind::Negative(number) => drop(write!(text, "{number}")),
        Kind::Float(number) if !is_canonical => drop(write!(text, "{}", serde_json::Value::from(number))),
        Kind::Float(number) => text.push_str(ryu_js::Buffer::new().format(number)),
        Kind::Wide(digits) => text.push_str(digits),
        Kind::String(string) => write_string(text, string),
        Kind::Array => {
            text.push('[');
            for (index, element) in value.elements().enumerate() {
                if index > 0 {
                    text.push(',');
                }
                write_value(text, element, is_canonical);
            }
            text.push(']');
        }
        Kind::Object => {
            let mut members: Vec<_> = value.members().collect();
            if is_canonical {
                members.sort_by(|(a, _), (b, _)| a.encode_utf16().cmp(b.encode_utf16()));
            }
            text.push('{');
            for (index, (key, member)) in members.into_iter().enumerate() {
                if index > 0 {
                    text.push(',');
                }
                write_string(text, key);
                text.push(':');
                write_value(text, member, is_canonical);
            }
            text.push('}');
        }
    }
}

/// RFC 8785, section 3.2.2.2: the two-character escapes where there are some, `\u00xx` for other control characters.
fn write_string(text: &mut String, string: &str) {
    text.push('"');
    let mut rest = string;
    while let Some(at) = rest.find(|c: char| matches!(c, '"' | '\\' | ..' ')) {
        let (plain, from) = rest.split_at(at);
        text.push_str(plain);
        match from.as_bytes()[0] {
            b'"' => text.push_str("\\\""),
            b'\\' => text.push_str("\\\\"),
            8 => text.push_str("\\b"),
            b'\t' => text.push_str("\\t"),
            b'\n' => text.push_str("\\n"),
            12 => text.push_str("\\f"),
            b'\r' => text.push_str("\\r"),
            // Writing to a String cannot fail.
            control => drop(write!(text, "\\u{control:04x}")),
        }
        rest = &from[1..];
    }
    text.push_str(rest);
    text.push('"');
}
