//! [`Normal`]: a schema in a form that does not depend on how it is written.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};
use tools::protocol::canonical_json;

/// Keywords with a text for the reader, which judge nothing.
pub(super) const TEXTS: [&str; 6] = [
    "description",
    "title",
    "examples",
    "deprecated",
    "$comment",
    DOCUMENTED,
];
/// The texts of the alternatives that are joined to one list of values or types. Not a keyword of JSON Schema.
pub(super) const DOCUMENTED: &str = "$documented";
/// The dialects whose keywords the normal form knows, by a part of their address.
const DIALECTS: [&str; 3] = ["draft/2020-12", "draft/2019-09", "draft-07"];
/// Keywords that change the meaning of references or of the keywords around them.
const OPAQUE: [&str; 4] = [
    "$dynamicRef",
    "$recursiveRef",
    "unevaluatedProperties",
    "unevaluatedItems",
];
/// Keywords that have a meaning only together.
const GROUPS: [&[&str]; 4] = [
    &["properties", "patternProperties", "additionalProperties"],
    &["prefixItems", "items", "additionalItems"],
    &["contains", "minContains", "maxContains"],
    &["if", "then", "else"],
];
const TYPES: [&str; 6] = ["array", "boolean", "null", "number", "object", "string"];
/// The number of references that are replaced by their targets. The others remain, as those of a recursive schema do.
const MAX_INLINED: usize = 1000;

/// A schema in normal form. Schemas with equal normal forms accept the same values.
///
/// References that are not recursive are replaced by their targets. An `allOf` is merged where that keeps its meaning, and lists
/// without an order are sorted.
#[derive(Debug, PartialEq)]
pub(super) struct Normal {
    pub(super) schema: Value,
    /// The targets of the references that remain, by their JSON pointers, without texts.
    pub(super) targets: BTreeMap<String, Value>,
}

impl Normal {
    /// Returns `None` if the schema has a dialect, a keyword or a reference without a normal form.
    pub(super) fn new(root: &Value) -> Option<Self> {
        let dialect = root.get("$schema").and_then(Value::as_str);
        let is_known =
            dialect.is_none_or(|dialect| DIALECTS.iter().any(|known| dialect.contains(known)));
        let is_root_plain = root.as_object().is_none_or(|root| {
            root.iter()
                .all(|(key, part)| !OPAQUE.contains(&key.as_str()) && is_plain(part))
        });
        if !is_known
            || !is_root_plain
            || !references(root)
                .iter()
                .all(|reference| target(root, reference).is_some())
        {
            return None;
        }
        let mut reader = Reader {
            root,
            ignores_beside: dialect.is_some_and(|dialect| dialect.contains("draft-07")),
            open: vec!["#"],
            inlined: 0,
            remaining: BTreeSet::new(),
            is_target: false,
        };
        let schema = reader.schema(root);
        reader.is_target = true;
        let mut targets = BTreeMap::new();
        while let Some(reference) = reader.remaining.pop_first() {
            if !targets.contains_key(&reference[1..]) {
                let target = target(root, reference).map(|target| reader.schema(target));
                targets.insert(reference[1..].to_owned(), target.unwrap_or_default());
            }
        }
        Some(Self { schema, targets })
    }
}

/// Returns true if no part of the schema has an opaque keyword, or an identity or a dialect of its own.
fn is_plain(schema: &Value) -> bool {
    match schema {
        Value::Object(keywords) => keywords.iter().all(|(key, value)| {
            let is_own = matches!(key.as_str(), "$id" | "$schema") && value.is_string();
            !is_own && !OPAQUE.contains(&key.as_str()) && is_plain(value)
        }),
        Value::Array(parts) => parts.iter().all(is_plain),
        _ => true,
    }
}

fn references(schema: &Value) -> Vec<&str> {
    match schema {
        Value::Object(keywords) => {
            let own = keywords.get("$ref").and_then(Value::as_str);
            own.into_iter()
                .chain(keywords.values().flat_map(references))
                .collect()
        }
        Value::Array(parts) => parts.iter().flat_map(references).collect(),
        _ => Vec::new(),
    }
}

/// Returns the target of a JSON pointer. Returns `None` for other references.
fn target<'a>(root: &'a Value, reference: &str) -> Option<&'a Value> {
    root.pointer(
        reference
            .strip_prefix('#')
            .filter(|pointer| !pointer.contains('%'))?,
    )
}

struct Reader<'a> {
    root: &'a Value,
    /// True if the dialect ignores the keywords beside a reference.
    ignores_beside: bool,
    /// The references that are being replaced by their targets.
    open: Vec<&'a str>,
    inlined: usize,
    /// The references that remain.
    remaining: BTreeSet<&'a str>,
    /// True while the target of a reference is read that remains: its references remain too, and texts are left out.
    is_target: bool,
}

