//! The pipeline and its journal: when records are written, and which calls are not run again.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use crate::notebook::{Notebook, Trouble};
use crate::sample::{No, closed, echo, granted, pure};
use serde_json::{Value, json};
use tools::call::{CallPlace, refuse};
use tools::journal::CallKey;
use tools::protocol::wire::Format;
use tools::{
    CancellationToken, Catalog, Digest, Effects, ErrorCode, Grant, Host, Policy, Tool, ToolContext,
    ToolError, ToolResult,
};

/// A tool that may run only once. Its result is the number of its runs.
pub(crate) fn counting(catalog: &mut Catalog, tool: Tool) -> Arc<AtomicU32> {
    let runs = Arc::new(AtomicU32::new(0));
    let counted = runs.clone();
    let count = move |_: ToolContext, _: Value| {
        let run = counted.fetch_add(1, Ordering::SeqCst) + 1;
        async move { format!("run {run}") }
    };
    catalog.register(tool, count).unwrap();
    runs
}

pub(crate) fn writer(name: &str) -> Tool {
    let effects: Effects = serde_json::from_value(json!({"writes": ["mail:{to}"]})).unwrap();
    let parameters =
        json!({"type": "object", "properties": {"to": {"type": "string"}}, "required": ["to"]});
    Tool::new(name, "Sends a mail.", parameters)
        .unwrap()
        .with_effects(effects)
}

pub(crate) fn context(notebook: &Notebook) -> Host {
    granted(&["fs:read:**", "mail:write:**"])
        .with_journal(Arc::new(notebook.clone()))
        .with_session("s")
}

pub(crate) async fn run(
    catalog: &Catalog,
    cx: &ToolContext,
    name: &str,
    arguments: Value,
) -> Result<ToolResult, ToolError> {
    catalog.execute(cx, name, arguments).await
}

#[tokio::test]
async fn an_intent_is_there_before_the_tool_runs_and_an_outcome_after() {
    let (notebook, mut catalog) = (Notebook::default(), Catalog::new());
    let seen = notebook.clone();
    let look = move |_: ToolContext, _: Value| {
        let lines = seen.lines();
        async move { format!("{} line, a {}", lines.len(), lines[0].kind) }
    };
    catalog.register(pure("look"), look).unwrap();
    let cx = context(&notebook)
        .with_principal("me")
        .with_correlation_id("r")
        .with_place(CallPlace::new(3, 1).with_id("c1"));
    let result = run(&catalog, &cx, "look", json!({"b": 1, "a": 2.0}))
        .await
        .unwrap();
    assert_eq!(result.to_text(), "1 line, a intent");

    let [intent, outcome] = &notebook.lines()[..] else {
        panic!("{:?}", notebook.lines())
    };
    assert_eq!(intent.key, Some(CallKey::new("s", 3, 1)));
    assert_eq!(
        (intent.session.as_deref(), intent.principal.as_deref()),
        (Some("s"), Some("me"))
    );
    assert_eq!(
        (intent.call_id.as_deref(), intent.correlation_id.as_deref()),
        (Some("c1"), Some("r"))
    );
    assert_eq!(
        intent.tool_digest,
        Some(catalog.get("look").unwrap().digest())
    );
    assert_eq!(
        intent.arguments_digest,
        Some(Digest::hash_json(&json!({"a": 2, "b": 1})))
    );
    assert_eq!(
        (outcome.kind, outcome.intent, outcome.result.as_ref()),
        ("outcome", Some(1), Some(&result))
    );
}

