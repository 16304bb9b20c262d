//! Verdicts about random changes of schemas, judged by the validator over a small world of arguments.

use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::{Value, json};
use tools::{Catalog, ToolContext};

use super::super::compare::compare;
use super::super::difference::{Compatibility, DefinitionChange};
use super::tool;

/// The number of cases. Each is judged about arguments by the thousand.
const CASES: u32 = 48;

/// Returns a schema of a parameter.
fn schema() -> BoxedStrategy<Value> {
    let kind = || {
        select(vec![
            "string", "integer", "number", "null", "boolean", "array", "object",
        ])
    };
    let values = vec![
        json!("x"),
        json!("y"),
        json!(1),
        json!(2.0),
        json!(null),
        json!(true),
        json!(["x"]),
    ];
    let leaf = prop_oneof![
        4 => kind().prop_map(|kind| json!({"type": kind})),
        2 => prop::collection::btree_set(kind(), 1..4).prop_map(|kinds| json!({"type": kinds})),
        2 => prop::sample::subsequence(values.clone(), 1..4).prop_map(|values| json!({"enum": values})),
        1 => select(values).prop_map(|value| json!({"const": value})),
        1 => Just(json!({"type": "number", "multipleOf": 1})),
        1 => Just(json!({"type": "string", "minLength": 1})),
        1 => select(vec![json!({}), json!(true), json!(false), json!({"description": "A."})]),
        1 => select(vec!["D", "R"]).prop_map(|to| json!({"$ref": format!("#/$defs/{to}")})),
        1 => Just(json!({"$ref": "#/$defs/D", "type": "string"})),
    ];
    leaf.prop_recursive(2, 12, 3, move |inner| {
        let list = || prop::collection::vec(inner.clone(), 1..3);
        prop_oneof![
            (select(vec!["anyOf", "oneOf", "allOf"]), list())
                .prop_map(|(key, parts)| json!({key: parts})),
            (list(), kind()).prop_map(|(parts, kind)| json!({"type": kind, "allOf": parts})),
            inner.clone().prop_map(|part| json!({"not": part})),
            (inner.clone(), 0..3).prop_map(
                |(items, most)| json!({"type": "array", "items": items, "maxItems": most})
            ),
            inner
                .clone()
                .prop_map(|items| json!({"type": "array", "items": items})),
            list().prop_map(|items| json!({"prefixItems": items})),
            parameters(inner.clone()),
        ]
    })
    .boxed()
}

/// Returns a schema of an object.
fn parameters(property: impl Strategy<Value = Value> + Clone) -> impl Strategy<Value = Value> {
    let properties = prop::collection::btree_map(select(vec!["a", "b"]), property.clone(), 0..3);
    let required = prop::sample::subsequence(vec!["a", "b"], 0..2);
    let additional =
        prop_oneof![4 => Just(json!(false)), 2 => Just(json!(true)), 1 => property.clone()];
    (properties, required, additional, prop::option::weighted(0.2, property)).prop_map(
        |(properties, required, additional, any)| {
            let mut schema = json!({"type": "object", "properties": properties, "required": required, "additionalProperties": additional});
            if let Some(any) = any {
                schema["anyOf"] = json!([any]);
            }
            schema
        },
    )
}

fn with_definitions(mut parameters: Value, definition: &Value) -> Value {
    let recursive =
        json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/R"}, "b": definition}});
    parameters["$defs"] = json!({"D": definition, "R": recursive});
    parameters
}

/// Collects the places of all objects in a schema.
fn places(schema: &Value, place: &str, found: &mut Vec<String>) {
    match schema {
        Value::Object(keywords) => {
            found.push(place.to_owned());
            keywords
                .iter()
                .for_each(|(key, part)| places(part, &format!("{place}/{key}"), found));
        }
        Value::Array(parts) => {
            parts
                .iter()
                .enumerate()
                .for_each(|(index, part)| places(part, &format!("{place}/{index}"), found));
        }
        _ => {}
    }
}

/// Changes an object in a schema: replaces it, joins keywords, removes one, or writes it in another way.
fn mutate(schema: &mut Value, [place, member]: [Index; 2], way: u8, with: &Value) {
    let mut found = Vec::new();
    places(schema, "", &mut found);
    let place = found.remove(place.index(found.len()));
    let Some(part) = schema.pointer_mut(&place) else {
        return;
    };
    let is_inner = place.contains("/a") || place.contains("/b") || place.contains("/D");
    match (way, part.as_object_mut(), with) {
        (0, Some(keywords), _) if !keywords.is_empty() => {
            let key = keywords
                .keys()
                .nth(member.index(keywords.len()))
                .unwrap()
                .clone();
            keywords.remove(&key);
        }
        (1 | 2, Some(keywords), Value::Object(with)) => {
            keywords.extend(with.iter().map(|(key, value)| (key.clone(), value.clone())));
        }
        (3, ..) if is_inner => *part = json!({"allOf": [part.take()]}),
        (4, ..) if is_inner => *part = json!({"anyOf": [part.take(), with]}),
        (5, ..) if is_inner => *part = json!({"allOf": [part.take(), with]}),
        _ if is_inner => *part = with.clone(),
        _ => {}
    }
}

