//! The settings of answers in Gemini.

use agent::provider::ReasoningEffort;
use serde_json::{Map, Value, json};

use crate::anthropic::tokens;
use crate::settings::{Asked, PARALLEL_CALLS, REASONING, Unsupported};

/// Returns the configuration of every request.
pub(crate) fn settings(asked: Asked<'_>) -> Result<Map<String, Value>, Unsupported> {
    if asked.generation.parallel_calls == Some(false) {
        return Err(Unsupported::new(
            PARALLEL_CALLS,
            "Gemini cannot turn calls in parallel off",
        ));
    }
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
        ReasoningEffort::Off => {
            return Err(Unsupported::new(
                REASONING,
                "its reasoning cannot be turned off",
            ));
        }
        ReasoningEffort::ExtraHigh | ReasoningEffort::Max => {
            return Err(Unsupported::new(REASONING, "Gemini's levels end at high"));
        }
        effort => json!({"thinkingLevel": effort.name()}),
    };
    config.insert("thinkingConfig".to_owned(), thinking);
    Ok(config)
}
