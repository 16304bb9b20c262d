//! The spans of calls, as a `tracing` subscriber sees them.

use std::future::pending;
use std::sync::{Arc, Mutex};

use crate::listener::{Seen, listen, spans_of};
use crate::sample::{closed, echo, echoing, holding, pure, reader};
use serde_json::{Value, json};
use tools::call::CallPlace;
use tools::handler::blocking;
use tools::{Catalog, ErrorCode, Execution, Host, ToolContext, ToolError, ToolResult};
use tracing::Span;

fn context(session: &str) -> Host {
    listen();
    Host::new().with_session(session)
}

fn catalog() -> Catalog {
    echoing([pure("echo")])
}

/// Returns the only span of a session.
fn span_of(session: &str) -> Seen {
    let spans = spans_of(session);
    let [(_, span)] = &spans[..] else {
        panic!("{spans:?}")
    };
    assert!(span.is_closed, "{span:?}");
    span.clone()
}

#[tokio::test]
async fn a_call_is_a_span_with_the_attributes_of_the_convention() {
    let cx = context("attributes")
        .with_place(CallPlace::default().with_id("call_7"))
        .with_correlation_id("request 7");
    catalog()
        .execute(&cx, "echo", json!({"a": "b"}))
        .await
        .unwrap();
    let span = span_of("attributes");
    assert_eq!(
        (span.name, span.target.as_str(), span.parent),
        ("execute_tool", "tools", None)
    );
    let fields: Vec<_> = span
        .fields
        .iter()
        .map(|(name, value)| (*name, value.as_str()))
        .collect();
    let expected = [
        ("gen_ai.conversation.id", "attributes"),
        ("gen_ai.operation.name", "execute_tool"),
        ("gen_ai.tool.call.id", "call_7"),
        ("gen_ai.tool.description", "Does what echo does."),
        ("gen_ai.tool.name", "echo"),
        ("gen_ai.tool.type", "function"),
        ("otel.kind", "internal"),
        ("otel.name", "execute_tool echo"),
        ("toolcrib.correlation.id", "request 7"),
    ];
    assert_eq!(fields, expected);
}

#[tokio::test]
async fn a_call_that_is_refused_has_a_span_that_says_why() {
    let mut catalog = catalog();
    catalog.register(closed("closed"), echo).unwrap();
    catalog.register(reader("reader"), echo).unwrap();
    let cases = [
        ("ehco", json!({}), "not_found"),
        ("closed", json!({"count": 1}), "invalid_arguments"),
        ("reader", json!({"path": "a"}), "permission_denied"),
    ];
    for (name, arguments, kind) in cases {
        let error = catalog
            .execute(&context(kind), name, arguments)
            .await
            .unwrap_err();
        assert_eq!(error.code().to_string(), kind);
        let fields = span_of(kind).fields;
        assert_eq!(
            (
                fields["error.type"].as_str(),
                fields["otel.status_code"].as_str()
            ),
            (kind, "ERROR")
        );
        assert_eq!(fields["gen_ai.tool.name"], name);
        assert!(
            !fields.contains_key("otel.status_description"),
            "{fields:?}"
        );
    }
}

#[tokio::test]
async fn a_tool_that_fails_has_a_span_that_says_how() {
    let mut catalog = holding(pure("fails"), async |_: ToolContext, _: Value| {
        Err::<(), _>("no luck")
    });
    catalog
        .register(pure("panics"), async |_: ToolContext, _: Value| -> String {
            panic!("on purpose")
        })
        .unwrap();
    catalog
        .register(pure("denies"), async |_: ToolContext, _: Value| {
            ToolResult::error("no")
        })
        .unwrap();
    for (name, kind) in [
        ("fails", "execution_failed"),
        ("panics", "panicked"),
        ("denies", "tool_error"),
    ] {
        let _ = catalog.execute(&context(name), name, json!({})).await;
        assert_eq!(span_of(name).fields["error.type"], kind);
    }
}

#[tokio::test]
async fn a_long_name_is_cut() {
    let name = "x".repeat(100_000);
    catalog()
        .execute(&context("long"), &name, json!({}))
        .await
        .unwrap_err();
    assert_eq!(span_of("long").fields["gen_ai.tool.name"].len(), 512);
}

