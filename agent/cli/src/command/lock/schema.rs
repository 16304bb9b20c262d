//! Compares two schemas.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::difference::{Compatibility, DefinitionChange};
use super::leaves::{escaped, leaves};
use super::normal::{DOCUMENTED, Normal, TEXTS, type_of};

/// Keywords that are compared in their own way.
const HANDLED: [&str; 4] = ["type", "enum", "properties", "required"];
/// Keywords with one schema for values inside.
const NESTED: [&str; 2] = ["items", "additionalProperties"];
/// Keywords with a list of schemas.
const LISTS: [&str; 4] = ["anyOf", "oneOf", "allOf", "prefixItems"];
/// Keywords that do not depend on each other. A schema with no others accepts some value of each of its types, so that a lost type or
/// property refuses a call.
const PLAIN: [&str; 16] = [
    "type",
    "enum",
    "properties",
    "required",
    "items",
    "additionalProperties",
    "default",
    "format",
    "pattern",
    "minLength",
    "maxLength",
    "minItems",
    "uniqueItems",
    "readOnly",
    "writeOnly",
    "maxItems",
];
/// The bounds of numbers, which may leave no fraction.
const NUMERIC: [&str; 5] = [
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
];

/// The verdicts that a difference proves at its place. All others are unknown.
#[derive(Clone, Copy)]
pub(super) struct Proofs {
    /// A schema that accepts more here accepts all former arguments.
    pub(super) compatible: bool,
    /// A schema that accepts less here refuses former arguments.
    pub(super) incompatible: bool,
}

impl Proofs {
    pub(super) const ALL: Self = Self {
        compatible: true,
        incompatible: true,
    };
    pub(super) const NONE: Self = Self {
        compatible: false,
        incompatible: false,
    };

    fn without_incompatible(self) -> Self {
        Self {
            incompatible: false,
            ..self
        }
    }

    /// Returns the verdict about a change at this place.
    fn verdict(self, change: &DefinitionChange) -> Compatibility {
        match change.verdict() {
            Compatibility::Compatible if !self.compatible && !change.is_text() => {
                Compatibility::Unknown
            }
            Compatibility::Incompatible if !self.incompatible => Compatibility::Unknown,
            verdict => verdict,
        }
    }
}

/// Reports each difference between two schemas with its place, a JSON pointer that begins with `place`.
///
/// Schemas that differ have at least one difference. Where the dialect or the references of one are unknown, all fields are compared
/// as texts.
pub(super) fn compare(
    place: &str,
    old: &Value,
    new: &Value,
    proofs: Proofs,
    add: &mut impl FnMut(&str, DefinitionChange, Compatibility),
) {
    if old == new {
        return;
    }
    let normal = (Normal::new(old), Normal::new(new));
    let (Some(before), Some(after), true) =
        (normal.0, normal.1, old.get("$schema") == new.get("$schema"))
    else {
        return leaves(place, old, new, &mut |place, change| {
            add(place, change, Compatibility::Unknown)
        });
    };
    let mut is_found = false;
    let mut found = |place: &str, change, verdict| {
        is_found = true;
        add(place, change, verdict);
    };
    for (pointer, old) in &before.targets {
        if let Some(new) = after.targets.get(pointer) {
            let place = format!("{place}{pointer}");
            leaves(&place, old, new, &mut |place, change| {
                found(place, change, Compatibility::Unknown)
            });
        }
    }
    Comparison { add: &mut found }.schemas(place, &before.schema, &after.schema, proofs);
    if !is_found {
        add(
            place,
            DefinitionChange::Rewritten,
            Compatibility::Compatible,
        );
    }
}

type Keywords = Map<String, Value>;

/// Compares schemas in normal form.
struct Comparison<'a, F> {
    add: &'a mut F,
}

