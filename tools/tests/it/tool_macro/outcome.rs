//! Conversion of return values into results.

use std::error::Error;
use std::fmt;

use serde::Serialize;
use serde_json::json;
use tools::{Content, ErrorCode, Submission, ToolError, ToolErrorKind, ToolResult, tool};

use super::called;

#[derive(Serialize)]
struct Weather {
    degrees: i32,
}

/// Returns a struct.
#[tool(pure)]
fn weather() -> Weather {
    Weather { degrees: 3 }
}

/// Returns text.
#[tool(pure)]
fn owned_text() -> String {
    "text".to_owned()
}

/// Returns text that is always the same.
#[tool(pure)]
fn static_text() -> &'static str {
    "text"
}

/// Returns nothing.
#[tool(pure)]
async fn nothing() {}

/// Returns one piece of content.
#[tool(pure)]
fn picture() -> Content {
    image()
}

/// Returns several pieces of content.
#[tool(pure)]
fn pictures() -> Result<Vec<Content>, ToolError> {
    Ok(vec![Content::text("Two:"), image(), image()])
}

/// Returns a result of its own making.
#[tool(pure)]
fn partly() -> ToolResult {
    ToolResult {
        structured: Some(json!([1]).into()),
        ..ToolResult::error("only one")
    }
}

type Fallible<T = ()> = Result<T, Failure>;

struct Failure;

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if f.alternate() {
            "no; because of that"
        } else {
            "no"
        })
    }
}

/// Succeeds behind an alias.
#[tool(pure)]
fn succeeds() -> Fallible<u8> {
    Ok(1)
}

/// Succeeds and has nothing to say.
#[tool(pure)]
fn done() -> Fallible {
    Ok(())
}

/// Fails behind an alias.
#[tool(pure)]
fn fails() -> Fallible {
    Err(Failure)
}

/// Denies.
#[tool(pure)]
fn denies() -> Result<(), ToolError> {
    Err(ToolError::new(
        "another",
        ToolErrorKind::Denied {
            reason: "no".to_owned(),
        },
    ))
}

/// Refuses, by an error of another crate.
#[tool(pure)]
fn refuses_in_a_box() -> Result<(), Box<dyn Error>> {
    Ok(denies()?)
}

/// Refuses, by an error that can be sent.
#[tool(pure)]
async fn refuses_later() -> Result<(), Box<dyn Error + Send + Sync>> {
    Ok(denies()?)
}

/// Refuses, behind an error of its own.
#[tool(pure)]
async fn refuses_with_reason() -> Result<(), Unwilling> {
    Err(Unwilling(denies().unwrap_err()))
}

/// Refuses with an error like anyhow's, which does not implement `Error` but lends one through `AsRef`.
#[tool(pure)]
fn refuses_by_loan() -> Result<(), Lender> {
    Err(Lender(denies().unwrap_err().into()))
}

#[derive(Debug)]
struct Unwilling(ToolError);

impl fmt::Display for Unwilling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "not now: {}", self.0)
    }
}

impl Error for Unwilling {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&self.0)
    }
}

struct Lender(Box<dyn Error + Send + Sync>);

impl fmt::Display for Lender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl AsRef<dyn Error + Send + Sync> for Lender {
    fn as_ref(&self) -> &(dyn Error + Send + Sync + 'static) {
        &*self.0
    }
}

type Nothing = ();

/// Returns nothing behind an alias.
#[tool(pure)]
fn silent() -> Nothing {}

/// May fail as input and output do.
#[tool(reads = "fs:a")]
fn from_disk() -> std::io::Result<&'static str> {
    Ok("text")
}

/// Does not say what it returns.
#[tool(pure)]
fn opaque() -> Result<impl Serialize, ToolError> {
    Ok(1)
}

/// Returns what no JSON can say.
#[tool(pure)]
fn unspeakable() -> std::collections::HashMap<(u8, u8), u8> {
    [((1, 2), 3)].into()
}

fn image() -> Content {
    Content::Image {
        data: "AA==".to_owned(),
        mime_type: "image/png".to_owned(),
    }
}

async fn result(submission: &'static Submission) -> ToolResult {
    called(submission, json!({})).await.unwrap()
}

#[tokio::test]
async fn a_value_is_structured_and_its_text_is_json() {
    assert_eq!(
        result(&WEATHER_TOOL).await,
        ToolResult::structured(json!({"degrees": 3}))
    );
    assert_eq!(
        result(&SUCCEEDS_TOOL).await,
        ToolResult::structured(json!(1))
    );
    assert_eq!(result(&OPAQUE_TOOL).await, ToolResult::structured(json!(1)));
}

#[tokio::test]
async fn text_is_text() {
    assert_eq!(result(&OWNED_TEXT_TOOL).await, ToolResult::text("text"));
    assert_eq!(result(&STATIC_TEXT_TOOL).await, ToolResult::text("text"));
    assert_eq!(result(&FROM_DISK_TOOL).await, ToolResult::text("text"));
}

#[tokio::test]
async fn unit_is_shown_as_ok() {
    assert_eq!(result(&NOTHING_TOOL).await, ToolResult::text("ok"));
    assert_eq!(result(&DONE_TOOL).await, ToolResult::text("ok"));
    assert_eq!(result(&SILENT_TOOL).await, ToolResult::text("ok"));
}

#[tokio::test]
async fn content_is_passed_on() {
    assert_eq!(result(&PICTURE_TOOL).await.content, [image()]);
    assert_eq!(
        result(&PICTURES_TOOL).await.content,
        [Content::text("Two:"), image(), image()]
    );
}

#[tokio::test]
async fn a_result_is_passed_on() {
    assert_eq!(result(&PARTLY_TOOL).await, partly());
}

#[tokio::test]
async fn an_error_is_shown_in_its_alternate_form() {
    let error = called(&FAILS_TOOL, json!({})).await.unwrap_err();
    let expected = ToolError::new(
        "fails",
        ToolErrorKind::ExecutionFailed {
            message: "no; because of that".to_owned(),
        },
    );
    assert_eq!(error, expected);
}

#[tokio::test]
async fn a_tool_error_is_passed_on() {
    assert_eq!(
        called(&DENIES_TOOL, json!({})).await.unwrap_err(),
        denies().unwrap_err()
    );
}

#[tokio::test]
async fn a_tool_error_is_passed_on_from_inside_of_others() {
    for tool in [
        &REFUSES_IN_A_BOX_TOOL,
        &REFUSES_LATER_TOOL,
        &REFUSES_WITH_REASON_TOOL,
        &REFUSES_BY_LOAN_TOOL,
    ] {
        assert_eq!(
            called(tool, json!({})).await.unwrap_err(),
            denies().unwrap_err(),
            "{}",
            tool.name
        );
    }
}

#[tokio::test]
async fn a_value_that_is_no_json_is_invalid_output() {
    let error = called(&UNSPEAKABLE_TOOL, json!({})).await.unwrap_err();
    assert_eq!(
        (error.code(), error.tool_name()),
        (ErrorCode::InvalidOutput, "unspeakable")
    );
}
