//! Strict mode: which schemas have it, and the null that means absence.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::change::{Changes, Fidelity, Rule};
use super::dialect::SchemaLimits;
use super::keyword::{
    PLACE, for_each, has_type, is_any, members, replace_each, sort, strings, types,
};
use super::rule::set_types_of;
use super::unsendable::NotStrict;

/// Closes an object, and states the types of listed values.
pub(super) fn close(keywords: &mut Map<String, Value>, changes: &mut Changes) {
    let branches = keywords.get("anyOf").and_then(Value::as_array);
    if keywords.contains_key("properties")
        && branches.is_some_and(|branches| branches.iter().all(is_partial))
    {
        // The alternatives only say which properties are required together.
        keywords.remove("anyOf");
        changes.add_loosened(Rule::Keyword("anyOf".to_owned()));
    }
    if !keywords.contains_key("type") {
        let values = match (keywords.get("const"), keywords.get("enum")) {
            (Some(value), _) => vec![value.clone()],
            (None, Some(Value::Array(values))) => values.clone(),
            _ => Vec::new(),
        };
        if !values.is_empty() {
            set_types_of(keywords, &values);
        }
    }
    if has_type(keywords, "object") && !keywords.contains_key("additionalProperties") {
        keywords.insert("additionalProperties".to_owned(), false.into());
        changes.add(Rule::Closed, Fidelity::Narrowed);
    }
}

/// Returns true if an alternative only says which properties are required.
fn is_partial(branch: &Value) -> bool {
    branch.as_object().is_some_and(|branch| {
        branch
            .keys()
            .all(|keyword| matches!(&**keyword, PLACE | "required" | "type"))
    })
}

/// Returns the reason that the service would refuse a closed schema, or that its calls could not be read back. Schemas inside have
/// their own reasons. Pass the function that returns the target of a reference.
pub(super) fn reason<'d>(
    keywords: &Map<String, Value>,
    place: &str,
    target: impl Fn(&str) -> Option<&'d Value>,
) -> Option<NotStrict> {
    if keywords.contains_key("$ref") {
        return None;
    }
    let pointer = place.to_owned();
    let branches = keywords.get("anyOf").and_then(Value::as_array);
    if branches.is_none() && types(keywords).is_none() {
        return Some(NotStrict::AnyValue { pointer });
    }
    if keywords.contains_key("prefixItems") {
        return Some(NotStrict::Tuple { pointer });
    }
    if has_type(keywords, "array") && keywords.get("items").is_none_or(is_any) {
        return Some(NotStrict::AnyValue {
            pointer: format!("{place}/items"),
        });
    }
    // The codec could not tell which alternative a null belongs to.
    if branches.is_some()
        && count_containers(keywords, &target)
            .iter()
            .any(|count| *count > 1)
    {
        return Some(NotStrict::Union { pointer });
    }
    if !has_type(keywords, "object") && !keywords.contains_key("properties") {
        return None;
    }
    let properties = members(keywords, "properties");
    // A closed object without properties could only be empty, which no author of a free object means.
    let is_free = properties.is_none_or(Map::is_empty) && !place.is_empty();
    let is_closed = keywords.get("additionalProperties") == Some(&Value::Bool(false));
    if !is_closed || is_free || keywords.contains_key("patternProperties") {
        return Some(NotStrict::OpenObject { pointer });
    }
    let is_listed =
        |name: &&str| properties.is_some_and(|properties| properties.contains_key(*name));
    let unlisted = strings(keywords.get("required")).find(|name| !is_listed(name))?;
    Some(NotStrict::Unlisted {
        pointer,
        key: unlisted.to_owned(),
    })
}

/// Returns the number of objects and that of arrays among the alternatives of a rewritten schema. A reference of unknown type counts as
/// both.
fn count_containers<'d>(
    keywords: &Map<String, Value>,
    target: &dyn Fn(&str) -> Option<&'d Value>,
) -> [usize; 2] {
    let count =
        |types: Vec<&str>| ["object", "array"].map(|name| usize::from(types.contains(&name)));
    if let Some(reference) = keywords.get("$ref").and_then(Value::as_str) {
        let types = target(reference).and_then(Value::as_object).and_then(types);
        return types.map_or([1, 1], count);
    }
    let branches = keywords.get("anyOf").and_then(Value::as_array);
    branches
        .into_iter()
        .flatten()
        .filter_map(Value::as_object)
        .map(|branch| count_containers(branch, target))
        .fold(
            count(types(keywords).unwrap_or_default()),
            |[objects, arrays], [more_objects, more_arrays]| {
                [objects + more_objects, arrays + more_arrays]
            },
        )
}

