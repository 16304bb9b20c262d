//! Writes the requests of Gemini.

use agent::provider::ReasoningEffort;
use serde_json::{Map, Value, json};
use tools::Content;

use crate::anthropic::settings::tokens;
use crate::conversation::{ResultShown, Said, Unit, only_text, with};
use crate::profile::{Profile, RequestParts};
use crate::request_body::RequestBody;
use crate::settings::{Asked, ForcedCall, REASONING, Unsupported, refused};

/// The signature of a call that another model made, which later models require:
/// <https://ai.google.dev/gemini-api/docs/thought-signatures>.
const NO_SIGNATURE: &str = "skip_thought_signature_validator";

/// Returns the contents of a unit.
pub(crate) fn messages(model: &Profile, unit: Unit<'_>) -> Vec<Value> {
    match unit {
        // The API has no role for a system text between turns.
        Unit::System(text) => vec![content("user", vec![json!({"text": text})])],
        Unit::User {
            results,
            content: prompts,
        } => {
            let results = results.into_iter();
            let results: Vec<_> = results.map(|result| response(model, result)).collect();
            let prompts: Vec<_> = prompts.iter().map(part).collect();
            // Other parts beside a response are refused: https://github.com/google-gemini/gemini-cli/pull/16137
            let parts = [results, prompts].into_iter();
            let parts = parts.filter(|parts| !parts.is_empty());
            parts.map(|parts| content("user", parts)).collect()
        }
        Unit::Assistant(said) => {
            let parts = said.into_iter().map(|said| own_part(model, said));
            vec![content("model", parts.collect())]
        }
    }
}

fn content(role: &str, parts: Vec<Value>) -> Value {
    json!({"role": role, "parts": parts})
}

fn part(content: &Content) -> Value {
    match content {
        Content::Image { data, mime_type } => inline(mime_type, data),
        content => json!({"text": content.as_text().unwrap_or_default()}),
    }
}

fn inline(mime_type: &str, data: &str) -> Value {
    json!({"inlineData": {"mimeType": mime_type, "data": data}})
}

fn response(model: &Profile, result: ResultShown<'_>) -> Value {
    let is_image = |content: &&Content| matches!(content, Content::Image { .. });
    let images: Vec<_> = result.content.iter().filter(is_image).map(part).collect();
    let texts = result.content.iter().filter(|content| !is_image(content));
    let texts: Vec<_> = texts.cloned().collect();
    let key = if result.is_error { "error" } else { "result" };
    let mut response = json!({"name": result.name, "response": {key: only_text(&texts)}});
    if !images.is_empty() {
        response["parts"] = images.into();
    }
    if has_call_ids(&model.name) && !result.id.is_empty() {
        response["id"] = model.call_id(result.id).into();
    }
    json!({"functionResponse": response})
}

fn own_part(model: &Profile, said: Said<'_>) -> Value {
    match said {
        Said::Text { text, beside } => with(json!({"text": text}), beside),
        Said::Image {
            mime_type,
            data,
            beside,
        } => with(inline(mime_type, data), beside),
        Said::Item(item) => item.clone(),
        Said::Call { call, beside } => {
            let mut function = json!({"name": call.name, "args": call.arguments.into_value()});
            if has_call_ids(&model.name) && !call.id.is_empty() {
                function["id"] = model.call_id(&call.id).into();
            }
            let mut part = json!({"functionCall": function});
            // Models of version 3 refuse a call without a signature, and one that another model made has none.
            if beside.is_none() && is_version_3(&model.name) {
                part["thoughtSignature"] = NO_SIGNATURE.into();
            }
            with(part, beside)
        }
    }
}

/// Returns true if a model is of version 3 or later.
fn is_version_3(model: &str) -> bool {
    let name = model.strip_prefix("models/");
    let name = name.unwrap_or(model).to_lowercase();
    let version = name.strip_prefix("gemini-");
    version.is_some_and(|version| !version.starts_with(['1', '2']))
}

/// Returns true if a model takes the ids of calls.
fn has_call_ids(model: &str) -> bool {
    is_version_3(model)
        || ["claude-", "gpt-oss-"]
            .iter()
            .any(|start| model.starts_with(start))
}

/// Adds the fields of a request after the contents.
pub(crate) fn body(model: &Profile, parts: &RequestParts<'_>, body: &mut RequestBody) {
    if !parts.system.is_empty() {
        let texts = parts.system.iter();
        let texts: Vec<_> = texts.map(|text| json!({"text": text})).collect();
        body.field("systemInstruction", &json!({"parts": texts}));
    }
    if parts.tools.list().len() > 0 {
        let definitions = parts.tools.definitions();
        body.text(
            "tools",
            &format!("[{{\"functionDeclarations\":{definitions}}}]"),
        );
        if let Some(forced) = &parts.forced_call {
            let config = match forced {
                ForcedCall::None => json!({"mode": "NONE"}),
                ForcedCall::Any => json!({"mode": "ANY"}),
                // The API has no choice of one tool; a list of one name is the same.
                ForcedCall::Tool(name) => json!({"mode": "ANY", "allowedFunctionNames": [name]}),
            };
            body.field("toolConfig", &json!({"functionCallingConfig": config}));
        }
    }
    let mut config = model.generation_config.clone();
    if let Some(limit) = parts.output_limit {
        config.insert("maxOutputTokens".to_owned(), limit.into());
    }
    if !config.is_empty() {
        body.field("generationConfig", &config.into());
    }
}

/// Returns the configuration of every request.
pub(crate) fn settings(asked: Asked<'_>) -> Result<Map<String, Value>, Unsupported> {
    let mut config = Map::new();
    if let Some(temperature) = asked.temperature()? {
        config.insert("temperature".to_owned(), temperature);
    }
    let Some(effort) = asked.effort()? else {
        return Ok(config);
    };
    let takes_tokens = asked.facts.is_some_and(|facts| facts.budget);
    let thinking = match effort {
        ReasoningEffort::Off if takes_tokens => json!({"thinkingBudget": 0}),
        effort if takes_tokens => json!({"thinkingBudget": tokens(effort)}),
        ReasoningEffort::Off => return refused(REASONING, "its reasoning cannot be turned off"),
        ReasoningEffort::ExtraHigh | ReasoningEffort::Max => {
            return refused(REASONING, "Gemini's levels end at high");
        }
        effort => json!({"thinkingLevel": effort.name()}),
    };
    config.insert("thinkingConfig".to_owned(), thinking);
    Ok(config)
}
