//! Compares two JSON Schemas keyword by keyword.
//!
//! Each keyword is judged alone, by rules that a person can apply by hand. Another keyword may make up for a change that is called
//! breaking; proving that takes a normal form of schemas, and saves a reviewer one look.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use serde_json::{Map, Value, json};

use super::difference::{Report, Rule, pointer};

/// The number of references that are followed from one place.
const MAX_HOPS: usize = 16;

/// The schema that stands for `true` and for an absent one.
static ANY: LazyLock<Value> = LazyLock::new(|| json!({}));

type Keywords = Map<String, Value>;

/// Adds each difference between two schemas.
pub(super) fn compare(place: &str, old: &Value, new: &Value, report: &mut Report<'_>) {
    let found = report.differences.len();
    let mut comparison = Comparison {
        roots: [old, new],
        followed: BTreeSet::new(),
        report,
    };
    comparison.schemas(place, Some(old), Some(new));
    if report.differences.len() == found {
        // A schema is written in another way, such as a reference in place of its target.
        report.add_fields(place, old, new);
    }
}

struct Comparison<'a, 'b, 'c> {
    roots: [&'a Value; 2],
    /// The pairs of different references that were followed, so that recursive schemas end.
    followed: BTreeSet<[Option<&'a str>; 2]>,
    report: &'b mut Report<'c>,
}

impl<'a> Comparison<'a, '_, '_> {
    fn schemas(&mut self, place: &str, old: Option<&'a Value>, new: Option<&'a Value>) {
        let [mut old, mut new] = [old, new].map(|schema| match schema {
            None | Some(Value::Bool(true)) => &*ANY,
            Some(schema) => schema,
        });
        // Targets of equal references are compared below `$defs`.
        let references = [old, new].map(reference);
        if references[0] != references[1] {
            self.report.add(place, None, Some(old), Some(new));
            if !self.followed.insert(references) {
                return;
            }
            old = resolve(self.roots[0], old);
            new = resolve(self.roots[1], new);
        }
        if let (Value::Object(before), Value::Object(after)) = (old, new) {
            for key in before.keys().chain(after.keys()).collect::<BTreeSet<_>>() {
                self.keywords(&pointer(place, key), key, before, after);
            }
        } else if old != new {
            let rule = (*new == json!(false)).then_some(Rule::TypeNarrowed);
            self.report.add(place, rule, Some(old), Some(new));
        }
    }

    /// Compares the keyword `key` of two schemas.
    fn keywords(&mut self, place: &str, key: &str, before: &'a Keywords, after: &'a Keywords) {
        let old = before.get(key);
        let new = after.get(key);
        match key {
            "items" | "additionalProperties" | "unevaluatedProperties" => {
                self.schemas(place, old, new);
            }
            "properties" | "$defs" | "definitions" => {
                let is_refused = key == "properties" && is_closed(after);
                self.members(place, is_refused.then_some(Rule::ArgumentRemoved), old, new);
            }
            "anyOf" | "oneOf" if old.is_some() && new.is_some() => {
                self.members(place, Some(Rule::ValueRemoved), old, new);
            }
            "allOf" | "prefixItems" => self.members(place, None, old, new),
            _ => match (old, new, judge(key, before, after)) {
                (Some(old), Some(new), None) => self.report.add_fields(place, old, new),
                (_, _, rule) => self.report.add(place, rule, old, new),
            },
        }
    }

    /// Compares schemas by their names. `removed` judges one that is gone.
    fn members(
        &mut self,
        place: &str,
        removed: Option<Rule>,
        old: Option<&'a Value>,
        new: Option<&'a Value>,
    ) {
        let [before, after] = [old, new].map(members);
        for key in before.keys().chain(after.keys()).collect::<BTreeSet<_>>() {
            let place = pointer(place, key);
            match (before.get(key).copied(), after.get(key).copied()) {
                (Some(old), Some(new)) => self.schemas(&place, Some(old), Some(new)),
                (old, None) => self.report.add(&place, removed, old, None),
                (None, new) => self.report.add(&place, None, None, new),
            }
        }
    }
}

/// Returns the rule that calls the change of a keyword breaking.
fn judge(key: &str, before: &Keywords, after: &Keywords) -> Option<Rule> {
    let old = before.get(key);
    let new = after.get(key)?;
    let number = |value: Option<&Value>| value.and_then(Value::as_f64);
    match key {
        "required" => lacks(&list(old), &list(Some(new))).then_some(Rule::ArgumentRequired),
        "type" => {
            let types = list(Some(new));
            let is_accepted = list(old).iter().all(|old| {
                types.contains(old) || (**old == "integer" && types.contains(&&json!("number")))
            });
            (old.is_none() || !is_accepted).then_some(Rule::TypeNarrowed)
        }
        "enum" | "const" => {
            let [old, new] = [before, after].map(|schema| match schema.get("const") {
                None => list(schema.get("enum")),
                only => only.into_iter().collect(),
            });
            (old.is_empty() || lacks(&new, &old)).then_some(Rule::ValueRemoved)
        }
        "minimum" | "exclusiveMinimum" | "minLength" | "minItems" | "minProperties" => {
            (old.is_none() || number(Some(new)) > number(old)).then_some(Rule::BoundTightened)
        }
        "maximum" | "exclusiveMaximum" | "maxLength" | "maxItems" | "maxProperties" => {
            (old.is_none() || number(Some(new)) < number(old)).then_some(Rule::BoundTightened)
        }
        // These have no order, so that only a new one is judged.
        "pattern" | "multipleOf" | "uniqueItems" => old.is_none().then_some(Rule::BoundTightened),
        _ => None,
    }
}

fn lacks(list: &[&Value], values: &[&Value]) -> bool {
    values.iter().any(|it| !list.contains(it))
}

fn is_closed(schema: &Keywords) -> bool {
    let keywords = ["additionalProperties", "unevaluatedProperties"];
    keywords
        .iter()
        .any(|key| schema.get(*key) == Some(&json!(false)))
}

/// Returns the values of a list, or a single value.
fn list(value: Option<&Value>) -> Vec<&Value> {
    match value {
        Some(Value::Array(values)) => values.iter().collect(),
        only => only.into_iter().collect(),
    }
}

/// Returns the schemas of an object by their keys, and those of a list by the constant, the reference or the type that they begin with,
/// so that an inserted one changes no other.
fn members(value: Option<&Value>) -> BTreeMap<String, &Value> {
    if let Some(Value::Object(schemas)) = value {
        return schemas
            .iter()
            .map(|(key, schema)| (key.clone(), schema))
            .collect();
    }
    let mut members = BTreeMap::new();
    for (position, schema) in list(value).into_iter().enumerate() {
        let mut keys = ["const", "$ref", "type"].iter();
        let kind = keys.find_map(|key| schema.get(key)?.as_str());
        let name = kind.filter(|kind| !members.contains_key(*kind));
        members.insert(name.map_or(position.to_string(), str::to_owned), schema);
    }
    members
}

fn reference(schema: &Value) -> Option<&str> {
    schema.get("$ref").and_then(Value::as_str)
}

/// Returns the target of a local reference, or else the schema itself. Keywords beside the reference are left out.
fn resolve<'a>(root: &'a Value, mut schema: &'a Value) -> &'a Value {
    for _ in 0..MAX_HOPS {
        let pointer = reference(schema).and_then(|reference| reference.strip_prefix('#'));
        match pointer.and_then(|pointer| root.pointer(pointer)) {
            Some(target) => schema = target,
            None => break,
        }
    }
    schema
}
