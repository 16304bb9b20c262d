//! The spans of runs and model requests. They are a separate program because the `tracing` subscriber is global.

#![allow(clippy::unwrap_used)]

mod content;
#[path = "../../../tools/tests/traced/listener.rs"]
mod listener;
#[path = "../it/small_context.rs"]
mod small_context;
#[path = "../it/workshop.rs"]
mod workshop;

use std::collections::BTreeMap;
use std::future::pending;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use agent::provider::GenerationOptions;
use agent::{
    Driver, FailureKind, Provider, ProviderError, ProviderInfo, Request, RunOptions, Selection,
    Session, StopReason, SubAgents, Turn, TurnFuture, Usage,
};
use listener::{Seen, listen, spans_of};
use serde_json::{Value, json};
use small_context::SmallContext;
use tools::protocol::Role;
use tools::{CancellationToken, Catalog, Grant, Host, ToolCall, ToolContext};
use workshop::{calling, playing};

/// A model behind a service.
struct Model<F>(F);

impl<F: for<'a> Fn(Request<'a>) -> TurnFuture<'a> + Send + Sync> Provider for Model<F> {
    fn about(&self) -> &ProviderInfo {
        static GEMINI: LazyLock<ProviderInfo> = LazyLock::new(|| ProviderInfo {
            service_name: "gcp.gemini".into(),
            model: Some("m".to_owned()),
            base_url: Some("https://models.example.org/v1".to_owned()),
            generation: GenerationOptions {
                max_output_tokens: Some(100),
                temperature: Some(0.5),
                ..GenerationOptions::new()
            },
            ..ProviderInfo::new("gemini")
        });
        &GEMINI
    }

    fn complete<'a>(&'a self, request: Request<'a>) -> TurnFuture<'a> {
        (self.0)(request)
    }
}

fn model(turn: impl for<'a> Fn(Request<'a>) -> TurnFuture<'a> + Send + Sync + 'static) -> Driver {
    Driver::new(Arc::new(Model(turn)))
}

fn failing(kind: FailureKind) -> Driver {
    model(move |_| {
        let (provider, message) = ("gemini".to_owned(), "no luck".to_owned());
        Box::pin(async move {
            Err(ProviderError::Status {
                provider,
                status: 429,
                kind,
                message,
                retry_after: None,
            })
        })
    })
}

fn session(name: &str, catalog: &Catalog) -> Session {
    listen();
    let cx = Host::new()
        .with_session(name)
        .with_grant(Grant::all())
        .with_service(SubAgents::default());
    Session::new(catalog.list(), Selection::new(), cx)
}

/// Returns the number of turns that the model has taken, and the prompt.
fn place(request: &Request<'_>) -> (usize, String) {
    let turns = request
        .messages
        .iter()
        .filter(|message| message.role == Role::Assistant)
        .count();
    let prompt = request
        .messages
        .iter()
        .find(|message| message.role == Role::User);
    (
        turns,
        prompt.map(|prompt| prompt.to_text()).unwrap_or_default(),
    )
}

/// Returns the spans of a session, each with the name of its parent, in the order of their start.
fn tree(session: &str) -> Vec<(String, Option<String>)> {
    let spans: BTreeMap<u64, Seen> = spans_of(session).into_iter().collect();
    assert!(spans.values().all(|span| span.is_closed), "{spans:?}");
    let name = |number: &u64| spans[number].fields["otel.name"].clone();
    spans
        .iter()
        .map(|(number, span)| (name(number), span.parent.as_ref().map(name)))
        .collect()
}

/// Returns the only span of this operation.
fn only(session: &str, operation: &str) -> Seen {
    let is_meant = |span: &Seen| span.fields["gen_ai.operation.name"] == operation;
    let spans: Vec<_> = spans_of(session)
        .into_iter()
        .map(|(_, span)| span)
        .filter(is_meant)
        .collect();
    let [span] = &spans[..] else {
        panic!("{spans:?}")
    };
    span.clone()
}

