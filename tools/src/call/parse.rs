//! Parse: reads argument text strictly and checks the size and depth of all arguments.

use protocol::Json;
use protocol::json::{InvalidJson, MAX_DEPTH};

use crate::arguments::Arguments;
use crate::entry::Entry;
use crate::input::Input;
use crate::schema::Violation;
use crate::size;
use crate::tool_error::ToolErrorKind;

/// Parses the arguments.
///
/// # Errors
/// Returns [`ToolErrorKind::InvalidArguments`] if [`Json::parse`] refuses the text, or if the arguments are too large or too deep.
pub(super) fn parse(entry: &Entry, arguments: Arguments) -> Result<Input, ToolErrorKind> {
    let read = match arguments {
        Arguments::Text(text) => from_text(text),
        Arguments::Json(json) => check_limits(json),
    };
    Ok(Input::new(read?, entry.has_masked()))
}

fn from_text(text: String) -> Result<Json, Violation> {
    let len = text.len();
    if len > Arguments::MAX_BYTES {
        return Err(too_large(len));
    }
    // An empty text is a usual mistake of models, which the parser would report as an end at line 1.
    let is_empty = text.trim_ascii().is_empty();
    Json::parse(text).map_err(|error| match error {
        InvalidJson::RepeatedKey { pointer } => {
            Violation::new(pointer, "each key once", "the key a second time")
        }
        InvalidJson::TooDeep { pointer } => too_deep(pointer),
        error => {
            let found = if is_empty {
                "nothing".to_owned()
            } else {
                error.to_string()
            };
            Violation::whole("a single, complete JSON object", found)
        }
    })
}

fn check_limits(json: Json) -> Result<Json, Violation> {
    // A parsed value from a host is checked as text is: all that walks it afterwards recurses.
    if json.extent().depth > MAX_DEPTH {
        return Err(too_deep(String::new()));
    }
    match size::over(&json, Arguments::MAX_BYTES) {
        Some(bytes) => Err(too_large(bytes)),
        None => Ok(json),
    }
}

fn too_deep(pointer: String) -> Violation {
    Violation::new(
        pointer,
        format!("at most {MAX_DEPTH} levels of nesting"),
        "more",
    )
}

fn too_large(bytes: usize) -> Violation {
    Violation::whole(
        format!("at most {} bytes of JSON", Arguments::MAX_BYTES),
        format!("{bytes} bytes"),
    )
}
