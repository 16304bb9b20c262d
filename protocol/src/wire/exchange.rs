//! Calls and results as the JSON of a service.

use std::fmt;

use serde_json::{Map, Value};

use super::{Format, anthropic, gemini, mcp, ollama, openai_chat, openai_responses};
use crate::json::InvalidJson;
use crate::{Json, ToolCall, ToolResult};

/// A call with the fields that its service sent beside it, such as Gemini's `thoughtSignature`.
///
/// [`Format::write_calls`] sends the fields back unchanged, as services require. A call that was read from another format has none.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct WireCall {
    /// The call, with its names as on the wire.
    pub call: ToolCall,
    beside: Option<(Format, Map<String, Value>)>,
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
        let Self {
            id, name, source, ..
        } = self;
        f.debug_struct("InvalidCall")
            .field("id", id)
            .field("name", name)
            .field("source", source)
            .finish_non_exhaustive()
    }
}

/// A call as read, and the JSON value that is the call.
pub(super) type ReadCall<'a> = (&'a Value, Result<ToolCall, InvalidCall>);

/// The forms of calls and results: one message, or one item if the service has no messages.
///
/// | format | call | result | a failed call | its images |
/// |---|---|---|---|---|
/// | OpenAI chat | assistant message | tool messages | "Error: " in the text | in a user message |
/// | OpenAI Responses | output items | input items | "Error: " in the text | in the result |
/// | Anthropic | assistant message | user message | `is_error` | after the results |
/// | Gemini | content of the model | content of the user | `error` | in the result |
/// | Ollama | assistant message | tool messages | "Error: " in the text | in the result |
/// | MCP | parameters of `tools/call` | result of `tools/call` | `isError` | in the result |
///
/// Names and arguments are those of the wire: see [`NameGrammar`](super::NameGrammar) and
/// [`ArgumentsCodec`](super::schema::ArgumentsCodec).
impl Format {
    /// Returns the calls in a model's message, in order. A call whose arguments are not JSON does not affect the others.
    ///
    /// Calls of other kinds are skipped, such as those of a service's own tools and OpenAI's `custom` tools.
    ///
    /// ```
    /// use protocol::wire::Format;
    /// use serde_json::json;
    ///
    /// let function = json!({"name": "fs__read", "arguments": "{\"path\":\"a\"}"});
    /// let message = json!({"role": "assistant", "tool_calls": [{"id": "1", "type": "function", "function": function}]});
    /// let calls = Format::OpenAiChat.read_calls(&message);
    /// assert_eq!(calls[0].as_ref().map(|read| read.call.arguments["path"].clone()), Ok(json!("a")));
    /// ```
    pub fn read_calls(self, message: &Value) -> Vec<Result<WireCall, InvalidCall>> {
        let calls = match self {
            Self::OpenAiChat => openai_chat::read_calls(message),
            Self::OpenAiResponses => openai_responses::read_calls(message),
            Self::Anthropic => anthropic::read_calls(message),
            Self::Gemini => gemini::read_calls(message),
            Self::Ollama => ollama::read_calls(message),
            Self::Mcp => mcp::read_calls(message),
        };
        let with_fields = |(value, call): ReadCall<'_>| {
            let call = call?;
            let beside = without(value, &self.write_call(&call));
            Ok(WireCall {
                call,
                beside: Some((self, beside)),
            })
        };
        calls.into_iter().map(with_fields).collect()
    }

    /// Returns the messages or items with calls that a model made earlier. There are none without calls.
    ///
    /// For hosts that keep calls, and for tests that play a model. A host that keeps the model's whole message sends that back instead.
    pub fn write_calls(self, calls: &[WireCall]) -> Vec<Value> {
        let call = |WireCall { call, beside }: &WireCall| {
            let mut value = self.write_call(call);
            if let Some((format, fields)) = beside
                && *format == self
            {
                add(&mut value, fields);
            }
            value
        };
        let calls: Vec<_> = calls.iter().map(call).collect();
        match self {
            _ if calls.is_empty() => Vec::new(),
            Self::OpenAiChat => openai_chat::message(calls),
            Self::Anthropic => anthropic::message(calls),
            Self::Gemini => gemini::message(calls),
            Self::Ollama => ollama::message(calls),
            Self::OpenAiResponses | Self::Mcp => calls,
        }
    }

    /// Returns the results in a message or item. For hosts that read the conversations of others, and for tests that play a model.
    ///
    /// A service without a field for failures does not tell which calls failed. Their results read as successful, with the text that
    /// the model was sent.
    pub fn read_results(self, message: &Value) -> Vec<WireResult> {
        match self {
            Self::OpenAiChat => openai_chat::read_results(message),
            Self::OpenAiResponses => openai_responses::read_results(message),
            Self::Anthropic => anthropic::read_results(message),
            Self::Gemini => gemini::read_results(message),
            Self::Ollama => ollama::read_results(message),
            Self::Mcp => mcp::read_results(message),
        }
    }

    /// Returns the messages or items with the results of one turn's calls. There are none without results.
    ///
    /// Content other than text and images is described in text, and so are images of types that the service does not document. A
    /// result without content has the text "(no content)".
    pub fn write_results(self, results: &[WireResult]) -> Vec<Value> {
        match self {
            _ if results.is_empty() => Vec::new(),
            Self::OpenAiChat => openai_chat::write_results(results),
            Self::OpenAiResponses => openai_responses::write_results(results),
            Self::Anthropic => anthropic::write_results(results),
            Self::Gemini => gemini::write_results(results),
            Self::Ollama => ollama::write_results(results),
            Self::Mcp => mcp::write_results(results),
        }
    }

    fn write_call(self, call: &ToolCall) -> Value {
        match self {
            Self::OpenAiChat => openai_chat::write_call(call),
            Self::OpenAiResponses => openai_responses::write_call(call),
            Self::Anthropic => anthropic::write_call(call),
            Self::Gemini => gemini::write_call(call),
            Self::Ollama => ollama::write_call(call),
            Self::Mcp => mcp::write_call(call),
        }
    }
}

