//! The rules of a schema's dialect, checked without compiling it.

use std::panic::{AssertUnwindSafe, catch_unwind};

use serde_json::Value;

use super::budget::Inspection;
use super::pattern::Patterns;
use super::validator::{Validator, refused};
use super::SchemaError;

/// Checks a schema against the meta-schema of its dialect, and its regular expressions.
///
/// # Errors
/// Returns an error if the schema breaks a rule, or a regular expression cannot be used.
pub(super) fn check(schema: &Value, inspection: &Inspection) -> Result<(), SchemaError> {
    let count = inspection.pattern_count();
    Patterns::compile(&inspection.patterns, count)?;
    Patterns::compile(&inspection.name_patterns, count)?;
    if has_dialects_inside(schema) {
        // Each of them has rules of its own, and only compiling tells where they begin.
        return Validator::compile(schema, inspection).map(drop);
    }
    catch_unwind(AssertUnwindSafe(|| jsonschema::meta::validate(schema).map_err(refused)))
        .unwrap_or_else(|_| Err(SchemaError::Unsupported { reason: "its check panicked; simplify the schema".into() }))
}

/// Returns true if `$schema` occurs below the root.
fn has_dialects_inside(schema: &Value) -> bool {
    let mut pending: Vec<&Value> = schema.as_object().into_iter().flat_map(|keywords| keywords.values()).collect();
    while let Some(value) = pending.pop() {
        match value {
            Value::Array(items) => pending.extend(items),
            Value::Object(members) if members.contains_key("$schema") => return true,
            Value::Object(members) => pending.extend(members.values()),
            _ => {}
        }
    }
    false
}
