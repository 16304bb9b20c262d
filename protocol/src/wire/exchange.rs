//! Calls and results as the JSON of a service.

use std::fmt;

use serde_json::Value;

use super::Format;
use crate::json::InvalidJson;
use crate::{Content, Json, ResourceContents, ToolCall, ToolResult};

/// The functions of a format.
pub(super) struct Exchange {
    pub(super) read_calls: fn(&Value) -> Vec<Result<ToolCall, InvalidCall>>,
    pub(super) write_calls: fn(&[ToolCall]) -> Vec<Value>,
    pub(super) read_results: fn(&Value) -> Vec<WireResult>,
    pub(super) write_results: fn(&[WireResult]) -> Vec<Value>,
}

/// The result of one call, with the names by which a service finds the call.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct WireResult {
    /// The id of the call. Empty if the service keeps it elsewhere.
    pub id: String,
    /// The wire name of the tool. Empty if the service does not repeat it.
    pub name: String,
    /// The result.
    pub result: ToolResult,
}

impl WireResult {
    /// Creates the result of a call.
    pub fn new(id: impl Into<String>, name: impl Into<String>, result: ToolResult) -> Self {
        Self { id: id.into(), name: name.into(), result }
    }
}

/// A call whose arguments are no JSON. Answer it with an error result, so that the model can repeat it.
#[derive(Clone, PartialEq, thiserror::Error)]
#[error("the arguments of the call to {name} are no JSON: {source}; send one JSON object")]
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
        let Self { id, name, source, .. } = self;
        f.debug_struct("InvalidCall")
            .field("id", id)
            .field("name", name)
            .field("source", source)
            .finish_non_exhaustive()
    }
}

/// The forms of calls and results are those of one message, or of one item where the service has no messages:
///
/// | format | call | result |
/// |---|---|---|
/// | OpenAI chat | assistant message | tool messages, and a user message for pictures |
/// | OpenAI Responses | output items | input items |
/// | Anthropic | assistant message | user message |
/// | Gemini | content of the model | content of the user |
/// | Ollama | assistant message | tool messages |
/// | MCP | parameters of `tools/call` | result of `tools/call` |
///
/// Names and arguments are those of the wire: see [`NameGrammar`](super::NameGrammar) and
/// [`ArgumentsCodec`](super::schema::ArgumentsCodec).
impl Format {
    /// Returns the calls in a model's message, in order. A call whose arguments are no JSON does not affect the others.
    ///
    /// ```
    /// use protocol::wire::Format;
    /// use serde_json::json;
    ///
    /// let function = json!({"name": "fs__read", "arguments": "{\"path\":\"a\"}"});
    /// let message = json!({"role": "assistant", "tool_calls": [{"id": "1", "type": "function", "function": function}]});
    /// let calls = Format::OpenAiChat.read_calls(&message);
    /// assert_eq!(calls[0].as_ref().map(|call| call.arguments["path"].clone()), Ok(json!("a")));
    /// ```
    pub fn read_calls(self, message: &Value) -> Vec<Result<ToolCall, InvalidCall>> {
        (self.spec().exchange.read_calls)(message)
    }

    /// Returns the messages or items with calls that a model made earlier.
    pub fn write_calls(self, calls: &[ToolCall]) -> Vec<Value> {
        (self.spec().exchange.write_calls)(calls)
    }

    /// Returns the results in a message or item.
    pub fn read_results(self, message: &Value) -> Vec<WireResult> {
        (self.spec().exchange.read_results)(message)
    }

    /// Returns the messages or items with the results of one turn's calls.
    pub fn write_results(self, results: &[WireResult]) -> Vec<Value> {
        (self.spec().exchange.write_results)(results)
    }
}

/// A part of a result that model services know.
pub(super) enum Piece {
    Text(String),
    Image { data: String, mime_type: String },
}

/// Begins the text of a failed call on services without a field for it.
const ERROR: &str = "Error: ";