/// Returns the fields of a value that another does not have, at any depth.
fn without(value: &Value, other: &Value) -> Map<String, Value> {
    let mut rest = Map::new();
    for (key, value) in value.as_object().into_iter().flatten() {
        match other.get(key) {
            None => drop(rest.insert(key.clone(), value.clone())),
            Some(other @ Value::Object(_)) => {
                let inner = without(value, other);
                if !inner.is_empty() {
                    rest.insert(key.clone(), inner.into());
                }
            }
            Some(_) => {}
        }
    }
    rest
}

/// Adds the fields that [`without`] returned.
fn add(value: &mut Value, fields: &Map<String, Value>) {
    let Value::Object(members) = value else {
        return;
    };
    for (key, field) in fields {
        match (members.get_mut(key), field) {
            (Some(inner), Value::Object(fields)) => add(inner, fields),
            (Some(_), _) => {}
            (None, field) => drop(members.insert(key.clone(), field.clone())),
        }
    }
}

/// Returns a call whose arguments are a JSON value, or JSON text as OpenAI has it. An empty text and null are no arguments.
pub(super) fn parse_call(
    id: String,
    name: String,
    arguments: &Value,
) -> Result<ToolCall, InvalidCall> {
    let arguments = match arguments {
        Value::String(text) if text.trim().is_empty() => Json::default(),
        Value::String(text) => match Json::parse(text.as_str()) {
            Ok(arguments) => arguments,
            Err(source) => {
                return Err(InvalidCall {
                    id,
                    name,
                    arguments: text.clone(),
                    source,
                });
            }
        },
        Value::Null => Json::default(),
        value => Json::from(value.clone()),
    };
    Ok(ToolCall {
        id,
        name,
        arguments,
    })
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
