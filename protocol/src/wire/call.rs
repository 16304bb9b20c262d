//! [`WireCall`] and [`WireResult`]: a call and a result as a service has them.

use std::fmt;

use serde_json::{Map, Value};

use super::Format;
use crate::call::ToolCall;
use crate::json::{InvalidJson, Json};
use crate::result::ToolResult;

/// A call with the fields that its service sent beside it, such as Gemini's `thoughtSignature`.
///
/// [`Format::write_calls`] sends the fields back unchanged, as services require. A call that was read from another format has none.
#[derive(Clone, Debug, PartialEq)]
pub struct WireCall {
    /// The call, with its names as on the wire.
    pub call: ToolCall,
    pub(super) beside: Option<(Format, Map<String, Value>)>,
}

/// The result of one call, with the names by which a service finds the call.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct WireResult {
    /// The id of the call. Empty if the service does not repeat it: results are then in the order of the calls.
    pub id: String,
    /// The wire name of the tool. Empty if the service does not repeat it.
    pub name: String,
    /// The result.
    pub result: ToolResult,
}

impl From<ToolCall> for WireCall {
    fn from(call: ToolCall) -> Self {
        Self { call, beside: None }
    }
}

impl WireResult {
    /// Creates the result of a call.
    pub fn new(id: impl Into<String>, name: impl Into<String>, result: ToolResult) -> Self {
        Self {
            id: id.into(),
            name: name.into(),
            result,
        }
    }
}

/// A call whose arguments are not JSON. Answer it with an error result, so that the model can repeat it.
#[derive(Clone, PartialEq, thiserror::Error)]
#[error("the arguments of the call to {name} are not JSON: {source}; send one JSON object")]
#[non_exhaustive]
pub struct InvalidCall {
    /// The id of the call.
    pub id: String,
    /// The wire name of the tool.
    pub name: String,
    /// The arguments, as received.
    pub arguments: String,
    /// The problem.
    pub source: InvalidJson,
}

/// Hides the arguments, which may be secret.
impl fmt::Debug for InvalidCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InvalidCall")
            .field("id", &self.id)
            .field("name", &self.name)
            .field("source", &self.source)
            .finish_non_exhaustive()
    }
}

/// A call as read, and the JSON value that is the call.
pub(super) type ReadCall<'a> = (&'a Value, Result<ToolCall, InvalidCall>);

/// Reads the call `value`, whose arguments are a JSON value, or JSON text as OpenAI has it. An empty text and null are no arguments.
pub(super) fn parse_call<'a>(
    value: &'a Value,
    id: String,
    name: String,
    arguments: &Value,
) -> ReadCall<'a> {
    let parsed = match arguments {
        Value::Null => Ok(Json::default()),
        // Some services send calls without arguments so.
        Value::String(text) if text.trim().is_empty() => Ok(Json::default()),
        Value::String(text) => Json::parse(text.as_str()),
        value => Ok(Json::from(value.clone())),
    };
    let call = match parsed {
        Ok(arguments) => Ok(ToolCall {
            id,
            name,
            arguments,
        }),
        Err(source) => Err(InvalidCall {
            id,
            name,
            arguments: arguments.as_str().unwrap_or_default().to_owned(),
            source,
        }),
    };
    (value, call)
}

/// Returns the arguments of a call as a JSON object, for services that refuse other values. A model of another service may have sent
/// one.
pub(super) fn arguments_object(call: &ToolCall) -> Value {
    let value = call.arguments.value();
    if value.is_object() {
        value.clone()
    } else {
        serde_json::json!({"arguments": value})
    }
}

/// Returns the elements of an array in a field. Returns nothing if there is no array.
pub(super) fn list<'a>(value: &'a Value, field: &str) -> impl Iterator<Item = &'a Value> {
    value
        .get(field)
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
}

/// Returns the text of a field, or an empty text.
pub(super) fn text_field(value: &Value, field: &str) -> String {
    value[field].as_str().unwrap_or_default().to_owned()
}
