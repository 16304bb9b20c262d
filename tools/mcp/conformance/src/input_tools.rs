//! The tools that ask the client: elicitation, sampling and roots.

use std::error::Error;

use serde_json::{Value, json};
use tools::{ToolContext, ToolError};
use tools_mcp::server::PeerRequest;

use crate::plain_tools::nothing;
use crate::{definition, failed, peer};

pub(crate) fn register() -> Result<(), Box<dyn Error>> {
    let text = |name: &str| json!({"type": "object", "required": [name], "properties": {name: {"type": "string"}}});
    tools::register(definition("test_sampling", text("prompt"))?, sampling)?;
    tools::register(
        definition("test_elicitation", text("message"))?,
        elicitation,
    )?;
    tools::register(
        definition("test_elicitation_sep1034_defaults", nothing())?,
        defaults,
    )?;
    tools::register(
        definition("test_elicitation_sep1330_enums", nothing())?,
        enums,
    )?;
    tools::register(definition("test_missing_capability", nothing())?, capital)?;
    tools::register(definition("test_streaming_elicitation", nothing())?, greet)?;
    tools::register(
        definition("test_input_required_result_elicitation", nothing())?,
        greet,
    )?;
    tools::register(
        definition("test_input_required_result_sampling", nothing())?,
        capital,
    )?;
    tools::register(
        definition("test_input_required_result_list_roots", nothing())?,
        roots,
    )?;
    tools::register(
        definition("test_input_required_result_request_state", nothing())?,
        confirm,
    )?;
    tools::register(
        definition("test_input_required_result_tampered_state", nothing())?,
        confirm,
    )?;
    tools::register(
        definition("test_input_required_result_multiple_inputs", nothing())?,
        all,
    )?;
    tools::register(
        definition("test_input_required_result_multi_round", nothing())?,
        rounds,
    )?;
    tools::register(
        definition("test_input_required_result_capabilities", nothing())?,
        supported,
    )?;
    Ok(())
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

fn string() -> Value {
    json!({"type": "string"})
}

pub(crate) async fn ask(cx: &ToolContext, request: PeerRequest) -> Result<Value, ToolError> {
    peer(cx)?.request(cx, request).await.map_err(failed)
}

async fn sampling(cx: ToolContext, arguments: Value) -> Result<String, ToolError> {
    let prompt = arguments["prompt"].as_str().unwrap_or_default();
    let answer = ask(&cx, sample("sampling", prompt, 100)).await?;
    Ok(format!(
        "LLM response: {}",
        answer["content"]["text"].as_str().unwrap_or_default()
    ))
}

async fn elicitation(cx: ToolContext, arguments: Value) -> Result<String, ToolError> {
    let described = |text: &str| json!({"type": "string", "description": text});
    let fields = json!({"username": described("User's response"), "email": described("User's email address")});
    let answer = ask(
        &cx,
        elicit(
            "user",
            arguments["message"].as_str().unwrap_or_default(),
            fields,
        ),
    )
    .await?;
    Ok(format!(
        "User response: <action: {}, content: {}>",
        answer["action"].as_str().unwrap_or_default(),
        answer["content"]
    ))
}

fn completed(answer: &Value) -> String {
    let action = answer["action"].as_str().unwrap_or_default();
    format!(
        "Elicitation completed: action={action}, content={}",
        answer["content"]
    )
}

async fn defaults(cx: ToolContext, _: Value) -> Result<String, ToolError> {
    let fields = json!({
        "name": {"type": "string", "default": "John Doe"},
        "age": {"type": "integer", "default": 30},
        "score": {"type": "number", "default": 95.5},
        "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
        "verified": {"type": "boolean", "default": true},
    });
    ask(
        &cx,
        elicit("defaults", "Please review the defaults", fields),
    )
    .await
    .map(|answer| completed(&answer))
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
    ask(&cx, elicit("enums", "Please choose", fields))
        .await
        .map(|answer| completed(&answer))
}

async fn greet(cx: ToolContext, _: Value) -> Result<String, ToolError> {
    let answer = ask(
        &cx,
        elicit("user_name", "What is your name?", json!({"name": string()})),
    )
    .await?;
    Ok(format!(
        "Hello, {}!",
        answer["content"]["name"].as_str().unwrap_or("stranger")
    ))
}

async fn capital(cx: ToolContext, _: Value) -> Result<String, ToolError> {
    let answer = ask(
        &cx,
        sample("capital_question", "What is the capital of France?", 100),
    )
    .await?;
    Ok(answer["content"]["text"]
        .as_str()
        .unwrap_or_default()
        .to_owned())
}

async fn roots(cx: ToolContext, _: Value) -> Result<String, ToolError> {
    let answer = ask(&cx, list_roots()).await?;
    Ok(format!("Roots: {}", answer["roots"]))
}

async fn confirm(cx: ToolContext, _: Value) -> Result<String, ToolError> {
    let answer = ask(
        &cx,
        elicit(
            "confirm",
            "Please confirm",
            json!({"ok": {"type": "boolean"}}),
        ),
    )
    .await?;
    Ok(format!("state-ok: {}", answer["content"]["ok"]))
}

async fn all(cx: ToolContext, _: Value) -> Result<String, ToolError> {
    let requests = [
        elicit("user_name", "What is your name?", json!({"name": string()})),
        sample("greeting", "Generate a greeting", 50),
        list_roots(),
    ];
    let answers = peer(&cx)?
        .request_all(&cx, requests)
        .await
        .map_err(failed)?;
    Ok(format!(
        "{} {} {}",
        answers[0]["content"]["name"], answers[1]["content"]["text"], answers[2]["roots"]
    ))
}

async fn rounds(cx: ToolContext, _: Value) -> Result<String, ToolError> {
    let name = ask(
        &cx,
        elicit(
            "step1",
            "Step 1: What is your name?",
            json!({"name": string()}),
        ),
    )
    .await?;
    let color = ask(
        &cx,
        elicit(
            "step2",
            "Step 2: What is your favorite color?",
            json!({"color": string()}),
        ),
    )
    .await?;
    Ok(format!(
        "{} likes {}",
        name["content"]["name"], color["content"]["color"]
    ))
}

/// Asks only for what the client takes.
async fn supported(cx: ToolContext, _: Value) -> Result<String, ToolError> {
    let peer = peer(&cx)?;
    let requests = [
        (
            "elicitation/create",
            elicit("user_name", "What is your name?", json!({"name": string()})),
        ),
        (
            "sampling/createMessage",
            sample("greeting", "Generate a greeting", 50),
        ),
    ];
    let taken = requests
        .into_iter()
        .filter(|(method, _)| peer.supports(method))
        .map(|(_, request)| request);
    let answers = peer.request_all(&cx, taken).await.map_err(failed)?;
    Ok(format!("{answers:?}"))
}
