//! The canonical form of JSON that digests are taken over.

use std::fmt::Write;

use serde_json::{Number, Value};

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
pub fn canonical_json(value: &Value) -> String {
    let mut text = String::new();
    write_value(&mut text, value);
    text
}

fn write_value(text: &mut String, value: &Value) {
    match value {
        Value::Null => text.push_str("null"),
        Value::Bool(true) => text.push_str("true"),
        Value::Bool(false) => text.push_str("false"),
        Value::Number(number) => write_number(text, number),
        Value::String(string) => write_string(text, string),
        Value::Array(items) => {
            text.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    text.push(',');
                }
                write_value(text, item);
            }
            text.push(']');
        }
        Value::Object(map) => {
            let mut members: Vec<_> = map.iter().collect();
            members.sort_by(|(a, _), (b, _)| a.encode_utf16().cmp(b.encode_utf16()));
            text.push('{');
            for (index, (key, member)) in members.into_iter().enumerate() {
                if index > 0 {
                    text.push(',');
                }
                write_string(text, key);
                text.push(':');
                write_value(text, member);
            }
            text.push('}');
        }
    }
}

/// Integers of 64 bits as they are; everything else as ECMAScript's `Number.prototype.toString`.
fn write_number(text: &mut String, number: &Number) {
    match number.as_f64() {
        Some(float) if number.is_f64() && float.is_finite() => {
            text.push_str(ryu_js::Buffer::new().format_finite(float))
        }
        _ => text.push_str(&number.to_string()),
    }
}

/// RFC 8785, section 3.2.2.2: the two-character escapes where there are some, `\u00xx` for other control characters.
fn write_string(text: &mut String, string: &str) {
    text.push('"');
    for c in string.chars() {
        match c {
            '"' => text.push_str("\\\""),
            '\\' => text.push_str("\\\\"),
            '\u{8}' => text.push_str("\\b"),
            '\t' => text.push_str("\\t"),
            '\n' => text.push_str("\\n"),
            '\u{c}' => text.push_str("\\f"),
            '\r' => text.push_str("\\r"),
            // Writing to a String cannot fail.
            c if c < ' ' => drop(write!(text, "\\u{:04x}", c as u32)),
            c => text.push(c),
        }
    }
    text.push('"');
}
