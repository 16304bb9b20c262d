//! Arguments that a person types, `key=value`, as the JSON that a tool's schema asks for.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use tools::Json;
use tools::protocol::json::InvalidJson;

/// How many schemas are looked at to find the type of one argument: references can go in circles, and unions can branch.
const MAX_VISITS: usize = 256;

/// Why typed arguments do not fit a tool's schema.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ArgumentError {
    /// An argument that was given twice.
    #[error("the argument `{name}` is given twice; give it once, with a JSON array where several values are meant")]
    Duplicate {
        /// The argument.
        name: String,
    },
    /// A text that cannot be read as what the schema asks for.
    #[error("the argument `{name}` cannot be {text:?}: it takes {expected}")]
    Unfit {
        /// The argument.
        name: String,
        /// The text, cut after 80 characters; `[secret]` where it is one.
        text: String,
        /// What the schema asks for, with an example.
        expected: String,
    },
    /// Arguments that nest too deep.
    #[error(transparent)]
    Json(#[from] InvalidJson),
}

/// The arguments object of these pairs, each value typed by the property's schema.
///
/// A string stays text even when it looks like a number; integers, numbers, booleans, arrays, objects and null are read as
/// JSON. Where several types are allowed, text that is none of the others is a string. A property that the schema does not
/// know, or says nothing about, is JSON where it parses and text otherwise. The object is not validated.
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
/// [`ArgumentError`] for the first pair that is there twice or does not fit.
pub fn arguments_from_pairs<K: AsRef<str>, V: AsRef<str>>(
    schema: &Value,
    pairs: impl IntoIterator<Item = (K, V)>,
) -> Result<Json, ArgumentError> {
    // As texts, so that an integer of any length keeps its digits.
    let mut arguments = BTreeMap::new();
    for (name, text) in pairs {
        let (name, text) = (name.as_ref(), text.as_ref());
        if arguments.contains_key(name) {
            return Err(ArgumentError::Duplicate { name: name.to_owned() });
        }
        let accepted = Accepted::by_property(schema, name);
        let value = accepted.read(text).ok_or_else(|| ArgumentError::Unfit {
            name: name.to_owned(),
            text: shown(schema, name, text),
            expected: accepted.in_words(schema, name),
        })?;
        arguments.insert(name.to_owned(), value);
    }
    let members: Vec<_> = arguments.iter().map(|(name, value)| format!("{}:{value}", json!(name))).collect();
    Ok(Json::parse(format!("{{{}}}", members.join(",")))?)
}

/// The text of an argument as an error may show it, which is not at all where the argument is secret.
fn shown(schema: &Value, name: &str, text: &str) -> String {
    let pair = json!({ name: text });
    let masked = tools::Secret::masked(schema, &pair);
    // A schema that cannot be read hides the object as a whole.
    masked.get(name).unwrap_or(&masked).as_str().unwrap_or_default().chars().take(80).collect()
}

/// What a schema accepts, as far as it matters for reading text. Empty for a schema that does not say.
#[derive(Default)]
struct Accepted<'a> {
    types: Vec<&'a str>,
    /// The values of `enum` and `const`.
    literals: Vec<&'a Value>,
    /// A branch of a union that takes anything.
    anything: bool,
}

impl<'a> Accepted<'a> {
    fn by_property(schema: &'a Value, name: &str) -> Self {
        let mut accepted = Self::default();
        let mut visits = MAX_VISITS;
        match property(schema, schema, name, &mut visits) {
            Some(property) => accepted.add(schema, property, &mut visits),
            None => accepted.anything = true,
        }
        accepted
    }

