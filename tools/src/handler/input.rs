//! Arguments as a type of the handler's own.

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::{ToolContext, ToolError, Violation};

/// Arguments as a type. They have passed the schema, so a refusal means that the type is narrower than its schema says; the
/// model is told all the same.
pub(crate) fn deserialized<A: DeserializeOwned>(cx: &ToolContext, arguments: Value) -> Result<A, ToolError> {
    let read = if has_integral_float(&arguments) {
        // For JSON Schema 1.0 is an integer, for serde it is none. Only what fails as it is gets rewritten, because a
        // parameter that takes any value should see the one that was sent.
        A::deserialize(&arguments).or_else(|_| serde_json::from_value(with_integers(arguments)))
    } else {
        serde_json::from_value(arguments)
    };
    read.map_err(|error| {
        let violation = Violation {
            pointer: String::new(),
            expected: "arguments as the description says".to_owned(),
            found: error.to_string(),
            near: Vec::new(),
        };
        ToolError::invalid_arguments(cx, vec![violation])
    })
}

fn has_integral_float(value: &Value) -> bool {
    match value {
        Value::Number(number) => number.is_f64() && integer(number).is_some(),
        Value::Array(items) => items.iter().any(has_integral_float),
        Value::Object(members) => members.values().any(has_integral_float),
        _ => false,
    }
}

fn with_integers(value: Value) -> Value {
    match value {
        Value::Number(number) => integer(&number).unwrap_or(Value::Number(number)),
        Value::Array(items) => items.into_iter().map(with_integers).collect(),
        Value::Object(members) => members.into_iter().map(|(key, member)| (key, with_integers(member))).collect(),
        other => other,
    }
}

/// The same number as an integer of 64 bits, where it is one. Both bounds are powers of two, so they are exact as floats.
fn integer(number: &serde_json::Number) -> Option<Value> {
    const END: f64 = 18_446_744_073_709_551_616.0;
    let float = number.as_f64().filter(|float| float.fract() == 0.0)?;
    // `as` cannot round here: the ranges are checked, and there is no fraction.
    if (0.0..END).contains(&float) {
        Some(Value::from(float as u64))
    } else if (-END / 2.0..0.0).contains(&float) {
        Some(Value::from(float as i64))
    } else {
        None
    }
}
