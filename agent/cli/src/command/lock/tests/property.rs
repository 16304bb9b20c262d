//! Each change of a random definition is found, and none is found without a change.

use std::slice::from_ref;

use proptest::collection::btree_map;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::{Map, Value, json};
use tools::{Effects, Tool};

use super::super::compare::compare;
use super::super::difference::{Compatibility, DefinitionChange};

/// A schema, with objects of properties nested at most three deep.
fn schema() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        select(vec!["string", "integer", "boolean"])
            .prop_map(|kind| json!({"type": kind, "description": "It."})),
        Just(json!({"type": "string", "enum": ["x", "y", "z"]})),
        Just(json!({"type": "array", "items": {"type": "string"}, "maxItems": 3})),
        Just(json!({"anyOf": [{"type": "string"}, {"type": "null"}]})),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| object(inner, 0..4))
}

fn object(
    property: impl Strategy<Value = Value>,
    size: std::ops::Range<usize>,
) -> impl Strategy<Value = Value> {
    let properties = btree_map(
        select(vec!["a", "b", "c", "d", "e/~f"]),
        (property, any::<bool>()),
        size,
    );
    properties.prop_map(|properties| {
        let required: Vec<_> = properties.iter().filter(|(_, (_, required))| *required).map(|(key, _)| *key).collect();
        let required = json!(required);
        let properties: Map<_, _> = properties.into_iter().map(|(key, (it, _))| (key.to_owned(), it)).collect();
        json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
    })
}

fn tool() -> impl Strategy<Value = Tool> {
    let effects = select(vec![
        Effects::Pure,
        serde_json::from_value(json!({"reads": ["a:x"]})).unwrap(),
        serde_json::from_value(json!({"writes": ["a:x"], "idempotent": true})).unwrap(),
    ]);
    (object(schema(), 1..5), effects).prop_map(|(parameters, effects)| {
        Tool::new("t", "Does it.", parameters)
            .unwrap()
            .with_effects(effects)
    })
}

/// The verdict about a change, and a test for its kind.
type Expected = (Compatibility, fn(&DefinitionChange) -> bool);

/// A listed kind of change.
#[derive(Clone, Copy, Debug)]
enum Kind {
    AddRequired,
    AddOptional,
    Remove,
    Require,
    Retype,
    RemoveValue,
    Describe,
    AddEffect,
}

const KINDS: [Kind; 8] = [
    Kind::AddRequired,
    Kind::AddOptional,
    Kind::Remove,
    Kind::Require,
    Kind::Retype,
    Kind::RemoveValue,
    Kind::Describe,
    Kind::AddEffect,
];

/// Collects the pointers of all objects with properties, the root included.
fn objects(schema: &Value, pointer: String, found: &mut Vec<String>) {
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else {
        return;
    };
    for (key, property) in properties {
        let key = key.replace('~', "~0").replace('/', "~1");
        objects(property, format!("{pointer}/properties/{key}"), found);
    }
    found.push(pointer);
}

/// Makes a change at a random place. Returns the change that has to be found, or `None` if the tool has no place for it.
fn mutate(tool: &mut Tool, kind: Kind, place: Index) -> Option<Expected> {
    if let Kind::AddEffect = kind {
        let effects =
            json!({"reads": ["a:x"], "writes": ["a:x"], "destroys": ["b:y"], "idempotent": true});
        tool.effects = serde_json::from_value(effects).unwrap();
        return Some((Compatibility::Incompatible, |change| {
            matches!(change, DefinitionChange::EffectAdded { .. })
        }));
    }
    let mut pointers = Vec::new();
    objects(&tool.parameters, String::new(), &mut pointers);
    let object = tool
        .parameters
        .pointer_mut(&pointers[place.index(pointers.len())])
        .unwrap()
        .as_object_mut()
        .unwrap();
    let mut required: Vec<Value> = object["required"].as_array().unwrap().clone();
    let properties = object["properties"].as_object_mut().unwrap();
    let keys: Vec<String> = properties.keys().cloned().collect();
    let key = (!keys.is_empty()).then(|| keys[place.index(keys.len())].clone());
    let expected: Expected = match kind {
        Kind::AddRequired | Kind::AddOptional => {
            properties.insert("new".to_owned(), json!({"type": "string"}));
            if let Kind::AddRequired = kind {
                required.push(json!("new"));
                (Compatibility::Incompatible, |change| {
                    matches!(change, DefinitionChange::RequiredParameterAdded)
                })
            } else {
                (Compatibility::Compatible, |change| {
                    matches!(change, DefinitionChange::OptionalParameterAdded)
                })
            }
        }
        Kind::Remove => {
            let key = key?;
            properties.remove(&key);
            required.retain(|name| *name != json!(key));
            (Compatibility::Incompatible, |change| {
                matches!(change, DefinitionChange::ParameterRemoved)
            })
        }
        Kind::Require => {
            let key = json!(key?);
            if required.contains(&key) {
                return None;
            }
            required.push(key);
            (Compatibility::Incompatible, |change| {
                matches!(change, DefinitionChange::ParameterRequired)
            })
        }
        Kind::Retype => {
            properties[&key?] = json!({"type": "number"});
            (Compatibility::Incompatible, |change| {
                matches!(
                    change,
                    DefinitionChange::TypeChanged { .. } | DefinitionChange::TypeWidened { .. }
                )
            })
        }
        Kind::RemoveValue => {
            properties[&key?].get_mut("enum")?.as_array_mut()?.pop();
            (Compatibility::Incompatible, |change| {
                matches!(change, DefinitionChange::ValueRemoved { .. })
            })
        }
        Kind::Describe => {
            properties[&key?]["description"] = json!("Something else.");
            (Compatibility::Compatible, |change| {
                matches!(change, DefinitionChange::TextChanged)
            })
        }
        Kind::AddEffect => return None,
    };
    object["required"] = json!(required);
    Some(expected)
}

proptest! {
    #[test]
    fn an_unchanged_definition_has_no_difference(tool in tool()) {
        prop_assert_eq!(compare(from_ref(&tool), from_ref(&tool)), []);
    }

    #[test]
    fn different_definitions_differ(old in tool(), new in tool()) {
        let found = compare(from_ref(&old), from_ref(&new));
        prop_assert_eq!(found.is_empty(), old.digest() == new.digest(), "{:?}", found);
    }

    #[test]
    fn every_listed_change_is_found(old in tool(), kind in select(KINDS.to_vec()), place in any::<Index>()) {
        let mut new = old.clone();
        let Some((verdict, is_expected)) = mutate(&mut new, kind, place) else { return Ok(()) };
        let found = compare(&[old], &[new]);
        let matching: Vec<_> = found.iter().filter(|it| is_expected(&it.change)).collect();
        prop_assert!(!matching.is_empty(), "{kind:?}: {found:?}");
        // An integer is a number, so its type is widened.
        let widened = matching.iter().any(|it| matches!(it.change, DefinitionChange::TypeWidened { .. }));
        prop_assert!(widened || matching.iter().all(|it| it.verdict == verdict), "{kind:?}: {found:?}");
    }
}
