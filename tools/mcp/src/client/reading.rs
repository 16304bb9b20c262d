//! [`read`]: the messages of servers as the parser of the protocol takes them, whatever the transport.

use std::borrow::Cow;

use rmcp::model::ErrorData;
use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value, json};

use crate::client::introduction;
use crate::client::loose_json::strict;
use crate::client::result::plain;
use crate::client::snake_case;
use crate::nesting::Nesting;

/// The levels of a message's JSON. The parser of the protocol refuses 128.
const MAX_DEPTH: usize = 100;

/// The most objects of a line that are looked at.
const MAX_STARTS: usize = 8;

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

/// Returns the messages in a text of a server, as the parser of the protocol takes them. There are none in a text such as a line of a log.
///
/// Deviations with one meaning are corrected: bytes that are no UTF-8, [JSON of other languages](strict), a list of messages, several
/// messages on a line, an answer behind other text on its line, an `error` or a `result` of null beside the other, an error that is no
/// object. An answer that cannot be read becomes an error, so that its call ends at once. Each answer has the id `own`, if there is one: it
/// arrives where no other request can be answered.
pub(super) fn read(bytes: &[u8], own: Option<&Value>) -> Vec<String> {
    let text = decode_line(bytes);
    let text = text.trim_matches('\u{feff}').trim();
    if !text.contains('{') {
        return Vec::new();
    }
    let corrected = strict(text);
    let strict = corrected.as_deref().unwrap_or(text);
    if text.starts_with('{') && serde_json::from_str::<Envelope>(strict).is_ok() {
        return message(strict, own).into_iter().collect();
    }
    if text.starts_with('[')
        && Nesting::deepest(strict.as_bytes()) <= MAX_DEPTH
        && let Ok(items) = serde_json::from_str::<Vec<Value>>(strict)
    {
        let items = items.iter().filter(|item| is_whole(item));
        let messages = items.map(Value::to_string);
        return messages.filter_map(|item| message(&item, own)).collect();
    }
    let found = among_others(text, own);
    if found.is_empty() && text.starts_with('{') {
        return unreadable(strict, own).into_iter().collect();
    }
    found
}

/// Returns the text of a line, which some servers write as UTF-16. The line may begin with the second byte of the end of the one before.
fn decode_line(bytes: &[u8]) -> Cow<'_, str> {
    let line = bytes
        .strip_prefix(b"\xff\xfe")
        .or(bytes.strip_prefix(b"\0"));
    let line = line.unwrap_or(bytes);
    if line.get(1) != Some(&0) {
        return String::from_utf8_lossy(bytes);
    }
    let pairs = line.chunks(2);
    let units = pairs.map(|pair| u16::from_le_bytes([pair[0], *pair.get(1).unwrap_or(&0)]));
    String::from_utf16_lossy(&units.collect::<Vec<_>>()).into()
}

/// Returns true if a value can be a message: it has a method, a result or an error.
fn is_whole(value: &Value) -> bool {
    ["method", "result", "error"]
        .iter()
        .any(|key| value.get(key).is_some())
}

/// Returns the messages on a line with other text. Behind such a text, only answers count.
fn among_others(text: &str, own: Option<&Value>) -> Vec<String> {
    let found = beginning_with("{", text, own);
    if found.is_empty() {
        // The other text may have many objects of its own.
        return beginning_with("{\"jsonrpc\"", text, own);
    }
    found
}

/// Returns the messages among the first objects that begin so.
fn beginning_with(begin: &str, text: &str, own: Option<&Value>) -> Vec<String> {
    let mut found = Vec::new();
    let mut at = 0;
    for _ in 0..MAX_STARTS {
        let Some(start) = text[at..].find(begin).map(|start| at + start) else {
            break;
        };
        let corrected = strict(&text[start..]);
        let rest = corrected.as_deref().unwrap_or(&text[start..]);
        let mut values = serde_json::Deserializer::from_str(rest).into_iter::<Value>();
        let Some(Ok(value)) = values.next() else {
            at = start + 1;
            continue;
        };
        let is_answer = value.get("method").is_none() && value.get("id").is_some();
        if is_whole(&value)
            && value.get("jsonrpc").is_some()
            && (start == 0 || !found.is_empty() || is_answer)
        {
            found.extend(message(&value.to_string(), own));
        }
        // The lengths differ only if something was corrected.
        at = if corrected.is_some() {
            text.len()
        } else {
            start + values.byte_offset()
        };
    }
    found
}

