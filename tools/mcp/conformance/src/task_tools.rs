//! The tools whose calls become tasks, by their duration or because they ask for it.

use std::error::Error;
use std::time::Duration;

use serde_json::{Value, json};
use tools::{ToolContext, ToolError};
use tools_mcp::server::PeerRequest;

use crate::input_tools::{ask, elicit, elicit_name, hello};
use crate::plain_tools::nothing;
use crate::{fail, peer, register};

/// The time after which a call becomes a task.
pub(crate) const TASK_AFTER: Duration = Duration::from_millis(250);
/// A time that makes a call a task.
const LONG: Duration = Duration::from_millis(500);

pub(crate) fn register_all() -> Result<(), Box<dyn Error>> {
    let object = |properties: Value| json!({"type": "object", "properties": properties});
    let text = json!({"type": "string"});
    let seconds = json!({"seconds": {"type": "number"}, "label": text});
    register("greet", object(json!({"name": text})), greet)?;
    register("slow_compute", object(seconds), slow)?;
    register("failing_job", nothing(), failing)?;
    register("protocol_error_job", nothing(), refused)?;
    register("confirm_delete", object(json!({"filename": text})), confirm)?;
    register("multi_input", nothing(), several)?;
    register("test_tool_with_task", nothing(), composed)
}

async fn greet(_: ToolContext, arguments: Value) -> String {
    hello(&arguments["name"])
}

async fn slow(_: ToolContext, arguments: Value) -> String {
    let seconds = arguments["seconds"].as_f64().unwrap_or_default();
    tokio::time::sleep(Duration::try_from_secs_f64(seconds).unwrap_or_default()).await;
    format!("computed {}", arguments["label"])
}

/// Fails as a tool does. It has no use for a client without tasks.
async fn failing(cx: ToolContext, _: Value) -> Result<String, ToolError> {
    peer(&cx)?.continue_as_task().await.map_err(fail)?;
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
        peer.continue_as_task().await.map_err(fail)?;
    }
    let question = format!("Delete {}?", arguments["filename"]);
    let answer = ask(&cx, confirmation("confirm", &question)).await?;
    Ok(format!("confirmed: {}", answer["content"]["confirm"]))
}

async fn several(cx: ToolContext, _: Value) -> Result<String, ToolError> {
    let peer = peer(&cx)?;
    peer.continue_as_task().await.map_err(fail)?;
    let requests = [
        confirmation("first", "The first?"),
        confirmation("second", "The second?"),
    ];
    let answers = peer.request_all(&cx, requests).await.map_err(fail)?;
    Ok(format!("{answers:?}"))
}

/// Asks before it becomes a task.
async fn composed(cx: ToolContext, _: Value) -> Result<String, ToolError> {
    let answer = ask(&cx, elicit_name()).await?;
    tokio::time::sleep(LONG).await;
    Ok(hello(&answer["content"]["name"]))
}
