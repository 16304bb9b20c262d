//! [`read`]: the messages of servers as the parser of the protocol takes them, whatever the transport.

use std::borrow::Cow;

use rmcp::model::ErrorData;
use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value, json};

use super::message_limit::MAX_MESSAGE_BYTES;

/// The levels of a message's JSON. The parser of the protocol refuses 128.
const MAX_DEPTH: usize = 100;

/// The words of Python's JSON that no other program reads.
const NO_NUMBERS: [&[u8]; 3] = [b"NaN", b"Infinity", b"-Infinity"];

/// The code of an answer in place of one that cannot be read.
const UNREADABLE: i32 = -32603;

/// The parts of a text that tell whether it is a message.
#[derive(Deserialize)]
struct Envelope {
    jsonrpc: Option<Value>,
    id: Option<Value>,
    method: Option<Value>,
    #[serde(default, deserialize_with = "presence")]
    result: Presence,
    #[serde(default, deserialize_with = "presence")]
    error: Presence,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Presence {
    #[default]
    Absent,
    Null,
    Value,
}

/// The error of an answer.
#[derive(Deserialize)]
struct Failed {
    #[serde(rename = "error")]
    _error: ErrorData,
}

/// Returns a message of a server as the parser of the protocol takes it. Returns `None` for a text that is none, such as a line of a log.
///
/// Deviations with one meaning are corrected: bytes that are no UTF-8, Python's `NaN` and `Infinity` (as null), control characters and
/// halves of surrogate pairs in strings, an `error` or a `result` of null beside the other, an error that is no object.
/// An answer that cannot be read becomes an error, so that its call ends at once.
pub(super) fn read(bytes: &[u8]) -> Option<Cow<'_, str>> {
    let text = match String::from_utf8_lossy(bytes) {
        Cow::Borrowed(text) => Cow::Borrowed(text.trim_start_matches('\u{feff}')),
        Cow::Owned(text) => Cow::Owned(text),
    };
    if !text.trim_start().starts_with('{') {
        return None;
    }
    let text = match corrected(&text) {
        Some(corrected) => Cow::Owned(corrected),
        None => text,
    };
    // The parser goes over fields that it does not know without calling itself.
    let envelope = match serde_json::from_str::<Envelope>(&text) {
        Ok(envelope) => envelope,
        Err(error) => return unreadable(&text, &error.to_string()).map(Cow::Owned),
    };
    let is_answer = envelope.method.is_none()
        && (envelope.result, envelope.error) != (Presence::Absent, Presence::Absent)
        && envelope.id.is_some();
    let is_version = envelope.jsonrpc.as_ref().is_some_and(|version| version == "2.0");
    if !is_version && !is_answer {
        return None;
    }
    if depth(text.as_bytes()) > MAX_DEPTH {
        let message = format!("the answer of the server has more than {MAX_DEPTH} levels");
        let id = envelope.id.filter(|id| envelope.method.is_none() && (id.is_number() || id.is_string()));
        return id.map(|id| Cow::Owned(refusal(&id, &message)));
    }
    if envelope.method.is_some() || is_version && is_plain(&envelope, &text) {
        return Some(text);
    }
    Some(Cow::Owned(rewritten(&text)?))
}

/// Returns true if the parser of the protocol takes an answer as it is.
fn is_plain(envelope: &Envelope, text: &str) -> bool {
    let has_id = envelope.id.as_ref().is_some_and(|id| id.is_i64() || id.is_u64() || id.is_string());
    match (envelope.result, envelope.error) {
        (Presence::Absent, Presence::Absent) => envelope.id.as_ref().is_none_or(Value::is_string),
        (_, Presence::Absent) => has_id,
        (Presence::Absent, Presence::Value) => {
            (has_id || envelope.id.is_none()) && serde_json::from_str::<Failed>(text).is_ok()
        }
        _ => false,
    }
}

/// Returns an answer with the fields of the protocol alone. Its levels are within the limit.
fn rewritten(text: &str) -> Option<String> {
    let mut fields: Map<String, Value> = serde_json::from_str(text).ok()?;
    let id = match fields.remove("id").unwrap_or_default() {
        Value::Number(number) if !number.is_i64() && !number.is_u64() => {
            number.as_f64().filter(|id| id.fract() == 0.0).map_or(Value::Null, |id| json!(id as i64))
        }
        id @ (Value::Number(_) | Value::String(_)) => id,
        _ => Value::Null,
    };
    let error = fields.remove("error").filter(|error| !error.is_null());
    let answer = match (error, fields.remove("result")) {
        (Some(error), _) => json!({"jsonrpc": "2.0", "id": id, "error": readable_error(error)}),
        (None, Some(result)) if !id.is_null() => json!({"jsonrpc": "2.0", "id": id, "result": result}),
        (None, Some(_)) => return Some(refusal(&Value::Null, "the server answered without the id of a request")),
        (None, None) => return Some(refusal(&id, "the server answered with neither a result nor an error")),
    };
    Some(answer.to_string())
}

