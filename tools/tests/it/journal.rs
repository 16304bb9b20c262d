//! The pipeline and its journal: when records are written, and which calls are not run again.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use crate::notebook::{Line, Notebook, Trouble};
use crate::sample::{No, closed, echo, granted, pure, reader};
use serde_json::{Value, json};
use tools::call::{CallPlace, refuse};
use tools::journal::CallKey;
use tools::protocol::wire::Format;
use tools::{
    CancellationToken, Catalog, Digest, Effects, ErrorCode, Grant, Policy, Tool, ToolContext, ToolError, ToolResult,
};

/// A tool that may run only once. Its result is the number of its runs.
fn counting(catalog: &mut Catalog, tool: Tool) -> Arc<AtomicU32> {
    let runs = Arc::new(AtomicU32::new(0));
    let counted = runs.clone();
    let count = move |_: ToolContext, _: Value| {
        let run = counted.fetch_add(1, Ordering::SeqCst) + 1;
        async move { format!("run {run}") }
    };
    catalog.register(tool, count).unwrap();
    runs
}

fn writer(name: &str) -> Tool {
    let effects: Effects = serde_json::from_value(json!({"writes": ["mail:{to}"]})).unwrap();
    let parameters = json!({"type": "object", "properties": {"to": {"type": "string"}}, "required": ["to"]});
    Tool::new(name, "Sends a mail.", parameters).unwrap().with_effects(effects)
}

fn context(notebook: &Notebook) -> ToolContext {
    granted(&["fs:read:**", "mail:write:**"]).with_journal(Arc::new(notebook.clone())).with_session("s")
}

async fn run(catalog: &Catalog, cx: &ToolContext, name: &str, arguments: Value) -> Result<ToolResult, ToolError> {
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
    let cx =
        context(&notebook).with_principal("me").with_correlation_id("r").with_place(CallPlace::new(3, 1).with_id("c1"));
    let result = run(&catalog, &cx, "look", json!({"b": 1, "a": 2.0})).await.unwrap();
    assert_eq!(result.to_text(), "1 line, a intent");

    let [intent, outcome] = &notebook.lines()[..] else { panic!("{:?}", notebook.lines()) };
    assert_eq!(intent.key, Some(CallKey::new("s", 3, 1)));
    assert_eq!((intent.session.as_deref(), intent.principal.as_deref()), (Some("s"), Some("me")));
    assert_eq!((intent.call_id.as_deref(), intent.correlation_id.as_deref()), (Some("c1"), Some("r")));
    assert_eq!(intent.tool_digest, Some(catalog.get("look").unwrap().digest()));
    assert_eq!(intent.arguments_digest, Some(Digest::hash_json(&json!({"a": 2, "b": 1}))));
    assert_eq!((outcome.kind, outcome.intent, outcome.result.as_ref()), ("outcome", Some(1), Some(&result)));
}