/// Returns the limit that a rewritten schema exceeds, in words. Returns `None` if it fits.
pub(super) fn find_exceeded(root: &Value, limits: &SchemaLimits) -> Option<String> {
    let mut size = SchemaLimits {
        levels: 0,
        properties: 0,
        enum_values: 0,
        characters: 0,
    };
    add_size(root, 0, &mut size);
    [
        (size.levels, limits.levels, "nested objects"),
        (size.properties, limits.properties, "properties"),
        (size.enum_values, limits.enum_values, "values in enums"),
        (
            size.characters,
            limits.characters,
            "characters in keys and values of enums",
        ),
    ]
    .into_iter()
    .find(|(size, limit, _)| size > limit)
    .map(|(_, limit, name)| format!("has more than {limit} {name}"))
}

fn add_size(schema: &Value, level: usize, size: &mut SchemaLimits) {
    let Value::Object(keywords) = schema else {
        return;
    };
    let level = level + usize::from(has_type(keywords, "object"));
    size.levels = size.levels.max(level);
    let characters = |text: &str| text.chars().count();
    for keyword in ["properties", "$defs"] {
        let keys = members(keywords, keyword).into_iter().flat_map(Map::keys);
        size.characters += keys.map(|key| characters(key)).sum::<usize>();
    }
    size.properties += members(keywords, "properties").map_or(0, Map::len);
    let values = keywords
        .get("enum")
        .and_then(Value::as_array)
        .map_or(&[][..], Vec::as_slice);
    size.enum_values += values.len();
    let texts = values
        .iter()
        .chain(keywords.get("const"))
        .filter_map(Value::as_str);
    size.characters += texts.map(characters).sum::<usize>();
    // A definition is not nested in the root.
    for_each(keywords, |place, schema| {
        add_size(
            schema,
            if place.starts_with("/$defs/") {
                0
            } else {
                level
            },
            size,
        )
    });
}

/// Returns true if null matches a schema. `target` returns the target of a reference. Targets inside of targets are not searched.
pub(super) fn accepts_null<'d>(schema: &Value, target: &dyn Fn(&str) -> Option<&'d Value>) -> bool {
    let Value::Object(keywords) = schema else {
        return false;
    };
    if let Some(Value::String(reference)) = keywords.get("$ref") {
        return target(reference).is_some_and(|schema| accepts_null(schema, &|_| None));
    }
    let [values, branches] =
        ["enum", "anyOf"].map(|keyword| keywords.get(keyword).and_then(Value::as_array));
    types(keywords).is_none_or(|types| types.contains(&"null"))
        && keywords.get("const").is_none_or(Value::is_null)
        && values.is_none_or(|values| values.contains(&Value::Null))
        && branches
            .is_none_or(|branches| branches.iter().any(|branch| accepts_null(branch, target)))
}

/// Requires all properties of a strict schema, at any depth.
pub(super) fn require_all(mut schema: Value) -> Value {
    let Value::Object(keywords) = &mut schema else {
        return schema;
    };
    replace_each(keywords, |schema, _| require_all(schema));
    let Some(properties) = members(keywords, "properties") else {
        return schema;
    };
    let required: BTreeSet<_> = strings(keywords.get("required")).collect();
    let keys = sort(properties).map(|(key, _)| key.clone());
    let optional: Vec<_> = keys.filter(|key| !required.contains(&**key)).collect();
    if let Some(Value::Object(properties)) = keywords.get_mut("properties") {
        for key in &optional {
            if let Some(schema) = properties.get_mut(key) {
                *schema = nullable(std::mem::take(schema));
            }
        }
    }
    let required = keywords.entry("required").or_insert_with(|| json!([]));
    if let Value::Array(required) = required {
        required.extend(optional.into_iter().map(Value::from));
    }
    schema
}

/// Returns a schema for the values of a strict schema and null.
fn nullable(schema: Value) -> Value {
    if accepts_null(&schema, &|_| None) {
        return schema;
    }
    let Value::Object(mut keywords) = schema else {
        return schema;
    };
    let is_scalar = types(&keywords).is_some_and(|types| {
        types
            .iter()
            .all(|name| !matches!(*name, "object" | "array"))
    });
    let is_union = keywords
        .keys()
        .all(|keyword| matches!(&**keyword, "anyOf" | "description" | "title"));
    if is_union && let Some(Value::Array(branches)) = keywords.get_mut("anyOf") {
        branches.push(json!({"type": "null"}));
    } else if is_scalar && !keywords.contains_key("anyOf") {
        let mut types: Vec<_> = types(&keywords)
            .unwrap_or_default()
            .into_iter()
            .map(Value::from)
            .collect();
        types.retain(|name| name != "null");
        types.push("null".into());
        keywords.insert("type".to_owned(), types.into());
        if let Some(value) = keywords.remove("const") {
            // A `const` beside a null would refuse the null.
            keywords.insert("enum".to_owned(), json!([value]));
        }
        if let Some(Value::Array(values)) = keywords.get_mut("enum") {
            values.push(Value::Null);
        }
    } else {
        let description = keywords.remove("description");
        let mut outer = Map::from_iter([("anyOf".to_owned(), json!([keywords, {"type": "null"}]))]);
        outer.extend(description.map(|text| ("description".to_owned(), text)));
        return outer.into();
    }
    keywords.into()
}
