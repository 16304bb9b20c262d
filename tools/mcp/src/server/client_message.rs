//! [`read`]: the messages of clients as the parser of the protocol takes them.

use std::borrow::Cow;
use std::collections::BTreeMap;

use rmcp::model::{
    ClientCapabilities, ErrorData, Implementation, InitializeRequestParams, ProtocolVersion,
    RequestId,
};
use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::{Value, json};

use crate::nesting::Nesting;
use crate::server::batch::{self, is_json};

/// The levels of a message's JSON. The parser of the protocol refuses more of some messages.
const MAX_DEPTH: usize = 100;

/// The revision of a client that names none.
const REVISION: &str = "2025-11-25";

/// A message that the parser of the protocol takes.
pub(super) struct Read<'a> {
    pub(super) text: Cow<'a, [u8]>,
    pub(super) kind: Kind,
}

/// The kind of a message.
pub(super) enum Kind {
    /// A request with its id. True if it begins a session of the revision that has batches.
    Request(RequestId, bool),
    Notification,
    Answer,
}

/// The error of a message, with the id of its request if it is one.
pub(super) type Refused = Box<(ErrorData, Option<RequestId>)>;

/// The parts of a message that tell its kind.
#[derive(Deserialize)]
struct Envelope {
    jsonrpc: Option<Value>,
    id: Option<Value>,
    method: Option<Value>,
    result: Option<IgnoredAny>,
    error: Option<IgnoredAny>,
}

/// A request with parameters of this form.
#[derive(Deserialize)]
struct With<P> {
    #[serde(rename = "params")]
    _params: Option<P>,
}

/// An object, which may be nested without end.
type Fields = BTreeMap<String, IgnoredAny>;

#[derive(Deserialize)]
struct Params {
    #[serde(default, rename = "_meta")]
    _meta: Option<Fields>,
}

/// Returns a message. The parameters of `initialize` are corrected: a client says there who it is, which is no reason to refuse it.
///
/// # Errors
/// Returns the error if the message is no JSON, or no message of JSON-RPC.
pub(super) fn read(text: &[u8]) -> Result<Read<'_>, Refused> {
    let text = text.strip_prefix("\u{feff}".as_bytes()).unwrap_or(text);
    if !is_json(text) {
        let error = ErrorData::parse_error("the message is no JSON", None);
        return Err(Box::new((error, None)));
    }
    let Ok(envelope) = serde_json::from_slice::<Envelope>(text) else {
        return Err(refuse("it is no object with its fields", None));
    };
    let is_answer =
        envelope.method.is_none() && (envelope.result.is_some() || envelope.error.is_some());
    let has_id = envelope.id.is_some();
    let id = envelope
        .id
        .and_then(|id| serde_json::from_value::<RequestId>(id).ok());
    let method = envelope.method.as_ref().and_then(Value::as_str);
    let fault = if is_answer {
        None
    } else if has_id && id.is_none() {
        Some("its id is neither a text nor an integer")
    } else if envelope.jsonrpc.is_none_or(|version| version != "2.0") {
        Some("its field jsonrpc is not \"2.0\"")
    } else if method.is_none() {
        Some("it has no method")
    } else if !is::<With<Fields>>(text) || !is::<With<Params>>(text) {
        Some("its params or their _meta are no object")
    } else if Nesting::deepest(text) > MAX_DEPTH {
        Some("it has more than 100 levels")
    } else {
        None
    };
    if let Some(fault) = fault {
        return Err(refuse(fault, id));
    }
    let is_first = method == Some("initialize");
    let introduced = is_first.then(|| repair_initialize(text)).flatten();
    let kind = match id {
        _ if is_answer => Kind::Answer,
        None => Kind::Notification,
        Some(id) => Kind::Request(id, is_first && asks_for(text, &batch::REVISION)),
    };
    Ok(Read {
        text: introduced.map_or(Cow::Borrowed(text), Cow::Owned),
        kind,
    })
}

/// Returns true if a request `initialize` asks for this revision.
fn refuse(reason: &str, id: Option<RequestId>) -> Refused {
    let reason = format!("the message is no request of JSON-RPC: {reason}");
    Box::new((ErrorData::invalid_request(reason, None), id))
}

