//! Arguments and context as the function receives them.

use serde::Deserialize;
use serde_json::{Value, json};
use tools::{ErrorCode, Host, JsonSchema, ToolContext, ToolErrorKind, tool};

use super::{called, catalog};

/// Shows what arrived.
#[tool(pure)]
#[allow(clippy::too_many_arguments)]
fn echo(
    /// A whole number.
    count: i64,
    /// A small one.
    #[serde(default)]
    small: u8,
    /// A fraction.
    #[serde(default = "half")]
    share: f64,
    /// Anything.
    any: Option<Value>,
    /// A keyword.
    r#type: Option<String>,
    /// Something with a name of its own.
    #[serde(default, rename = "max-depth")]
    max_depth: usize,
) -> Value {
    json!({"count": count, "small": small, "share": share, "any": any, "type": r#type, "max-depth": max_depth})
}

fn half() -> f64 {
    0.5
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Pair {
    /// One.
    a: i64,
    /// The other.
    #[serde(default)]
    b: i64,
}

/// Adds.
#[tool(pure)]
async fn add(cx: ToolContext, #[args] Pair { a, b }: Pair) -> String {
    format!("{} = {}", cx.tool().unwrap(), a + b)
}

/// Says who asks, and what for.
#[tool(open_world)]
fn who(
    /// The purpose.
    what: String,
    cx: &ToolContext,
) -> String {
    format!(
        "{} asks {} for {what}",
        cx.session().unwrap_or("nobody"),
        cx.tool().unwrap()
    )
}

/// Counts in steps.
#[tool(pure)]
fn even(
    /// An even number.
    #[serde(deserialize_with = "even_number")]
    number: u64,
) -> u64 {
    number
}

fn even_number<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    let number = u64::deserialize(deserializer)?;
    if number % 2 == 0 {
        Ok(number)
    } else {
        Err(serde::de::Error::custom("the number is odd"))
    }
}

async fn echoed(arguments: Value) -> Value {
    called(&ECHO_TOOL, arguments)
        .await
        .unwrap()
        .structured
        .unwrap()
        .into_value()
}

#[tokio::test]
async fn an_absent_argument_has_its_default() {
    let expected =
        json!({"count": 1, "small": 0, "share": 0.5, "any": null, "type": null, "max-depth": 0});
    assert_eq!(echoed(json!({"count": 1})).await, expected);
}

#[tokio::test]
async fn arguments_arrive_unchanged() {
    let sent = json!({"count": -1, "small": 255, "share": 0.25, "any": {"a": [1.0]}, "type": "x", "max-depth": 3});
    assert_eq!(echoed(sent.clone()).await, sent);
}

#[tokio::test]
async fn undeclared_arguments_are_refused() {
    for arguments in [
        json!({}),
        json!({"count": 1, "cout": 1}),
        json!({"count": "one"}),
        json!({"count": 1, "small": 256}),
    ] {
        let error = called(&ECHO_TOOL, arguments.clone()).await.unwrap_err();
        assert_eq!(
            error.code(),
            ErrorCode::InvalidArguments,
            "{arguments}: {error}"
        );
    }
}

#[tokio::test]
async fn arguments_that_only_the_type_refuses_are_invalid_arguments() {
    let error = called(&EVEN_TOOL, json!({"number": 3})).await.unwrap_err();
    assert!(
        matches!(error.kind(), ToolErrorKind::InvalidArguments { violations, .. } if violations[0].found.contains("odd")),
        "{error}"
    );
}

#[tokio::test]
async fn an_args_struct_may_be_taken_apart() {
    assert_eq!(
        called(&ADD_TOOL, json!({"a": 2})).await.unwrap().to_text(),
        "add = 2"
    );
    assert_eq!(
        called(&ADD_TOOL, json!({"a": 2.0, "b": 3}))
            .await
            .unwrap()
            .to_text(),
        "add = 5"
    );
}

#[tokio::test]
async fn the_context_is_the_one_of_the_call() {
    let cx = Host::new()
        .with_session("s1")
        .with_grant(tools::Grant::all());
    let result = catalog(&WHO_TOOL)
        .execute(&cx, "who", json!({"what": "it"}))
        .await
        .unwrap();
    assert_eq!(result.to_text(), "s1 asks who for it");
}
