//! The rules by which the keywords of one schema are rewritten, before those of the schemas inside.

mod root_union;

use serde_json::{Map, Value, json};

use super::change::{Changes, Rule};
use super::dialect::{Dialect, Enums};
use super::keyword::{has_type, judges, replace_each, set_types, types};
use super::merge::is_closed;
use crate::word_list::has_word;

pub(super) use self::root_union::root_union;

/// Sets the type of the root, and removes listed values. Arguments are always an object, so the type is exact.
pub(super) fn root(keywords: &mut Map<String, Value>, changes: &mut Changes) {
    for keyword in ["const", "enum"] {
        if keywords.remove(keyword).is_some() {
            changes.add_loosened(Rule::Keyword(keyword.to_owned()));
        }
    }
    if keywords.insert("type".to_owned(), "object".into()) != Some("object".into()) {
        changes.exact(Rule::RootType);
    }
}

/// Replaces a `false` by a bound, or removes it.
pub(super) fn boolean(keywords: &mut Map<String, Value>, dialect: &Dialect, changes: &mut Changes) {
    if dialect.booleans {
        return;
    }
    let is_false = |schema: &Value| schema == &Value::Bool(false);
    let is_closed = is_closed(keywords);
    if let Some(Value::Object(properties)) = keywords.get_mut("properties")
        && properties.values().any(is_false)
    {
        properties.retain(|_, schema| !is_false(schema));
        // A closed object refuses a property without an entry.
        changes.exact_if(is_closed, Rule::Boolean);
    }
    if keywords.get("items").is_some_and(is_false) {
        keywords.remove("items");
        let count = keywords
            .get("prefixItems")
            .and_then(Value::as_array)
            .map_or(0, Vec::len) as u64;
        let most = keywords
            .get("maxItems")
            .and_then(Value::as_u64)
            .map_or(count, |own| own.min(count));
        // `items: false` refuses all behind the schemas per position.
        keywords.insert("maxItems".to_owned(), most.into());
        changes.exact(Rule::Boolean);
    }
    if let Some(Value::Array(branches)) = keywords.get_mut("anyOf")
        && branches.iter().any(is_false)
        && !branches.iter().all(is_false)
    {
        branches.retain(|branch| !is_false(branch));
        changes.exact(Rule::Boolean);
    }
    replace_each(keywords, |schema, at| match schema {
        Value::Bool(_) if at != "/additionalProperties" => {
            changes.add_loosened(Rule::Boolean);
            json!({})
        }
        schema => schema,
    });
}

/// Rewrites listed values. If properties have other keys on the wire, listed objects would not match.
pub(super) fn values(
    keywords: &mut Map<String, Value>,
    dialect: &Dialect,
    has_other_keys: bool,
    changes: &mut Changes,
) {
    let takes = |value: &Value| match dialect.enums {
        Enums::Any if !has_other_keys => true,
        Enums::Any | Enums::Scalars => !value.is_object() && !value.is_array(),
        Enums::TextsAndNumbers => value
            .as_str()
            .map_or(value.is_number(), |text| !text.is_empty()),
    };
    if let Some(value) = keywords.get("const").cloned()
        && (!dialect.takes("const") || !takes(&value))
    {
        keywords.remove("const");
        let replaces = keywords.insert("enum".to_owned(), json!([value])).is_some();
        changes.exact_if(!replaces, Rule::Constant);
    }
    let Some(Value::Array(values)) = keywords.get("enum") else {
        return;
    };
    // An empty list is refused too: https://github.com/elastic/kibana/pull/286302
    if !values.is_empty() && values.iter().all(takes) {
        return;
    }
    let values = values.clone();
    keywords.remove("enum");
    let (kept, others): (Vec<_>, Vec<_>) = values.iter().cloned().partition(takes);
    // Null, and any text instead of the empty one, may be an alternative beside listed ones.
    if !kept.is_empty()
        && others.iter().all(|value| value.is_null() || value == "")
        && !keywords.contains_key("anyOf")
    {
        return with_branches(keywords, kept, &others, changes);
    }
    changes.add_loosened(Rule::Enumeration);
    // The model still sees the types of the removed values.
    if !values.is_empty() && !keywords.contains_key("type") {
        set_types_of(keywords, &values);
    }
}

/// Lists values as one alternative, so that the model sees them. Each of `others` is another, if the type accepts it.
fn with_branches(
    keywords: &mut Map<String, Value>,
    kept: Vec<Value>,
    others: &[Value],
    changes: &mut Changes,
) {
    let mut listed = Map::from_iter([("enum".to_owned(), Value::Array(kept))]);
    let [or_text, or_null] = [("string", json!("")), ("null", Value::Null)].map(|(name, value)| {
        types(keywords).is_none_or(|types| types.contains(&name)) && others.contains(&value)
    });
    if let Some(types) = types(keywords) {
        let others: Vec<_> = types.into_iter().filter(|name| *name != "null").collect();
        if !others.is_empty() {
            set_types(&mut listed, others);
        }
    }
    keywords.remove("type");
    let mut branches = vec![Value::Object(listed)];
    branches.extend(or_text.then(|| json!({"type": "string"})));
    branches.extend(or_null.then(|| json!({"type": "null"})));
    keywords.insert("anyOf".to_owned(), Value::Array(branches));
    changes.exact_if(!or_text, Rule::Enumeration);
}

