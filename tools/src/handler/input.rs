//! Arguments as a type of the handler's own.

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::{Entry, Input, ToolErrorKind, Violation};

/// Arguments as a type. They have passed the schema, so a refusal means that the type is narrower than its schema says; the
/// model is told all the same.
pub(crate) fn deserialized<A: DeserializeOwned>(entry: Option<&Entry>, arguments: Input) -> Result<A, ToolErrorKind> {
    // A handler that wraps this one may have put others in the place of those that the counter read.
    let arguments = match entry {
        Some(entry) => arguments.with_secrets(entry.has_secrets()),
        None => arguments,
    };
    arguments.deserialize().map_err(|error| refused("arguments as the description says".to_owned(), error.to_string()))
}

/// Returns the arguments as a value, for handlers that take one.
///
/// # Errors
/// Returns [`ToolErrorKind::InvalidArguments`] for an integer beyond 64 bits: a value would hold a rounded one.
pub(super) fn value(arguments: Input) -> Result<Value, ToolErrorKind> {
    if arguments.json().extent().has_big_integer {
        let expected = "integers of at most 64 bits, since this tool holds no larger ones".to_owned();
        return Err(refused(expected, "a larger one".to_owned()));
    }
    Ok(arguments.into_value())
}

fn refused(expected: String, found: String) -> ToolErrorKind {
    ToolErrorKind::InvalidArguments { violations: vec![Violation::whole(expected, found)] }
}
