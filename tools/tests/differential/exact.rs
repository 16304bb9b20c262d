//! A tool is given exactly the number that was sent, authorised, approved and recorded, or does not run.

use std::sync::{Arc, Mutex};

use serde::{Deserialize, Deserializer};
use serde_json::{Value, json};
use tools::context::ApprovalFuture;
use tools::{
    Approval, Approver, Arguments, Catalog, Decision, Effects, ErrorCode, Grant, Host, JsonSchema,
    Tool, ToolContext, tool,
};

use crate::notebook::Notebook;

/// Pays.
#[tool(name = "pay", pure)]
fn pay(
    /// To whom.
    account: u64,
    /// How often.
    count: u8,
) -> String {
    format!("{account} {count}")
}

/// Adds signed numbers.
#[tool(name = "signed", pure)]
fn signed(
    /// The first.
    a: i64,
    /// The second.
    #[serde(default)]
    b: i8,
) -> String {
    format!("{a} {b}")
}

/// Moves a large amount, which its target names.
#[tool(name = "move", writes = "account:{to}")]
async fn transfer(
    /// Where to.
    to: u128,
    /// How much.
    #[serde(default)]
    amount: i128,
) -> String {
    format!("{to} {amount}")
}

/// Scales.
#[tool(name = "scale", pure)]
fn scale(
    /// By what.
    factor: f32,
) -> String {
    factor.to_string()
}

/// Reads a level. Its type substitutes a default for an invalid one.
#[tool(name = "lenient", pure)]
fn lenient(#[args] level: Level) -> String {
    level.level.to_string()
}

/// A level.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Level {
    /// The level.
    #[serde(deserialize_with = "or_default")]
    #[schemars(with = "u8")]
    level: u8,
}

fn or_default<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u8, D::Error> {
    Ok(u8::deserialize(deserializer).unwrap_or_default())
}

fn catalog() -> Catalog {
    let mut catalog = Catalog::new();
    catalog
        .submit(&[
            &PAY_TOOL,
            &SIGNED_TOOL,
            &TRANSFER_TOOL,
            &SCALE_TOOL,
            &LENIENT_TOOL,
        ])
        .unwrap();
    let schema = json!({"type": "object", "properties": {"account": {"type": "integer"}}});
    let any = Tool::new("any", "Takes an account.", schema)
        .unwrap()
        .with_effects(Effects::Pure);
    catalog
        .register(any, async |_: ToolContext, arguments: Value| {
            arguments["account"].to_string()
        })
        .unwrap();
    catalog
}

/// Returns the arguments that the tool was given, or `None` if it was not run.
async fn given(name: &str, arguments: impl Into<Arguments>) -> Option<String> {
    let cx = Host::new().with_grant(Grant::all());
    match catalog().execute(&cx, name, arguments).await {
        Ok(result) => Some(result.to_text()),
        Err(error) if error.code() == ErrorCode::InvalidArguments => None,
        Err(error) => panic!("{error}"),
    }
}

#[tokio::test]
async fn an_integral_float_beside_an_integer_leaves_the_integer_as_it_is() {
    for (name, arguments, expected) in [
        (
            "pay",
            r#"{"account":9007199254740993,"count":1.0}"#,
            "9007199254740993 1",
        ),
        (
            "pay",
            r#"{"account":18446744073709551615,"count":1e0}"#,
            "18446744073709551615 1",
        ),
        (
            "signed",
            r#"{"a":9223372036854775807,"b":1.0}"#,
            "9223372036854775807 1",
        ),
        (
            "signed",
            r#"{"a":-9223372036854775808,"b":-1.0}"#,
            "-9223372036854775808 -1",
        ),
    ] {
        assert_eq!(
            given(name, arguments).await.as_deref(),
            Some(expected),
            "{arguments}"
        );
        let value: Value = serde_json::from_str(arguments).unwrap();
        assert_eq!(
            given(name, value).await.as_deref(),
            Some(expected),
            "{arguments}"
        );
    }
}

