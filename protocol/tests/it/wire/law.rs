//! The law of every rewrite: the wire accepts the encoded form of all arguments that the canonical schema accepts, and decoding
//! returns them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use proptest::prelude::*;
use protocol::wire::schema::{Change, Fidelity, Rule};
use protocol::wire::{Format, Strictness};
use protocol::{Json, Tool};
use serde_json::Value;

use super::judge::Judge;
use super::sampler::{Choices, Sampler};
use super::schemas::{OTHER_KEYS, schema, small};
use crate::sample::config;

/// Returns arguments that the schema accepts.
pub(crate) fn accepted(schema: &Value, seed: u64, count: usize, other_keys: &[&str]) -> Vec<Value> {
    let Ok(canonical) = judge_of(schema) else {
        return Vec::new();
    };
    let mut sampler = Sampler {
        root: schema,
        choices: Choices::new(seed),
        other_keys,
    };
    let values = (0..count).map(|_| sampler.value(schema, 0));
    values
        .filter(|value| value.is_object() && canonical.is_valid(value))
        .collect()
}

/// Returns a validator that judges formats as well.
pub(super) fn judge_of(
    schema: &Value,
) -> Result<jsonschema::Validator, jsonschema::ValidationError<'static>> {
    jsonschema::options()
        .should_validate_formats(true)
        .build(schema)
}

/// Checks the law for some arguments of a schema, in every relaxed format.
pub(crate) fn check(schema: &Value, arguments: &[Value]) -> Result<(), TestCaseError> {
    static JUDGES: LazyLock<[(Format, Judge); 6]> = LazyLock::new(|| {
        Format::ALL.map(|format| (format, Judge::new(format, Strictness::Relaxed)))
    });
    let tool = Tool::new("a.tool", "A tool.", schema.clone()).unwrap();
    for (format, judge) in &*JUDGES {
        let wire = format
            .tool(&tool, Strictness::Relaxed)
            .map_err(|error| TestCaseError::fail(error.to_string()))?;
        let judged = judge.violations(&wire.value());
        prop_assert!(
            judged.is_empty(),
            "{}: {:?}\n{}\n{}",
            format,
            judged,
            schema,
            wire.definition
        );
        let validator = judge_of(&wire.parameters)
            .map_err(|error| TestCaseError::fail(format!("{error}: {}", wire.parameters)))?;
        for value in arguments {
            let value = Json::from(value.clone());
            let encoded = wire.arguments.encode(&value);
            prop_assert!(
                validator.is_valid(encoded.value()),
                "{format}: {encoded} of {value}\n{schema}\n{}\n{:?}",
                wire.parameters,
                wire.changes
            );
            prop_assert_eq!(wire.arguments.decode(&encoded), value, "{}", encoded);
        }
    }
    Ok(())
}

/// The number of schemas with accepted arguments that each rule changed. A removed keyword counts as a rule.
#[derive(Default)]
pub(super) struct Reached(BTreeMap<String, usize>);

impl Reached {
    pub(super) fn add(&mut self, changes: &[Change]) {
        let name = |change: &Change| match &change.rule {
            Rule::Keyword(keyword) => keyword.clone(),
            Rule::Key { .. } => "Key".to_owned(),
            rule => format!("{rule:?}"),
        };
        let names: BTreeSet<_> = changes.iter().map(name).collect();
        names
            .into_iter()
            .for_each(|name| *self.0.entry(name).or_default() += 1);
    }

    /// Calls `add` with one seed after the other, at most 1,000, until each rule has changed enough schemas for a property test.
    pub(super) fn assert_each(rules: &[&str], add: impl Fn(&mut Self, u64)) {
        let mut reached = Self::default();
        let missing = |reached: &Self| {
            let is_missing = |rule: &&&str| reached.0.get(**rule).is_none_or(|count| *count < 10);
            rules.iter().filter(is_missing).copied().collect::<Vec<_>>()
        };
        for seed in seeds(1_000) {
            add(&mut reached, seed);
            if missing(&reached).is_empty() {
                return;
            }
        }
        panic!("{:?} of {:?}", missing(&reached), reached.0);
    }
}

/// Returns the seeds of a test that counts.
pub(super) fn seeds(count: u64) -> impl Iterator<Item = u64> {
    (1..=count).map(|number| number.wrapping_mul(0x9E37_79B9_7F4A_7C15))
}

