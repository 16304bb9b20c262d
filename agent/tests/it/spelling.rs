//! Errors and notes use the names by which the model knows the tools.

use std::sync::{Arc, LazyLock};

use crate::workshop::{add, calling, results};
use agent::{
    Driver, Provider, ProviderInfo, Request, Scripted, Selection, Session, Turn, TurnFuture,
    WireOptions,
};
use serde_json::{Value, json};
use tools::protocol::wire::Format;
use tools::{Catalog, Grant, Host, OutputStore, ToolContext, ToolError, ToolResult, tool};

/// A scripted model that knows the tools by their wire names.
struct Remote(Scripted);

impl Provider for Remote {
    fn about(&self) -> &ProviderInfo {
        static REMOTE: LazyLock<ProviderInfo> = LazyLock::new(|| ProviderInfo {
            wire: Some(WireOptions::new(Format::OpenAiChat)),
            ..ProviderInfo::new("remote")
        });
        &REMOTE
    }

    fn complete<'a>(&'a self, request: Request<'a>) -> TurnFuture<'a> {
        self.0.complete(request)
    }
}

/// Names another tool.
#[tool(name = "x.names", pure)]
fn names(cx: &ToolContext) -> Result<String, ToolError> {
    Err(ToolError::execution_failed(format!(
        "call {} first",
        cx.spelling("x.fine")
    )))
}

/// Fails through another tool.
#[tool(name = "x.nested", pure)]
async fn nested(cx: &ToolContext) -> Result<ToolResult, ToolError> {
    cx.execute("x.names", json!({})).await
}

/// Returns more than fits.
#[tool(name = "x.long", pure)]
fn long() -> String {
    "line\n".repeat(50_000)
}

/// Needs a grant.
#[tool(name = "x.denied", reads = "fs:secret")]
async fn denied() {}

fn session() -> Session {
    let mut catalog = Catalog::new();
    catalog
        .submit(&[&NAMES_TOOL, &NESTED_TOOL, &LONG_TOOL, &DENIED_TOOL])
        .unwrap();
    agent::tool::register(&mut catalog).unwrap();
    add(&mut catalog, "x.fine");
    let cx = Host::new()
        .with_grant(Grant::none())
        .with_session("s")
        .with_service(OutputStore::default());
    Session::new(catalog.list(), Selection::new(), cx)
}

const CALLS: [&str; 6] = [
    "x_fien", "x.names", "x.nested", "x.long", "x.denied", "x.fine",
];

/// Returns the results of the calls.
async fn run(provider: impl Provider + 'static) -> Vec<ToolResult> {
    let mut session = session();
    Driver::new(Arc::new(provider))
        .run(&mut session, "go")
        .await
        .unwrap();
    results(session.messages())
        .into_iter()
        .map(|(_, result)| result)
        .collect()
}

fn turns() -> Scripted {
    Scripted::new([calling(&CALLS), Turn::answer("ok")])
}

#[tokio::test]
async fn a_model_reads_the_names_that_it_knows() {
    let results = run(Remote(turns())).await;
    let texts: Vec<_> = results.iter().map(ToolResult::to_text).collect();
    for (text, part) in texts.iter().zip([
        "did you mean x__fine?",
        "x__names failed: call x__fine first",
        "x__names failed: call x__fine first",
        "tools__output reads them",
        "x__denied needs fs:read:secret",
        "x.fine",
    ]) {
        assert!(text.contains(part), "{part}: {text}");
    }
    let others = texts[..5].concat();
    assert!(
        !others.contains("x.") && !others.contains("tools."),
        "{others}"
    );
}

#[tokio::test]
async fn programs_and_other_models_read_the_own_names() {
    let texts: Vec<_> = run(turns()).await.iter().map(ToolResult::to_text).collect();
    assert!(
        texts[0].contains("did you mean x.fine?") && texts[3].contains("tools.output reads them"),
        "{texts:?}"
    );
    assert!(
        texts[1].contains("x.names failed: call x.fine first"),
        "{texts:?}"
    );

    let denied = run(Remote(turns()))
        .await
        .swap_remove(4)
        .structured
        .unwrap();
    assert_eq!(
        denied.value().pointer("/error/tool"),
        Some(&Value::from("x.denied"))
    );
}
