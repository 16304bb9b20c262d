//! [`IntoToolResult`]: converts a handler's return value into a result.

use std::any::Any;
use std::borrow::Cow;
use std::error::Error;

use protocol::{Content, Json, ToolResult};
use serde::Serialize;
use serde_json::Value;

use crate::schema::Violation;
use crate::tool_error::{ToolError, ToolErrorKind};

/// The text for `()`. Models take an empty result for a failure.
const DONE: &str = "ok";

/// A return value of a handler.
///
/// A handler returns a `Result<T, E>` with a serialisable `T` and an error that converts into a `Box<dyn Error + Send + Sync>`. It can
/// also return a [`ToolResult`], [`Content`], [`Value`], string or `()` directly.
///
/// | value | result |
/// |---|---|
/// | [`ToolResult`] | unchanged |
/// | [`Content`] or `Vec<Content>` | the content |
/// | a string | its text |
/// | `()` | the text `ok` |
/// | any other | the structured value, with its JSON as text |
///
/// # Errors of handlers
///
/// - A [`ToolErrorKind`] gets the name of the tool.
/// - A [`ToolError`], or an error with one in its [source](Error::source) chain, becomes that `ToolError`. So `?` preserves the kind and
///   the name from a nested call. This works through a `Box<dyn Error + Send + Sync>`, an [`io::Error`](std::io::Error) and an error
///   type with `#[from] ToolError`, also if it is `#[error(transparent)]`.
/// - Any other error becomes [`ToolErrorKind::ExecutionFailed`] with its `{:#}` text.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be returned by a handler",
    note = "return a `Result`, such as `Ok::<_, String>(value)`, or a `ToolResult`, `Content`, `String` or `Value`",
    note = "the error of a `Result` is an `Error + Send + Sync`, a `Box<dyn Error + Send + Sync>` or a string"
)]
pub trait IntoToolResult {
    /// Converts the value into the result of a call. The pipeline adds the name of the tool to an error.
    ///
    /// # Errors
    /// Returns the tool's own error, or [`ToolErrorKind::InvalidOutput`] if the value cannot be serialised as JSON.
    fn into_tool_result(self) -> Result<ToolResult, ToolError>;
}

impl<T: Serialize + 'static, E: Into<Box<dyn Error + Send + Sync>>> IntoToolResult
    for Result<T, E>
{
    fn into_tool_result(self) -> Result<ToolResult, ToolError> {
        match self {
            Ok(value) => result_from_value(value),
            Err(error) => {
                let error = error.into();
                Err(ToolError::from_failure(&error, Some(&*error)))
            }
        }
    }
}

impl IntoToolResult for ToolResult {
    fn into_tool_result(self) -> Result<ToolResult, ToolError> {
        Ok(self)
    }
}

impl IntoToolResult for Content {
    fn into_tool_result(self) -> Result<ToolResult, ToolError> {
        Ok(self.into())
    }
}

impl IntoToolResult for String {
    fn into_tool_result(self) -> Result<ToolResult, ToolError> {
        Ok(ToolResult::text(self))
    }
}

impl IntoToolResult for &'static str {
    fn into_tool_result(self) -> Result<ToolResult, ToolError> {
        Ok(ToolResult::text(self))
    }
}

impl IntoToolResult for () {
    fn into_tool_result(self) -> Result<ToolResult, ToolError> {
        result_from_value(self)
    }
}

impl IntoToolResult for Value {
    fn into_tool_result(self) -> Result<ToolResult, ToolError> {
        Ok(ToolResult::structured(self))
    }
}

/// Converts a value into a result. Types with a special meaning are recognised by their `TypeId`, because no trait bound can express
/// "serialisable, except for these types".
pub(crate) fn result_from_value<T: Serialize + 'static>(value: T) -> Result<ToolResult, ToolError> {
    let value = match cast::<_, ToolResult>(value) {
        Ok(result) => return Ok(result),
        Err(value) => value,
    };
    let value = match cast::<_, String>(value) {
        Ok(text) => return Ok(ToolResult::text(text)),
        Err(value) => value,
    };
    let value = match cast::<_, Content>(value) {
        Ok(content) => return Ok(content.into()),
        Err(value) => value,
    };
    let value = match cast::<_, Vec<Content>>(value) {
        Ok(content) => {
            return Ok(ToolResult {
                content,
                ..ToolResult::default()
            });
        }
        Err(value) => value,
    };
    if let Some(text) = text(&value) {
        return Ok(ToolResult::text(text));
    }
    match Json::from_serialize(&value) {
        Ok(json) => Ok(ToolResult::structured(json)),
        Err(error) => Err(ToolError::from(ToolErrorKind::InvalidOutput {
            violations: vec![Violation::whole(
                "a result that can be written as JSON",
                error.to_string(),
            )],
        })),
    }
}

