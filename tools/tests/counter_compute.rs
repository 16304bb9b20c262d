//! A tool that is no more than a function of its arguments goes a shorter way through the counter. What comes out is the same.

#![allow(clippy::unwrap_used, missing_docs, clippy::needless_pass_by_value)]

mod sample;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use sample::{hang, pure};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use tools::{
    Admission, Arguments, Catalog, HandlerFuture, JsonSchema, Layer, Next, OutputStore, ToolContext, ToolError,
    ToolResult, tool,
};

/// A layer that does nothing. With one, every call goes the long way.
struct Nothing;

impl Layer for Nothing {
    fn call<'a>(&'a self, cx: ToolContext, next: Next<'a>) -> HandlerFuture<'a> {
        next.call(cx)
    }
}

/// Divides.
#[tool(pure)]
fn divide(
    /// What.
    a: i32,
    /// By what.
    #[serde(default = "one")]
    b: i32,
) -> Result<i32, String> {
    if b == 0 { Err("division by zero".to_owned()) } else { Ok(a / b) }
}

fn one() -> i32 {
    1
}

/// Does what it is told.
#[tool(pure, timeout = "50ms", max_output = "1KiB")]
fn misbehave(
    /// What to do.
    how: How,
) -> ToolResult {
    match how {
        How::Panic => panic!("it was told to"),
        How::Oversleep => std::thread::sleep(Duration::from_millis(60)),
        How::Overflow => return ToolResult::text("x".repeat(100_000)),
        How::Structured => return ToolResult::structured(json!(vec!["y"; 10_000])),
        How::Fail => return ToolResult::error("it was told to"),
    }
    ToolResult::text("done")
}

/// What there is to do.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum How {
    /// Panics.
    Panic,
    Oversleep,
    Overflow,
    Structured,
    Fail,
}

/// Says it again.
#[tool(pure)]
fn repeat(#[args] said: Said) -> Said {
    said
}

/// What is said.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Said {
    /// A text.
    text: String,
    /// Numbers.
    #[serde(default)]
    numbers: Vec<f64>,
    /// Whatever.
    rest: Option<Value>,
}

/// Says that it was cancelled, which is not its to say.
#[tool(pure)]
fn lie() -> Result<(), ToolError> {
    Err(ToolError::Cancelled { tool: "another".to_owned() })
}

/// Doubles.
#[tool(pure)]
fn double(#[args] large: Large) -> String {
    (large.number * 2).to_string()
}

/// Takes more than its schema can say.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Large {
    /// What to double.
    #[schemars(with = "f64")]
    number: i128,
}

/// Reads one digit.
#[tool(pure)]
fn digit(#[args] digit: Digit) -> String {
    format!("{} for {}", digit.digit, digit.purpose)
}

/// What panics while it is read, where it is not what its schema says.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Digit {
    /// The digit.
    #[serde(deserialize_with = "sure_digit")]
    digit: u32,
    /// What for.
    purpose: String,
}

fn sure_digit<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
    let digit = u32::deserialize(deserializer)?;
    assert!(digit < 10, "{digit} is no digit");
    Ok(digit)
}

/// Something that no host offers, with a long name.
struct ServiceWithANameThatTakesMoreThanHalfOfTheRoomThatALineHasWhichSaysThatSomethingIsMissingFromAResult;

/// Needs it.
#[tool(
    pure,
    max_output = "1B",
    needs = ServiceWithANameThatTakesMoreThanHalfOfTheRoomThatALineHasWhichSaysThatSomethingIsMissingFromAResult
)]
fn demand() {}

fn catalog() -> Catalog {
    filled(Catalog::new())
}

fn filled(mut catalog: Catalog) -> Catalog {
    catalog
        .submit(&[&DIVIDE_TOOL, &MISBEHAVE_TOOL, &REPEAT_TOOL, &LIE_TOOL, &DOUBLE_TOOL, &DIGIT_TOOL, &DEMAND_TOOL])
        .unwrap();
    catalog
}

