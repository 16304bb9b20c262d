//! [`repair`]: a schema of a server without the keywords that cannot be used.

use serde_json::{Value, json};
use tools::schema::{SchemaError, ValueSchema, unescape};

/// The maximum number of keywords that are dropped from a schema.
const MAX_DROPPED: usize = 64;

/// Keywords that hold schemas by name, so an unusable one becomes a schema without rules.
pub(super) const NAMED: [&str; 5] = [
    "$defs",
    "definitions",
    "dependentSchemas",
    "patternProperties",
    "properties",
];

/// Keywords that hold a list of schemas.
const LISTS: [&str; 5] = ["allOf", "anyOf", "items", "oneOf", "prefixItems"];

/// Keywords that hold values, not schemas.
const VALUES: [&str; 5] = ["const", "default", "enum", "example", "examples"];

/// Returns a schema without the keywords that cannot be used, such as a pattern of another dialect, and the places of these. Returns
/// `None` if it cannot be used without them either.
pub(super) fn repair(mut schema: Value) -> Option<(Value, Vec<String>)> {
    let mut dropped = Vec::new();
    while dropped.len() <= MAX_DROPPED {
        let Err(error) = ValueSchema::new(schema.clone()) else {
            return Some((schema, dropped));
        };
        let before = dropped.len();
        match error {
            SchemaError::Invalid { pointer, .. } => dropped.extend(remove(&mut schema, &pointer)),
            SchemaError::UnknownDialect { .. } => {
                drop_each(&mut schema, "", &mut dropped, &|keyword, _| {
                    keyword == "$schema"
                })
            }
            SchemaError::Pattern { .. } => {
                drop_each(&mut schema, "", &mut dropped, &|keyword, value| {
                    keyword == "pattern" && ValueSchema::new(json!({ "pattern": value })).is_err()
                });
                drop_patterns_of_names(&mut schema, "", &mut dropped);
            }
            SchemaError::ExternalRef { .. } | SchemaError::UnresolvedRef { .. } => {
                let whole = schema.clone();
                drop_each(
                    &mut schema,
                    "",
                    &mut dropped,
                    &|keyword, value| match keyword {
                        "$id" => ValueSchema::new(json!({ "$id": value })).is_err(),
                        "$ref" | "$dynamicRef" | "$recursiveRef" => !is_resolved(&whole, value),
                        _ => false,
                    },
                );
            }
            SchemaError::EndlessRef { reference } => {
                let named = json!(reference.trim_matches('`'));
                drop_each(&mut schema, "", &mut dropped, &|keyword, value| {
                    keyword == "$ref" && *value == named
                });
                // The circle has no reference of its own.
                if dropped.len() == before {
                    drop_each(&mut schema, "", &mut dropped, &|keyword, _| {
                        keyword == "$ref"
                    });
                }
            }
            _ => return None,
        }
        if dropped.len() == before {
            return None;
        }
    }
    None
}

/// Drops each `enum` without values, which would permit none. Returns true if there is one.
pub(super) fn drop_empty_enums(schema: &mut Value) -> bool {
    let mut dropped = Vec::new();
    drop_each(schema, "", &mut dropped, &|keyword, value| {
        keyword == "enum" && *value == json!([])
    });
    !dropped.is_empty()
}

/// Returns true if a reference leads to a place of the same document.
fn is_resolved(schema: &Value, reference: &Value) -> bool {
    let pointer = reference
        .as_str()
        .and_then(|reference| reference.strip_prefix('#'));
    pointer.is_some_and(|pointer| schema.pointer(&unescape(pointer)).is_some())
}

/// Escapes the characters of references that no URI has, such as those of `#/$defs/Page[Item]`.
pub(super) fn escape_references(schema: &mut Value) {
    if let Some(Value::String(reference)) = schema.get_mut("$ref") {
        let escaped = reference.chars().map(|c| match c {
            _ if c.is_ascii_alphanumeric() || "-._~!$&'()*+,;=:@/?%#".contains(c) => c.to_string(),
            c => {
                let bytes = c.encode_utf8(&mut [0; 4]).bytes().collect::<Vec<_>>();
                bytes.iter().map(|byte| format!("%{byte:02X}")).collect()
            }
        });
        *reference = escaped.collect();
    }
    for (_, below) in below(schema, "") {
        escape_references(below);
    }
}

/// Removes the value at a pointer. Returns the pointer, or `None` if there is no such value.
fn remove(schema: &mut Value, pointer: &str) -> Option<String> {
    let (parent, name) = pointer.rsplit_once('/')?;
    let holder = parent.rsplit('/').next().unwrap_or_default();
    let is_named = NAMED.contains(&holder);
    let is_listed = LISTS.contains(&holder);
    let name = name.replace("~1", "/").replace("~0", "~");
    match schema.pointer_mut(parent)? {
        Value::Object(fields) if is_named => *fields.get_mut(&name)? = json!({}),
        Value::Object(fields) => drop(fields.remove(&name)?),
        Value::Array(items) => {
            let index: usize = name.parse().ok().filter(|index| *index < items.len())?;
            if is_listed {
                items[index] = json!({});
            } else {
                items.remove(index);
            }
        }
        _ => return None,
    }
    Some(pointer.to_owned())
}

