//! The settings of answers in messages.

use agent::provider::ReasoningEffort;
use serde_json::{Map, Value, json};

use crate::settings::{Asked, REASONING, Unsupported, refused};

/// The header's value for a request whose thoughts belong to another system text or other tools.
pub(crate) const BINDING_BETA: &str = "thinking-binding-controls-2026-08-01";

/// Returns the fields of every request.
pub(crate) fn settings(asked: Asked<'_>) -> Result<Map<String, Value>, Unsupported> {
    let mut fields = asked.fields()?;
    let facts = asked.facts;
    let takes_tokens = facts.is_some_and(|facts| facts.budget && facts.efforts.is_none());
    let effort = match asked.generation.reasoning_effort {
        Some(effort) if takes_tokens && effort != ReasoningEffort::Off => {
            let limit = asked.generation.max_output_tokens.map(u64::from);
            let limit = limit.unwrap_or(asked.output_limit);
            let budget = tokens(effort);
            // The service refuses each request then, so the provider is refused when it is created, with the name of the option.
            if u64::from(budget) >= limit {
                let reason = format!("its {budget} tokens are not below the output limit");
                return refused(REASONING, reason);
            }
            let thinking = json!({"type": "enabled", "budget_tokens": budget});
            fields.insert("thinking".to_owned(), thinking);
            return Ok(fields);
        }
        Some(ReasoningEffort::Minimal) => {
            return refused(REASONING, "Anthropic has no level minimal");
        }
        _ => asked.effort()?,
    };
    match effort {
        Some(ReasoningEffort::Off) => {
            let word = facts.and_then(|facts| facts.off_word.as_deref());
            let thinking = json!({"type": word.unwrap_or("disabled")});
            fields.insert("thinking".to_owned(), thinking);
        }
        Some(effort) => {
            if facts.is_none_or(|facts| facts.is_adaptive) {
                fields.insert("thinking".to_owned(), json!({"type": "adaptive"}));
            }
            fields.insert("output_config".to_owned(), json!({"effort": effort.name()}));
        }
        None => {}
    }
    if facts.is_some_and(|facts| facts.binds_context) {
        let thinking = fields.entry("thinking");
        let thinking = thinking.or_insert_with(|| json!({"type": "adaptive"}));
        if thinking["type"] == "adaptive" {
            thinking["block_binding"] = json!({"prefix_mismatch_behavior": "drop_block"});
        }
    }
    Ok(fields)
}

/// Returns a level of reasoning as a number of tokens.
pub(crate) fn tokens(effort: ReasoningEffort) -> u32 {
    match effort {
        ReasoningEffort::Minimal => 1024,
        ReasoningEffort::Low => 2048,
        ReasoningEffort::Medium => 8192,
        ReasoningEffort::High => 16_384,
        _ => 24_576,
    }
}