#[tokio::test]
async fn every_refusal_is_written_down() {
    let (notebook, mut catalog) = (Notebook::default(), Catalog::new());
    catalog.register(closed("closed"), echo).unwrap();
    let runs = counting(&mut catalog, writer("send"));
    let cx = context(&notebook).with_grant(Grant::default());
    for (name, arguments) in [
        ("nope", json!({})),
        ("closed", json!({"text": 1.5})),
        ("send", json!({"to": "a"})),
    ] {
        run(&catalog, &cx, name, arguments).await.unwrap_err();
    }
    catalog
        .execute(&cx, "closed", "{\"text\": \"a\", \"text\": \"b\"}")
        .await
        .unwrap_err();
    let cancelled = CancellationToken::new();
    cancelled.cancel();
    run(
        &catalog,
        &cx.clone().with_cancellation(cancelled),
        "send",
        json!({"to": "a"}),
    )
    .await
    .unwrap_err();
    let records: Vec<_> = notebook
        .lines()
        .iter()
        .map(|line| (line.kind, line.tool.clone(), line.error.unwrap()))
        .collect();
    let refused = |tool: &str, error| ("refusal", tool.to_owned(), error);
    assert_eq!(
        records,
        [
            refused("nope", ErrorCode::NotFound),
            refused("closed", ErrorCode::InvalidArguments),
            refused("send", ErrorCode::PermissionDenied),
            refused("closed", ErrorCode::InvalidArguments),
            refused("send", ErrorCode::Cancelled),
        ]
    );
    assert_eq!(
        notebook.lines()[2].arguments_digest,
        Some(Digest::hash_json(&json!({"to": "a"})))
    );
    assert_eq!(runs.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn a_denial_is_recorded_with_its_call() {
    let (notebook, mut catalog) = (Notebook::default(), Catalog::new());
    let runs = counting(&mut catalog, writer("send"));
    let cx = context(&notebook)
        .with_policy(Policy::by_effects())
        .with_place(CallPlace::new(1, 0));
    run(
        &catalog,
        &cx.clone().with_approver(Arc::new(No)),
        "send",
        json!({"to": "a"}),
    )
    .await
    .unwrap_err();
    run(&catalog, &cx, "send", json!({"to": "a"}))
        .await
        .unwrap_err();
    let [denied, unasked] = &notebook.lines()[..] else {
        panic!("{:?}", notebook.lines())
    };
    assert_eq!(
        (denied.kind, denied.error, unasked.error),
        (
            "refusal",
            Some(ErrorCode::Denied),
            Some(ErrorCode::Unapproved)
        )
    );
    assert!(
        denied.reason.as_deref().unwrap().contains("not today"),
        "{denied:?}"
    );
    assert_eq!(
        denied.arguments_digest,
        Some(Digest::hash_json(&json!({"to": "a"})))
    );
    assert_eq!(
        (denied.key.clone(), denied.tool_digest),
        (Some(CallKey::new("s", 1, 0)), unasked.tool_digest)
    );
    assert_eq!(runs.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn a_replayed_failure_has_the_text_that_the_model_read() {
    let (notebook, mut catalog) = (Notebook::default(), Catalog::new());
    let fails = async |_: ToolContext, _: Value| Err::<String, _>("no luck");
    catalog.register(pure("x.fails"), fails).unwrap();
    let cx = || {
        context(&notebook)
            .with_wire(Format::OpenAiChat)
            .with_place(CallPlace::new(1, 0))
    };
    let error = run(&catalog, &cx(), "x.fails", json!({}))
        .await
        .unwrap_err();
    let replayed = run(&catalog, &cx(), "x.fails", json!({})).await.unwrap();
    assert_eq!(
        replayed,
        cx().error_result(catalog.get("x.fails").ok().as_deref(), &error)
    );
    assert_eq!(replayed.to_text(), "x__fails failed: no luck");
}

#[tokio::test]
async fn a_call_whose_intent_cannot_be_recorded_is_not_run() {
    for trouble in [Trouble::Fails, Trouble::Panics] {
        let (notebook, mut catalog) = (Notebook::default(), Catalog::new());
        let runs = counting(&mut catalog, writer("send"));
        for during in ["begin", "find"] {
            notebook.make_trouble(during, trouble);
            let error = run(
                &catalog,
                &context(&notebook).with_place(CallPlace::new(1, 0)),
                "send",
                json!({"to": "a"}),
            )
            .await
            .unwrap_err();
            assert!(
                error.code() == ErrorCode::Internal && !error.is_recoverable(),
                "{error}"
            );
            assert!(error.to_string().contains("the disk is gone"), "{error}");
        }
        assert_eq!(runs.load(Ordering::SeqCst), 0);
    }
}

#[tokio::test]
async fn an_outcome_or_a_refusal_that_cannot_be_written_is_an_error_for_its_call() {
    let (notebook, mut catalog) = (Notebook::default(), Catalog::new());
    catalog.register(pure("fine"), echo).unwrap();
    notebook.make_trouble("end", Trouble::Fails);
    assert_eq!(
        run(&catalog, &context(&notebook), "fine", json!({}))
            .await
            .unwrap_err()
            .code(),
        ErrorCode::Internal
    );
    notebook.make_trouble("refuse", Trouble::Fails);
    assert_eq!(
        run(&catalog, &context(&notebook), "missing", json!({}))
            .await
            .unwrap_err()
            .code(),
        ErrorCode::Internal
    );
    let error = refuse(&context(&notebook), "fine", ErrorCode::Refused, "not today")
        .await
        .unwrap_err();
    assert_eq!(error.code(), ErrorCode::Internal, "{error}");
}

#[tokio::test]
async fn a_refusal_by_the_host_is_recorded_at_its_place() {
    let notebook = Notebook::default();
    refuse(
        &context(&notebook).with_place(CallPlace::new(2, 1).with_id("c")),
        "fine",
        ErrorCode::Refused,
        "not today",
    )
    .await
    .unwrap();
    refuse(
        &Host::new(),
        "fine",
        ErrorCode::Refused,
        "there is no journal",
    )
    .await
    .unwrap();
    let [line] = &notebook.lines()[..] else {
        panic!("{:?}", notebook.lines())
    };
    assert_eq!(
        (line.kind, line.error, line.reason.as_deref()),
        ("refusal", Some(ErrorCode::Refused), Some("not today"))
    );
    assert_eq!(
        (&line.key, line.call_id.as_deref()),
        (&Some(CallKey::new("s", 2, 1)), Some("c"))
    );
}

#[tokio::test]
async fn a_journal_that_never_answers_costs_a_call_no_more_than_its_time() {
    let (notebook, mut catalog) = (Notebook::default(), Catalog::new());
    let runs = counting(&mut catalog, writer("send"));
    notebook.make_trouble("begin", Trouble::Hangs);
    let cx = context(&notebook).with_timeout(Duration::from_millis(20));
    assert_eq!(
        run(&catalog, &cx, "send", json!({"to": "a"}))
            .await
            .unwrap_err()
            .code(),
        ErrorCode::Timeout
    );

    let token = CancellationToken::new();
    let cx = context(&notebook).with_cancellation(token.clone());
    let call = run(&catalog, &cx, "send", json!({"to": "a"}));
    let (error, ()) = tokio::join!(call, async { token.cancel() });
    assert_eq!(error.unwrap_err().code(), ErrorCode::Cancelled);
    assert_eq!(runs.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn a_call_that_is_taken_back_while_it_is_written_down_has_an_end() {
    for (method, kinds) in [
        ("find", &["refusal"][..]),
        ("begin", &["intent", "outcome"]),
    ] {
        let (notebook, mut catalog) = (Notebook::default(), Catalog::new());
        let runs = counting(&mut catalog, writer("send"));
        notebook.make_trouble(method, Trouble::Delays);
        let token = CancellationToken::new();
        let cx = context(&notebook)
            .with_place(CallPlace::new(1, 0))
            .with_cancellation(token.clone());
        let call = run(&catalog, &cx, "send", json!({"to": "a"}));
        let (ended, ()) = tokio::join!(call, async { token.cancel() });
        assert!(
            matches!(&ended, Err(error) if error.code() == ErrorCode::Cancelled),
            "{method}: {ended:?}"
        );
        let lines = notebook.lines();
        assert_eq!(
            lines.iter().map(|line| line.kind).collect::<Vec<_>>(),
            kinds,
            "{method}"
        );
        assert_eq!(
            lines.last().unwrap().error,
            Some(ErrorCode::Cancelled),
            "{method}"
        );
        assert_eq!(runs.load(Ordering::SeqCst), 0, "{method}");
    }
}
