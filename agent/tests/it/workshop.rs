//! Tools, catalogs and sinks that the tests work with.
#![allow(dead_code, reason = "each program of tests uses a part of it")]

use std::sync::{Arc, Mutex};
use std::time::Duration;

use agent::{
    Driver, Event, EventSink, Outcome, Price, Provider, ProviderInfo, Request, Scripted, Selection,
    Session, Turn, TurnFuture,
};
use serde_json::{Value, json};
use tools::context::ApprovalFuture;
use tools::protocol::{Message, Part};
use tools::{
    Approval, Approver, Catalog, Effects, Host, Tool, ToolCall, ToolContext, ToolErrorKind,
    ToolResult,
};

/// A pure tool that takes any arguments.
pub(crate) fn tool(name: &str) -> Tool {
    Tool::new(name, format!("The tool {name}."), json!({"type": "object"}))
        .unwrap()
        .with_effects(Effects::Pure)
}

/// A catalog of pure tools, each of which answers with its name.
pub(crate) fn catalog<'a>(names: impl IntoIterator<Item = &'a str>) -> Catalog {
    let mut catalog = Catalog::new();
    names.into_iter().for_each(|name| add(&mut catalog, name));
    catalog
}

pub(crate) fn add(catalog: &mut Catalog, name: &str) {
    let answer = name.to_owned();
    let handler = move |_cx: ToolContext, _arguments: Value| {
        let answer = answer.clone();
        async move { answer }
    };
    catalog.register(tool(name), handler).unwrap();
}

/// A catalog of tools that misbehave, and of one that does not.
pub(crate) fn misbehaving() -> Catalog {
    let mut catalog = catalog(["fine"]);
    catalog
        .register(tool("panics"), async |_: ToolContext, _: Value| -> String {
            panic!("on purpose")
        })
        .unwrap();
    catalog
        .register(tool("hangs"), async |_: ToolContext, _: Value| -> String {
            std::future::pending().await
        })
        .unwrap();
    catalog
        .register(tool("fails"), async |_: ToolContext, _: Value| {
            Err::<String, _>("no luck")
        })
        .unwrap();
    let slow = async |_: ToolContext, _: Value| {
        tokio::time::sleep(Duration::from_secs(3600)).await;
        "late".to_owned()
    };
    catalog.register(tool("slow"), slow).unwrap();
    let blames = async |_: ToolContext, _: Value| {
        Err::<String, _>(ToolErrorKind::Internal {
            message: "not my fault".to_owned(),
        })
    };
    catalog.register(tool("blames"), blames).unwrap();
    catalog
}

/// A session in which a call of `breaks` meets broken machinery.
pub(crate) fn breaking() -> Session {
    struct Panics;
    impl Approver for Panics {
        fn approve<'a>(&'a self, _approval: Approval<'a>) -> ApprovalFuture<'a> {
            panic!("the wheel came off")
        }
    }
    let mut catalog = catalog(["fine"]);
    let breaks = tool("breaks").with_effects(Effects::Undeclared);
    catalog
        .register(breaks, async |_: ToolContext, _: Value| String::new())
        .unwrap();
    Session::new(
        catalog.list(),
        Selection::new(),
        Host::new().with_approver(Arc::new(Panics)),
    )
}

pub(crate) fn session(catalog: &Catalog) -> Session {
    Session::new(catalog.list(), Selection::new(), Host::new())
}

/// A driver that plays these turns.
pub(crate) fn scripted(turns: impl IntoIterator<Item = Turn>) -> Driver {
    Driver::new(Arc::new(Scripted::new(turns)))
}

/// A provider made from a function.
struct Plays<F>(F, ProviderInfo);

impl<F: for<'a> Fn(Request<'a>) -> TurnFuture<'a> + Send + Sync> Provider for Plays<F> {
    fn about(&self) -> &ProviderInfo {
        &self.1
    }

    fn complete<'a>(&'a self, request: Request<'a>) -> TurnFuture<'a> {
        (self.0)(request)
    }
}

/// A driver that asks this function for its turns.
pub(crate) fn playing(
    turn: impl for<'a> Fn(Request<'a>) -> TurnFuture<'a> + Send + Sync + 'static,
) -> Driver {
    playing_at(None, turn)
}

/// A driver that asks this function for its turns, whose tokens have this price.
pub(crate) fn playing_at(
    price: Option<Price>,
    turn: impl for<'a> Fn(Request<'a>) -> TurnFuture<'a> + Send + Sync + 'static,
) -> Driver {
    let about = ProviderInfo {
        price,
        ..ProviderInfo::new("plays")
    };
    Driver::new(Arc::new(Plays(turn, about)))
}

/// A turn that calls these tools, without arguments, by the ids `a`, `b`, ….
pub(crate) fn calling(names: &[&str]) -> Turn {
    let ids = ('a'..='z').map(String::from);
    Turn::calls(
        names
            .iter()
            .zip(ids)
            .map(|(name, id)| ToolCall::new(id, *name, json!({}))),
    )
}

/// All results of a conversation, in order, by the id of their call.
pub(crate) fn results(messages: &[Message]) -> Vec<(String, ToolResult)> {
    let parts = messages.iter().flat_map(|message| message.parts.clone());
    let result = |part| match part {
        Part::ToolResult { id, result, .. } => Some((id, result)),
        _ => None,
    };
    parts.filter_map(result).collect()
}

/// The `kind` of the error that a result tells.
pub(crate) fn kind(result: &ToolResult) -> &str {
    let kind = result
        .structured
        .as_ref()
        .and_then(|value| value.value().pointer("/error/kind"));
    kind.and_then(Value::as_str).unwrap_or("none")
}

pub(crate) fn answer(outcome: &Outcome) -> &str {
    match outcome {
        Outcome::Answer { text, .. } => text,
        other => panic!("no answer: {other:?}"),
    }
}

/// A sink that records its events.
#[derive(Clone, Default)]
pub(crate) struct EventLog(Arc<Mutex<Vec<Event>>>);

impl EventLog {
    pub(crate) fn events(&self) -> Vec<Event> {
        self.0.lock().unwrap().clone()
    }
}

impl EventSink for EventLog {
    fn send(&self, event: Event) {
        self.0.lock().unwrap().push(event);
    }
}
