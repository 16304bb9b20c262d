//! Alternatives at the root become one list of properties.

use serde_json::{Map, Value, json};

use super::root;
use crate::wire::schema::change::Rule;
use crate::wire::schema::keyword::{members, strings, types};
use crate::wire::schema::merge::{both, is_any, is_equal};
use crate::wire::schema::rewriter::Rewriter;

pub(in crate::wire::schema) fn apply(keywords: &mut Map<String, Value>, rewriter: &mut Rewriter<'_>) {
    for keyword in ["anyOf", "oneOf"] {
        let Some(Value::Array(branches)) = keywords.remove(keyword) else { continue };
        rewriter.log.loosened(Rule::RootUnion);
        let mut objects = Vec::new();
        for branch in branches {
            let mut object = Map::new();
            rewriter.absorb(&mut object, &branch, true);
            let is_object = types(&object).is_none_or(|types| types.contains(&"object"));
            if branch != Value::Bool(false) && is_object {
                root::without_conditions(&mut object, &mut rewriter.log);
                apply(&mut object, rewriter);
                objects.push(object);
            }
        }
        add(keywords, &objects, rewriter.dialect.strict);
    }
}

fn add(keywords: &mut Map<String, Value>, objects: &[Map<String, Value>], is_strict: bool) {
    let refused = Value::Bool(false);
    let is_closed = |object: &Map<String, Value>| {
        let has_patterns = object.contains_key("patternProperties");
        object.get("additionalProperties").map_or(is_strict, |rest| rest == &refused) && !has_patterns
    };
    let mut union: Map<String, Value> = Map::new();
    let names: Vec<_> = objects.iter().filter_map(|object| members(object, "properties")).flat_map(Map::keys).collect();
    for name in names {
        if union.contains_key(name) {
            continue;
        }
        let mut schemas: Vec<&Value> = Vec::new();
        for object in objects {
            match members(object, "properties").and_then(|properties| properties.get(name)) {
                Some(schema) if !schemas.contains(&schema) => schemas.push(schema),
                // Another alternative may give the property any value. The model still sees what it usually is.
                None if !is_closed(object) && !schemas.contains(&&Value::Bool(true)) => {
                    schemas.push(&Value::Bool(true))
                }
                _ => {}
            }
        }
        union.insert(name.clone(), any_of(&schemas));
    }
    let has_patterns = keywords.contains_key("patternProperties");
    let is_base_closed = keywords.get("additionalProperties") == Some(&refused) && !has_patterns;
    let mut properties = members(keywords, "properties").cloned().unwrap_or_default();
    for (name, schema) in union {
        match properties.get(&name) {
            Some(own) => drop(properties.insert(name, both(own, &schema))),
            None if is_base_closed && keywords.contains_key("properties") => {}
            None => {
                let rest = keywords.get("additionalProperties").unwrap_or(&Value::Bool(true)).clone();
                properties.insert(name, both(&schema, &rest));
            }
        }
    }
    if !properties.is_empty() {
        keywords.insert("properties".to_owned(), Value::Object(properties));
    }
    let is_open = !keywords.contains_key("additionalProperties") && !has_patterns;
    if is_open && !objects.is_empty() && objects.iter().all(is_closed) {
        keywords.insert("additionalProperties".to_owned(), refused);
    }
    require_common(keywords, objects);
}

/// Requires the properties that all alternatives require.
fn require_common(keywords: &mut Map<String, Value>, objects: &[Map<String, Value>]) {
    let Some((first, others)) = objects.split_first() else { return };
    let mut required: Vec<_> = strings(keywords.get("required")).map(str::to_owned).collect();
    for name in strings(first.get("required")) {
        let is_common = others.iter().all(|object| strings(object.get("required")).any(|other| other == name));
        if is_common && !required.iter().any(|own| own == name) {
            required.push(name.to_owned());
        }
    }
    if !required.is_empty() {
        keywords.insert("required".to_owned(), required.into());
    }
}

/// Returns a schema for the values that match one of the schemas. Lists of values become one list.
fn any_of(schemas: &[&Value]) -> Value {
    let values = |schema: &&Value| -> Option<Vec<Value>> {
        let keywords = schema.as_object()?;
        let is_list = keywords.keys().all(|key| matches!(&**key, "const" | "enum" | "type" | "description" | "title"));
        let values = match (keywords.get("const"), keywords.get("enum")) {
            (Some(value), None) => vec![value.clone()],
            (None, Some(Value::Array(values))) => values.clone(),
            _ => return None,
        };
        let fits = values.iter().all(Value::is_string) && keywords.get("type").is_none_or(|kind| kind == "string");
        (is_list && fits).then_some(values)
    };
    match schemas {
        [one] => (*one).clone(),
        several => match several.iter().map(values).collect::<Option<Vec<_>>>() {
            Some(lists) => {
                let mut all: Vec<Value> = Vec::new();
                for value in lists.into_iter().flatten() {
                    if !all.iter().any(|own| is_equal(own, &value)) {
                        all.push(value);
                    }
                }
                json!({"type": "string", "enum": all})
            }
            None if several.iter().all(|schema| is_any(schema)) => Value::Bool(true),
            None => json!({"anyOf": several}),
        },
    }
}
