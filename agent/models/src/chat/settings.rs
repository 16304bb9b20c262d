//! The settings of answers in chat completions.

use agent::provider::{ReasoningEffort, ToolChoice};
use serde_json::{Map, Value, json};

use crate::service::{ForcedCalls, ReasoningField};
use crate::settings::{Asked, REASONING, TOOL_CHOICE, Unsupported};

/// Returns the fields of every request.
pub(crate) fn settings(asked: Asked<'_>) -> Result<Map<String, Value>, Unsupported> {
    let (service, generation) = (asked.service, asked.generation);
    asked.check_parallel_calls()?;
    let has_named_calls = !matches!(service.forced_calls, ForcedCalls::Any | ForcedCalls::Never);
    if matches!(generation.tool_choice, Some(ToolChoice::Tool(_))) && !has_named_calls {
        let reason = format!("{} forces no call of one tool", service.name);
        return Err(Unsupported::new(TOOL_CHOICE, reason));
    }
    let mut fields = asked.fields()?;
    fields.extend(reasoning(asked)?);
    Ok(fields)
}

fn reasoning(asked: Asked<'_>) -> Result<Map<String, Value>, Unsupported> {
    let Some(effort) = asked.effort()? else {
        return Ok(Map::new());
    };
    let service = asked.service;
    let Some(field) = service.reasoning else {
        let reason = format!("no field of {} is known for it", service.name);
        return Err(Unsupported::new(REASONING, reason));
    };
    let (level, is_off) = (effort.name(), effort == ReasoningEffort::Off);
    let is_known = |efforts: &Vec<String>| efforts.iter().any(|known| known == level);
    let has_own_levels = asked.facts.is_some_and(|facts| facts.efforts.is_some());
    if !is_off && !has_own_levels && !service.efforts.as_ref().is_none_or(is_known) {
        let reason = format!("{} has no level {level} of reasoning", service.name);
        return Err(Unsupported::new(REASONING, reason));
    }
    let level = if is_off { "none" } else { level };
    let has_switch = asked.facts.is_some_and(|facts| facts.off_field.is_some());
    let fields = match field {
        ReasoningField::Effort if is_off && has_switch => json!({"thinking": {"type": "disabled"}}),
        ReasoningField::Effort => json!({"reasoning_effort": level}),
        ReasoningField::Thinking if is_off => json!({"thinking": {"type": "disabled"}}),
        ReasoningField::Thinking => {
            json!({"thinking": {"type": "enabled"}, "reasoning_effort": level})
        }
        ReasoningField::Object => json!({"reasoning": {"effort": level}}),
        ReasoningField::Enabled if is_off => json!({"reasoning": {"enabled": false}}),
        ReasoningField::Enabled => {
            json!({"reasoning": {"enabled": true}, "reasoning_effort": level})
        }
    };
    Ok(match fields {
        Value::Object(fields) => fields,
        _ => Map::new(),
    })
}
