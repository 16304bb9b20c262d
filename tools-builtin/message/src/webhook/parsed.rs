//! [`Parsed`]: the meaning of the body of a request.

use serde_json::Value;

use crate::IncomingMessage;

/// A message in a body.
pub(super) enum Parsed {
    /// A message, and the id by which its sender repeats it.
    Message(IncomingMessage, Option<String>),
    /// A question whether somebody listens, with the answer.
    Challenge(String),
    /// A message of a chat that answers cannot go to.
    Elsewhere,
    /// Something else, such as a message of a program.
    Ignored,
}

/// Returns the text of a key.
pub(super) fn text(value: &Value, key: &str) -> Option<String> {
    value[key].as_str().map(str::to_owned)
}

/// Returns the message, or the reason that it is none.
pub(super) fn message(
    chat: Option<String>,
    said: Option<String>,
) -> Result<IncomingMessage, String> {
    let (Some(chat), Some(said)) = (chat, said) else {
        return Err("chat and text are required".to_owned());
    };
    IncomingMessage::new(chat, said).map_err(|error| error.to_string())
}