fn asks_for(text: &[u8], revision: &ProtocolVersion) -> bool {
    let request: Value = serde_json::from_slice(text).unwrap_or_default();
    request["params"]["protocolVersion"] == revision.as_str()
}

/// Returns a request `initialize` with parameters that can be read. Returns `None` if they can.
fn repair_initialize(text: &[u8]) -> Option<Vec<u8>> {
    let mut request: Value = serde_json::from_slice(text).ok()?;
    let params = request.get("params").cloned().unwrap_or_default();
    // A client of the newer generation has no such request.
    if params.get("_meta").is_some() || reads::<InitializeRequestParams>(&params) {
        return None;
    }
    let field = |name: &str, is_usable: fn(&Value) -> bool, other: Value| {
        params
            .get(name)
            .filter(|value| is_usable(value))
            .cloned()
            .unwrap_or(other)
    };
    request["params"] = json!({
        "protocolVersion": field("protocolVersion", Value::is_string, json!(REVISION)),
        "capabilities": field("capabilities", reads::<ClientCapabilities>, json!({})),
        "clientInfo": field("clientInfo", reads::<Implementation>, json!({"name": "", "version": ""})),
    });
    Some(request.to_string().into_bytes())
}

fn is<T: DeserializeOwned>(text: &[u8]) -> bool {
    serde_json::from_slice::<T>(text).is_ok()
}

fn reads<T: DeserializeOwned>(value: &Value) -> bool {
    T::deserialize(value).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(text: &str) -> Option<String> {
        let refused = read(text.as_bytes()).err();
        refused.expect(text).1.map(|id| id.to_string())
    }

    #[test]
    fn a_request_with_a_field_of_another_form_is_refused_with_its_id() {
        let deep = format!(
            r#"{{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{{"a":{}{}}}}}"#,
            "[".repeat(1_000_000),
            "]".repeat(1_000_000)
        );
        for text in [
            r#"{"jsonrpc":"2.0","id":5,"method":"tools/call","params":[]}"#,
            r#"{"jsonrpc":"2.0","id":5,"method":"tools/call","params":"x"}"#,
            r#"{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"_meta":"x"}}"#,
            r#"{"jsonrpc":"2.0","id":5,"method":5}"#,
            r#"{"jsonrpc":2.0,"id":5,"method":"ping"}"#,
            r#"{"id":5,"method":"ping"}"#,
            r#"{"jsonrpc":"2.0","id":5}"#,
            &deep,
        ] {
            assert_eq!(
                id(text).as_deref(),
                Some("5"),
                "{}",
                &text[..60.min(text.len())]
            );
        }
        for text in [
            "5",
            "[]",
            "{}",
            "{bad",
            r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#,
        ] {
            assert_eq!(id(text), None, "{text}");
        }
    }

    #[test]
    fn other_messages_stay_as_they_are() {
        for (text, is_notification) in [
            (
                r#"{"jsonrpc":"2.0","id":"a","method":"tools/list","params":null}"#,
                false,
            ),
            (
                r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
                true,
            ),
            (r#"{"id":1,"result":{}}"#, false),
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#,
                false,
            ),
        ] {
            let read = read(text.as_bytes()).unwrap_or_else(|refused| panic!("{}", refused.0));
            assert_eq!(
                (&*read.text, matches!(read.kind, Kind::Notification)),
                (text.as_bytes(), is_notification)
            );
        }
    }

    #[test]
    fn a_client_that_does_not_say_who_it_is_is_answered() {
        for params in [
            json!(null),
            json!({}),
            json!({"protocolVersion": 1, "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}}),
            json!({"protocolVersion": "2025-06-18", "capabilities": [], "clientInfo": "c"}),
        ] {
            let text = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params})
                .to_string();
            let read = read(text.as_bytes()).unwrap_or_else(|refused| panic!("{}", refused.0));
            let read: Value = serde_json::from_slice(&read.text).unwrap();
            assert!(reads::<InitializeRequestParams>(&read["params"]), "{read}");
            let version = &read["params"]["protocolVersion"];
            let is_kept = params["protocolVersion"].is_string();
            assert_eq!(
                *version,
                if is_kept {
                    params["protocolVersion"].clone()
                } else {
                    json!(REVISION)
                }
            );
        }
    }
}
