//! Compares two schemas of parameters.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use super::difference::Change;

/// Keywords with a text for the reader.
const TEXTS: [&str; 5] = ["description", "title", "examples", "deprecated", "$comment"];
/// Keywords that are compared in their own way, or with the references to them.
const HANDLED: [&str; 8] = ["type", "enum", "const", "properties", "required", "$ref", "$defs", "definitions"];
/// Keywords with one schema for values inside.
const NESTED: [&str; 2] = ["items", "additionalProperties"];
/// Keywords with a list of schemas.
const LISTS: [&str; 4] = ["anyOf", "oneOf", "allOf", "prefixItems"];

/// Reports each difference between two schemas with its place, a JSON pointer that begins with `place`.
pub(super) fn compare(place: &str, old: &Value, new: &Value, add: &mut impl FnMut(&str, Change)) {
    Comparison { old, new, open: Vec::new(), add }.schemas(place, old, new);
}

/// Escapes a segment of a JSON pointer.
pub(super) fn escaped(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

/// The keywords of a schema, together with those of the schema that it refers to.
type Keywords<'a> = BTreeMap<&'a str, &'a Value>;

struct Comparison<'a, F> {
    old: &'a Value,
    new: &'a Value,
    /// The pairs of references that are being followed: a recursive schema ends at one of them.
    open: Vec<[Option<&'a str>; 2]>,
    add: &'a mut F,
}

impl<'a, F: FnMut(&str, Change)> Comparison<'a, F> {
    fn schemas(&mut self, place: &str, old: &'a Value, new: &'a Value) {
        let references = [old, new].map(reference);
        if references != [None, None] && self.open.contains(&references) {
            return;
        }
        match (keywords(old, self.old), keywords(new, self.new)) {
            (Some(before), Some(after)) => {
                self.open.push(references);
                self.keywords(place, &before, &after);
                self.open.pop();
            }
            _ if old != new => (self.add)(place, changed(Some(old), Some(new))),
            _ => {}
        }
    }

    fn keywords(&mut self, place: &str, old: &Keywords<'a>, new: &Keywords<'a>) {
        self.types(place, old, new);
        self.properties(place, old, new);
        let is_listed = self.values(place, old, new);
        for key in old.keys().chain(new.keys()).copied().collect::<BTreeSet<_>>() {
            let place = format!("{place}/{}", escaped(key));
            let is_alternative = matches!(key, "anyOf" | "oneOf");
            match (old.get(key).copied(), new.get(key).copied()) {
                _ if HANDLED.contains(&key) || (is_alternative && is_listed) => {}
                (Some(old @ Value::Object(_)), Some(new @ Value::Object(_))) if NESTED.contains(&key) => {
                    self.schemas(&place, old, new);
                }
                (Some(Value::Array(old)), Some(Value::Array(new)))
                    if LISTS.contains(&key) && old.len() == new.len() =>
                {
                    for (position, (old, new)) in old.iter().zip(new).enumerate() {
                        self.schemas(&format!("{place}/{position}"), old, new);
                    }
                }
                (old, new) if old == new => {}
                _ if TEXTS.contains(&key) => (self.add)(&place, Change::TextChanged),
                (old, new) => (self.add)(&place, changed(old, new)),
            }
        }
    }

    fn types(&mut self, place: &str, old: &Keywords<'a>, new: &Keywords<'a>) {
        let (before, after) = (types(old, self.old), types(new, self.new));
        if before == after {
            return;
        }
        let accepts = |kind: &&str| match &after {
            None => true,
            Some(after) => after.contains(kind) || (*kind == "integer" && after.contains("number")),
        };
        let is_wider = after.is_none() || before.as_ref().is_some_and(|before| before.iter().all(accepts));
        let shown = |types: Option<BTreeSet<&str>>| match types.map(Vec::from_iter).as_deref() {
            None => json!("any"),
            Some([only]) => json!(only),
            Some(several) => json!(several),
        };
        let (old, new) = (shown(before), shown(after));
        let change = if is_wider { Change::TypeWidened { old, new } } else { Change::TypeChanged { old, new } };
        (self.add)(&format!("{place}/type"), change);
    }

    fn properties(&mut self, place: &str, old: &Keywords<'a>, new: &Keywords<'a>) {
        let [before, after] = [old, new].map(|schema| schema.get("properties").and_then(|it| it.as_object()));
        let [was_required, is_required] = [old, new].map(required);
        let keys = before.into_iter().chain(after).flat_map(Map::keys).map(String::as_str);
        let keys: BTreeSet<&str> =
            keys.chain(was_required.iter().copied()).chain(is_required.iter().copied()).collect();
        for key in keys {
            let place = format!("{place}/properties/{}", escaped(key));
            let needed = (was_required.contains(key), is_required.contains(key));
            match (before.and_then(|it| it.get(key)), after.and_then(|it| it.get(key))) {
                (Some(_), None) => {
                    (self.add)(&place, Change::ParameterRemoved);
                    continue;
                }
                (None, Some(_)) if needed == (false, true) => {
                    (self.add)(&place, Change::RequiredParameterAdded);
                    continue;
                }
                (None, Some(_)) => (self.add)(&place, Change::OptionalParameterAdded),
                (Some(old), Some(new)) => self.schemas(&place, old, new),
                (None, None) => {}
            }
            match needed {
                (false, true) => (self.add)(&place, Change::ParameterRequired),
                (true, false) => (self.add)(&place, Change::ParameterOptional),
                _ => {}
            }
        }
    }

    /// Compares the listed values. Returns true if both schemas list values and differ in nothing but them and texts.
    fn values(&mut self, place: &str, old: &Keywords<'a>, new: &Keywords<'a>) -> bool {
        let place = format!("{place}/enum");
        let (before, after) = match (values(old, self.old), values(new, self.new)) {
            (Some(before), Some(after)) => (before, after),
            (None, Some(after)) => {
                (self.add)(&place, Change::ValuesLimited { new: json!(after) });
                return false;
            }
            (Some(before), None) => {
                (self.add)(&place, changed(Some(&json!(before)), None));
                return false;
            }
            (None, None) => return false,
        };
        let removed: Vec<_> = before.iter().filter(|value| !after.contains(value)).collect();
        let added: Vec<_> = after.iter().filter(|value| !before.contains(value)).collect();
        if removed.is_empty() && added.is_empty() && ["anyOf", "oneOf"].iter().any(|key| old.get(key) != new.get(key)) {
            (self.add)(&place, Change::TextChanged);
        }
        for value in removed {
            (self.add)(&place, Change::ValueRemoved { value: (*value).clone() });
        }
        for value in added {
            (self.add)(&place, Change::ValueAdded { value: (*value).clone() });
        }
        true
    }
}

fn changed(old: Option<&Value>, new: Option<&Value>) -> Change {
    Change::Changed { old: old.cloned(), new: new.cloned() }
}

fn reference(schema: &Value) -> Option<&str> {
    schema.get("$ref").and_then(Value::as_str)
}

/// Returns the keywords of a schema. Keywords beside a reference take precedence over those of its target. Returns `None` for a
/// boolean schema.
fn keywords<'a>(schema: &'a Value, root: &'a Value) -> Option<Keywords<'a>> {
    let mut found = Keywords::new();
    let mut next = Some(schema);
    let mut followed = BTreeSet::new();
    while let Some(schema) = next {
        for (key, value) in schema.as_object()? {
            found.entry(key).or_insert(value);
        }
        let reference = reference(schema).filter(|reference| followed.insert(*reference));
        next = reference.and_then(|reference| root.pointer(reference.strip_prefix('#')?));
    }
    Some(found)
}

fn required<'a>(schema: &Keywords<'a>) -> BTreeSet<&'a str> {
    schema.get("required").and_then(|it| it.as_array()).into_iter().flatten().filter_map(Value::as_str).collect()
}