#[tokio::test]
async fn a_number_that_an_integer_cannot_hold_is_refused_and_never_rounded() {
    for (name, arguments) in [
        ("signed", r#"{"a":-9223372036854775809}"#),
        ("signed", r#"{"a":9223372036854775808}"#),
        ("pay", r#"{"account":18446744073709551616,"count":1}"#),
        ("pay", r#"{"account":9007199254740993.0,"count":1}"#),
        ("pay", r#"{"account":1e18,"count":1}"#),
        ("any", r#"{"account":18446744073709551617}"#),
    ] {
        assert_eq!(given(name, arguments).await, None, "{arguments}");
    }
    for float in [9_007_199_254_740_994.0, 1e17, 1e19, -1e17] {
        assert_eq!(
            given("pay", json!({"account": float, "count": 1})).await,
            None,
            "{float}"
        );
        assert_eq!(
            given("signed", json!({ "a": float })).await,
            None,
            "{float}"
        );
    }
    assert_eq!(
        given(
            "pay",
            json!({"account": 9_007_199_254_740_991.0, "count": 1.0})
        )
        .await
        .unwrap(),
        "9007199254740991 1"
    );
}

#[tokio::test]
async fn integers_of_128_bits_keep_every_digit() {
    for (to, amount) in [
        ("18446744073709551616", "-9223372036854775809"),
        (
            "340282366920938463463374607431768211455",
            "-170141183460469231731687303715884105728",
        ),
    ] {
        let text = format!(r#"{{"to":{to},"amount":{amount}}}"#);
        assert_eq!(given("move", text).await.unwrap(), format!("{to} {amount}"));
    }
    assert_eq!(
        given("move", r#"{"to":340282366920938463463374607431768211456}"#).await,
        None
    );
}

/// An approver that allows every request and records the arguments.
#[derive(Default)]
struct Yes(Mutex<Vec<String>>);

impl Approver for Yes {
    fn approve<'a>(&'a self, approval: Approval<'a>) -> ApprovalFuture<'a> {
        let shown = format!(
            "{} {}",
            approval.targets[0],
            approval.arguments.value()["to"]
        );
        self.0.lock().unwrap().push(shown);
        Box::pin(async { Decision::Allow })
    }
}

#[tokio::test]
async fn an_integer_beyond_64_bits_is_authorised_approved_and_recorded_digit_by_digit() {
    let (yes, journal) = (Arc::new(Yes::default()), Notebook::default());
    let to = "18446744073709551617";
    let text = format!(r#"{{"to":{to}}}"#);
    let granted = |clause: &str| Host::new().with_grant(Grant::parse([clause]).unwrap());
    catalog()
        .execute(&granted(&format!("account:write:{to}")), "move", &*text)
        .await
        .unwrap();
    let rounded = catalog()
        .execute(
            &granted("account:write:18446744073709551616"),
            "move",
            &*text,
        )
        .await;
    assert_eq!(rounded.unwrap_err().code(), ErrorCode::PermissionDenied);

    let asking = Host::new()
        .with_approver(yes.clone())
        .with_journal(Arc::new(journal.clone()));
    catalog().execute(&asking, "move", &*text).await.unwrap();
    assert_eq!(
        *yes.0.lock().unwrap(),
        [format!("account:write:{to} \"{to}\"")]
    );
    assert!(journal.lines().iter().any(|line| {
        line.arguments
            .as_ref()
            .is_some_and(|text| text.contains(to))
    }));
}

#[tokio::test]
async fn a_number_beyond_f32_does_not_become_infinite() {
    for text in ["1e300", "-1e300", "3.5e38"] {
        assert_eq!(
            given("scale", format!(r#"{{"factor":{text}}}"#)).await,
            None,
            "{text}"
        );
        let number: f64 = text.parse().unwrap();
        assert_eq!(
            given("scale", json!({ "factor": number })).await,
            None,
            "{text}"
        );
    }
    assert_eq!(given("scale", r#"{"factor":0.5}"#).await.unwrap(), "0.5");
}

#[tokio::test]
async fn a_lenient_type_does_not_accept_more_than_the_schema() {
    for text in [
        r#"{"level":"high"}"#,
        r#"{"level":-1}"#,
        r#"{"level":nul"#,
        r#"{"level":[}"#,
        r#"{"level":300}"#,
    ] {
        assert_eq!(given("lenient", text).await, None, "{text}");
    }
    assert_eq!(given("lenient", r#"{"level":3}"#).await.unwrap(), "3");
}