    /// Adds what a schema inside of `root` accepts.
    fn add(&mut self, root: &'a Value, schema: &'a Value, visits: &mut usize) {
        if !visit(visits) {
            self.anything = true;
            return;
        }
        let list =
            |key: &str| schema.get(key).and_then(Value::as_array).map(Vec::as_slice).filter(|list| !list.is_empty());
        if let Some(value) = schema.get("const") {
            self.literals.push(value);
        } else if let Some(values) = list("enum") {
            self.literals.extend(values);
        } else if let Some(name) = schema.get("type").and_then(Value::as_str) {
            self.types.push(name);
        } else if let Some(names) = list("type") {
            self.types.extend(names.iter().filter_map(Value::as_str));
        } else if let Some(target) = referenced(root, schema) {
            self.add(root, target, visits);
        } else if let Some(branches) = list("anyOf").or_else(|| list("oneOf")) {
            branches.iter().for_each(|branch| self.add(root, branch, visits));
        } else if let Some(parts) = list("allOf") {
            self.add_all_of(root, parts, visits);
        } else if schema.get("properties").is_some() {
            self.types.push("object");
        } else if schema.get("items").is_some() {
            self.types.push("array");
        } else {
            self.anything = true;
        }
    }

    /// Of an intersection, the first part that says something: schemars wraps a described `$ref` in one.
    fn add_all_of(&mut self, root: &'a Value, parts: &'a [Value], visits: &mut usize) {
        let said = parts.iter().find_map(|part| {
            let mut accepted = Accepted::default();
            accepted.add(root, part, visits);
            (!accepted.anything).then_some(accepted)
        });
        match said {
            Some(said) => {
                self.types.extend(said.types);
                self.literals.extend(said.literals);
            }
            None => self.anything = true,
        }
    }

    /// Returns the argument as JSON text.
    fn read(&self, text: &str) -> Option<String> {
        if let Ok(parsed) = Json::parse(text) {
            let value = parsed.node().to_rounded_value();
            let is_listed = |literal: &&Value| !literal.is_string() && is_same(literal, &value);
            if let Some(literal) = self.literals.iter().find(|literal| is_listed(literal)) {
                return Some(literal.to_string());
            }
            if self.anything || self.types.iter().any(|name| *name != "string" && is_of(&value, name)) {
                return Some(text.to_owned());
            }
        }
        let as_text = || Value::from(text).to_string();
        let is_text = self.anything
            || self.types.contains(&"string")
            || self.literals.iter().any(|literal| literal.as_str() == Some(text));
        is_text.then(as_text)
    }

    fn in_words(&self, root: &Value, name: &str) -> String {
        let property = property(root, root, name, &mut { MAX_VISITS }).unwrap_or(&Value::Null);
        let example = self.types.iter().find_map(|name| example_of(name));
        let example = example.map(|example| format!(", such as {name}={example}")).unwrap_or_default();
        format!("{}{example}", tools::describe_schema(root, property))
    }
}

/// The schema of a property, through the `$ref`s and intersections of the schema that has it.
fn property<'a>(root: &'a Value, schema: &'a Value, name: &str, visits: &mut usize) -> Option<&'a Value> {
    if !visit(visits) {
        return None;
    }
    if let Some(property) = schema.get("properties").and_then(|properties| properties.get(name)) {
        return Some(property);
    }
    let parts = schema.get("allOf").and_then(Value::as_array).into_iter().flatten();
    let mut elsewhere = referenced(root, schema).into_iter().chain(parts);
    let additional = schema.get("additionalProperties").filter(|additional| additional.is_object());
    elsewhere.find_map(|schema| property(root, schema, name, visits)).or(additional)
}

fn visit(visits: &mut usize) -> bool {
    *visits = visits.saturating_sub(1);
    *visits > 0
}

/// The target of a `$ref` into the same document.
fn referenced<'a>(root: &'a Value, schema: &'a Value) -> Option<&'a Value> {
    root.pointer(schema.get("$ref")?.as_str()?.strip_prefix('#')?)
}

/// Equality as JSON Schema has it: 1.0 is 1.
fn is_same(a: &Value, b: &Value) -> bool {
    match (a.as_f64(), b.as_f64()) {
        (Some(x), Some(y)) if a.is_f64() || b.is_f64() => x == y,
        _ => a == b,
    }
}

fn is_of(value: &Value, name: &str) -> bool {
    match name {
        "integer" => value.is_i64() || value.is_u64() || value.as_f64().is_some_and(|number| number.fract() == 0.0),
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