/// Returns the types that a schema accepts. Returns `None` if it accepts all.
fn types<'a>(schema: &Keywords<'a>, root: &'a Value) -> Option<BTreeSet<&'a str>> {
    match schema.get("type") {
        Some(Value::String(only)) => Some([only.as_str()].into()),
        Some(Value::Array(several)) => Some(several.iter().filter_map(Value::as_str).collect()),
        _ => match values(schema, root) {
            Some(values) => Some(values.into_iter().map(type_of).collect()),
            None => Some(alternatives(schema, root, types)?.into_iter().flatten().collect()),
        },
    }
}

/// Returns the listed values of an `enum` or `const`, or of alternatives that list values. Returns `None` if values are not listed.
fn values<'a>(schema: &Keywords<'a>, root: &'a Value) -> Option<Vec<&'a Value>> {
    match (schema.get("enum"), schema.get("const")) {
        (Some(Value::Array(values)), _) => Some(values.iter().collect()),
        (_, Some(value)) => Some(vec![value]),
        _ => {
            let listed = alternatives(schema, root, values_or_null)?;
            listed.iter().any(|(_, lists)| *lists).then(|| listed.into_iter().flat_map(|(values, _)| values).collect())
        }
    }
}

/// Returns the values of an alternative, and true if it lists them. The type `null` stands for its value.
fn values_or_null<'a>(schema: &Keywords<'a>, root: &'a Value) -> Option<(Vec<&'a Value>, bool)> {
    let listed = values(schema, root).map(|values| (values, true));
    let is_null = || schema.get("type").is_some_and(|kind| *kind == "null");
    listed.or_else(|| is_null().then(|| (vec![&Value::Null], false)))
}

/// Returns a fact about each alternative. Returns `None` if there are no alternatives, or the fact is not known about one.
fn alternatives<'a, T>(
    schema: &Keywords<'a>,
    root: &'a Value,
    fact: fn(&Keywords<'a>, &'a Value) -> Option<T>,
) -> Option<Vec<T>> {
    let alternatives = schema.get("anyOf").or_else(|| schema.get("oneOf"))?.as_array()?;
    // An alternative that refers to a schema with alternatives could refer to this one.
    let known = alternatives.iter().map(|alternative| {
        let keywords = keywords(alternative, root)?;
        let is_nested =
            reference(alternative).is_some() && ["anyOf", "oneOf"].iter().any(|key| keywords.contains_key(key));
        if is_nested { None } else { fact(&keywords, root) }
    });
    known.collect()
}

fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}
