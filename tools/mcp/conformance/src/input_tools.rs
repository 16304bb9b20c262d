//! The tools that ask the client: elicitation, sampling and roots.

use std::error::Error;

use serde_json::{Value, json};
use tools::{ToolContext, ToolError};
use tools_mcp::server::PeerRequest;

use crate::plain_tools::nothing;
use crate::{fail, peer, register};

pub(crate) fn register_all() -> Result<(), Box<dyn Error>> {
    let text = |name: &str| json!({"type": "object", "required": [name], "properties": {name: {"type": "string"}}});
    register("test_sampling", text("prompt"), sampling)?;
    register("test_elicitation", text("message"), elicitation)?;
    register("test_elicitation_sep1034_defaults", nothing(), defaults)?;
    register("test_elicitation_sep1330_enums", nothing(), enums)?;
    register("test_missing_capability", nothing(), capital)?;
    register("test_streaming_elicitation", nothing(), greet)?;
    register("test_input_required_result_elicitation", nothing(), greet)?;
    register("test_input_required_result_sampling", nothing(), capital)?;
    register("test_input_required_result_list_roots", nothing(), roots)?;
    register(
        "test_input_required_result_request_state",
        nothing(),
        confirm,
    )?;
    register(
        "test_input_required_result_tampered_state",
        nothing(),
        confirm,
    )?;
    register("test_input_required_result_multiple_inputs", nothing(), all)?;
    register("test_input_required_result_multi_round", nothing(), rounds)?;
    register(
        "test_input_required_result_capabilities",
        nothing(),
        supported,
    )
}

/// Returns an elicitation of fields.
pub(crate) fn elicit(key: &str, message: &str, fields: Value) -> PeerRequest {
    let required: Vec<_> = fields
        .as_object()
        .into_iter()
        .flatten()
        .map(|(name, _)| name.clone())
        .collect();
    let schema = json!({"type": "object", "properties": fields, "required": required});
    PeerRequest::new(
        "elicitation/create",
        json!({"message": message, "requestedSchema": schema}),
    )
    .with_key(key)
}

fn sample(key: &str, prompt: &str, max_tokens: u32) -> PeerRequest {
    let message = json!({"role": "user", "content": {"type": "text", "text": prompt}});
    let params = json!({"messages": [message], "maxTokens": max_tokens});
    PeerRequest::new("sampling/createMessage", params).with_key(key)
}

fn list_roots() -> PeerRequest {
    PeerRequest::new("roots/list", json!({})).with_key("client_roots")
}

/// Returns an elicitation of one text.
pub(crate) fn elicit_text(key: &str, message: &str, name: &str) -> PeerRequest {
    elicit(key, message, json!({name: {"type": "string"}}))
}

pub(crate) fn elicit_name() -> PeerRequest {
    elicit_text("user_name", "What is your name?", "name")
}

fn sample_greeting() -> PeerRequest {
    sample("greeting", "Generate a greeting", 50)
}

pub(crate) async fn ask(cx: &ToolContext, request: PeerRequest) -> Result<Value, ToolError> {
    peer(cx)?.request(cx, request).await.map_err(fail)
}

pub(crate) fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

pub(crate) fn hello(name: &Value) -> String {
    format!("Hello, {}!", name.as_str().unwrap_or("stranger"))
}

async fn sampling(cx: ToolContext, arguments: Value) -> Result<String, ToolError> {
    let answer = ask(&cx, sample("sampling", text(&arguments["prompt"]), 100)).await?;
    Ok(format!(
        "LLM response: {}",
        text(&answer["content"]["text"])
    ))
}

async fn elicitation(cx: ToolContext, arguments: Value) -> Result<String, ToolError> {
    let described = |text: &str| json!({"type": "string", "description": text});
    let fields = json!({"username": described("User's response"), "email": described("User's email address")});
    let answer = ask(&cx, elicit("user", text(&arguments["message"]), fields)).await?;
    let action = text(&answer["action"]);
    let content = &answer["content"];
    Ok(format!(
        "User response: <action: {action}, content: {content}>"
    ))
}