/// States the types of values.
pub(super) fn set_types_of(keywords: &mut Map<String, Value>, values: &[Value]) {
    let mut types: Vec<_> = values.iter().map(type_of).collect();
    types.sort_unstable();
    types.dedup();
    set_types(keywords, types);
}

fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// Turns bounds into those that the service takes.
pub(super) fn bounds(keywords: &mut Map<String, Value>, dialect: &Dialect, changes: &mut Changes) {
    for (exclusive, inclusive, step) in [
        ("exclusiveMinimum", "minimum", 1),
        ("exclusiveMaximum", "maximum", -1),
    ] {
        if dialect.takes(exclusive) || !dialect.takes(inclusive) || keywords.contains_key(inclusive)
        {
            continue;
        }
        let Some(bound) = keywords.remove(exclusive) else {
            continue;
        };
        // Between two integers lies no other value, so that the next one is an exact bound.
        let is_integer = types(keywords) == Some(vec!["integer"]);
        let next = bound
            .as_i64()
            .filter(|_| is_integer)
            .and_then(|bound| bound.checked_add(step));
        changes.exact_if(next.is_some(), Rule::Bound);
        keywords.insert(inclusive.to_owned(), next.map_or(bound, Value::from));
    }
    let Some(most) = dialect.strict.and_then(|rules| rules.min_items) else {
        return;
    };
    let Some(own) = keywords.get("minItems").and_then(Value::as_f64) else {
        return;
    };
    if types(keywords).is_some_and(|types| !types.contains(&"array")) {
        // Anthropic's SDK removes the keyword from schemas of other types, where it judges nothing.
        keywords.remove("minItems");
        changes.exact(Rule::MinItems);
    } else if own > most as f64 {
        keywords.insert("minItems".to_owned(), most.into());
        changes.add_loosened(Rule::MinItems);
    }
}

/// Removes keywords and regular expressions. If properties have other keys on the wire, so are those about the text of keys.
pub(super) fn removal(
    keywords: &mut Map<String, Value>,
    dialect: &Dialect,
    has_other_keys: bool,
    changes: &mut Changes,
) {
    let removed: Vec<_> = keywords
        .iter()
        .filter(|(keyword, value)| {
            !dialect.takes(keyword)
                || is_untaken_pattern(dialect, keyword, value)
                || (has_other_keys && is_about_keys(dialect, keyword, value))
        })
        .map(|(keyword, _)| keyword.clone())
        .collect();
    for keyword in removed {
        keywords.remove(&keyword);
        // It judges the properties that no pattern matches.
        if keyword == "patternProperties" {
            keywords.remove("additionalProperties");
        }
        changes.exact_if(!judges(&keyword), Rule::Keyword(keyword));
    }
    if let (Some(format), Some(known)) = (keywords.get("format"), dialect.formats)
        && !format
            .as_str()
            .is_some_and(|format| has_word(known, format))
    {
        keywords.remove("format");
        changes.add_loosened(Rule::Format);
    }
}

fn is_about_keys(dialect: &Dialect, keyword: &str, value: &Value) -> bool {
    match keyword {
        // In strict mode, patterns of keys stay: they are a reason against it.
        "patternProperties" => dialect.strict.is_none(),
        "propertyNames" => true,
        "default" | "examples" => value.is_object() || value.is_array(),
        _ => false,
    }
}

fn is_untaken_pattern(dialect: &Dialect, keyword: &str, value: &Value) -> bool {
    match (keyword, value) {
        ("pattern", Value::String(pattern)) => !dialect.patterns.takes(pattern),
        ("patternProperties", Value::Object(schemas)) => {
            let mut patterns = schemas.keys();
            dialect.strict.is_none() && !patterns.all(|pattern| dialect.patterns.takes(pattern))
        }
        _ => false,
    }
}

/// Adds `properties` to objects, and `items` to arrays.
pub(super) fn containers(
    keywords: &mut Map<String, Value>,
    dialect: &Dialect,
    changes: &mut Changes,
) {
    for (name, keyword, rule) in [
        ("object", "properties", Rule::Properties),
        ("array", "items", Rule::Items),
    ] {
        if dialect.containers && has_type(keywords, name) && !keywords.contains_key(keyword) {
            keywords.insert(keyword.to_owned(), json!({}));
            changes.exact(rule);
        }
    }
}