/// Returns a message of a server. Returns `None` for an object that is none.
fn message(text: &str, own: Option<&Value>) -> Option<String> {
    // The parser goes over fields that it does not know without calling itself.
    let envelope: Envelope = serde_json::from_str(text).ok()?;
    let is_answer = envelope.method.is_none()
        && (envelope.result, envelope.error) != (Presence::Absent, Presence::Absent)
        && (envelope.id.is_some() || own.is_some());
    let version = envelope.jsonrpc.as_ref();
    let is_version = version.is_some_and(|version| version == "2.0");
    if !is_version && !is_answer {
        return None;
    }
    if Nesting::deepest(text.as_bytes()) > MAX_DEPTH {
        let id = own.or(envelope.id.as_ref());
        let id = id.filter(|id| envelope.method.is_none() && (id.is_number() || id.is_string()));
        return id.and_then(|_| message(&shallow(text), own));
    }
    if envelope.method.is_some() {
        return Some(text.to_owned());
    }
    if is_version && is_plain(&envelope, text) && (own.is_none() || envelope.id.as_ref() == own) {
        return Some(correct_answer(text.to_owned()));
    }
    rewritten(text, own).map(correct_answer)
}

/// Returns an answer whose fields the parser of the protocol knows.
fn correct_answer(answer: String) -> String {
    let readable = introduction::readable(&answer).or_else(|| snake_case::readable(&answer));
    readable.unwrap_or(answer)
}

