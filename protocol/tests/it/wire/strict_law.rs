//! The law of strict definitions: the wire accepts the encoded form of all arguments whose keys the schema names, and decoding returns
//! them, but for nulls that stand for absence.

use proptest::prelude::*;
use protocol::wire::Strictness::Strict;
use protocol::wire::schema::Rule;
use protocol::wire::{Format, Strictness};
use protocol::{Json, Tool};
use serde_json::{Value, json};

use super::judge::Judge;
use super::law::{Reached, accepted, judge_of, seeds};
use super::sampler::Choices;
use super::strict::{FORMATS, tool};
use super::strict_schemas::{named, root, schema, value};
use crate::sample::config;

/// Returns the target of a schema's reference.
fn target<'a>(root: &'a Value, schema: &Value) -> Option<&'a Value> {
    root.pointer(schema["$ref"].as_str()?.strip_prefix('#')?)
}

/// Returns true if a schema requires the key of every object.
fn requires(schema: &Value, key: &str, root: &Value) -> bool {
    let list = |keyword: &str| schema[keyword].as_array().into_iter().flatten();
    let mut objects = list("anyOf")
        .chain(list("oneOf"))
        .filter(|branch| branch["type"] == "object")
        .peekable();
    list("required").any(|name| name == key)
        || list("allOf").any(|part| requires(part, key, root))
        || (objects.peek().is_some() && objects.all(|branch| requires(branch, key, root)))
        || target(root, schema).is_some_and(|schema| requires(schema, key, root))
}

/// Returns the value without the nulls of optional properties.
fn without_lost_nulls(value: &Value, schemas: &[&Value], root: &Value) -> Value {
    let mut all = schemas.to_vec();
    let mut next = 0;
    while let Some(schema) = all.get(next).copied() {
        for keyword in ["allOf", "anyOf", "oneOf"] {
            all.extend(
                schema
                    .get(keyword)
                    .and_then(Value::as_array)
                    .into_iter()
                    .flatten(),
            );
        }
        all.extend(target(root, schema));
        next += 1;
    }
    match value {
        Value::Object(members) => {
            let is_required = |key: &str| schemas.iter().any(|schema| requires(schema, key, root));
            let kept = members
                .iter()
                .filter(|(key, member)| !member.is_null() || is_required(key));
            let inner = |key: &String| {
                all.iter()
                    .filter_map(|schema| schema["properties"].get(key))
                    .collect::<Vec<_>>()
            };
            kept.map(|(key, member)| (key.clone(), without_lost_nulls(member, &inner(key), root)))
                .collect()
        }
        Value::Array(items) => {
            let inner: Vec<_> = all
                .iter()
                .filter_map(|schema| schema.get("items"))
                .collect();
            items
                .iter()
                .map(|item| without_lost_nulls(item, &inner, root))
                .collect()
        }
        value => value.clone(),
    }
}

#[test]
fn the_schemas_reach_each_rule_of_strict_definitions() {
    let rules = [
        "Alternative",
        "Boolean",
        "Closed",
        "Conjunction",
        "Draft",
        "Enumeration",
        "Format",
        "Key",
        "MinItems",
        "Null",
        "Optional",
        "Properties",
        "Reference",
        "RootType",
        "RootUnion",
        "Unresolved",
    ];
    let keywords = [
        "dependentRequired",
        "exclusiveMinimum",
        "minLength",
        "minimum",
        "not",
        "pattern",
    ];
    Reached::assert_each(&[&rules[..], &keywords].concat(), |reached, seed| {
        let schema = root(&mut Choices::new(seed));
        if accepted(&named(schema.clone()), seed, 12, &[]).is_empty() {
            return;
        }
        let wires = FORMATS.map(|format| tool(format, &schema));
        wires
            .iter()
            .filter(|wire| wire.strict.is_ok())
            .for_each(|wire| reached.add(&wire.changes));
    });
}

/// Checks the law for some arguments of a schema, in every strict format.
fn check(schema: Value, seed: u64, count: usize) -> Result<(), TestCaseError> {
    let may_require_null = ["anyOf", "allOf", "dependencies"]
        .iter()
        .any(|keyword| schema.get(keyword).is_some());
    let canonical = jsonschema::validator_for(&schema).unwrap();
    let tool = Tool::new("a", "A.", schema.clone()).unwrap();
    for format in FORMATS {
        let wire = format.tool(&tool, Strict).unwrap();
        let mode = if wire.strict.is_ok() {
            Strict
        } else {
            Strictness::Relaxed
        };
        let judged = Judge::new(format, mode).violations(&wire.value());
        prop_assert!(judged.is_empty(), "{:?} {}", judged, wire.definition);
        let validator = judge_of(&wire.parameters).unwrap();
        for value in accepted(&named(schema.clone()), seed, count, &[]) {
            let encoded = wire.arguments.encode(&Json::from(value.clone()));
            prop_assert!(
                validator.is_valid(encoded.value()),
                "{}: {} of {}\n{}\n{}",
                format,
                encoded,
                value,
                schema,
                wire.parameters
            );
            let decoded = wire.arguments.decode(&encoded);
            let has_nulls = wire.strict.is_ok() && format != Format::Anthropic;
            let meant = if has_nulls {
                without_lost_nulls(&value, &[&schema], &schema)
            } else {
                value.clone()
            };
            // A null that one of several alternatives or another property requires is lost, which the changes say.
            let loses_null = meant != value
                && may_require_null
                && wire.changes.iter().any(|change| change.rule == Rule::Null);
            prop_assert!(
                loses_null || canonical.is_valid(decoded.value()),
                "{}: {}\n{}",
                format,
                decoded,
                schema
            );
            prop_assert_eq!(decoded.value(), &meant);
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(config(150))]

    #[test]
    fn a_strict_wire_accepts_what_the_schema_names(seed in any::<u64>()) {
        check(root(&mut Choices::new(seed)), seed, 12)?;
    }

    #[test]
    fn each_rewrite_of_a_strict_wire_keeps_what_the_schema_names(seed in any::<u64>()) {
        let mut choices = Choices::new(seed);
        let mut root = root(&mut choices);
        root["properties"] = json!({*choices.pick(&["a", "$b"]): value(&mut choices, 4)});
        check(root, seed, 30)?;
    }
}

#[test]
fn many_such_schemas_are_strict() {
    let tools =
        seeds(2_000).map(|seed| Tool::new("a", "A.", schema(&mut Choices::new(seed), 0)).unwrap());
    let strict = tools
        .filter(|tool| {
            Format::OpenAiChat
                .tool(tool, Strict)
                .unwrap()
                .strict
                .is_ok()
        })
        .count();
    assert!(strict >= 1_000, "{strict} of 2,000");
}
