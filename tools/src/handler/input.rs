//! Converting arguments into the handler's type.

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::{Entry, Input, ToolErrorKind, Violation};

/// Deserializes the arguments of a call.
///
/// # Errors
/// Returns [`ToolErrorKind::InvalidArguments`] if the type is narrower than the schema that the arguments fit.
pub(crate) fn deserialized<A: DeserializeOwned>(
    entry: Option<&Entry>,
    arguments: Input,
) -> Result<A, ToolErrorKind> {
    // A wrapping handler may have replaced the pipeline's arguments with its own, which do not know about secrets.
    let arguments = match entry {
        Some(entry) => arguments.with_secrets(entry.has_masked()),
        None => arguments,
    };
    arguments.deserialize().map_err(|error| {
        refused(
            "arguments as the description says".to_owned(),
            error.to_string(),
        )
    })
}

/// Converts the arguments into a `Value`, for handlers that take one.
///
/// # Errors
/// Returns [`ToolErrorKind::InvalidArguments`] if an integer exceeds 64 bits, because a `Value` would round it.
pub(super) fn value(arguments: Input) -> Result<Value, ToolErrorKind> {
    if arguments.json().extent().has_big_integer {
        let expected =
            "integers of at most 64 bits, because this tool supports no larger ones".to_owned();
        return Err(refused(expected, "a larger one".to_owned()));
    }
    Ok(arguments.into_value())
}

fn refused(expected: String, found: String) -> ToolErrorKind {
    ToolErrorKind::InvalidArguments {
        violations: vec![Violation::whole(expected, found)],
    }
}