impl<F: FnMut(&str, DefinitionChange, Compatibility)> Comparison<'_, F> {
    fn add(&mut self, place: &str, change: DefinitionChange, proofs: Proofs) {
        let verdict = proofs.verdict(&change);
        (self.add)(place, change, verdict);
    }

    fn schemas(&mut self, place: &str, old: &Value, new: &Value, proofs: Proofs) {
        match (old, new) {
            (Value::Object(old), Value::Object(new)) => self.keywords(place, old, new, proofs),
            _ => self.leaves(place, old, new),
        }
    }

    fn leaves(&mut self, place: &str, old: &Value, new: &Value) {
        leaves(place, old, new, &mut |place, change| {
            (self.add)(place, change, Compatibility::Unknown)
        });
    }

    fn keywords(&mut self, place: &str, old: &Keywords, new: &Keywords, proofs: Proofs) {
        let is_empty = old.get("maxItems").is_some_and(|most| *most == json!(0));
        let is_plain = old
            .keys()
            .all(|key| is_any_of(key, &[&PLAIN, &NUMERIC, &TEXTS]))
            && !is_empty;
        let proofs = Proofs {
            incompatible: proofs.incompatible && is_plain,
            ..proofs
        };
        // A value inside is judged only if its container can be given.
        let inside = |kind| {
            let is_given =
                !old.contains_key("enum") && types(old).is_none_or(|types| types.contains(kind));
            Proofs {
                incompatible: proofs.incompatible && is_given,
                ..proofs
            }
        };
        self.types(place, old, new, proofs);
        self.values(place, old, new, proofs);
        self.properties(place, old, new, inside("object"));
        for key in old.keys().chain(new.keys()).collect::<BTreeSet<_>>() {
            let inner = format!("{place}/{}", escaped(key));
            match (key.as_str(), old.get(key), new.get(key)) {
                (key, ..) if HANDLED.contains(&key) => {}
                (_, old, new) if old == new => {}
                (DOCUMENTED, ..) => {
                    let key = if new.contains_key("enum") {
                        "enum"
                    } else {
                        "type"
                    };
                    // A change of the values themselves changes this text too.
                    if old.get(key) == new.get(key) {
                        self.add(
                            &format!("{place}/{key}"),
                            DefinitionChange::TextChanged,
                            proofs,
                        );
                    }
                }
                (key, ..) if TEXTS.contains(&key) => {
                    self.add(&inner, DefinitionChange::TextChanged, proofs)
                }
                (key, Some(old @ Value::Object(_)), Some(new @ Value::Object(_)))
                    if NESTED.contains(&key) =>
                {
                    self.schemas(
                        &inner,
                        old,
                        new,
                        inside(if key == "items" { "array" } else { "object" }),
                    );
                }
                (key, Some(Value::Array(old)), Some(Value::Array(new)))
                    if LISTS.contains(&key) && old.len() == new.len() =>
                {
                    self.lists(&inner, key, old, new, proofs.without_incompatible());
                }
                (_, Some(old), Some(new)) => self.leaves(&inner, old, new),
                (_, old, new) => self.add(&inner, DefinitionChange::changed(old, new), proofs),
            }
        }
    }

    /// Compares the schemas of two lists of the same length. The order matters only for `prefixItems`.
    fn lists(&mut self, place: &str, key: &str, old: &[Value], new: &[Value], proofs: Proofs) {
        let mut rest: Vec<_> = new.iter().enumerate().collect();
        let mut unmatched: Vec<_> = old.iter().collect();
        if key != "prefixItems" {
            unmatched.retain(|old| match rest.iter().position(|(_, new)| new == old) {
                Some(same) => {
                    rest.remove(same);
                    false
                }
                None => true,
            });
        }
        // An alternative that accepts more may accept a value that another accepts, which `oneOf` refuses.
        let proofs = if key == "oneOf" { Proofs::NONE } else { proofs };
        for (old, (position, new)) in unmatched.into_iter().zip(rest) {
            self.schemas(&format!("{place}/{position}"), old, new, proofs);
        }
    }

    fn types(&mut self, place: &str, old: &Keywords, new: &Keywords, proofs: Proofs) {
        let (before, after) = (types(old), types(new));
        if before == after {
            return;
        }
        let accepts = |kind: &&&str| match &after {
            None => true,
            Some(after) => {
                after.contains(**kind) || (**kind == "integer" && after.contains("number"))
            }
        };
        let is_wider = after.is_none()
            || before
                .as_ref()
                .is_some_and(|before| before.iter().filter(accepts).count() == before.len());
        let is_fraction_lost = before.as_ref().is_some_and(|before| {
            let lost: Vec<_> = before.iter().filter(|kind| !accepts(kind)).collect();
            lost == [&"number"]
                && after
                    .as_ref()
                    .is_some_and(|after| after.contains("integer"))
        });
        let proofs = match is_fraction_lost && old.keys().any(|key| NUMERIC.contains(&key.as_str()))
        {
            true => proofs.without_incompatible(),
            false => proofs,
        };
        let shown = |types: Option<BTreeSet<&str>>| match types.map(Vec::from_iter).as_deref() {
            None => json!("any"),
            Some([only]) => json!(only),
            Some(several) => json!(several),
        };
        // A list of values that replaces a type is reported with its values.
        if is_wider && new.contains_key("enum") && !old.contains_key("enum") {
            return;
        }
        let (old, new) = (shown(before), shown(after));
        let change = match is_wider {
            true => DefinitionChange::TypeWidened { old, new },
            false => DefinitionChange::TypeChanged { old, new },
        };
        self.add(&format!("{place}/type"), change, proofs);
    }

    fn properties(&mut self, place: &str, old: &Keywords, new: &Keywords, proofs: Proofs) {
        let [before, after] =
            [old, new].map(|schema| schema.get("properties").and_then(Value::as_object));
        let [was_required, is_required] = [old, new].map(required);
        let keys = before
            .into_iter()
            .chain(after)
            .flat_map(Map::keys)
            .map(String::as_str);
        let keys: BTreeSet<&str> = keys
            .chain(was_required.iter().copied())
            .chain(is_required.iter().copied())
            .collect();
        // Arguments that the old definition does not name are no part of it, unless a schema judges them.
        let is_unnamed_judged = old.contains_key("patternProperties")
            || old.contains_key("unevaluatedProperties")
            || old
                .get("additionalProperties")
                .is_some_and(Value::is_object);
        for key in keys {
            let place = format!("{place}/properties/{}", escaped(key));
            let needed = (was_required.contains(key), is_required.contains(key));
            match (
                before.and_then(|it| it.get(key)),
                after.and_then(|it| it.get(key)),
            ) {
                (Some(old), None) => {
                    let is_given = *old != Value::Bool(false);
                    let proofs = if is_given {
                        proofs
                    } else {
                        proofs.without_incompatible()
                    };
                    self.add(&place, DefinitionChange::ParameterRemoved, proofs);
                    continue;
                }
                (None, Some(_)) if needed == (false, true) => {
                    self.add(&place, DefinitionChange::RequiredParameterAdded, proofs);
                    continue;
                }
                (None, Some(new)) => {
                    let is_any = new
                        .as_object()
                        .is_some_and(|new| new.keys().all(|key| is_any_of(key, &[&TEXTS])));
                    let compatible = proofs.compatible && (!is_unnamed_judged || is_any);
                    self.add(
                        &place,
                        DefinitionChange::OptionalParameterAdded,
                        Proofs {
                            compatible,
                            ..proofs
                        },
                    );
                }
                (Some(old), Some(new)) => self.schemas(&place, old, new, proofs),
                (None, None) => {}
            }
            match needed {
                (false, true) => self.add(&place, DefinitionChange::ParameterRequired, proofs),
                (true, false) => self.add(&place, DefinitionChange::ParameterOptional, proofs),
                _ => {}
            }
        }
    }

    fn values(&mut self, place: &str, old: &Keywords, new: &Keywords, proofs: Proofs) {
        let place = format!("{place}/enum");
        let with = |others: &[&str]| {
            let is_bare = old.keys().all(|key| is_any_of(key, &[others, &TEXTS]));
            Proofs {
                incompatible: proofs.incompatible && is_bare,
                ..proofs
            }
        };
        let [before, after] = [old, new].map(|schema| schema.get("enum"));
        match (before, after) {
            (Some(Value::Array(before)), Some(Value::Array(after))) => {
                for value in before.iter().filter(|value| !after.contains(value)) {
                    let change = DefinitionChange::ValueRemoved {
                        value: value.clone(),
                    };
                    self.add(&place, change, with(&["enum", "default"]));
                }
                for value in after.iter().filter(|value| !before.contains(value)) {
                    self.add(
                        &place,
                        DefinitionChange::ValueAdded {
                            value: value.clone(),
                        },
                        proofs,
                    );
                }
            }
            (None, Some(values)) => {
                // A list can hold all values of the other types.
                let is_endless = types(old).is_none_or(|types| {
                    ["string", "integer", "number"]
                        .iter()
                        .any(|kind| types.contains(kind))
                });
                let proofs = if is_endless {
                    with(&["type", "default"])
                } else {
                    proofs.without_incompatible()
                };
                self.add(
                    &place,
                    DefinitionChange::ValuesLimited {
                        new: values.clone(),
                    },
                    proofs,
                );
            }
            (old, new) if old != new => {
                self.add(&place, DefinitionChange::changed(old, new), proofs)
            }
            _ => {}
        }
    }
}

fn is_any_of(key: &str, lists: &[&[&str]]) -> bool {
    lists.iter().any(|list| list.contains(&key))
}

fn required(schema: &Keywords) -> BTreeSet<&str> {
    schema
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect()
}

/// Returns the types that a schema names, by itself or by its values. Returns `None` if it names none.
fn types(schema: &Keywords) -> Option<BTreeSet<&str>> {
    match (schema.get("enum"), schema.get("type")) {
        (Some(Value::Array(values)), _) => Some(values.iter().map(type_of).collect()),
        (_, Some(Value::String(only))) => Some([only.as_str()].into()),
        (_, Some(Value::Array(several))) => {
            Some(several.iter().filter_map(Value::as_str).collect())
        }
        _ => None,
    }
}