#[tokio::test]
async fn a_run_is_the_parent_of_its_requests_and_calls_also_below_a_call_that_starts_a_sub_agent() {
    let mut catalog = workshop::catalog(["fine"]);
    agent::tool::register(&mut catalog).unwrap();
    let driver = model(|request| {
        let spawn = || {
            ToolCall::new(
                "a",
                "agent.spawn",
                json!({"name": "helper", "task": "help"}),
            )
        };
        let turn = match place(&request) {
            (0, prompt) if prompt == "go" => Turn::calls([spawn()]),
            (0, _) => calling(&["fine"]),
            _ => Turn::answer("done"),
        };
        Box::pin(async { Ok(turn) })
    });
    let driver = driver.with_options(RunOptions {
        agent_name: Some("lead".into()),
        ..RunOptions::default()
    });
    driver
        .run(&mut session("tree", &catalog), "go")
        .await
        .unwrap();
    let expected = [
        ("invoke_agent lead", None),
        ("chat m", Some("invoke_agent lead")),
        ("execute_tool agent.spawn", Some("invoke_agent lead")),
        ("invoke_agent helper", Some("execute_tool agent.spawn")),
        ("chat m", Some("invoke_agent helper")),
        ("execute_tool fine", Some("invoke_agent helper")),
        ("chat m", Some("invoke_agent helper")),
        ("chat m", Some("invoke_agent lead")),
    ];
    assert_eq!(
        tree("tree"),
        expected.map(|(name, parent)| (name.to_owned(), parent.map(str::to_owned)))
    );
}

