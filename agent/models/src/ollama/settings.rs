//! The settings of answers in Ollama.

use agent::provider::ReasoningEffort;
use serde_json::{Map, Value};

use crate::settings::{Asked, PARALLEL_CALLS, REASONING, Unsupported};

/// Returns the fields of every request.
pub(crate) fn settings(asked: Asked<'_>) -> Result<Map<String, Value>, Unsupported> {
    if asked.generation.parallel_calls.is_some() {
        return Err(Unsupported::new(
            PARALLEL_CALLS,
            "Ollama has no field for it",
        ));
    }
    let mut fields = Map::from_iter([("model".to_owned(), asked.model.into())]);
    let thinking = match asked.generation.reasoning_effort {
        None => return Ok(fields),
        Some(ReasoningEffort::Off) => false.into(),
        Some(effort @ (ReasoningEffort::Minimal | ReasoningEffort::ExtraHigh)) => {
            let reason = format!("Ollama has no level {effort}");
            return Err(Unsupported::new(REASONING, reason));
        }
        Some(effort) => Value::from(effort.name()),
    };
    fields.insert("think".to_owned(), thinking);
    Ok(fields)
}

/// Returns the options of every request.
pub(crate) fn options(asked: Asked<'_>) -> Map<String, Value> {
    let temperature = asked.generation.temperature;
    let temperature = temperature.map(|temperature| ("temperature".to_owned(), temperature.into()));
    temperature.into_iter().collect()
}
