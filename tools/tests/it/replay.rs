//! Calls that the journal already has: which are replayed, and which are run again.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use crate::journal::{context, counting, run, writer};
use crate::notebook::{Line, Notebook};
use crate::sample::{granted, pure, reader};
use serde_json::{Value, json};
use tools::call::CallPlace;
use tools::handler::{ConnectFuture, KeptCall};
use tools::journal::CallKey;
use tools::{
    Catalog, Effects, ErrorCode, Grant, Handler, HandlerFuture, Input, ToolContext, ToolErrorKind,
    ToolResult,
};

#[tokio::test]
async fn a_finished_call_is_replayed_and_not_run() {
    let (notebook, mut catalog) = (Notebook::default(), Catalog::new());
    let runs = counting(&mut catalog, writer("send"));
    let fails = async |_: ToolContext, _: Value| Err::<(), _>("no luck");
    catalog.register(pure("fails"), fails).unwrap();
    let cx = context(&notebook).with_place(CallPlace::new(1, 0));
    let first = run(&catalog, &cx, "send", json!({"to": "a"}))
        .await
        .unwrap();
    let failed = run(
        &catalog,
        &cx.clone().with_place(CallPlace::new(1, 1)),
        "fails",
        json!({}),
    )
    .await
    .unwrap_err();
    let lines = notebook.lines().len();

    // Replayed even without a grant, because the call has already run.
    let cx = cx.with_grant(Grant::default());
    assert_eq!(
        run(&catalog, &cx, "send", json!({"to": "a"}))
            .await
            .unwrap(),
        first
    );
    let replayed = run(
        &catalog,
        &cx.clone().with_place(CallPlace::new(1, 1)),
        "fails",
        json!({}),
    )
    .await
    .unwrap();
    assert_eq!(replayed, ToolResult::from(&failed));
    assert_eq!(
        (runs.load(Ordering::SeqCst), notebook.lines().len()),
        (1, lines)
    );
}

#[tokio::test]
async fn without_an_outcome_only_a_repeatable_call_is_run_again() {
    let mut idempotent = writer("put");
    idempotent.effects =
        serde_json::from_value(json!({"writes": ["mail:{to}"], "idempotent": true})).unwrap();
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
        let cx = context(&notebook)
            .with_grant(Grant::all())
            .with_place(CallPlace::new(1, 0));
        let arguments = json!({"to": "a", "path": "a"});
        run(&catalog, &cx, &name, arguments.clone()).await.unwrap();
        notebook.forget_outcomes();
        let again = run(&catalog, &cx, &name, arguments).await;
        if is_repeated {
            assert_eq!(again.unwrap().to_text(), "run 2");
            assert_eq!(notebook.lines()[1].attempt, 2, "{name}");
        } else {
            let error = again.unwrap_err();
            assert!(
                error.code() == ErrorCode::OutcomeUnknown && error.is_recoverable(),
                "{error}"
            );
            assert_eq!(
                (notebook.lines()[1].kind, notebook.lines()[1].error),
                ("refusal", Some(ErrorCode::OutcomeUnknown))
            );
        }
        assert_eq!(
            runs.load(Ordering::SeqCst),
            1 + u32::from(is_repeated),
            "{name}"
        );
    }
}

/// Hangs in its stage *connect*, in its call or nowhere, as its number says.
#[derive(Clone, Default)]
struct Remote {
    hangs_in: Arc<AtomicU32>,
    runs: Arc<AtomicU32>,
}

impl Remote {
    async fn hang_in(&self, stage: u32) {
        if self.hangs_in.load(Ordering::SeqCst) == stage {
            std::future::pending().await
        }
    }
}