impl<'a> Reader<'a> {
    fn schema(&mut self, schema: &'a Value) -> Value {
        let Value::Object(keywords) = schema else {
            return if *schema == Value::Bool(true) {
                json!({})
            } else {
                schema.clone()
            };
        };
        let mut normal = Map::new();
        let mut joined = Vec::new();
        let ignores_beside = self.ignores_beside && keywords.contains_key("$ref");
        for (key, value) in keywords {
            let is_text = TEXTS.contains(&key.as_str());
            if (is_text && self.is_target) || (ignores_beside && !is_text && key != "$ref") {
                continue;
            }
            let value = match (key.as_str(), value) {
                ("$schema" | "$id" | "$defs" | "definitions", _) => continue,
                ("$ref", Value::String(reference)) => {
                    joined.push(self.reference(reference));
                    continue;
                }
                ("allOf", Value::Array(parts)) => {
                    joined.extend(parts.iter().map(|part| self.schema(part)));
                    continue;
                }
                ("anyOf" | "oneOf", Value::Array(parts)) => {
                    let parts: Vec<_> = parts.iter().map(|part| self.schema(part)).collect();
                    let only = || (parts.len() == 1).then(|| parts[0].clone());
                    match listed(key, &parts).or_else(only) {
                        Some(one) => {
                            joined.push(one);
                            continue;
                        }
                        None => parts.into(),
                    }
                }
                ("const", value) => {
                    joined.push(json!({"enum": set([value])}));
                    continue;
                }
                ("enum" | "required", Value::Array(values)) => set(values),
                ("type", Value::String(kind)) => types([kind.as_str()].into()),
                ("type", Value::Array(kinds)) => {
                    types(kinds.iter().filter_map(Value::as_str).collect())
                }
                (
                    "properties" | "patternProperties" | "dependentSchemas" | "dependencies",
                    Value::Object(parts),
                ) => parts
                    .iter()
                    .map(|(key, part)| (key.clone(), self.schema(part)))
                    .collect(),
                ("prefixItems" | "items", Value::Array(parts)) => {
                    parts.iter().map(|part| self.schema(part)).collect()
                }
                (
                    "items"
                    | "additionalItems"
                    | "additionalProperties"
                    | "propertyNames"
                    | "contains"
                    | "not"
                    | "if"
                    | "then"
                    | "else",
                    part,
                ) => self.schema(part),
                (_, value) => value.clone(),
            };
            if !accepts_all(key, &value) {
                normal.insert(key.clone(), value);
            }
        }
        let mut rest = Vec::new();
        for part in joined {
            rest.extend(merged(&mut normal, part));
        }
        if !rest.is_empty() {
            normal.insert("allOf".to_owned(), set(&rest));
        }
        keep_possible_values(&mut normal);
        normal.into()
    }

    fn reference(&mut self, reference: &'a str) -> Value {
        match target(self.root, reference) {
            Some(target)
                if !self.is_target
                    && !self.open.contains(&reference)
                    && self.inlined < MAX_INLINED =>
            {
                self.inlined += 1;
                self.open.push(reference);
                let normal = self.schema(target);
                self.open.pop();
                normal
            }
            _ => {
                self.remaining.insert(reference);
                json!({"$ref": reference})
            }
        }
    }
}

/// Returns true if the keyword judges nothing.
fn accepts_all(key: &str, value: &Value) -> bool {
    match key {
        "properties" | "required" => {
            value.as_object().is_some_and(Map::is_empty) || *value == json!([])
        }
        "items" | "additionalProperties" => *value == json!({}),
        "type" => *value == json!(TYPES),
        _ => false,
    }
}

/// Merges a schema into another that holds as well. Returns the parts that cannot be merged without another meaning.
fn merged(into: &mut Map<String, Value>, part: Value) -> Vec<Value> {
    let Value::Object(mut part) = part else {
        return vec![part];
    };
    let mut rest = match part.remove("allOf") {
        Some(Value::Array(parts)) => parts,
        _ => Vec::new(),
    };
    let is_free = |(key, value): (&String, &Value)| {
        let is_joined = key == "required" || key == "properties" || TEXTS.contains(&key.as_str());
        is_joined || into.get(key).is_none_or(|held| held == value)
    };
    if !part.iter().all(is_free)
        || !GROUPS
            .iter()
            .all(|group| are_independent(into, &part, group))
    {
        rest.push(part.into());
        return rest;
    }
    for (key, value) in part {
        match (key.as_str(), into.get_mut(&key), value) {
            ("required", Some(Value::Array(held)), Value::Array(more)) => {
                *held = values(held.iter().chain(&more))
            }
            ("properties", Some(Value::Object(held)), Value::Object(more)) => held.extend(more),
            (_, None, value) => drop(into.insert(key, value)),
            _ => {}
        }
    }
    rest
}

