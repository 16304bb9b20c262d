//! The tools that answer without asking the client.

use std::error::Error;
use std::time::Duration;

use serde_json::{Value, json};
use tools::{Progress, ToolContext, ToolError, ToolResult};
use tools_mcp::server::LogLevel;

use crate::{peer, register};

/// A red pixel.
pub(crate) const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";
/// A sound without samples.
const WAV: &str = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=";
/// The pause between two messages of a tool.
const PAUSE: Duration = Duration::from_millis(50);

pub(crate) fn register_all() -> Result<(), Box<dyn Error>> {
    let text = |text: &str| json!({"type": "text", "text": text});
    let resource = |uri: &str, mime_type: &str, text: &str| json!({"type": "resource", "resource": {"uri": uri, "mime_type": mime_type, "text": text}});
    let image = json!({"type": "image", "data": PNG, "mime_type": "image/png"});
    let audio = json!({"type": "audio", "data": WAV, "mime_type": "audio/wav"});
    let simple = text("This is a simple text response for testing.");
    let embedded = "This is an embedded resource content.";
    let embedded = resource("test://embedded-resource", "text/plain", embedded);
    let mixed = json!({"test": "data", "value": 123}).to_string();
    let mixed = resource("test://mixed-content-resource", "application/json", &mixed);
    register_fixed("test_simple_text", json!([simple]))?;
    register_fixed("test_image_content", json!([image]))?;
    register_fixed("test_audio_content", json!([audio]))?;
    register_fixed("test_embedded_resource", json!([embedded]))?;
    let several = json!([text("Multiple content types test:"), image, mixed]);
    register_fixed("test_multiple_content_types", several)?;

    register("test_error_handling", nothing(), fail)?;
    register("test_tool_with_logging", nothing(), log)?;
    register("test_logging_tool", nothing(), log)?;
    register("test_tool_with_progress", nothing(), progress)?;
    register("test_trigger_tool_change", nothing(), change)?;
    let ok = async |_: ToolContext, _: Value| "ok";
    register("json_schema_2020_12_tool", schema(), ok)?;
    let region = json!({"type": "object", "properties": {
        "region": {"type": "string", "x-mcp-header": "Region"}, "query": {"type": "string"}}});
    register("test_custom_header", region, ok)
}

/// The parameters of a tool without arguments.
pub(crate) fn nothing() -> Value {
    json!({"type": "object"})
}

fn register_fixed(name: &str, content: Value) -> Result<(), Box<dyn Error>> {
    let result: ToolResult = serde_json::from_value(json!({"content": content}))?;
    register(name, nothing(), move |_: ToolContext, _: Value| {
        std::future::ready(result.clone())
    })
}

async fn fail(_: ToolContext, _: Value) -> Result<String, ToolError> {
    let reason = "This tool intentionally returns an error for testing";
    Err(ToolError::execution_failed(reason))
}

async fn log(cx: ToolContext, _: Value) -> Result<&'static str, ToolError> {
    let peer = peer(&cx)?;
    peer.log(LogLevel::Info, None, json!("Tool execution started"));
    tokio::time::sleep(PAUSE).await;
    peer.log(LogLevel::Info, None, json!("Tool processing data"));
    tokio::time::sleep(PAUSE).await;
    peer.log(LogLevel::Info, None, json!("Tool execution completed"));
    Ok("logged")
}

async fn progress(cx: ToolContext, _: Value) -> &'static str {
    cx.report(Progress::new(0.0, 100.0));
    tokio::time::sleep(PAUSE).await;
    cx.report(Progress::new(50.0, 100.0));
    tokio::time::sleep(PAUSE).await;
    cx.report(Progress::new(100.0, 100.0));
    "done"
}

/// Adds a tool, or removes it again.
async fn change(_: ToolContext, _: Value) -> Result<&'static str, ToolError> {
    const ADDED: &str = "test_added_tool";
    if tools::unregister(ADDED) {
        return Ok("removed");
    }
    let added = register(ADDED, nothing(), async |_: ToolContext, _: Value| "added");
    added.map_err(|error| ToolError::execution_failed(error.to_string()))?;
    Ok("added")
}

/// The schema of the scenario `json-schema-2020-12`.
fn schema() -> Value {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {"address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        }},
        "properties": {
            "name": {"type": "string"},
            "address": {"$ref": "#/$defs/address"},
            "contactMethod": {"type": "string", "enum": ["phone", "email"]},
            "phone": {"type": "string"},
            "email": {"type": "string"},
        },
        "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
        "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
        "then": {"required": ["phone"]},
        "else": {"required": ["email"]},
        "additionalProperties": false,
    })
}