/// Returns an error of JSON-RPC.
fn readable_error(error: Value) -> Value {
    if ErrorData::deserialize(&error).is_ok() {
        return error;
    }
    let code = error.get("code").and_then(Value::as_i64).and_then(|code| i32::try_from(code).ok());
    let text = error.get("message").unwrap_or(&error);
    let message = text.as_str().map_or_else(|| text.to_string(), str::to_owned);
    json!({"code": code.unwrap_or(UNREADABLE), "message": message, "data": error.get("data")})
}

fn refusal(id: &Value, message: &str) -> String {
    let error = json!({"jsonrpc": "2.0", "id": id, "error": {"code": UNREADABLE, "message": message}});
    error.to_string()
}

/// Returns an error in place of an answer that is no JSON. Returns `None` for a text that does not look like an answer.
fn unreadable(text: &str, reason: &str) -> Option<String> {
    let (version, method) = (text.find("\"jsonrpc\""), text.find("\"method\""));
    let content = text.find("\"result\"").or_else(|| text.find("\"error\""))?;
    if version.is_none() || method.is_some_and(|method| method < content) {
        return None;
    }
    // The first id is that of the answer, unless the answer has it after its content.
    let id = text.split_once("\"id\"").and_then(|(_, rest)| rest.trim_start().strip_prefix(':'));
    let digits = id.map(|id| id.trim_start().chars().take_while(char::is_ascii_digit).collect::<String>());
    let id = digits.and_then(|digits| digits.parse::<u32>().ok()).map_or(Value::Null, Value::from);
    Some(refusal(&id, &format!("the answer of the server is no JSON: {reason}; the call may have run")))
}

