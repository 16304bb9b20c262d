//! Answers of a model that are JSON of a schema.

use tools::schema::ValueSchema;
use tools::{Json, join};

/// The most violations that a repair request lists.
const MAX_VIOLATIONS: usize = 20;

/// Returns the prompt with the request to answer with JSON of this schema.
pub(crate) fn bound_prompt(prompt: &str, schema: &ValueSchema) -> String {
    format!(
        "{prompt}\n\nAnswer with JSON alone that matches this JSON Schema:\n{}",
        schema.as_value()
    )
}

/// Returns the request to answer again, after an answer with this problem.
pub(crate) fn repair_prompt(problem: &str) -> String {
    format!(
        "Your answer does not match the schema:\n{problem}\nAnswer again with the corrected JSON alone."
    )
}

/// Returns the JSON of an answer, or its violations of the schema in words. A fence around the whole JSON is not part of it.
pub(crate) fn parse_answer(text: &str, schema: &ValueSchema) -> Result<Json, String> {
    // Models put a fence around JSON also where they are told to write JSON alone.
    let value = Json::parse(without_fence(text.trim()))
        .map_err(|error| format!("- it is not JSON: {error}"))?;
    schema.check(&value).map_err(|violations| {
        let lines = violations.iter().take(MAX_VIOLATIONS).map(|violation| {
            let place = match violation.pointer.as_str() {
                "" => "the whole answer",
                pointer => pointer,
            };
            let expected = &violation.expected;
            let found = &violation.found;
            format!("- at {place}: expected {expected}, found {found}")
        });
        join(lines, "\n")
    })?;
    Ok(value)
}

fn without_fence(text: &str) -> &str {
    let inner = text.strip_prefix("```");
    let inner = inner.and_then(|rest| rest.strip_suffix("```"));
    inner
        .and_then(|inner| inner.split_once('\n'))
        .map_or(text, |(_, body)| body.trim())
}
