//! The prompts, resources and completions of the suite.

use serde_json::{Map, Value, json};
use tools::Host;
use tools_mcp::server::{MethodError, MethodFuture, Methods, Peer};

use crate::input_tools::{elicit_text, text as string};
use crate::plain_tools::PNG;

/// The prompts, resources and completions of the suite.
pub(crate) struct Fixtures;

const INVALID_PARAMS: i32 = -32602;

impl Methods for Fixtures {
    fn capabilities(&self) -> Map<String, Value> {
        let capabilities =
            json!({"prompts": {}, "resources": {"subscribe": true}, "completions": {}});
        capabilities.as_object().cloned().unwrap_or_default()
    }

    fn call(&self, method: &'static str, params: Value, peer: Peer) -> MethodFuture {
        Box::pin(async move {
            match method {
                "prompts/list" => Ok(prompts()),
                "prompts/get" => prompt(&params, &peer).await,
                "resources/list" => Ok(json!({"resources": [
                    resource("test://static-text", "static text", "text/plain"),
                    resource("test://static-binary", "static binary", "image/png"),
                    resource("test://watched-resource", "watched", "text/plain"),
                ]})),
                "resources/templates/list" => Ok(json!({"resourceTemplates": [{
                    "uriTemplate": "test://template/{id}/data", "name": "template", "description": "Data by id.",
                    "mimeType": "application/json"}]})),
                "resources/read" => read(params["uri"].as_str().unwrap_or_default()),
                "resources/subscribe" | "resources/unsubscribe" => Ok(json!({})),
                "completion/complete" => Ok(
                    json!({"completion": {"values": ["paris", "park", "party"], "total": 3, "hasMore": false}}),
                ),
                _ => Err(MethodError::new(-32601, method)),
            }
        })
    }
}

fn resource(uri: &str, name: &str, mime_type: &str) -> Value {
    json!({"uri": uri, "name": name, "description": "A fixture.", "mimeType": mime_type})
}

fn read(uri: &str) -> Result<Value, MethodError> {
    let id = uri
        .strip_prefix("test://template/")
        .and_then(|rest| rest.strip_suffix("/data"));
    let content = match (uri, id) {
        ("test://static-text", _) => {
            json!({"mimeType": "text/plain", "text": "This is the content of the static text resource."})
        }
        ("test://watched-resource", _) => json!({"mimeType": "text/plain", "text": "Watched."}),
        ("test://static-binary", _) => json!({"mimeType": "image/png", "blob": PNG}),
        (_, Some(id)) => {
            let data =
                json!({"id": id, "templateTest": true, "data": format!("Data for ID: {id}")});
            json!({"mimeType": "application/json", "text": data.to_string()})
        }
        _ => {
            return Err(MethodError {
                data: Some(json!({"uri": uri})),
                ..MethodError::new(INVALID_PARAMS, "Resource not found")
            });
        }
    };
    let mut content = content;
    content["uri"] = json!(uri);
    Ok(json!({"contents": [content]}))
}

fn prompts() -> Value {
    let prompt = |name: &str, arguments: &[&str]| {
        let arguments: Vec<_> = arguments
            .iter()
            .map(|name| json!({"name": name, "description": "An argument.", "required": true}))
            .collect();
        json!({"name": name, "description": "A fixture of the conformance suite.", "arguments": arguments})
    };
    json!({"prompts": [
        prompt("test_simple_prompt", &[]),
        prompt("test_prompt_with_arguments", &["arg1", "arg2"]),
        prompt("test_prompt_with_embedded_resource", &["resourceUri"]),
        prompt("test_prompt_with_image", &[]),
        prompt("test_input_required_result_prompt", &[]),
    ]})
}

async fn prompt(params: &Value, peer: &Peer) -> Result<Value, MethodError> {
    let argument = |name: &str| params["arguments"][name].as_str().unwrap_or_default();
    let user = |content: Value| json!({"role": "user", "content": content});
    let text = |text: &str| user(json!({"type": "text", "text": text}));
    let messages = match params["name"].as_str().unwrap_or_default() {
        "test_simple_prompt" => vec![text("This is a simple prompt for testing.")],
        "test_prompt_with_arguments" => {
            vec![text(&format!(
                "Prompt with arguments: arg1='{}', arg2='{}'",
                argument("arg1"),
                argument("arg2")
            ))]
        }
        "test_prompt_with_embedded_resource" => {
            let resource = json!({"uri": argument("resourceUri"), "mimeType": "text/plain",
                "text": "Embedded resource content for testing."});
            let embedded = json!({"type": "resource", "resource": resource});
            vec![
                user(embedded),
                text("Please process the embedded resource above."),
            ]
        }
        "test_prompt_with_image" => {
            let image = json!({"type": "image", "data": PNG, "mimeType": "image/png"});
            vec![user(image), text("Please analyze the image above.")]
        }
        "test_input_required_result_prompt" => {
            let question = "What context should the prompt use?";
            let request = elicit_text("user_context", question, "context");
            let answer = peer.request(&Host::new(), request).await;
            let answer =
                answer.map_err(|error| MethodError::new(INVALID_PARAMS, error.to_string()))?;
            vec![text(string(&answer["content"]["context"]))]
        }
        other => {
            return Err(MethodError::new(
                INVALID_PARAMS,
                format!("unknown prompt: {other}"),
            ));
        }
    };
    Ok(json!({"messages": messages}))
}