impl Handler for Remote {
    fn call<'a>(&'a self, _: ToolContext, _: Input) -> HandlerFuture<'a> {
        HandlerFuture::new(async {
            self.hang_in(2).await;
            self.runs.fetch_add(1, Ordering::SeqCst);
            Ok(ToolResult::text("sent"))
        })
    }

    fn connect<'a>(&'a self, _: &'a ToolContext) -> Option<ConnectFuture<'a>> {
        Some(Box::pin(async {
            self.hang_in(1).await;
            match self.hangs_in.load(Ordering::SeqCst) {
                3 => Err(ToolErrorKind::Unavailable {
                    reason: "the server is gone".to_owned(),
                }
                .into()),
                4 => panic!("no socket"),
                _ => Ok(()),
            }
        }))
    }
}

#[tokio::test]
async fn a_call_that_ends_before_it_is_handed_over_is_made_when_its_session_goes_on() {
    for (hangs_in, is_made) in [(1, true), (2, false)] {
        let (notebook, remote, mut catalog) =
            (Notebook::default(), Remote::default(), Catalog::new());
        catalog.register(writer("send"), remote.clone()).unwrap();
        let cx = context(&notebook).with_place(CallPlace::new(1, 0));
        remote.hangs_in.store(hangs_in, Ordering::SeqCst);
        let call = run(&catalog, &cx, "send", json!({"to": "a"}));
        assert!(
            tokio::time::timeout(Duration::from_millis(50), call)
                .await
                .is_err()
        );
        remote.hangs_in.store(0, Ordering::SeqCst);
        let again = run(&catalog, &cx, "send", json!({"to": "a"})).await;
        assert_eq!(
            again.map_err(|error| error.code()).err(),
            (!is_made).then_some(ErrorCode::OutcomeUnknown)
        );
        assert_eq!(remote.runs.load(Ordering::SeqCst), u32::from(is_made));
    }
}

#[tokio::test]
async fn a_call_that_cannot_be_handed_over_is_refused_within_its_limit() {
    let (notebook, remote, mut catalog) = (Notebook::default(), Remote::default(), Catalog::new());
    catalog.register(writer("send"), remote.clone()).unwrap();
    let cx = context(&notebook).with_timeout(Duration::from_secs(1));
    for (hangs_in, code) in [
        (1, ErrorCode::Timeout),
        (3, ErrorCode::Unavailable),
        (4, ErrorCode::Panicked),
    ] {
        remote.hangs_in.store(hangs_in, Ordering::SeqCst);
        let error = run(&catalog, &cx, "send", json!({"to": "a"}))
            .await
            .unwrap_err();
        assert_eq!(
            (error.code(), notebook.lines().last().unwrap().kind),
            (code, "refusal"),
            "{error}"
        );
        assert!(
            !error.to_string().contains("may have taken effect"),
            "{error}"
        );
    }
}

#[tokio::test]
async fn another_call_at_the_same_place_ends_the_run() {
    let (notebook, mut catalog) = (Notebook::default(), Catalog::new());
    let runs = counting(&mut catalog, writer("send"));
    let other = counting(&mut catalog, pure("other"));
    let cx = context(&notebook).with_place(CallPlace::new(1, 0));
    run(&catalog, &cx, "send", json!({"to": "a"}))
        .await
        .unwrap();
    for (name, arguments) in [("send", json!({"to": "b"})), ("other", json!({"to": "a"}))] {
        let error = run(&catalog, &cx, name, arguments).await.unwrap_err();
        assert!(
            error.code() == ErrorCode::Diverged && !error.is_recoverable(),
            "{error}"
        );
        assert!(
            error
                .to_string()
                .contains("turn 1, call 0 of session \"s\""),
            "{error}"
        );
    }
    assert_eq!(
        (runs.load(Ordering::SeqCst), other.load(Ordering::SeqCst)),
        (1, 0)
    );
}