fn change() -> impl Strategy<Value = ([Index; 2], u8, Value)> {
    (any::<[Index; 2]>(), 0..7u8, schema())
}

/// Returns the arguments of the small world.
fn world() -> Vec<Value> {
    let flat = json!([null, true, 1, 2, 1.5, "", "x", "y", [], {}]);
    let flat = flat.as_array().unwrap();
    let wrapped = |value: &Value| {
        [
            json!([value]),
            json!({"a": value}),
            json!({"b": value}),
            json!({"c": value}),
        ]
    };
    let values: Vec<Value> = flat
        .iter()
        .cloned()
        .chain(flat.iter().flat_map(wrapped))
        .collect();
    let mut world = vec![json!({})];
    for value in &values {
        world.extend(["a", "b", "c"].map(|key| json!({key: value})));
        for other in flat {
            world.extend([
                json!({"a": value, "b": other}),
                json!({"a": other, "b": value}),
            ]);
            world.extend([
                json!({"a": other, "c": value}),
                json!({"b": other, "c": value}),
            ]);
        }
    }
    world
}

/// Returns true if the world has values that show each refusal at this place.
fn is_near(place: &str) -> bool {
    let count = |part| place.matches(part).count();
    count("/properties/") + count("/additionalProperties") <= 1 && count("/items") <= 1
}

/// Returns the arguments that a schema accepts. Returns `None` if the schema cannot be used.
fn accepted(parameters: &Value) -> Option<Vec<bool>> {
    let mut catalog = Catalog::new();
    catalog
        .register(
            tool("t", parameters.clone()),
            async |_: ToolContext, _: Value| "",
        )
        .ok()?;
    Some(
        world()
            .into_iter()
            .map(|arguments| catalog.validate("t", arguments).is_ok())
            .collect(),
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: CASES, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_verdict_holds_for_all_arguments(
        old in parameters(schema()), definition in schema(), changes in prop::collection::vec(change(), 1..3),
    ) {
        let old = with_definitions(old, &definition);
        let mut new = old.clone();
        for (place, way, with) in &changes {
            mutate(&mut new, *place, *way, with);
        }
        let (Some(before), Some(after)) = (accepted(&old), accepted(&new)) else { return Ok(()) };
        let found = compare(&[tool("t", old.clone())], &[tool("t", new.clone())]);
        prop_assert_eq!(found.is_empty(), old == new);
        // A former call has no argument that the old definition does not name.
        let added: Vec<_> = found.iter().filter(|it| it.change == DefinitionChange::OptionalParameterAdded).map(|it| format!("\"{}\":", it.place.rsplit('/').next().unwrap())).collect();
        let refused: Vec<_> = world().into_iter().zip(before.iter().zip(&after)).filter(|(_, (before, after))| **before && !**after).map(|(arguments, _)| arguments).collect();
        if found.iter().all(|it| it.verdict == Compatibility::Compatible) {
            let is_former = |arguments: &&Value| !added.iter().any(|key| arguments.to_string().contains(key));
            prop_assert!(!refused.iter().any(|it| is_former(&it)), "{}\n{}\n{:?}\n{:?}", old, new, refused, found);
        }
        let is_rewritten = found.iter().any(|it| it.change == DefinitionChange::Rewritten);
        prop_assert!(!is_rewritten || before == after, "{}\n{}\n{:?}", old, new, found);
        // A removed parameter of an open schema is ignored. No former call has a parameter that accepts no value.
        let is_given = |place: &str| {
            let key = place.strip_prefix("/parameters/properties/").and_then(|rest| rest.split('/').next());
            world().iter().zip(&before).any(|(arguments, accepted)| *accepted && key.is_none_or(|key| arguments.get(key).is_some()))
        };
        let is_refusal = |change: &DefinitionChange| !matches!(change, DefinitionChange::ParameterRemoved);
        let claimed: Vec<_> = found.iter().filter(|it| it.verdict == Compatibility::Incompatible && is_near(&it.place) && is_refusal(&it.change) && is_given(&it.place)).collect();
        if !claimed.is_empty() {
            prop_assert!(!refused.is_empty(), "{}\n{}\n{:?}", old, new, claimed);
        }
    }
}