#[tokio::test]
async fn a_request_has_the_attributes_of_the_convention() {
    let driver = model(|_| {
        let mut usage = Usage::default();
        (usage.input_tokens, usage.output_tokens) = (9, 2);
        (usage.cached_input_tokens, usage.cache_write_tokens) = (5, 3);
        let turn = Turn {
            usage: Some(usage),
            model: Some("m-1".into()),
            response_id: Some("r-1".into()),
            stop: StopReason::Length,
            ..Turn::answer("yes")
        };
        Box::pin(async { Ok(turn) })
    });
    let driver = driver.with_options(RunOptions {
        correlation_id: Some("request 7".into()),
        ..RunOptions::default()
    });
    driver
        .run(&mut session("attributes", &Catalog::new()), "go")
        .await
        .unwrap();
    let chat = only("attributes", "chat");
    assert_eq!((chat.name, chat.target.as_str()), ("chat", "agent"));
    let both = [
        ("gen_ai.conversation.id", "attributes"),
        ("gen_ai.provider.name", "gcp.gemini"),
        ("gen_ai.request.model", "m"),
        ("gen_ai.response.finish_reasons", r#"["length"]"#),
        ("gen_ai.usage.cache_creation.input_tokens", "3"),
        ("gen_ai.usage.cache_read.input_tokens", "5"),
        ("gen_ai.usage.input_tokens", "9"),
        ("gen_ai.usage.output_tokens", "2"),
        ("toolcrib.correlation.id", "request 7"),
    ];
    let with = |more: &[(&'static str, &str)]| -> BTreeMap<_, _> {
        both.iter()
            .chain(more)
            .map(|(name, value)| (*name, (*value).to_owned()))
            .collect()
    };
    // This model has no wire, so it is asked within the process.
    let own = [
        ("gen_ai.operation.name", "chat"),
        ("gen_ai.request.max_tokens", "100"),
        ("gen_ai.request.temperature", "0.5"),
        ("gen_ai.response.id", "r-1"),
        ("gen_ai.response.model", "m-1"),
        ("otel.kind", "internal"),
        ("server.address", "models.example.org"),
        ("server.port", "443"),
    ];
    assert_eq!(
        chat.fields,
        with(&[&own[..], &[("otel.name", "chat m")]].concat())
    );
    let run = [
        ("gen_ai.operation.name", "invoke_agent"),
        ("otel.kind", "internal"),
        ("otel.name", "invoke_agent"),
    ];
    assert_eq!(only("attributes", "invoke_agent").fields, with(&run));
}

#[tokio::test]
async fn a_request_for_a_summary_is_marked() {
    let model = SmallContext::open(100, 8_000);
    listen();
    let cx = small_context::context().with_session("summary");
    let mut session = Session::new(small_context::catalog(900).list(), Selection::new(), cx);
    let driver = Driver::new(Arc::new(model.clone())).with_max_steps(200);
    driver.run(&mut session, "read them all").await.unwrap();
    let marked = spans_of("summary")
        .into_iter()
        .filter(|(_, span)| span.fields.contains_key("toolcrib.summary"))
        .count();
    let answered = model.log.lock().unwrap().summaries;
    assert!(answered > 0 && marked >= answered, "{marked} of {answered}");
    assert!(marked < model.log.lock().unwrap().requests.len());
}

#[tokio::test]
async fn a_failure_is_marked_with_its_kind() {
    let error = |session: &str, operation: &str| {
        let fields = only(session, operation).fields;
        let status = fields.get("otel.status_code").map(String::as_str);
        assert_eq!(status, fields.get("error.type").map(|_| "ERROR"));
        assert!(
            !fields.contains_key("otel.status_description"),
            "{fields:?}"
        );
        fields.get("error.type").cloned().unwrap_or_default()
    };
    for kind in [FailureKind::RateLimit, FailureKind::ContextLength] {
        let name = format!("{kind}");
        failing(kind)
            .run(&mut session(&name, &Catalog::new()), "go")
            .await
            .unwrap_err();
        let expected = json!(kind).as_str().unwrap().to_owned();
        assert_eq!(
            (error(&name, "chat"), error(&name, "invoke_agent")),
            (expected.clone(), expected)
        );
    }
    playing(|_| panic!("on purpose"))
        .run(&mut session("panic", &Catalog::new()), "go")
        .await
        .unwrap_err();
    assert_eq!(
        (error("panic", "chat"), error("panic", "invoke_agent")),
        ("panicked".into(), "_OTHER".into())
    );

    let endless = playing(|_| Box::pin(async { Ok(calling(&["fine"])) })).with_max_steps(1);
    endless
        .run(&mut session("budget", &workshop::catalog(["fine"])), "go")
        .await
        .unwrap();
    assert_eq!(
        (error("budget", "chat"), error("budget", "invoke_agent")),
        (String::new(), "budget".into())
    );

    let token = CancellationToken::new();
    let cancels = token.clone();
    let hanging = playing(move |_| {
        cancels.cancel();
        Box::pin(pending())
    });
    hanging
        .with_cancellation(token)
        .run(&mut session("cancelled", &Catalog::new()), "go")
        .await
        .unwrap();
    assert_eq!(
        (
            error("cancelled", "chat"),
            error("cancelled", "invoke_agent")
        ),
        ("cancelled".into(), "cancelled".into())
    );

    let dropped = playing(|_| Box::pin(pending()));
    let mut session = session("dropped", &Catalog::new());
    drop(tokio::time::timeout(Duration::from_millis(20), dropped.run(&mut session, "go")).await);
    assert_eq!(
        (error("dropped", "chat"), error("dropped", "invoke_agent")),
        ("cancelled".into(), "cancelled".into())
    );
}

#[tokio::test]
async fn a_refused_call_has_a_span_below_its_run() {
    let driver = playing(|request| {
        let turn = match place(&request).0 {
            0 => {
                let mut turn = calling(&["fine", "fine"]);
                turn.faults.insert(1, "it is cut off".to_owned());
                turn
            }
            _ => Turn::answer("done"),
        };
        Box::pin(async { Ok(turn) })
    });
    driver
        .run(&mut session("refused", &workshop::catalog(["fine"])), "go")
        .await
        .unwrap();
    let spans: BTreeMap<u64, Seen> = spans_of("refused").into_iter().collect();
    let calls: Vec<_> = spans
        .values()
        .filter(|span| span.name == "execute_tool")
        .collect();
    assert!(calls.iter().all(|call| {
        call.parent
            .is_some_and(|parent| spans[&parent].name == "invoke_agent")
    }));
    let mut errors: Vec<_> = calls
        .iter()
        .map(|call| call.fields.get("error.type").map(String::as_str))
        .collect();
    errors.sort_unstable();
    assert_eq!(errors, [None, Some("refused")]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_with_a_call_that_never_yields_is_marked_and_closes_with_it() {
    for (name, timeout, kind) in [("late", 20, "timeout"), ("stopped", 60_000, "cancelled")] {
        let (token, is_released) = (CancellationToken::new(), Arc::new(AtomicBool::new(false)));
        let mut catalog = Catalog::new();
        let (holds, starts) = (is_released.clone(), token.clone());
        let spins = move |_: ToolContext, _: Value| {
            let (holds, starts) = (holds.clone(), starts.clone());
            async move {
                if timeout > 1000 {
                    starts.cancel();
                }
                while !holds.load(Ordering::Relaxed) {
                    std::thread::yield_now();
                }
                "late"
            }
        };
        catalog.register(workshop::tool("spins"), spins).unwrap();
        let driver = playing(|request| {
            let turn = if place(&request).0 == 0 {
                calling(&["spins"])
            } else {
                Turn::answer("done")
            };
            Box::pin(async { Ok(turn) })
        });
        let silent = session(name, &catalog);
        let host = silent.context().host().unwrap();
        let cx = host.with_timeout(Duration::from_millis(timeout));
        let mut session = Session::new(catalog.list(), Selection::new(), cx);
        driver
            .with_cancellation(token)
            .run(&mut session, "go")
            .await
            .unwrap();
        let call = only(name, "execute_tool");
        assert_eq!(
            (call.fields["error.type"].as_str(), call.is_closed),
            (kind, false)
        );
        is_released.store(true, Ordering::Relaxed);
        while !only(name, "invoke_agent").is_closed {
            tokio::task::yield_now().await;
        }
        assert_eq!(only(name, "execute_tool").fields["error.type"], kind);
    }
}