#[tokio::test]
async fn a_refusal_takes_no_place() {
    let (notebook, mut catalog) = (Notebook::default(), Catalog::new());
    let runs = counting(&mut catalog, writer("send"));
    let cx = context(&notebook).with_place(CallPlace::new(1, 0));
    run(
        &catalog,
        &cx.clone().with_grant(Grant::default()),
        "send",
        json!({"to": "a"}),
    )
    .await
    .unwrap_err();
    run(&catalog, &cx, "send", json!({"to": "a"}))
        .await
        .unwrap();
    assert_eq!(runs.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn calls_without_a_place_are_written_down_and_never_replayed() {
    let (notebook, mut catalog) = (Notebook::default(), Catalog::new());
    let runs = counting(&mut catalog, writer("send"));
    let without_turn = context(&notebook);
    let without_session = granted(&["mail:write:**"])
        .with_journal(Arc::new(notebook.clone()))
        .with_place(CallPlace::new(1, 0));
    for cx in [
        &without_turn,
        &without_turn,
        &without_session,
        &without_session,
    ] {
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
    let call = |_| {
        tokio::spawn(tools::call::execute(
            catalog.clone(),
            &cx,
            "send",
            json!({"to": "a"}),
        ))
    };
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
        assert!(
            cx.journal().is_none(),
            "a tool writes no records of its own"
        );
        // A tool cannot choose the journal or the principal either.
        assert!(cx.host().is_none());
        let elsewhere = CallPlace::new(9, 9).enter(cx.clone());
        cx.execute("send", json!({"to": "a"})).await?;
        elsewhere.execute("send", json!({"to": "b"})).await
    };
    catalog.register(pure("twice"), twice).unwrap();
    let cx = context(&notebook)
        .with_principal("me")
        .with_place(CallPlace::new(2, 0));
    let result = run(&catalog, &cx, "twice", json!({})).await.unwrap();
    let begun: Vec<Line> = notebook
        .lines()
        .into_iter()
        .filter(|line| line.kind == "intent")
        .collect();
    let outer = CallKey::new("s", 2, 0);
    let keys: Vec<_> = begun.iter().map(|line| line.key.clone().unwrap()).collect();
    assert_eq!(keys, [outer.clone(), outer.nest(0), outer.nest(1)]);
    assert_eq!(
        begun
            .iter()
            .map(|line| (line.parent, line.depth))
            .collect::<Vec<_>>(),
        [(None, 0), (Some(1), 1), (Some(1), 1)]
    );
    assert!(begun.iter().all(
        |line| line.principal.as_deref() == Some("me") && line.session.as_deref() == Some("s")
    ));

    // The outer call may be run again; its nested calls may not.
    notebook.forget_outcome_of(1);
    assert_eq!(
        run(&catalog, &cx, "twice", json!({})).await.unwrap(),
        result
    );
    assert_eq!(runs.load(Ordering::SeqCst), 2);
    notebook.forget_outcomes();
    assert_eq!(
        run(&catalog, &cx, "twice", json!({}))
            .await
            .unwrap_err()
            .code(),
        ErrorCode::OutcomeUnknown
    );
    assert_eq!(runs.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn an_error_of_a_nested_call_is_replayed_as_an_error() {
    let (notebook, mut catalog) = (Notebook::default(), Catalog::new());
    catalog
        .register(pure("fails"), async |_: ToolContext, _: Value| {
            Err::<(), _>("no luck")
        })
        .unwrap();
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

/// Keeps a call of another tool for later.
struct Later;

impl Handler for Later {
    fn call<'a>(&'a self, _: ToolContext, _: Input) -> HandlerFuture<'a> {
        HandlerFuture::ready(Ok(ToolResult::text("kept")))
    }

    fn kept_call(&self) -> Option<KeptCall> {
        Some(KeptCall {
            tool: "tool",
            arguments: "arguments",
        })
    }
}

#[tokio::test]
async fn a_call_that_keeps_another_one_is_replayed_while_the_tool_of_that_is_missing() {
    let notebook = Notebook::default();
    let cx = context(&notebook).with_place(CallPlace::new(1, 0));
    for has_tool in [true, false] {
        let mut catalog = Catalog::new();
        catalog.register(pure("later"), Later).unwrap();
        if has_tool {
            counting(&mut catalog, pure("look"));
        }
        let kept = json!({"tool": "look", "arguments": {"at": "a"}});
        assert_eq!(
            run(&catalog, &cx, "later", kept).await.unwrap().to_text(),
            "kept",
            "{has_tool}"
        );
    }
}