async fn complete(cx: &ToolContext, request: PeerRequest) -> Result<String, ToolError> {
    let answer = ask(cx, request).await?;
    let action = text(&answer["action"]);
    let content = &answer["content"];
    Ok(format!(
        "Elicitation completed: action={action}, content={content}"
    ))
}

async fn defaults(cx: ToolContext, _: Value) -> Result<String, ToolError> {
    let fields = json!({
        "name": {"type": "string", "default": "John Doe"},
        "age": {"type": "integer", "default": 30},
        "score": {"type": "number", "default": 95.5},
        "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
        "verified": {"type": "boolean", "default": true},
    });
    complete(
        &cx,
        elicit("defaults", "Please review the defaults", fields),
    )
    .await
}

async fn enums(cx: ToolContext, _: Value) -> Result<String, ToolError> {
    let titled = |titles: [&str; 3]| -> Vec<_> {
        let titled = titles.iter().enumerate();
        titled
            .map(|(number, title)| json!({"const": format!("value{}", number + 1), "title": title}))
            .collect()
    };
    let options = ["option1", "option2", "option3"];
    let fields = json!({
        "untitledSingle": {"type": "string", "enum": options},
        "titledSingle": {"type": "string", "oneOf": titled(["First Option", "Second Option", "Third Option"])},
        "legacyEnum": {"type": "string", "enum": ["opt1", "opt2", "opt3"],
            "enumNames": ["Option One", "Option Two", "Option Three"]},
        "untitledMulti": {"type": "array", "items": {"type": "string", "enum": options}},
        "titledMulti": {"type": "array", "items": {"anyOf": titled(["First Choice", "Second Choice", "Third Choice"])}},
    });
    complete(&cx, elicit("enums", "Please choose", fields)).await
}

async fn greet(cx: ToolContext, _: Value) -> Result<String, ToolError> {
    let answer = ask(&cx, elicit_name()).await?;
    Ok(hello(&answer["content"]["name"]))
}

async fn capital(cx: ToolContext, _: Value) -> Result<String, ToolError> {
    let question = sample("capital_question", "What is the capital of France?", 100);
    let answer = ask(&cx, question).await?;
    Ok(text(&answer["content"]["text"]).to_owned())
}

async fn roots(cx: ToolContext, _: Value) -> Result<String, ToolError> {
    let answer = ask(&cx, list_roots()).await?;
    Ok(format!("Roots: {}", answer["roots"]))
}

async fn confirm(cx: ToolContext, _: Value) -> Result<String, ToolError> {
    let fields = json!({"ok": {"type": "boolean"}});
    let answer = ask(&cx, elicit("confirm", "Please confirm", fields)).await?;
    Ok(format!("state-ok: {}", answer["content"]["ok"]))
}

async fn all(cx: ToolContext, _: Value) -> Result<String, ToolError> {
    let requests = [elicit_name(), sample_greeting(), list_roots()];
    let answers = peer(&cx)?.request_all(&cx, requests).await;
    let answers = answers.map_err(fail)?;
    let name = &answers[0]["content"]["name"];
    let greeting = &answers[1]["content"]["text"];
    Ok(format!("{name} {greeting} {}", answers[2]["roots"]))
}

async fn rounds(cx: ToolContext, _: Value) -> Result<String, ToolError> {
    let name = elicit_text("step1", "Step 1: What is your name?", "name");
    let name = ask(&cx, name).await?;
    let color = elicit_text("step2", "Step 2: What is your favorite color?", "color");
    let color = ask(&cx, color).await?;
    let name = &name["content"]["name"];
    let color = &color["content"]["color"];
    Ok(format!("{name} likes {color}"))
}

/// Asks only for what the client takes.
async fn supported(cx: ToolContext, _: Value) -> Result<String, ToolError> {
    let peer = peer(&cx)?;
    let requests = [
        ("elicitation/create", elicit_name()),
        ("sampling/createMessage", sample_greeting()),
    ];
    let taken = requests
        .into_iter()
        .filter(|(method, _)| peer.supports(method))
        .map(|(_, request)| request);
    let answers = peer.request_all(&cx, taken).await.map_err(fail)?;
    Ok(format!("{answers:?}"))
}