#[tokio::test]
async fn content_is_recorded_on_request_alone() {
    let silent = context("silent");
    catalog()
        .execute(&silent, "echo", json!({"a": "b"}))
        .await
        .unwrap();
    assert!(!format!("{:?}", span_of("silent")).contains("call.arguments"));

    let telling = context("telling").with_recorded_content(true);
    catalog()
        .execute(&telling, "echo", r#" {"a": "b"} "#)
        .await
        .unwrap();
    let fields = span_of("telling").fields;
    assert_eq!(fields["gen_ai.tool.call.arguments"], r#"{"a":"b"}"#);
    let result: Value = serde_json::from_str(&fields["gen_ai.tool.call.result"]).unwrap();
    assert_eq!(result["structured"], json!({"a": "b"}));

    let error = catalog()
        .execute(&telling.with_session("telling error"), "ehco", json!({}))
        .await
        .unwrap_err();
    assert_eq!(
        span_of("telling error").fields["otel.status_description"],
        error.to_string()
    );
}

/// Calls `inner` in several ways, with a context of a running call.
async fn nest(way: &str, cx: ToolContext) -> Result<ToolResult, ToolError> {
    match way {
        "directly" => cx.execute("inner", json!({})).await,
        "in a task" => tokio::spawn(async move { cx.execute("inner", json!({})).await })
            .await
            .unwrap(),
        _ => {
            let runtime = tokio::runtime::Handle::current();
            std::thread::spawn(move || runtime.block_on(cx.execute("inner", json!({}))))
                .join()
                .unwrap()
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_that_a_tool_makes_has_its_span_in_that_of_the_tool() {
    let mut catalog = echoing([pure("inner")]);
    let outer = async |cx: ToolContext, arguments: Value| {
        nest(arguments["way"].as_str().unwrap(), cx).await
    };
    catalog.register(pure("outer"), outer).unwrap();
    let blocks = |cx: &ToolContext, _: Value| {
        tracing::info!("on the thread");
        tokio::runtime::Handle::current().block_on(cx.execute("inner", json!({})))
    };
    catalog.register(pure("blocks"), blocking(blocks)).unwrap();
    for (tool, way) in [
        ("outer", "directly"),
        ("outer", "in a task"),
        ("outer", "in a thread"),
        ("blocks", "blocks"),
    ] {
        catalog
            .execute(&context(way), tool, json!({"way": way}))
            .await
            .unwrap();
        let spans = spans_of(way);
        let [(number, outer), (_, inner)] = &spans[..] else {
            panic!("{spans:?}")
        };
        assert_eq!((outer.parent, inner.parent), (None, Some(*number)), "{way}");
        assert_eq!(inner.fields["gen_ai.tool.name"], "inner");
        // On a busy machine, any call may hold its thread for long enough to be noted.
        let is_on_thread = outer.events.iter().any(|event| *event == "on the thread");
        assert_eq!(is_on_thread, tool == "blocks", "{:?}", outer.events);
    }
}

#[tokio::test]
async fn a_span_is_left_while_its_call_waits() {
    let waits = async |_: ToolContext, arguments: Value| {
        for step in 0..3 {
            tracing::info!("{} {step}", arguments["name"].as_str().unwrap());
            tokio::task::yield_now().await;
        }
        "done"
    };
    let catalog = holding(pure("waits"), waits);
    let call = |session: &str| -> Execution {
        catalog.execute(&context(session), "waits", json!({"name": session}))
    };
    let watch = async {
        for _ in 0..3 {
            assert!(
                Span::current().is_none(),
                "no span leaks out of a call that waits"
            );
            tokio::task::yield_now().await;
        }
    };
    // One task polls both in turn.
    let (first, second, ()) = tokio::join!(call("first"), call("second"), watch);
    assert!(first.is_ok() && second.is_ok());
    for session in ["first", "second"] {
        let said: Vec<_> = (0..3).map(|step| format!("{session} {step}")).collect();
        assert_eq!(span_of(session).events, said);
    }
}

#[tokio::test]
async fn a_call_that_is_dropped_ends_as_cancelled() {
    let hangs = async |_: ToolContext, _: Value| -> String { pending().await };
    let catalog = holding(pure("hangs"), hangs);
    let mut call = Box::pin(catalog.execute(&context("dropped"), "hangs", json!({})));
    tokio::select! {
        _ = &mut call => panic!("it hangs"),
        () = tokio::task::yield_now() => {}
    }
    assert!(!spans_of("dropped")[0].1.is_closed);
    drop(call);
    assert_eq!(span_of("dropped").fields["error.type"], "cancelled");
}

#[tokio::test]
async fn an_ordinary_span_around_a_call_is_the_parent() {
    use tracing::Instrument as _;
    let cx = context("around");
    let span = tracing::info_span!("turn", gen_ai.conversation.id = "around");
    async { catalog().execute(&cx, "echo", json!({})).await.unwrap() }
        .instrument(span)
        .await;
    let spans = spans_of("around");
    assert_eq!(
        (spans[0].1.name, spans[1].1.parent),
        ("turn", Some(spans[0].0))
    );
}

#[tokio::test]
async fn a_context_that_a_tool_keeps_does_not_keep_the_span_open() {
    let kept = Arc::<Mutex<Vec<ToolContext>>>::default();
    let keeper = kept.clone();
    let keeps = move |cx: ToolContext, _: Value| {
        keeper.lock().unwrap().push(cx);
        async { "done" }
    };
    holding(pure("keeps"), keeps)
        .execute(&context("kept"), "keeps", json!({}))
        .await
        .unwrap();
    assert!(span_of("kept").is_closed);
    let cx = kept.lock().unwrap().pop().unwrap();
    cx.execute("keeps", json!({})).await.unwrap_err();
    assert_eq!(
        spans_of("kept")[1].1.parent,
        None,
        "the span of the ended call is gone"
    );
}

#[tokio::test]
async fn a_driver_can_refuse_a_call_or_stop_waiting_for_it() {
    let cx = context("refused by a host").with_place(CallPlace::default().with_id("call_7"));
    tools::call::refuse(&cx, "echo", ErrorCode::Refused, "a secret")
        .await
        .unwrap();
    let fields = span_of("refused by a host").fields;
    assert_eq!(
        (
            fields["error.type"].as_str(),
            fields["gen_ai.tool.call.id"].as_str()
        ),
        ("refused", "call_7")
    );
    assert!(
        !fields.contains_key("otel.status_description"),
        "{fields:?}"
    );

    let hangs = async |_: ToolContext, _: Value| -> String { pending().await };
    let call = holding(pure("hangs"), hangs).execute(&context("abandoned"), "hangs", json!({}));
    call.span().fail(ErrorCode::Timeout, &"it is late");
    drop(call);
    assert_eq!(
        span_of("abandoned").fields["error.type"],
        "timeout",
        "the first end counts"
    );
}
