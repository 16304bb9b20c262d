//! Converts typed `key=value` arguments to the JSON that a tool's schema expects.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use tools::protocol::canonical_json;
use tools::protocol::json::InvalidJson;
use tools::schema::AcceptedValues;
use tools::{Json, join};

use crate::parameter::is_required;

/// The most subschemas visited to find the schema of one argument, because references can be circular.
const MAX_VISITS: usize = 256;

/// An error for typed arguments that do not match a tool's schema.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ArgumentError {
    /// An argument was given twice.
    #[error(
        "the argument `{name}` is given twice; give it once, and write several values as a JSON array"
    )]
    Duplicate {
        /// The name of the argument.
        name: String,
    },
    /// A value does not match the type in the schema.
    #[error("the argument `{name}` cannot be {text:?}: it takes {expected}")]
    Mismatch {
        /// The name of the argument.
        name: String,
        /// The value, cut after 80 characters; `[secret]` if the schema marks it as secret.
        text: String,
        /// The expected type in words, with an example.
        expected: String,
    },
    /// The arguments are nested too deeply.
    #[error(transparent)]
    Json(#[from] InvalidJson),
}

/// Returns an arguments object built from these pairs, each value typed by the schema of its property:
///
/// - A string stays text even if it looks like a number.
/// - Integers, numbers, booleans, arrays, objects and null are parsed as JSON.
/// - If several types are allowed, a value that matches no other type is a string.
/// - A property that the schema does not describe is JSON if it parses, and text otherwise.
///
/// The object is not validated against the schema.
///
/// ```
/// use serde_json::json;
///
/// let schema = json!({"properties": {"path": {"type": "string"}, "lines": {"type": ["integer", "null"]}}});
/// let arguments = agent::arguments_from_pairs(&schema, [("path", "007"), ("lines", "3")])?;
/// assert_eq!(arguments, json!({"path": "007", "lines": 3}));
/// # Ok::<(), agent::ArgumentError>(())
/// ```
///
/// # Errors
/// Returns an [`ArgumentError`] for the first pair that is repeated or does not match.
pub fn arguments_from_pairs<K: AsRef<str>, V: AsRef<str>>(
    schema: &Value,
    pairs: impl IntoIterator<Item = (K, V)>,
) -> Result<Json, ArgumentError> {
    // Kept as JSON text, so that long integers keep all digits.
    let mut arguments = BTreeMap::new();
    for (name, text) in pairs {
        let name = name.as_ref();
        let text = text.as_ref();
        if arguments.contains_key(name) {
            return Err(ArgumentError::Duplicate {
                name: name.to_owned(),
            });
        }
        let property = property(schema, schema, name, &mut { MAX_VISITS }).unwrap_or(&Value::Null);
        let accepted = tools::schema::accepted_values(schema, property);
        let value = read(accepted.as_deref(), text).ok_or_else(|| ArgumentError::Mismatch {
            name: name.to_owned(),
            text: render_argument(schema, name, text),
            expected: describe_expected(schema, property, accepted.as_deref(), name),
        })?;
        arguments.insert(name.to_owned(), value);
    }
    let members = arguments
        .iter()
        .map(|(name, value)| format!("{}:{value}", json!(name)));
    Ok(Json::parse(format!("{{{}}}", join(members, ",")))?)
}

/// Returns the pairs from which [`arguments_from_pairs`] makes these arguments, the required ones first. Returns `None` if pairs
/// cannot express them, such as a key that contains `=`.
pub fn pairs_from_arguments(schema: &Value, arguments: &Value) -> Option<Vec<(String, String)>> {
    let text = |value: &Value| {
        value
            .as_str()
            .map_or_else(|| canonical_json(value), str::to_owned)
    };
    let mut pairs: Vec<_> = arguments
        .as_object()?
        .iter()
        .map(|(key, value)| (key.clone(), text(value)))
        .collect();
    pairs.sort_by_key(|(key, _)| (!is_required(schema, key), key.clone()));
    let mut keys = pairs.iter().map(|(key, _)| key);
    let are_keys = keys.all(|key| !key.is_empty() && !key.contains('='));
    let read = arguments_from_pairs(schema, pairs.iter().map(|(key, value)| (key, value))).ok()?;
    // Read back, because a typed text has several meanings: what a person copies has to mean the same.
    (are_keys && read == *arguments).then_some(pairs)
}

