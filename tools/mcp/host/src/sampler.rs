//! Answers of the session's model for its servers.

use agent::Models;
use serde_json::json;
use tools::protocol::Role;
use tools::{Content, ToolContext, ToolErrorKind, visible_text};
use tools_mcp::client::{Sample, SampleMessage, SampleRequest};

/// The tool that asks the model, within the grant, the budget and the journal of the session.
const GENERATE: &str = "llm.generate";

/// Answers a server with the model of the session. The import of the server says whether it may ask.
pub(crate) async fn sample(request: SampleRequest, cx: ToolContext) -> Result<Sample, String> {
    let models = cx.service::<Models>().ok_or("this session has no model")?;
    let model = models.name().to_string();
    let mut arguments = json!({"model": model, "prompt": prompt(&request.messages)?});
    if let Some(system) = request.system_prompt.filter(|system| !system.is_empty()) {
        arguments["system"] = visible_text(&system).into();
    }
    let result = cx.execute(GENERATE, arguments).await;
    let result = result.map_err(|error| match error.kind() {
        ToolErrorKind::NotFound { .. } => format!("this session has not selected {GENERATE}"),
        _ => error.to_string(),
    })?;
    Ok(Sample {
        model,
        content: Content::text(result.to_text()),
        stop_reason: Some("endTurn".to_owned()),
    })
}

/// Returns the messages as one text, with visible characters only.
fn prompt(messages: &[SampleMessage]) -> Result<String, String> {
    let mut prompt = String::new();
    for message in messages {
        if messages.len() > 1 {
            prompt += if message.role == Role::Assistant {
                "[assistant]\n"
            } else {
                "[user]\n"
            };
        }
        for content in &message.content {
            let Content::Text { text } = content else {
                return Err("this host samples from texts only".to_owned());
            };
            prompt += &visible_text(text);
            prompt += "\n\n";
        }
    }
    Ok(prompt.trim_end().to_owned())
}