#[test]
fn the_schemas_reach_each_rule_of_relaxed_definitions() {
    let rules = [
        "Alternative",
        "Boolean",
        "Bound",
        "Conjunction",
        "Constant",
        "CutOff",
        "Draft",
        "Enumeration",
        "Items",
        "Key",
        "Properties",
        "Reference",
        "RootType",
        "RootUnion",
        "Unresolved",
    ];
    let keywords = [
        "additionalProperties",
        "anyOf",
        "contains",
        "default",
        "dependentRequired",
        "dependentSchemas",
        "if",
        "items",
        "maxItems",
        "minLength",
        "minProperties",
        "not",
        "pattern",
        "patternProperties",
        "propertyNames",
        "then",
        "type",
        "unevaluatedProperties",
    ];
    Reached::assert_each(&[&rules[..], &keywords].concat(), |reached, seed| {
        let schema = schema(&mut Choices::new(seed));
        if accepted(&schema, seed, 12, &OTHER_KEYS).is_empty() {
            return;
        }
        let tool = Tool::new("a.tool", "A tool.", schema).unwrap();
        for format in Format::ALL {
            reached.add(&format.tool(&tool, Strictness::Relaxed).unwrap().changes);
        }
    });
}

proptest! {
    #![proptest_config(config(150))]

    #[test]
    fn the_wire_accepts_what_the_schema_accepts(seed in any::<u64>()) {
        let schema = schema(&mut Choices::new(seed));
        check(&schema, &accepted(&schema, seed, 12, &OTHER_KEYS))?;
    }

    #[test]
    fn each_rewrite_keeps_what_the_schema_accepts(seed in any::<u64>()) {
        let schema = small(&mut Choices::new(seed));
        check(&schema, &accepted(&schema, seed, 30, &OTHER_KEYS))?;
    }

    #[test]
    fn a_definition_is_the_same_for_any_order_of_keys(seed in any::<u64>()) {
        let schema = schema(&mut Choices::new(seed));
        let other: Value = serde_json::from_str(&reversed(&schema)).unwrap();
        for format in Format::ALL {
            let definition = |schema: &Value| {
                let tool = Tool::new("a", "A.", schema.clone()).unwrap();
                format.tool(&tool, Strictness::Strict).unwrap().definition
            };
            prop_assert_eq!(definition(&schema), definition(&other));
        }
    }

    #[test]
    fn an_exact_form_refuses_what_the_schema_refuses(seed in any::<u64>()) {
        let schema = schema(&mut Choices::new(seed));
        // A format is judged up to draft 7 alone.
        let without_formats = |schema: &Value| jsonschema::options().should_validate_formats(false).build(schema);
        let Ok(canonical) = without_formats(&schema) else { return Ok(()) };
        let mut sampler = Sampler { root: &schema, choices: Choices::new(seed), other_keys: &OTHER_KEYS };
        let values: Vec<_> = (0..12).map(|_| sampler.value(&schema, 0)).collect();
        for format in Format::ALL {
            let tool = Tool::new("a", "A.", schema.clone()).unwrap();
            let wire = format.tool(&tool, Strictness::Relaxed).unwrap();
            if wire.changes.iter().any(|change| change.fidelity != Fidelity::Exact) {
                continue;
            }
            let validator = without_formats(&wire.parameters).unwrap();
            for value in values.iter().filter(|value| value.is_object() && !canonical.is_valid(value)) {
                let encoded = wire.arguments.encode(&value.clone().into());
                prop_assert!(!validator.is_valid(encoded.value()), "{}: {}\n{}\n{}", format, value, schema, wire.parameters);
            }
        }
    }
}

/// Returns the JSON text with the members of all objects in reverse order.
fn reversed(value: &Value) -> String {
    match value {
        Value::Object(members) => {
            let mut members: Vec<_> = members.iter().collect();
            members.sort_by_key(|(key, _)| *key);
            let members = members
                .iter()
                .rev()
                .map(|(key, value)| format!("{}:{}", Value::from(&***key), reversed(value)));
            format!("{{{}}}", members.collect::<Vec<_>>().join(","))
        }
        Value::Array(items) => format!(
            "[{}]",
            items.iter().map(reversed).collect::<Vec<_>>().join(",")
        ),
        value => value.to_string(),
    }
}
