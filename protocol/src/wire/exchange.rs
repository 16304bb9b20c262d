//! Calls and results as the JSON of a service.

use serde_json::{Map, Value};

use super::call::{InvalidCall, WireCall, WireResult};
use super::{Format, anthropic, gemini, mcp, ollama, openai_chat, openai_responses};
use crate::call::ToolCall;

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
        let calls = calls.into_iter().map(|(value, call)| {
            let call = call?;
            let beside = without(value, &self.write_call(&call));
            Ok(WireCall {
                call,
                beside: Some((self, beside)),
            })
        });
        calls.collect()
    }

    /// Returns the messages or items with calls that a model made earlier. There are none without calls.
    ///
    /// For hosts that keep calls, and for tests that play a model. A host that keeps the model's whole message sends that back instead.
    pub fn write_calls(self, calls: &[WireCall]) -> Vec<Value> {
        let call = |WireCall { call, beside }: &WireCall| {
            let mut value = self.write_call(call);
            if let Some((format, fields)) = beside
                // Such fields, as signatures of thoughts, mean nothing to another service.
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