/// Returns the text of `()` and of strings. Generic, so that the compiler resolves the type checks.
#[inline]
fn text<T: 'static>(value: &T) -> Option<String> {
    let value: &dyn Any = value;
    if value.is::<()>() {
        return Some(DONE.to_owned());
    }
    if let Some(text) = value.downcast_ref::<&'static str>() {
        return Some((*text).to_owned());
    }
    value
        .downcast_ref::<Cow<'static, str>>()
        .map(|text| text.clone().into_owned())
}

/// Casts a value to `B` without cloning it.
///
/// # Errors
/// Returns the value if it is not a `B`.
fn cast<A: 'static, B: 'static>(value: A) -> Result<B, A> {
    let mut slot = Some(value);
    if let Some(found) = (&mut slot as &mut dyn Any)
        .downcast_mut::<Option<B>>()
        .and_then(Option::take)
    {
        return Ok(found);
    }
    // Only the line above takes the value, and then it returns.
    slot.map_or_else(|| unreachable!("the value is still there"), Err)
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use serde_json::json;

    use super::*;

    fn ok(returned: impl IntoToolResult) -> ToolResult {
        returned.into_tool_result().unwrap()
    }

    fn failed(error: impl Into<Box<dyn Error + Send + Sync>>) -> ToolError {
        Err::<(), _>(error).into_tool_result().unwrap_err()
    }

    #[test]
    fn text_is_text_and_nothing_else() {
        for result in [
            ok("a".to_owned()),
            ok(Ok::<_, String>("a")),
            ok(Ok::<_, String>(Cow::Borrowed("a"))),
        ] {
            assert_eq!(result, ToolResult::text("a"));
        }
    }

    #[test]
    fn unit_becomes_ok() {
        assert_eq!(ok(Ok::<(), String>(())), ToolResult::text("ok"));
    }

    #[test]
    fn content_is_the_content() {
        assert_eq!(ok(Content::text("a")).content, [Content::text("a")]);
        let two = vec![Content::text("a"), Content::text("b")];
        assert_eq!(ok(Ok::<_, String>(two.clone())).content, two);
    }

    #[test]
    fn a_result_stays_as_it_is() {
        let result = ToolResult {
            structured: Some(json!(1).into()),
            ..ToolResult::error("partly")
        };
        assert_eq!(ok(result.clone()), result);
        assert_eq!(ok(Ok::<_, String>(result.clone())), result);
    }

    #[test]
    fn anything_else_is_a_value_and_its_json() {
        assert_eq!(ok(json!({"a": 1})), ToolResult::structured(json!({"a": 1})));
        assert_eq!(
            ok(Ok::<_, String>(Some(3))),
            ToolResult::structured(json!(3))
        );
        assert_eq!(
            ok(Ok::<_, String>(None::<u8>)),
            ToolResult::structured(json!(null))
        );
    }

    #[test]
    fn an_error_of_our_own_stays_as_it_is() {
        let error = ToolError::new(
            "x",
            ToolErrorKind::Denied {
                reason: "no".to_owned(),
            },
        );
        assert_eq!(failed(error.clone()), error);
    }

    #[test]
    fn a_kind_inside_of_an_io_error_is_not_lost() {
        let kind = || ToolErrorKind::Denied {
            reason: "no".to_owned(),
        };
        assert_eq!(failed(std::io::Error::other(kind())).kind(), &kind());
        assert_eq!(
            failed(std::io::Error::other(ToolError::new("x", kind()))),
            ToolError::new("x", kind())
        );
        assert_eq!(
            ToolError::from(std::io::Error::other(kind())).kind(),
            &kind()
        );
    }

    #[test]
    fn any_other_error_becomes_its_alternate_text() {
        #[derive(Debug)]
        struct Chain;
        impl std::fmt::Display for Chain {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(if f.alternate() {
                    "outer: inner"
                } else {
                    "outer"
                })
            }
        }
        impl Error for Chain {}
        assert_eq!(failed(Chain), ToolError::execution_failed("outer: inner"));
    }

    #[test]
    fn a_value_that_is_no_json_is_invalid_output() {
        let by_pair = HashMap::from([((1, 2), 3)]);
        let error = Ok::<_, String>(by_pair).into_tool_result().unwrap_err();
        let ToolErrorKind::InvalidOutput { violations, .. } = error.kind() else {
            panic!("{error}")
        };
        assert!(
            violations[0].found.contains("key must be a string"),
            "{violations:?}"
        );
    }
}
