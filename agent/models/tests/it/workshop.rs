//! Tools that record their arguments, and runs with them.
#![allow(dead_code, reason = "each program of tests uses a part of it")]

use std::sync::{Arc, Mutex};

use agent::{
    Driver, Outcome, Provider, ProviderError, Request, Selection, Session, StopReason, Summary,
    TextSink, ToolSet, Turn,
};
use agent_models::Remote;
use serde_json::{Value, json};
use tools::protocol::{Message, Part, Role};
use tools::{CancellationToken, Catalog, Effects, Host, Tool, ToolContext};

pub(crate) fn answer(summary: &Summary) -> (&str, &StopReason) {
    match &summary.outcome {
        Outcome::Answer { text, stop } => (text, stop),
        other => panic!("no answer: {other:?}"),
    }
}

pub(crate) fn result(part: &Part) -> String {
    let Part::ToolResult { result, .. } = part else {
        panic!("no result: {part:?}")
    };
    result.to_text()
}

pub(crate) type Ran = Arc<Mutex<Vec<(String, Value)>>>;

pub(crate) async fn run(
    provider: impl Provider + 'static,
    tools: &[&str],
) -> (Summary, Session, Ran) {
    let (catalog, ran) = catalog(tools);
    let mut session = Session::new(catalog.list(), Selection::new(), Host::new());
    let summary = Driver::new(Arc::new(provider))
        .run(&mut session, "go")
        .await
        .unwrap();
    (summary, session, ran)
}

pub(crate) fn catalog(names: &[&str]) -> (Catalog, Ran) {
    let ran = Ran::default();
    let mut catalog = Catalog::new();
    for name in names {
        let tool = Tool::new(name, "A tool.", json!({"type": "object"}))
            .unwrap()
            .with_effects(Effects::Pure);
        let (ran, name) = (ran.clone(), (*name).to_owned());
        let handler = move |_: ToolContext, arguments: Value| {
            ran.lock().unwrap().push((name.clone(), arguments));
            let text = format!("ran {name}");
            async move { text }
        };
        catalog.register(tool, handler).unwrap();
    }
    (catalog, ran)
}

/// The conversation of one prompt.
pub(crate) fn prompt() -> [Message; 1] {
    [Message::text(Role::User, "go")]
}

pub(crate) fn session(tools: &[&str]) -> Session {
    Session::new(catalog(tools).0.list(), Selection::new(), Host::new())
}

/// Sends a prompt, and returns the text of the answer.
pub(crate) async fn complete(model: &Remote, tools: &[&str]) -> Result<String, ProviderError> {
    let (messages, session, token) = (prompt(), session(tools), CancellationToken::new());
    let turn = model
        .complete(Request::new(&messages, session.tools(), &token))
        .await?;
    Ok(turn.message.to_text())
}

/// Requests one turn without tools.
pub(crate) async fn ask(provider: &dyn Provider) -> Result<Turn, ProviderError> {
    ask_into(provider, &|_| {}).await
}

/// Requests one turn without tools, and sends its text to the sink.
pub(crate) async fn ask_into(
    provider: &dyn Provider,
    sink: TextSink<'_>,
) -> Result<Turn, ProviderError> {
    let (messages, tools, token) = (
        [Message::text(Role::User, "go")],
        ToolSet::default(),
        CancellationToken::new(),
    );
    provider
        .complete(Request {
            text_sink: Some(sink),
            ..Request::new(&messages, &tools, &token)
        })
        .await
}