#[tokio::test]
async fn every_refusal_is_written_down() {
    let (notebook, mut catalog) = (Notebook::default(), Catalog::new());
    catalog.register(closed("closed"), echo).unwrap();
    let runs = counting(&mut catalog, writer("send"));
    let cx = context(&notebook).with_grant(Grant::default());
    for (name, arguments) in [("nope", json!({})), ("closed", json!({"text": 1})), ("send", json!({"to": "a"}))] {
        run(&catalog, &cx, name, arguments).await.unwrap_err();
    }
    catalog.execute(&cx, "closed", "{\"text\": \"a\", \"text\": \"b\"}").await.unwrap_err();
    let cancelled = CancellationToken::new();
    cancelled.cancel();
    run(&catalog, &cx.clone().with_cancellation(cancelled), "send", json!({"to": "a"})).await.unwrap_err();
    let records: Vec<_> =
        notebook.lines().iter().map(|line| (line.kind, line.tool.clone(), line.error.unwrap())).collect();
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
    assert_eq!(notebook.lines()[2].arguments_digest, Some(Digest::hash_json(&json!({"to": "a"}))));
    assert_eq!(runs.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn a_denial_is_recorded_with_its_call() {
    let (notebook, mut catalog) = (Notebook::default(), Catalog::new());
    let runs = counting(&mut catalog, writer("send"));
    let cx = context(&notebook).with_policy(Policy::by_effects()).with_place(CallPlace::new(1, 0));
    run(&catalog, &cx.clone().with_approver(Arc::new(No)), "send", json!({"to": "a"})).await.unwrap_err();
    run(&catalog, &cx, "send", json!({"to": "a"})).await.unwrap_err();
    let [denied, unasked] = &notebook.lines()[..] else { panic!("{:?}", notebook.lines()) };
    assert_eq!(
        (denied.kind, denied.error, unasked.error),
        ("refusal", Some(ErrorCode::Denied), Some(ErrorCode::Unapproved))
    );
    assert!(denied.reason.as_deref().unwrap().contains("not today"), "{denied:?}");
    assert_eq!(denied.arguments_digest, Some(Digest::hash_json(&json!({"to": "a"}))));
    assert_eq!((denied.key.clone(), denied.tool_digest), (Some(CallKey::new("s", 1, 0)), unasked.tool_digest));
    assert_eq!(runs.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn a_replayed_failure_has_the_text_that_the_model_read() {
    let (notebook, mut catalog) = (Notebook::default(), Catalog::new());
    let fails = async |_: ToolContext, _: Value| Err::<String, _>("no luck");
    catalog.register(pure("x.fails"), fails).unwrap();
    let cx = || context(&notebook).with_wire(Format::OpenAiChat).with_place(CallPlace::new(1, 0));
    let error = run(&catalog, &cx(), "x.fails", json!({})).await.unwrap_err();
    let replayed = run(&catalog, &cx(), "x.fails", json!({})).await.unwrap();
    assert_eq!(replayed, cx().error_result(catalog.get("x.fails").ok().as_deref(), &error));
    assert_eq!(replayed.to_text(), "x__fails failed: no luck");
}

#[tokio::test]
async fn a_call_whose_intent_cannot_be_recorded_is_not_run() {
    for trouble in [Trouble::Fails, Trouble::Panics] {
        let (notebook, mut catalog) = (Notebook::default(), Catalog::new());
        let runs = counting(&mut catalog, writer("send"));
        for during in ["begin", "find"] {
            notebook.make_trouble(during, trouble);
            let error = run(&catalog, &context(&notebook).with_place(CallPlace::new(1, 0)), "send", json!({"to": "a"}))
                .await
                .unwrap_err();
            assert!(error.code() == ErrorCode::Internal && !error.is_recoverable(), "{error}");
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
    assert_eq!(run(&catalog, &context(&notebook), "fine", json!({})).await.unwrap_err().code(), ErrorCode::Internal);
    notebook.make_trouble("refuse", Trouble::Fails);
    assert_eq!(run(&catalog, &context(&notebook), "missing", json!({})).await.unwrap_err().code(), ErrorCode::Internal);
    let error = refuse(&context(&notebook), "fine", ErrorCode::Refused, "not today").await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::Internal, "{error}");
}

#[tokio::test]
async fn a_refusal_by_the_host_is_recorded_at_its_place() {
    let notebook = Notebook::default();
    refuse(&context(&notebook).with_place(CallPlace::new(2, 1).with_id("c")), "fine", ErrorCode::Refused, "not today")
        .await
        .unwrap();
    refuse(&ToolContext::new(), "fine", ErrorCode::Refused, "there is no journal").await.unwrap();
    let [line] = &notebook.lines()[..] else { panic!("{:?}", notebook.lines()) };
    assert_eq!(
        (line.kind, line.error, line.reason.as_deref()),
        ("refusal", Some(ErrorCode::Refused), Some("not today"))
    );
    assert_eq!((&line.key, line.call_id.as_deref()), (&Some(CallKey::new("s", 2, 1)), Some("c")));
}

#[tokio::test]
async fn a_journal_that_never_answers_costs_a_call_no_more_than_its_time() {
    let (notebook, mut catalog) = (Notebook::default(), Catalog::new());
    let runs = counting(&mut catalog, writer("send"));
    notebook.make_trouble("begin", Trouble::Hangs);
    let cx = context(&notebook).with_timeout(Duration::from_millis(20));
    assert_eq!(run(&catalog, &cx, "send", json!({"to": "a"})).await.unwrap_err().code(), ErrorCode::Timeout);

    let token = CancellationToken::new();
    let cx = context(&notebook).with_cancellation(token.clone());
    let call = run(&catalog, &cx, "send", json!({"to": "a"}));
    let (error, ()) = tokio::join!(call, async { token.cancel() });
    assert_eq!(error.unwrap_err().code(), ErrorCode::Cancelled);
    assert_eq!(runs.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn a_call_that_is_taken_back_while_it_is_written_down_has_an_end() {
    for (method, kinds) in [("find", &["refusal"][..]), ("begin", &["intent", "outcome"])] {
        let (notebook, mut catalog) = (Notebook::default(), Catalog::new());
        let runs = counting(&mut catalog, writer("send"));
        notebook.make_trouble(method, Trouble::Delays);
        let token = CancellationToken::new();
        let cx = context(&notebook).with_place(CallPlace::new(1, 0)).with_cancellation(token.clone());
        let call = run(&catalog, &cx, "send", json!({"to": "a"}));
        let (ended, ()) = tokio::join!(call, async { token.cancel() });
        assert!(matches!(&ended, Err(error) if error.code() == ErrorCode::Cancelled), "{method}: {ended:?}");
        let lines = notebook.lines();
        assert_eq!(lines.iter().map(|line| line.kind).collect::<Vec<_>>(), kinds, "{method}");
        assert_eq!(lines.last().unwrap().error, Some(ErrorCode::Cancelled), "{method}");
        assert_eq!(runs.load(Ordering::SeqCst), 0, "{method}");
    }
}

#[tokio::test]
async fn a_finished_call_is_replayed_and_not_run() {
    let (notebook, mut catalog) = (Notebook::default(), Catalog::new());
    let runs = counting(&mut catalog, writer("send"));
    let fails = async |_: ToolContext, _: Value| Err::<(), _>("no luck");
    catalog.register(pure("fails"), fails).unwrap();
    let cx = context(&notebook).with_place(CallPlace::new(1, 0));
    let first = run(&catalog, &cx, "send", json!({"to": "a"})).await.unwrap();
    let failed = run(&catalog, &cx.clone().with_place(CallPlace::new(1, 1)), "fails", json!({})).await.unwrap_err();
    let lines = notebook.lines().len();

    // Replayed even without a grant, because the call has already run.
    let cx = cx.with_grant(Grant::default());
    assert_eq!(run(&catalog, &cx, "send", json!({"to": "a"})).await.unwrap(), first);
    let replayed = run(&catalog, &cx.clone().with_place(CallPlace::new(1, 1)), "fails", json!({})).await.unwrap();
    assert_eq!(replayed, ToolResult::from(&failed));
    assert_eq!((runs.load(Ordering::SeqCst), notebook.lines().len()), (1, lines));
}

#[tokio::test]
async fn without_an_outcome_only_a_repeatable_call_is_run_again() {
    let mut idempotent = writer("put");
    idempotent.effects = serde_json::from_value(json!({"writes": ["mail:{to}"], "idempotent": true})).unwrap();
    let mut undeclared = writer("undeclared");
    undeclared.effects = Effects::Undeclared;
    let tools = [
        (writer("send"), false),
        (undeclared, false),
        (idempotent, true),
        (pure("think"), true),
        (reader("read"), true),
    ];
    for (tool, is_repeated) in tools {
        let (notebook, mut catalog) = (Notebook::default(), Catalog::new());
        let name = tool.name.to_string();
        let runs = counting(&mut catalog, tool);
        let cx = context(&notebook).with_grant(Grant::all()).with_place(CallPlace::new(1, 0));
        let arguments = json!({"to": "a", "path": "a"});
        run(&catalog, &cx, &name, arguments.clone()).await.unwrap();
        notebook.forget_outcomes();
        let again = run(&catalog, &cx, &name, arguments).await;
        if is_repeated {
            assert_eq!(again.unwrap().to_text(), "run 2");
            assert_eq!(notebook.lines()[1].attempt, 2, "{name}");
        } else {
            let error = again.unwrap_err();
            assert!(error.code() == ErrorCode::OutcomeUnknown && error.is_recoverable(), "{error}");
            assert_eq!(
                (notebook.lines()[1].kind, notebook.lines()[1].error),
                ("refusal", Some(ErrorCode::OutcomeUnknown))
            );
        }
        assert_eq!(runs.load(Ordering::SeqCst), 1 + u32::from(is_repeated), "{name}");
    }
}

#[tokio::test]
async fn another_call_at_the_same_place_ends_the_run() {
    let (notebook, mut catalog) = (Notebook::default(), Catalog::new());
    let runs = counting(&mut catalog, writer("send"));
    let other = counting(&mut catalog, pure("other"));
    let cx = context(&notebook).with_place(CallPlace::new(1, 0));
    run(&catalog, &cx, "send", json!({"to": "a"})).await.unwrap();
    for (name, arguments) in [("send", json!({"to": "b"})), ("other", json!({"to": "a"}))] {
        let error = run(&catalog, &cx, name, arguments).await.unwrap_err();
        assert!(error.code() == ErrorCode::Diverged && !error.is_recoverable(), "{error}");
        assert!(error.to_string().contains("turn 1, call 0 of session \"s\""), "{error}");
    }
    assert_eq!((runs.load(Ordering::SeqCst), other.load(Ordering::SeqCst)), (1, 0));
}

#[tokio::test]
async fn a_refusal_takes_no_place() {
    let (notebook, mut catalog) = (Notebook::default(), Catalog::new());
    let runs = counting(&mut catalog, writer("send"));
    let cx = context(&notebook).with_place(CallPlace::new(1, 0));
    run(&catalog, &cx.clone().with_grant(Grant::default()), "send", json!({"to": "a"})).await.unwrap_err();
    run(&catalog, &cx, "send", json!({"to": "a"})).await.unwrap();
    assert_eq!(runs.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn calls_without_a_place_are_written_down_and_never_replayed() {
    let (notebook, mut catalog) = (Notebook::default(), Catalog::new());
    let runs = counting(&mut catalog, writer("send"));
    let without_turn = context(&notebook);
    let without_session =
        granted(&["mail:write:**"]).with_journal(Arc::new(notebook.clone())).with_place(CallPlace::new(1, 0));
    for cx in [&without_turn, &without_turn, &without_session, &without_session] {
        run(&catalog, cx, "send", json!({"to": "a"})).await.unwrap();
    }
    assert_eq!(runs.load(Ordering::SeqCst), 4);
    assert!(notebook.lines().iter().all(|line| line.key.is_none()));
}

#[tokio::test(flavor = "multi_thread")]
async fn of_many_calls_at_one_place_one_is_run() {
    let (notebook, mut catalog) = (Notebook::default(), Catalog::new());
    let runs = counting(&mut catalog, writer("send"));
    let catalog = Arc::new(catalog);
    let cx = context(&notebook).with_place(CallPlace::new(1, 0));
    let call = |_| tokio::spawn(tools::call::execute(catalog.clone(), &cx, "send", json!({"to": "a"})));
    let calls: Vec<_> = (0..50).map(call).collect();
    for call in calls {
        match call.await.unwrap() {
            Ok(result) => assert_eq!(result.to_text(), "run 1"),
            Err(error) => assert_eq!(error.code(), ErrorCode::OutcomeUnknown, "{error}"),
        }
    }
    assert_eq!(runs.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn nested_calls_are_written_down_below_their_own_and_are_run_once() {
    let (notebook, mut catalog) = (Notebook::default(), Catalog::new());
    let runs = counting(&mut catalog, writer("send"));
    let twice = async |cx: ToolContext, _: Value| {
        assert!(cx.journal().is_none(), "a tool writes no records of its own");
        // A tool cannot choose the journal or the principal either.
        let elsewhere = cx.clone().with_journal(Arc::new(Notebook::default())).with_place(CallPlace::new(9, 9));
        let elsewhere = elsewhere.with_session("other").with_principal("other");
        cx.execute("send", json!({"to": "a"})).await?;
        elsewhere.execute("send", json!({"to": "b"})).await
    };
    catalog.register(pure("twice"), twice).unwrap();
    let cx = context(&notebook).with_principal("me").with_place(CallPlace::new(2, 0));
    let result = run(&catalog, &cx, "twice", json!({})).await.unwrap();
    let begun: Vec<Line> = notebook.lines().into_iter().filter(|line| line.kind == "intent").collect();
    let outer = CallKey::new("s", 2, 0);
    let keys: Vec<_> = begun.iter().map(|line| line.key.clone().unwrap()).collect();
    assert_eq!(keys, [outer.clone(), outer.nested(0), outer.nested(1)]);
    assert_eq!(
        begun.iter().map(|line| (line.parent, line.depth)).collect::<Vec<_>>(),
        [(None, 0), (Some(1), 1), (Some(1), 1)]
    );
    assert!(begun.iter().all(|line| line.principal.as_deref() == Some("me") && line.session.as_deref() == Some("s")));

    // The outer call may be run again; its nested calls may not.
    notebook.forget_outcome_of(1);
    assert_eq!(run(&catalog, &cx, "twice", json!({})).await.unwrap(), result);
    assert_eq!(runs.load(Ordering::SeqCst), 2);
    notebook.forget_outcomes();
    assert_eq!(run(&catalog, &cx, "twice", json!({})).await.unwrap_err().code(), ErrorCode::OutcomeUnknown);
    assert_eq!(runs.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn an_error_of_a_nested_call_is_replayed_as_an_error() {
    let (notebook, mut catalog) = (Notebook::default(), Catalog::new());
    catalog.register(pure("fails"), async |_: ToolContext, _: Value| Err::<(), _>("no luck")).unwrap();
    let tries = async |cx: ToolContext, _: Value| match cx.execute("fails", json!({})).await {
        Ok(_) => "it worked".to_owned(),
        Err(error) => error.to_string(),
    };
    catalog.register(pure("tries"), tries).unwrap();
    let cx = context(&notebook).with_place(CallPlace::new(1, 0));
    let first = run(&catalog, &cx, "tries", json!({})).await.unwrap();
    assert!(first.to_text().contains("no luck"), "{first:?}");
    notebook.forget_outcome_of(1);
    let again = run(&catalog, &cx, "tries", json!({})).await.unwrap();
    assert!(again.to_text().contains("no luck"), "{again:?}");
}