impl Piece {
    /// Returns the parts of a result. Other content is its JSON without the data. There is at least one part.
    pub(super) fn all(result: &ToolResult) -> Vec<Self> {
        let piece = |content: &Content| match content {
            Content::Text { text } | Content::Resource { resource: ResourceContents::Text { text, .. } } => {
                Self::Text(text.clone())
            }
            Content::Image { data, mime_type } => Self::Image { data: data.clone(), mime_type: mime_type.clone() },
            other => Self::Text(described(other)),
        };
        let pieces: Vec<_> = result.content.iter().map(piece).collect();
        // Services refuse results without content.
        if pieces.is_empty() { vec![Self::Text("(no content)".to_owned())] } else { pieces }
    }

    /// Returns the texts, joined with line breaks.
    pub(super) fn joined(pieces: &[Self]) -> String {
        let text = |piece: &Self| match piece {
            Self::Text(text) => Some(text.clone()),
            Self::Image { .. } => None,
        };
        pieces.iter().filter_map(text).collect::<Vec<_>>().join("\n")
    }

    /// Returns the base64 text of a picture.
    pub(super) fn into_image_data(self) -> Option<String> {
        match self {
            Self::Image { data, .. } => Some(data),
            Self::Text(_) => None,
        }
    }

    /// Returns the text, marked if the call failed.
    pub(super) fn marked(text: String, result: &ToolResult) -> String {
        if result.is_error && !text.starts_with(ERROR) { format!("{ERROR}{text}") } else { text }
    }

    /// Returns a result that failed if its text is [marked](Self::marked), without the mark.
    pub(super) fn unmarked(mut result: ToolResult) -> ToolResult {
        if let Some(Content::Text { text }) = result.content.first_mut()
            && let Some(rest) = text.strip_prefix(ERROR)
        {
            *text = rest.to_owned();
            result.is_error = true;
        }
        result
    }
}

/// Returns the JSON of content that a model cannot be shown, without its data.
fn described(content: &Content) -> String {
    let mut value = serde_json::to_value(content).unwrap_or_default();
    let resource = value.get_mut("resource").map(Value::take);
    let mut value = resource.unwrap_or(value);
    if let Some(fields) = value.as_object_mut() {
        fields.retain(|key, _| key != "data" && key != "blob");
    }
    value.to_string()
}

/// Returns a call whose arguments are a JSON value, or JSON text as OpenAI has it. An empty text stands for no arguments.
pub(super) fn parse_call(id: String, name: String, arguments: &Value) -> Result<ToolCall, InvalidCall> {
    let arguments = match arguments {
        Value::String(text) if text.trim().is_empty() => Json::default(),
        Value::String(text) => match Json::parse(text.as_str()) {
            Ok(arguments) => arguments,
            Err(source) => return Err(InvalidCall { id, name, arguments: text.clone(), source }),
        },
        Value::Null => Json::default(),
        value => Json::from(value.clone()),
    };
    Ok(ToolCall { id, name, arguments })
}

/// Returns the arguments of a call as JSON text, with all digits.
pub(super) fn arguments_text(call: &ToolCall) -> String {
    call.arguments.to_string()
}

/// Returns the elements of an array in a field. Returns nothing if there is no array.
pub(super) fn list<'a>(value: &'a Value, field: &str) -> impl Iterator<Item = &'a Value> {
    value.get(field).and_then(Value::as_array).into_iter().flatten()
}

/// Returns the text of a field, or an empty text.
pub(super) fn text_field(value: &Value, field: &str) -> String {
    value[field].as_str().unwrap_or_default().to_owned()
}

pub(super) fn data_url(mime_type: &str, data: &str) -> String {
    format!("data:{mime_type};base64,{data}")
}

pub(super) fn from_data_url(url: &str) -> Option<Content> {
    let (mime_type, data) = url.strip_prefix("data:")?.split_once(";base64,")?;
    Some(Content::Image { data: data.to_owned(), mime_type: mime_type.to_owned() })
}