/// Returns the levels of a JSON text.
fn depth(json: &[u8]) -> usize {
    let (mut depth, mut most, mut is_string, mut is_escaped) = (0usize, 0, false, false);
    for byte in json {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if is_string => is_escaped = true,
            b'"' => is_string = !is_string,
            b'[' | b'{' if !is_string => {
                depth += 1;
                most = most.max(depth);
            }
            b']' | b'}' if !is_string => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    most
}

/// Returns a JSON text with null in place of numbers that JSON does not have, with escapes in place of control characters, and without
/// halves of surrogate pairs. Returns `None` if there are none, or if the text would be too long.
fn corrected(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    let (mut made, mut copied, mut at, mut is_string) = (String::new(), 0, 0, false);
    while let Some(byte) = bytes.get(at) {
        let (length, instead) = match byte {
            b'"' => {
                is_string = !is_string;
                (1, None)
            }
            b'\\' if is_string => match surrogate(bytes, at) {
                Some(0xd800..=0xdbff) if matches!(surrogate(bytes, at + 6), Some(0xdc00..=0xdfff)) => (12, None),
                Some(_) => (6, Some("\\ufffd".to_owned())),
                None => (2, None),
            },
            0..=0x1f if is_string => (1, Some(format!("\\u{byte:04x}"))),
            b'N' | b'I' | b'-' if !is_string => {
                let word = NO_NUMBERS.iter().find(|word| bytes[at..].starts_with(word));
                word.map_or((1, None), |word| (word.len(), Some("null".to_owned())))
            }
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

/// Returns the half of a surrogate pair that is escaped at a place.
fn surrogate(bytes: &[u8], at: usize) -> Option<u16> {
    let digits = bytes.get(at..at + 6)?.strip_prefix(b"\\u")?;
    let unit = u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
    (0xd800..=0xdfff).contains(&unit).then_some(unit)
}

fn presence<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Presence, D::Error> {
    let value = Option::<IgnoredAny>::deserialize(deserializer)?;
    Ok(value.map_or(Presence::Null, |_| Presence::Value))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nested(levels: usize) -> String {
        format!(r#"{{"jsonrpc":"2.0","id":7,"result":{}{}}}"#, "[".repeat(levels - 1), "]".repeat(levels - 1))
    }

    fn answer(bytes: &[u8]) -> Value {
        let read = read(bytes).unwrap_or_else(|| panic!("{}", String::from_utf8_lossy(bytes)));
        let _: rmcp::model::ServerJsonRpcMessage = serde_json::from_str(&read).unwrap();
        serde_json::from_str(&read).unwrap()
    }

    #[test]
    fn a_line_is_a_message_only_if_it_is_json_rpc() {
        for line in [
            r#"{"jsonrpc":"2.0","method":"notifications/progress"}"#,
            r#"  {"id":"a","jsonrpc":"2.0","result":{"a":"[[[{{{\"[["}}  "#,
            r#"{"jsonrpc":"2.0","id":1,"result":{"a":"\ud83d\ude00 \\ud800"}}"#,
            &nested(MAX_DEPTH),
        ] {
            assert!(matches!(read(line.as_bytes()), Some(Cow::Borrowed(same)) if same == line), "{line}");
        }
        for line in [
            "",
            "Server started",
            "{",
            "{}",
            r#"{"level":"info","msg":"started"}"#,
            r#"{"jsonrpc":"1.0","id":1}"#,
            r#"{"jsonrpc":2.0,"id":1}"#,
            r#"[{"jsonrpc":"2.0"}]"#,
            r#"{"jsonrpc":"2.0"} {}"#,
            "\u{1b}[2J",
            "null",
            r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"error":"#,
        ] {
            assert!(read(line.as_bytes()).is_none(), "{line}");
        }
    }

    #[test]
    fn an_answer_that_is_nested_too_deep_becomes_an_error_of_its_call() {
        for levels in [MAX_DEPTH + 1, 5_000_000] {
            let answer = answer(nested(levels).as_bytes());
            assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(7), &json!(-32603)));
        }
        let request = nested(5_000_000).replace("result", "method");
        assert!(read(request.as_bytes()).is_none());
        let id = format!(r#"{{"jsonrpc":"2.0","id":{}{}}}"#, "[".repeat(5_000_000), "]".repeat(5_000_000));
        assert!(read(id.as_bytes()).is_none());
    }

    #[test]
    fn a_careless_answer_is_read_if_it_has_one_meaning() {
        let result = |result: &str| format!(r#"{{"jsonrpc":"2.0","id":1,"result":{result}}}"#).into_bytes();
        for (bytes, expected) in [
            (
                result(r#"{"a":[NaN,-Infinity,Infinity,-1],"b":"NaN"}"#),
                json!({"a": [null, null, null, -1], "b": "NaN"}),
            ),
            (result("{\"a\":\"café\"}"), json!({"a": "café"})),
            (b"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"a\":\"caf\xe9\"}}".to_vec(), json!({"a": "caf\u{fffd}"})),
            (["\u{feff}".as_bytes(), &result("{}")].concat(), json!({})),
            (result("{\"a\":\"one\ttwo\u{1}\"}"), json!({"a": "one\ttwo\u{1}"})),
            (result(r#"{"a":"\ud83d cut \udc00\\ud800"}"#), json!({"a": "\u{fffd} cut \u{fffd}\\ud800"})),
            (result(r#"{"a":1},"error":null"#), json!({"a": 1})),
            (br#"{"id":1,"result":{"a":1}}"#.to_vec(), json!({"a": 1})),
            (br#"{"jsonrpc":"1.0","id":1.0,"error":null,"result":{"a":1}}"#.to_vec(), json!({"a": 1})),
        ] {
            let read = answer(&bytes);
            assert_eq!((&read["id"], &read["result"]), (&json!(1), &expected));
        }
    }

    #[test]
    fn an_answer_that_cannot_be_read_is_an_error_with_its_id_if_it_has_one() {
        for (text, id) in [
            (r#"{"jsonrpc":"2.0","id":3,"result":{"a":undefined}}"#, json!(3)),
            (r#"{"jsonrpc": "2.0", "id" : 3, "result": {"a": "cut"#, json!(3)),
            (r#"{"jsonrpc":"2.0","result":{'a':1}}"#, Value::Null),
            (r#"{"jsonrpc":"2.0","id":null,"result":{}}"#, Value::Null),
            (r#"{"jsonrpc":"2.0","result":{}}"#, Value::Null),
            (r#"{"jsonrpc":"2.0","id":[1],"result":{}}"#, Value::Null),
            (r#"{"jsonrpc":"2.0","id":3}"#, json!(3)),
            (r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}"#, Value::Null),
            (r#"{"jsonrpc":"2.0","id":3,"error":"it broke"}"#, json!(3)),
            (r#"{"jsonrpc":"2.0","id":3,"error":{"code":"E_FAIL","message":"it broke"},"result":null}"#, json!(3)),
        ] {
            let answer = answer(text.as_bytes());
            assert_eq!(answer.get("id").cloned().unwrap_or_default(), id, "{text}");
            assert!(answer["error"]["message"].is_string(), "{text}");
        }
        let broken = answer(br#"{"jsonrpc":"2.0","id":3,"error":{"code":"E_FAIL","message":"it broke"}}"#);
        assert_eq!(broken["error"]["message"], "it broke");
    }
}