/// The outcome of a call, which is the same both ways, and whether it comes as text or, where it can, as a value.
#[track_caller]
fn outcome(
    cx: &ToolContext,
    name: &str,
    arguments: impl Into<Arguments>,
) -> impl Future<Output = Result<ToolResult, ToolError>> {
    let arguments = arguments.into();
    let catalog = catalog();
    let place = std::panic::Location::caller();
    let cx = cx.clone();
    let name = name.to_owned();
    async move {
        let short = catalog.execute(&cx, &name, arguments.clone()).await;
        let long = catalog.execute(&cx.clone().with_layer(Arc::new(Nothing)), &name, arguments).await;
        assert_eq!(short, long, "{place}");
        short
    }
}

#[tokio::test]
async fn arguments_of_every_kind_have_one_outcome() {
    let large = format!(r#"{{"a": 1, "b": {}1}}"#, " ".repeat(2 << 20));
    let deep = format!(r#"{{"text": "", "rest": {}1{}}}"#, "[".repeat(80), "]".repeat(80));
    let cx = ToolContext::new();
    for (name, text) in [
        ("divide", r#"{"a": 7, "b": 2}"#),
        ("divide", r#"{"a": 7}"#),
        ("divide", r#" { "b" : -2 , "a" : 7 } "#),
        ("divide", r#"{"a": 7.0, "b": 2}"#),
        ("divide", r#"{"a": 7.5, "b": 2}"#),
        ("divide", r#"{"a": 3000000000, "b": 2}"#),
        ("divide", r#"{"a": 7, "a": 8}"#),
        ("divide", r#"{"a": 7, "c": 2}"#),
        ("divide", r#"{"b": 2}"#),
        ("divide", r#"{"a": null}"#),
        ("divide", "[7, 2]"),
        ("divide", r#"{"a": 7, "b": 0}"#),
        ("divide", r#"{"a": 7, "b": 0"#),
        ("divide", r#"{"a": 7} {}"#),
        ("divide", ""),
        ("divide", "null"),
        ("divide", &large),
        ("repeat", r#"{"text": "\u00e9\ud83d\ude00"}"#),
        ("repeat", r#"{"text": "\ud83d"}"#),
        ("repeat", r#"{"text": "a", "numbers": [1, 2.5, 1e3, -0]}"#),
        ("repeat", r#"{"text": "a", "numbers": [1e400]}"#),
        ("repeat", r#"{"text": "a", "rest": {"b": [1, 1]}}"#),
        ("repeat", r#"{"text": "a", "rest": {"b": 1, "b": 2}}"#),
        ("repeat", &deep),
        ("lie", "{}"),
        ("lie", r#"{"a": 1}"#),
        ("double", r#"{"number": 4}"#),
        ("double", r#"{"number": -4}"#),
        ("double", r#"{"number": 4.0}"#),
        ("double", r#"{"number": 18446744073709551615}"#),
        ("double", r#"{"number": 18446744073709551616}"#),
        ("double", r#"{"number": -9223372036854775809}"#),
        ("digit", r#"{"digit": 7, "purpose": ""}"#),
        ("digit", r#"{"digit": 17, "purpose": ""}"#),
        ("digit", r#"{"digit": 17}"#),
        ("digit", r#"{"digit": 17, "purpose": "", "purpose": ""}"#),
        ("nothing", "{}"),
    ] {
        let of_text = outcome(&cx, name, text).await;
        // A value has lost what a text may have twice.
        let value = serde_json::from_str::<Value>(text)
            .ok()
            .filter(|value| value.to_string().matches('"').count() == text.matches('"').count() && text.len() < 1_000);
        if let Some(value) = value {
            let of_value = outcome(&cx, name, value).await;
            let kind = |outcome: Result<ToolResult, ToolError>| outcome.map_err(|error| error.kind().to_owned());
            assert_eq!(kind(of_text), kind(of_value), "{text}");
        }
    }
}

#[tokio::test]
async fn how_a_call_ends_does_not_depend_on_the_way() {
    let cx = ToolContext::new();
    let ended = async |how: &str| outcome(&cx, "misbehave", json!({ "how": how }).to_string()).await;
    assert!(matches!(ended("panic").await, Err(ToolError::Panicked { message, .. }) if message == "it was told to"));
    assert!(matches!(ended("oversleep").await, Err(ToolError::Timeout { .. })));
    assert!(ended("overflow").await.unwrap().to_text().len() < 2_000);
    assert!(ended("structured").await.unwrap().structured.is_none());
    assert!(ended("fail").await.unwrap().is_error);
    assert!(matches!(outcome(&cx, "lie", "{}").await, Err(ToolError::ExecutionFailed { .. })));
}

#[tokio::test]
async fn a_call_that_is_over_before_it_begins_is_refused_either_way() {
    let token = CancellationToken::new();
    token.cancel();
    let call = r#"{"a": 1}"#;
    let cancelled = outcome(&ToolContext::new().with_cancellation(token), "divide", call).await;
    assert!(matches!(cancelled, Err(ToolError::Cancelled { .. })));
    let timeout = outcome(&ToolContext::new().with_timeout(Duration::ZERO), "divide", call).await;
    assert!(matches!(timeout, Err(ToolError::Timeout { .. })));
    let late = catalog().execute(&ToolContext::new().with_deadline(Instant::now()), "divide", call).await;
    assert!(matches!(late, Err(ToolError::Timeout { .. })));
}

#[tokio::test]
async fn arguments_that_do_not_fit_are_told_before_there_is_no_time() {
    let cx = ToolContext::new().with_timeout(Duration::ZERO);
    for text in [r#"{"a": "1"}"#, r#"{"a": 1, "a": 1}"#, "{"] {
        let refused = outcome(&cx, "divide", text).await;
        assert!(matches!(refused, Err(ToolError::InvalidArguments { .. })), "{refused:?}");
    }
}

#[tokio::test]
async fn what_says_why_a_call_was_refused_is_not_kept() {
    let mut catalog = catalog();
    catalog.register(pure(OutputStore::READER), hang).unwrap();
    let cx = ToolContext::new().with_service(OutputStore::new());
    let short = catalog.execute(&cx, "demand", "{}").await;
    let long = catalog.execute(&cx.with_layer(Arc::new(Nothing)), "demand", "{}").await;
    assert!(matches!(&short, Err(ToolError::Unavailable { reason, .. }) if reason.contains("left out")), "{short:?}");
    assert_eq!(short, long);
}

#[tokio::test]
async fn a_call_that_finds_no_place_waits_for_one_or_is_refused() {
    let admission = Arc::new(Admission::new().with_max_concurrency(1).with_max_waiting(1));
    let mut catalog = filled(Catalog::new().with_admission(admission.clone()));
    catalog.register(pure("hang"), hang).unwrap();
    let cx = ToolContext::new();
    let mut hanging = Box::pin(catalog.execute(&cx, "hang", json!({})));
    assert!(poll(&mut hanging).is_none());
    assert_eq!(admission.running(), 1);

    let mut waiting = Box::pin(catalog.execute(&cx, "divide", r#"{"a": 9, "b": 3}"#));
    assert!(poll(&mut waiting).is_none());
    let refused = catalog.execute(&cx, "divide", r#"{"a": 9, "b": 3}"#).await;
    assert!(matches!(refused, Err(ToolError::Overloaded { .. })), "{refused:?}");

    drop(hanging);
    assert_eq!(waiting.await.unwrap().to_text(), "3");
    assert_eq!(admission.running(), 0);
}

/// What a future gives at once.
fn poll<F: Future + Unpin>(future: &mut F) -> Option<F::Output> {
    match std::pin::Pin::new(future).poll(&mut std::task::Context::from_waker(std::task::Waker::noop())) {
        std::task::Poll::Ready(output) => Some(output),
        std::task::Poll::Pending => None,
    }
}

#[tokio::test]
async fn a_call_computes_once_and_only_when_it_is_awaited() {
    let mut catalog = Catalog::new();
    catalog.submit(&[&COUNT_TOOL]).unwrap();
    let cx = ToolContext::new();
    drop(catalog.execute(&cx, "count", "{}"));
    assert_eq!(COUNT.load(Ordering::Relaxed), 0);
    let mut call = catalog.execute(&cx, "count", r#"{"by": 2}"#);
    assert_eq!(poll(&mut call).unwrap().unwrap().to_text(), "2");
    // One that has ended is never ready again.
    assert!(poll(&mut call).is_none());
    assert_eq!(catalog.execute(&cx, "count", r#"{"by": 1.0}"#).await.unwrap().to_text(), "3");
}

static COUNT: AtomicUsize = AtomicUsize::new(0);

/// Counts.
#[tool(pure)]
fn count(
    /// How far.
    by: usize,
) -> usize {
    COUNT.fetch_add(by, Ordering::Relaxed) + by
}