/// Returns the value for an error message: at most 80 characters, masked if the argument is secret.
fn render_argument(schema: &Value, name: &str, text: &str) -> String {
    let pair = json!({ name: text });
    let masked = tools::Secret::mask(schema, &pair);
    // An unreadable schema masks the whole object.
    masked
        .get(name)
        .unwrap_or(&masked)
        .as_str()
        .unwrap_or_default()
        .chars()
        .take(80)
        .collect()
}

/// Returns the argument as JSON text, or `None` if the schema does not accept it. `accepted` is `None` for any value.
fn read(accepted: Option<&[AcceptedValues<'_>]>, text: &str) -> Option<String> {
    let listed = accepted
        .into_iter()
        .flatten()
        .filter_map(|accepted| match accepted {
            AcceptedValues::Listed(values) => Some(values),
            AcceptedValues::Typed { .. } => None,
        });
    let mut listed = listed.flatten();
    let types = accepted.into_iter().flatten().filter_map(type_name);
    if let Ok(parsed) = Json::parse(text) {
        // Only the kind is looked at. The digits of the argument come from its text.
        let value = parsed.node().to_rounded_value();
        if let Some(literal) = listed
            .clone()
            .find(|literal| !literal.is_string() && is_same(literal, &value))
        {
            return Some(literal.to_string());
        }
        if accepted.is_none()
            || types
                .clone()
                .any(|name| name != "string" && has_type(&value, name))
        {
            return Some(text.to_owned());
        }
    }
    let is_text = accepted.is_none()
        || types.clone().any(|name| name == "string")
        || listed.any(|literal| literal.as_str() == Some(text));
    is_text.then(|| Value::from(text).to_string())
}

/// Returns the accepted values in words, with an example of an argument.
fn describe_expected(
    root: &Value,
    property: &Value,
    accepted: Option<&[AcceptedValues<'_>]>,
    name: &str,
) -> String {
    let mut text = tools::schema::describe_schema(root, property);
    let mut types = accepted.into_iter().flatten().filter_map(type_name);
    if let Some(example) = types.find_map(example_of) {
        text += &format!(", such as {name}={example}");
    }
    text
}

fn type_name<'a>(accepted: &AcceptedValues<'a>) -> Option<&'a str> {
    match accepted {
        AcceptedValues::Typed { name, .. } => Some(name),
        AcceptedValues::Listed(_) => None,
    }
}

/// Returns the schema of a property, resolving `$ref` and `allOf`. Returns `None` if the schema does not describe it.
fn property<'a>(
    root: &'a Value,
    schema: &'a Value,
    name: &str,
    visits: &mut usize,
) -> Option<&'a Value> {
    *visits = visits.checked_sub(1)?;
    let properties = schema.get("properties");
    if let Some(property) = properties.and_then(|properties| properties.get(name)) {
        return Some(property);
    }
    let parts = schema.get("allOf").and_then(Value::as_array);
    let parts = parts.into_iter().flatten();
    let mut elsewhere = resolve_ref(root, schema).into_iter().chain(parts);
    let additional = schema.get("additionalProperties");
    let additional = additional.filter(|additional| additional.is_object());
    elsewhere
        .find_map(|schema| property(root, schema, name, visits))
        .or(additional)
}

/// Returns the target of a local `$ref`. Returns `None` if there is none.
fn resolve_ref<'a>(root: &'a Value, schema: &'a Value) -> Option<&'a Value> {
    root.pointer(schema.get("$ref")?.as_str()?.strip_prefix('#')?)
}

/// Compares by the equality of JSON Schema, in which 1.0 equals 1.
fn is_same(a: &Value, b: &Value) -> bool {
    match (a.as_f64(), b.as_f64()) {
        (Some(x), Some(y)) if a.is_f64() || b.is_f64() => x == y,
        _ => a == b,
    }
}

fn has_type(value: &Value, name: &str) -> bool {
    match name {
        "integer" => value.as_f64().is_some_and(|number| number.fract() == 0.0),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        _ => false,
    }
}

fn example_of(name: &str) -> Option<&'static str> {
    match name {
        "integer" => Some("3"),
        "number" => Some("0.5"),
        "boolean" => Some("true"),
        "array" => Some(r#"'["a", "b"]'"#),
        "object" => Some(r#"'{"a": 1}'"#),
        _ => None,
    }
}
