//! The tools whose calls become tasks, by their duration or because they ask for it.

use std::error::Error;
use std::time::Duration;

use serde_json::{Value, json};
use tools::{ToolContext, ToolError};
use tools_mcp::server::PeerRequest;

use crate::input_tools::{ask, elicit};
use crate::plain_tools::nothing;
use crate::{definition, failed, peer};

/// The time after which a call becomes a task.
pub(crate) const TASK_AFTER: Duration = Duration::from_millis(250);
/// A time that makes a call a task.
const LONG: Duration = Duration::from_millis(500);

pub(crate) fn register() -> Result<(), Box<dyn Error>> {
    let name = json!({"type": "object", "properties": {"name": {"type": "string"}}});
    tools::register(definition("greet", name)?, greet)?;
    let seconds = json!({"seconds": {"type": "number"}, "label": {"type": "string"}});
    tools::register(
        definition(
            "slow_compute",
            json!({"type": "object", "properties": seconds}),
        )?,
        slow,
    )?;
    tools::register(definition("failing_job", nothing())?, failing)?;
    tools::register(definition("protocol_error_job", nothing())?, refused)?;
    let filename = json!({"type": "object", "properties": {"filename": {"type": "string"}}});
    tools::register(definition("confirm_delete", filename)?, confirm)?;
    tools::register(definition("multi_input", nothing())?, several)?;
    tools::register(definition("test_tool_with_task", nothing())?, composed)?;
    Ok(())
}

async fn greet(_: ToolContext, arguments: Value) -> String {
    format!(
        "Hello, {}!",
        arguments["name"].as_str().unwrap_or("stranger")
    )
}

async fn slow(_: ToolContext, arguments: Value) -> String {
    let seconds = arguments["seconds"].as_f64().unwrap_or_default();
    tokio::time::sleep(Duration::try_from_secs_f64(seconds).unwrap_or_default()).await;
    format!("computed {}", arguments["label"])
}

/// Fails as a tool does. It has no use for a client without tasks.
async fn failing(cx: ToolContext, _: Value) -> Result<String, ToolError> {
    peer(&cx)?.continue_as_task().await.map_err(failed)?;
    tokio::time::sleep(LONG).await;
    Err(ToolError::execution_failed("this job always fails"))
}

/// Fails as the protocol does: the client of the scenario has no roots.
async fn refused(cx: ToolContext, _: Value) -> Result<String, ToolError> {
    tokio::time::sleep(LONG).await;
    ask(&cx, PeerRequest::new("roots/list", json!({})))
        .await
        .map(|roots| roots.to_string())
}

fn confirmation(key: &str, question: &str) -> PeerRequest {
    elicit(key, question, json!({"confirm": {"type": "boolean"}}))
}

/// Asks at once without tasks, because another scenario calls the first tool of the list, which this is, without them.
async fn confirm(cx: ToolContext, arguments: Value) -> Result<String, ToolError> {
    let peer = peer(&cx)?;
    if peer.takes_tasks() {
        peer.continue_as_task().await.map_err(failed)?;
    }
    let answer = ask(
        &cx,
        confirmation("confirm", &format!("Delete {}?", arguments["filename"])),
    )
    .await?;
    Ok(format!("confirmed: {}", answer["content"]["confirm"]))
}

async fn several(cx: ToolContext, _: Value) -> Result<String, ToolError> {
    let peer = peer(&cx)?;
    peer.continue_as_task().await.map_err(failed)?;
    let requests = [
        confirmation("first", "The first?"),
        confirmation("second", "The second?"),
    ];
    let answers = peer.request_all(&cx, requests).await.map_err(failed)?;
    Ok(format!("{answers:?}"))
}

/// Asks before it becomes a task.
async fn composed(cx: ToolContext, _: Value) -> Result<String, ToolError> {
    let name = json!({"name": {"type": "string"}});
    let answer = ask(&cx, elicit("user_name", "What is your name?", name)).await?;
    tokio::time::sleep(LONG).await;
    Ok(format!(
        "Hello, {}!",
        answer["content"]["name"].as_str().unwrap_or("stranger")
    ))
}
