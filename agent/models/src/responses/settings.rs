//! The settings of answers in the Responses API.

use serde_json::{Map, Value, json};

use crate::service::ReasoningField;
use crate::settings::{Asked, REASONING, Unsupported};

/// Returns the fields of every request.
pub(crate) fn settings(asked: Asked<'_>) -> Result<Map<String, Value>, Unsupported> {
    let service = asked.service;
    let is_known = matches!(
        service.reasoning,
        Some(ReasoningField::Effort | ReasoningField::Object)
    );
    asked.check_parallel_calls()?;
    let mut fields = asked.fields()?;
    // Turns are sent back whole, so that no conversation stays with the service.
    fields.insert("store".to_owned(), false.into());
    let sealed = json!(["reasoning.encrypted_content"]);
    fields.insert("include".to_owned(), sealed);
    if let Some(effort) = asked.effort()? {
        if !is_known {
            let reason = format!("no field of {} is known for it", service.name);
            return Err(Unsupported::new(REASONING, reason));
        }
        let level = match effort {
            agent::ReasoningEffort::Off => "none",
            effort => effort.name(),
        };
        fields.insert("reasoning".to_owned(), json!({"effort": level}));
    }
    Ok(fields)
}