/// Returns true if the keywords of a group keep their meaning beside those of the other schema.
fn are_independent(a: &Map<String, Value>, b: &Map<String, Value>, group: &[&str]) -> bool {
    let [in_a, in_b] = [a, b].map(|schema| {
        group
            .iter()
            .copied()
            .filter(|key| schema.contains_key(*key))
            .collect::<Vec<_>>()
    });
    if in_a.is_empty() || in_b.is_empty() {
        return true;
    }
    let [Some(Value::Object(a)), Some(Value::Object(b))] =
        [a, b].map(|schema| schema.get("properties"))
    else {
        return false;
    };
    in_a == ["properties"]
        && in_b == ["properties"]
        && a.iter().all(|(key, a)| b.get(key).is_none_or(|b| a == b))
}

/// Returns the schema without alternatives that accepts the same values, if each alternative does nothing but list values or types.
fn listed(key: &str, parts: &[Value]) -> Option<Value> {
    let judged = |part: &Value| -> Option<Map<String, Value>> {
        let judging = part
            .as_object()?
            .iter()
            .filter(|(key, _)| !TEXTS.contains(&key.as_str()));
        Some(
            judging
                .map(|(key, value)| (key.clone(), value.clone()))
                .collect(),
        )
    };
    let judged: Vec<_> = parts.iter().map(judged).collect::<Option<_>>()?;
    let only =
        |part: &Map<String, Value>, key: &str| part.get(key).filter(|_| part.len() == 1).cloned();
    let values_or_null = |part: &Map<String, Value>| {
        let null = || {
            only(part, "type")
                .filter(|kind| *kind == "null")
                .map(|_| json!([null]))
        };
        only(part, "enum").or_else(null)
    };
    let is_enum = judged.iter().any(|part| part.contains_key("enum"));
    let lists: Vec<_> = if is_enum {
        judged.iter().map(values_or_null).collect::<Option<_>>()?
    } else {
        judged
            .iter()
            .map(|part| only(part, "type"))
            .collect::<Option<_>>()?
    };
    let all: Vec<Value> = lists
        .into_iter()
        .flat_map(|list| match list {
            Value::Array(values) => values,
            only => vec![only],
        })
        .collect();
    let together = if is_enum {
        set(&all)
    } else {
        types(all.iter().filter_map(Value::as_str).collect())
    };
    // A value that two alternatives accept is refused by `oneOf`.
    let count = together.as_array().map_or(1, Vec::len);
    if key == "oneOf" && count < all.len() {
        return None;
    }
    let texts = parts
        .iter()
        .filter(|part| part.as_object().is_some_and(|part| part.len() > 1));
    let texts = values(texts);
    let mut listed = json!({if is_enum { "enum" } else { "type" }: together});
    if !texts.is_empty() {
        listed[DOCUMENTED] = texts.into();
    }
    Some(listed)
}

/// Removes listed values of other types. The type is then known from the values.
fn keep_possible_values(schema: &mut Map<String, Value>) {
    let Some(kinds) = schema.get("type").cloned() else {
        return;
    };
    let Some(Value::Array(values)) = schema.get_mut("enum") else {
        return;
    };
    let kinds: Vec<_> = match &kinds {
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).collect(),
        only => only.as_str().into_iter().collect(),
    };
    values.retain(|value| {
        kinds.contains(&type_of(value)) || (value.is_number() && kinds.contains(&"number"))
    });
    schema.remove("type");
}

/// Returns a value as a set: sorted and without duplicates. Equal numbers have one form.
fn set<'a>(list: impl IntoIterator<Item = &'a Value>) -> Value {
    values(list).into()
}

fn values<'a>(list: impl IntoIterator<Item = &'a Value>) -> Vec<Value> {
    let texts: BTreeSet<String> = list.into_iter().map(canonical_json).collect();
    texts
        .iter()
        .filter_map(|text| serde_json::from_str(text).ok())
        .collect()
}

/// Returns the value of `type` for these types.
fn types(mut kinds: BTreeSet<&str>) -> Value {
    if kinds.contains("number") {
        kinds.remove("integer");
    }
    match Vec::from_iter(kinds).as_slice() {
        [only] => json!(only),
        several => json!(several),
    }
}

/// Returns the most specific type of a value.
pub(super) fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.as_f64().is_some_and(|number| number.fract() != 0.0) => {
            "number"
        }
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}