/// Drops the keywords with a text or a list that are unusable.
fn drop_each(
    schema: &mut Value,
    place: &str,
    dropped: &mut Vec<String>,
    is_unusable: &dyn Fn(&str, &Value) -> bool,
) {
    if let Value::Object(fields) = schema {
        fields.retain(|keyword, value| {
            // A property can have the name of a keyword. Its value is a schema then, and no text or list.
            let is_name = !value.is_string() && !value.is_array();
            let stays = is_name || !is_unusable(keyword, value);
            if !stays {
                dropped.push(format!("{place}/{keyword}"));
            }
            stays
        });
    }
    for (place, below) in below(schema, place) {
        drop_each(below, &place, dropped, is_unusable);
    }
}

/// Drops the rules for names that match an unusable pattern.
fn drop_patterns_of_names(schema: &mut Value, place: &str, dropped: &mut Vec<String>) {
    if let Some(Value::Object(patterns)) = schema.get_mut("patternProperties") {
        patterns.retain(|pattern, _| {
            let stays = ValueSchema::new(json!({ "pattern": pattern })).is_ok();
            if !stays {
                dropped.push(format!("{place}/patternProperties"));
            }
            stays
        });
    }
    for (place, below) in below(schema, place) {
        drop_patterns_of_names(below, &place, dropped);
    }
}

/// Returns the values in a schema that may be schemas, with their places.
pub(super) fn below<'a>(schema: &'a mut Value, place: &str) -> Vec<(String, &'a mut Value)> {
    match schema {
        Value::Object(fields) => {
            let fields = fields
                .iter_mut()
                .filter(|(keyword, _)| !VALUES.contains(&keyword.as_str()));
            fields
                .map(|(keyword, value)| (format!("{place}/{keyword}"), value))
                .collect()
        }
        Value::Array(items) => items
            .iter_mut()
            .enumerate()
            .map(|(index, item)| (format!("{place}/{index}"), item))
            .collect(),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_keyword_that_cannot_be_used_is_dropped_and_the_others_stay() {
        let text = json!({"type": "string"});
        for (schema, place) in [
            (
                json!({"properties": {"to": {"type": "string", "pattern": r"^[\w-.]+@x$"}}}),
                "/properties/to/pattern",
            ),
            (
                json!({"properties": {"to": text}, "required": null}),
                "/required",
            ),
            (
                json!({"properties": {"to": text}, "required": "to"}),
                "/required",
            ),
            (
                json!({"properties": {"to": text}, "$schema": "https://example.org/mine"}),
                "/$schema",
            ),
            (
                json!({"properties": {"to": {"type": "string", "$ref": "https://example.org/x.json"}}}),
                "/properties/to/$ref",
            ),
            (
                json!({"properties": {"to": {"type": "string", "$ref": "#/$defs/none"}}}),
                "/properties/to/$ref",
            ),
            (
                json!({"properties": {"to": text}, "$id": "My Schema"}),
                "/$id",
            ),
            (
                json!({"properties": {"to": text}, "$id": "http://x/y z"}),
                "/$id",
            ),
            (
                json!({
                    "properties": {"to": text, "m": {"$ref": "#/$defs/a%20b"}, "n": {"$ref": "#/$defs/none"}},
                    "$defs": {"a b": {}},
                }),
                "/properties/n/$ref",
            ),
            (
                json!({"properties": {"to": text, "n": {"type": "int"}}}),
                "/properties/n/type",
            ),
            (
                json!({"properties": {"to": text, "n": {"minimum": 1, "exclusiveMinimum": true}}}),
                "/properties/n/exclusiveMinimum",
            ),
            (
                json!({"properties": {"to": text, "n": "number"}}),
                "/properties/n",
            ),
            (
                json!({"properties": {"to": text}, "allOf": [{"$ref": "#"}]}),
                "/allOf/0/$ref",
            ),
            (
                json!({"properties": {"to": text, "n": {"anyOf": [{"$ref": "#/properties/n/anyOf/0"}]}}}),
                "/properties/n/anyOf/0/$ref",
            ),
            (
                json!({"properties": {"to": text}, "patternProperties": {"[": {}}}),
                "/patternProperties",
            ),
        ] {
            assert!(ValueSchema::new(schema.clone()).is_err(), "{schema}");
            let (read, dropped) = repair(schema.clone()).unwrap_or_else(|| panic!("{schema}"));
            assert_eq!(dropped, [place], "{schema}");
            assert_eq!(read["properties"]["to"], text);
        }
    }

    #[test]
    fn several_faults_are_dropped_and_a_schema_over_budget_is_not_repaired() {
        let (read, dropped) = repair(json!({
            "properties": {"a": {"pattern": "["}, "b": {"pattern": "("}, "c": {"pattern": "^c$", "default": {"pattern": "["}}},
            "required": null, "$schema": "x:y",
        }))
        .unwrap();
        assert_eq!(
            (read["properties"]["c"]["pattern"].as_str(), dropped.len()),
            (Some("^c$"), 4)
        );
        let deep = (0..90).fold(json!({}), |below, _| json!({ "not": below }));
        assert!(repair(deep).is_none());
    }
}