/// Returns true if the parser of the protocol takes an answer as it is.
fn is_plain(envelope: &Envelope, text: &str) -> bool {
    let id = envelope.id.as_ref();
    let has_id = id.is_some_and(|id| id.is_i64() || id.is_u64() || id.is_string());
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
fn rewritten(text: &str, own: Option<&Value>) -> Option<String> {
    let mut fields: Map<String, Value> = serde_json::from_str(text).ok()?;
    let id = match own
        .cloned()
        .or_else(|| fields.remove("id"))
        .unwrap_or_default()
    {
        Value::Number(number) if !number.is_i64() && !number.is_u64() => number
            .as_f64()
            .filter(|id| id.fract() == 0.0)
            .map_or(Value::Null, |id| json!(id as i64)),
        id @ (Value::Number(_) | Value::String(_)) => id,
        _ => Value::Null,
    };
    let error = fields.remove("error").filter(|error| !error.is_null());
    let answer = match (error, fields.remove("result")) {
        (Some(error), _) => json!({"jsonrpc": "2.0", "id": id, "error": readable_error(error)}),
        (None, Some(result)) if !id.is_null() => {
            json!({"jsonrpc": "2.0", "id": id, "result": result})
        }
        (None, Some(_)) => {
            return Some(refusal(
                &Value::Null,
                "the server answered without the id of a request",
            ));
        }
        (None, None) => {
            return Some(refusal(
                &id,
                "the server answered with neither a result nor an error",
            ));
        }
    };
    Some(answer.to_string())
}

/// Returns an error of JSON-RPC.
fn readable_error(error: Value) -> Value {
    if ErrorData::deserialize(&error).is_ok() {
        return error;
    }
    let stated = error.get("code").filter(|code| !code.is_null()).map(plain);
    let code = stated.as_ref().and_then(|code| code.parse().ok());
    let mut message = plain(error.get("message").unwrap_or(&error));
    if let (Some(stated), None, true) = (stated, code, error.get("message").is_some()) {
        message += &format!(" (code {stated})");
    }
    json!({"code": code.unwrap_or(UNREADABLE), "message": message, "data": error.get("data")})
}

/// Returns an error in place of an answer.
pub(super) fn refusal(id: &Value, message: &str) -> String {
    let error =
        json!({"jsonrpc": "2.0", "id": id, "error": {"code": UNREADABLE, "message": message}});
    error.to_string()
}

/// Returns an error in place of an answer that is no JSON. Returns `None` for a text that does not look like an answer.
fn unreadable(text: &str, own: Option<&Value>) -> Option<String> {
    let reason = serde_json::from_str::<Envelope>(text).err()?;
    let version = text.find("\"jsonrpc\"");
    let method = text.find("\"method\"");
    let content = text.find("\"result\"").or_else(|| text.find("\"error\""))?;
    if version.is_none() || method.is_some_and(|method| method < content) {
        return None;
    }
    // The first id is that of the answer, unless the answer has it after its content.
    let id = own.cloned().or_else(|| first_id(text));
    let id = id.unwrap_or_default();
    Some(refusal(
        &id,
        &format!("the answer of the server is no JSON: {reason}; the call may have run"),
    ))
}

fn first_id(text: &str) -> Option<Value> {
    let rest = text.split_once("\"id\"")?.1.trim_start();
    let rest = rest.strip_prefix(':')?.trim_start();
    let end = rest.bytes().position(|byte| !byte.is_ascii_digit());
    let digits = &rest[..end.unwrap_or(rest.len())];
    digits.parse::<u32>().ok().map(Value::from)
}

/// Returns a JSON text with a note in place of the levels over the limit.
fn shallow(text: &str) -> String {
    let mut made = String::new();
    let mut copied = 0;
    let mut nesting = Nesting::default();
    for (at, byte) in text.bytes().enumerate() {
        let before = nesting.depth;
        nesting.push(byte);
        if before == MAX_DEPTH && nesting.depth > MAX_DEPTH {
            made += &text[copied..at];
            made += &format!("\"[more than {MAX_DEPTH} levels]\"");
        } else if before > MAX_DEPTH && nesting.depth == MAX_DEPTH {
            copied = at + 1;
        }
    }
    made + &text[copied..]
}

fn presence<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Presence, D::Error> {
    let value = Option::<IgnoredAny>::deserialize(deserializer)?;
    Ok(value.map_or(Presence::Null, |_| Presence::Value))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nested(levels: usize) -> String {
        format!(
            r#"{{"jsonrpc":"2.0","id":7,"result":{}{}}}"#,
            "[".repeat(levels - 1),
            "]".repeat(levels - 1)
        )
    }

    fn all(bytes: &[u8]) -> Vec<Value> {
        let parsed = |read: &String| {
            let _: rmcp::model::ServerJsonRpcMessage = serde_json::from_str(read).unwrap();
            serde_json::from_str(read).unwrap()
        };
        read(bytes, None).iter().map(parsed).collect()
    }

    fn answer(bytes: &[u8]) -> Value {
        let mut read = all(bytes);
        assert_eq!(read.len(), 1, "{}", String::from_utf8_lossy(bytes));
        read.remove(0)
    }

    #[test]
    fn a_line_is_a_message_only_if_it_is_json_rpc() {
        for line in [
            r#"{"jsonrpc":"2.0","method":"notifications/progress"}"#,
            r#"  {"id":"a","jsonrpc":"2.0","result":{"a":"[[[{{{\"[["}}  "#,
            r#"{"jsonrpc":"2.0","id":1,"result":{"a":"\ud83d\ude00 \\ud800"}}"#,
            &nested(MAX_DEPTH),
        ] {
            assert_eq!(read(line.as_bytes(), None), [line.trim()]);
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
            r#"[info] {"jsonrpc":"2.0","method":"notifications/progress"}"#,
            r#"INFO got {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}} in 3 ms"#,
            r#"DEBUG sends {"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"te..."#,
            r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"error":"#,
        ] {
            assert!(read(line.as_bytes(), None).is_empty(), "{line}");
        }
    }

    #[test]
    fn an_answer_that_is_nested_too_deep_is_read_without_its_deepest_levels() {
        for levels in [MAX_DEPTH + 1, 5_000_000] {
            let answer = answer(nested(levels).as_bytes());
            assert_eq!(
                (
                    &answer["id"],
                    Nesting::deepest(answer.to_string().as_bytes())
                ),
                (&json!(7), MAX_DEPTH)
            );
            assert!(answer["result"].is_array(), "{answer}");
        }
        let request = nested(5_000_000).replace("result", "method");
        assert!(read(request.as_bytes(), None).is_empty());
        let id = format!(
            r#"{{"jsonrpc":"2.0","id":{}{}}}"#,
            "[".repeat(5_000_000),
            "]".repeat(5_000_000)
        );
        assert!(read(id.as_bytes(), None).is_empty());
    }

    #[test]
    fn a_careless_answer_is_read_if_it_has_one_meaning() {
        let result =
            |result: &str| format!(r#"{{"jsonrpc":"2.0","id":1,"result":{result}}}"#).into_bytes();
        for (bytes, expected) in [
            (
                result(r#"{"a":[NaN,-Infinity,Infinity,-1],"b":"NaN"}"#),
                json!({"a": [null, null, null, -1], "b": "NaN"}),
            ),
            (result("{\"a\":\"café\"}"), json!({"a": "café"})),
            (
                b"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"a\":\"caf\xe9\"}}".to_vec(),
                json!({"a": "caf\u{fffd}"}),
            ),
            (["\u{feff}".as_bytes(), &result("{}")].concat(), json!({})),
            (
                String::from_utf8_lossy(&result(r#"{"a":"é"}"#))
                    .encode_utf16()
                    .flat_map(u16::to_le_bytes)
                    .collect(),
                json!({"a": "é"}),
            ),
            (
                result("{\"a\":\"one\ttwo\u{1}\"}"),
                json!({"a": "one\ttwo\u{1}"}),
            ),
            (
                result(r#"{"a":"\ud83d cut \udc00\\ud800"}"#),
                json!({"a": "\u{fffd} cut \u{fffd}\\ud800"}),
            ),
            (result(r#"{"a":1},"error":null"#), json!({"a": 1})),
            (br#"{"id":1,"result":{"a":1}}"#.to_vec(), json!({"a": 1})),
            (
                result("{'a': None, \"b\": [True,],}"),
                json!({"a": null, "b": [true]}),
            ),
            (
                ["INFO: ".as_bytes(), &result("{}"), b" // 3 ms"].concat(),
                json!({}),
            ),
            (
                [
                    "\u{1b}[32m".as_bytes(),
                    &result("{}"),
                    "\u{1b}[0m".as_bytes(),
                ]
                .concat(),
                json!({}),
            ),
            ([b"[".as_slice(), &result("{}"), b"]"].concat(), json!({})),
            (
                br#"{"jsonrpc":"2.0","id":1,"result":{"a":1},"id":1}"#.to_vec(),
                json!({"a": 1}),
            ),
            (
                br#"{"jsonrpc":"1.0","id":1.0,"error":null,"result":{"a":1}}"#.to_vec(),
                json!({"a": 1}),
            ),
        ] {
            let read = answer(&bytes);
            assert_eq!((&read["id"], &read["result"]), (&json!(1), &expected));
        }
    }

    #[test]
    fn an_answer_is_read_behind_a_text_with_many_braces() {
        let message = r#"{"jsonrpc":"2.0","id":1,"result":{"a":1}}"#;
        for log in [
            "INFO routes {a} {b} {c} {d} {e} {f} {g} {h} {i} {j} ",
            "{{{{{{{{{{{{ ",
            "DEBUG config {'a': {b: {c: {d: {e: {f: {g: {h: {i: 1}}}}}}}}} ",
            "10%|#{| 20%|##{|",
            "[{",
        ] {
            let read = answer(format!("{log}{message}").as_bytes());
            assert_eq!(
                (&read["id"], &read["result"]),
                (&json!(1), &json!({"a": 1})),
                "{log}"
            );
        }
    }

    #[test]
    fn each_message_of_a_list_or_a_line_is_read() {
        let (note, answer) = (
            r#"{"jsonrpc":"2.0","method":"a"}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
        );
        let log = r#"{"level":"info"}"#;
        for text in [
            format!("[{note},{log},{answer}]"),
            format!("{note}{answer}"),
            format!("{note} {log} {answer}"),
        ] {
            let read = all(text.as_bytes());
            assert_eq!(
                (read.len(), &read[0]["method"], &read[1]["id"]),
                (2, &json!("a"), &json!(1)),
                "{text}"
            );
        }
    }

    #[test]
    fn an_answer_has_the_id_of_its_exchange() {
        for text in [
            r#"{"result":{}}"#,
            r#"{"jsonrpc":"2.0","id":null,"result":{}}"#,
            r#"{"jsonrpc":"2.0","error":"no"}"#,
        ] {
            let read: Value =
                serde_json::from_str(&read(text.as_bytes(), Some(&json!(7)))[0]).unwrap();
            assert_eq!(read["id"], 7, "{text}");
        }
    }

    #[test]
    fn an_answer_that_cannot_be_read_is_an_error_with_its_id_if_it_has_one() {
        for (text, id) in [
            (r#"{"jsonrpc":"2.0","id":3,"result":{"a":<b>}}"#, json!(3)),
            (
                r#"{"jsonrpc": "2.0", "id" : 3, "result": {"a": "cut"#,
                json!(3),
            ),
            (r#"{"jsonrpc":"2.0","result":{a:1}}"#, Value::Null),
            (r#"{"jsonrpc":"2.0","id":null,"result":{}}"#, Value::Null),
            (r#"{"jsonrpc":"2.0","result":{}}"#, Value::Null),
            (r#"{"jsonrpc":"2.0","id":[1],"result":{}}"#, Value::Null),
            (r#"{"jsonrpc":"2.0","id":3}"#, json!(3)),
            (
                r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}"#,
                Value::Null,
            ),
            (r#"{"jsonrpc":"2.0","id":3,"error":"it broke"}"#, json!(3)),
            (
                r#"{"jsonrpc":"2.0","id":3,"error":{"code":"E_FAIL","message":"it broke"},"result":null}"#,
                json!(3),
            ),
        ] {
            let answer = answer(text.as_bytes());
            assert_eq!(answer.get("id").cloned().unwrap_or_default(), id, "{text}");
            assert!(answer["error"]["message"].is_string(), "{text}");
        }
        let broken =
            answer(br#"{"jsonrpc":"2.0","id":3,"error":{"code":"E_FAIL","message":"it broke"}}"#);
        assert_eq!(broken["error"]["message"], "it broke (code E_FAIL)");
    }
}
