//! The static budget: bounds the cost of a schema before it is compiled.

use std::collections::BTreeSet;

use serde_json::Value;

use super::graph::{Document, Graph, text_length};
use super::measure::Measure;
use super::{SchemaError, pattern, phrase, walk};

/// The longest schema, in bytes of JSON text.
const MOST_BYTES: u64 = 256 * 1024;
/// The deepest nesting of arrays and objects in a schema's text.
const MOST_NESTING: usize = 64;
/// The most subschemas once every reference is replaced by its target.
const MOST_UNFOLDED: u64 = 10_000;
/// The most subschemas evaluated for one value. `unevaluatedProperties` inside of `unevaluatedProperties` multiplies them.
const MOST_EVALUATED: u64 = 100_000;
/// The longest chain of subschemas for the same value (`allOf` in `anyOf` in `$ref` …).
const MOST_STACKED: u64 = 64;
/// The longest chain of subschemas in total. Debug builds of `jsonschema` use up to 1.3 KiB of stack for each link, and tokio's
/// threads have 2 MiB.
pub(super) const STACK: u64 = 768;
/// The most different regular expressions. Each may compile to a MiB.
const MOST_PATTERNS: usize = 256;

/// Inspects the schema of a tool's arguments.
///
/// # Errors
/// Returns an error if the schema's `type` excludes objects, or if [`inspect`] does.
pub(super) fn inspect_parameters(schema: &Value) -> Result<Inspection, SchemaError> {
    let accepts = match schema.get("type") {
        Some(Value::Array(types)) => types.contains(&"object".into()),
        Some(Value::String(name)) => name == "object",
        // The check of the dialect refuses other types of `type`.
        _ => schema.is_object(),
    };
    if !accepts {
        return Err(SchemaError::NotForArguments {
            found: phrase::show(schema.get("type").unwrap_or(schema)),
        });
    }
    inspect(schema)
}

/// The results of an inspection, which compiling the schema needs.
#[derive(Default)]
pub(super) struct Inspection {
    pub(super) measure: Measure,
    /// The regular expressions of `pattern`.
    pub(super) patterns: Vec<String>,
    /// The regular expressions of `patternProperties`.
    pub(super) name_patterns: Vec<String>,
}

impl Inspection {
    /// Returns the number of regular expressions in the schema.
    pub(super) fn pattern_count(&self) -> usize {
        self.patterns.len() + self.name_patterns.len()
    }
}

/// Measures a schema and resolves its references. Fast on hostile schemas too.
///
/// # Errors
/// Returns an error if the schema is over budget, its dialect is unknown, or a reference is unresolved.
pub(super) fn inspect(schema: &Value) -> Result<Inspection, SchemaError> {
    match schema {
        Value::Bool(_) => return Ok(Inspection::default()),
        Value::Object(_) => bound_text(schema)?,
        other => {
            return Err(SchemaError::NotASchema {
                found: phrase::kind(other),
            });
        }
    }
    // Only now, because the resolver of references recurses as deep as the schema nests.
    let document = Document::new(schema)?;
    let graph = Graph::new(schema, &document)?;
    check_limit(
        "regular expressions",
        graph.patterns.len() + graph.name_patterns.len(),
        MOST_PATTERNS,
    )?;
    let mut measure = Measure::new(&graph)?;
    check_limit(
        "subschemas after following every reference",
        measure.unfolded,
        MOST_UNFOLDED,
    )?;
    check_limit(
        "subschemas for one value, as `unevaluated…` is nested",
        measure.evaluated,
        MOST_EVALUATED,
    )?;
    check_limit(
        "subschemas in a chain about one value",
        measure.stacked,
        MOST_STACKED,
    )?;
    check_limit("subschemas in a chain", measure.height.unwrap_or(0), STACK)?;
    measure.names = graph
        .name_patterns
        .iter()
        .map(|text| pattern::Cost::from_pattern(text))
        .collect();
    Ok(Inspection {
        measure,
        patterns: own(graph.patterns),
        name_patterns: own(graph.name_patterns),
    })
}

fn own(patterns: BTreeSet<&str>) -> Vec<String> {
    patterns.into_iter().map(str::to_owned).collect()
}

/// Bounds the nesting and length of a schema. Does not recurse, so that later steps may.
pub(super) fn bound_text(schema: &Value) -> Result<(), SchemaError> {
    for ((value, nesting), values) in walk::values(schema).zip(1..) {
        check_limit("bytes", values, MOST_BYTES)?;
        if value.is_array() || value.is_object() {
            check_limit("levels of nesting", nesting, MOST_NESTING)?;
        }
    }
    check_limit("bytes", text_length(schema), MOST_BYTES)
}

fn check_limit<N: TryInto<u64>>(
    measure: &'static str,
    found: N,
    limit: N,
) -> Result<(), SchemaError> {
    let limit = limit.try_into().unwrap_or(u64::MAX);
    if found.try_into().unwrap_or(u64::MAX) <= limit {
        Ok(())
    } else {
        Err(SchemaError::OverBudget { measure, limit })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Map, json};

    use super::*;
    use crate::schema::compiled::Compiled;

    /// Returns the error of `inspect`, and asserts that compiling fails with it too.
    fn refusal(schema: &Value) -> SchemaError {
        let error = inspect(schema).err().expect("a refusal");
        assert_eq!(Compiled::new(schema).err(), Some(error.clone()));
        error
    }

    fn over_budget(schema: &Value) -> &'static str {
        match refusal(schema) {
            SchemaError::OverBudget { measure, .. } => measure,
            other => panic!("{other}"),
        }
    }

    /// Returns a schema of `levels` definitions, each made by `link` from a reference to the next. The last is `end`.
    fn chain(levels: usize, link: impl Fn(Value) -> Value, end: Value) -> Value {
        let name = |level: usize| format!("d{level}");
        let mut definitions: Map<_, _> = (0..levels)
            .map(|level| {
                (
                    name(level),
                    link(json!({"$ref": format!("#/$defs/{}", name(level + 1))})),
                )
            })
            .collect();
        definitions.insert(name(levels), end);
        json!({"$ref": "#/$defs/d0", "$defs": definitions})
    }

    fn accepted(schema: &Value) -> bool {
        Compiled::new(schema)
            .map_err(|error| eprintln!("{error}"))
            .is_ok()
    }

    #[test]
    fn doubling_all_of_is_over_budget() {
        let mut bomb = json!({"type": "object"});
        for _ in 0..28 {
            bomb = json!({"allOf": [bomb, bomb]});
            if text_length(&bomb) > 500_000 {
                break;
            }
        }
        assert!(matches!(over_budget(&bomb), "bytes" | "levels of nesting"));
        let twice = |next: Value| json!({"allOf": [next, next]});
        assert!(over_budget(&chain(28, twice, json!({}))).starts_with("subschemas"));
        let twice_below = |next: Value| json!({"properties": {"a": {"anyOf": [next, next]}}});
        assert!(over_budget(&chain(28, twice_below, json!({}))).starts_with("subschemas"));
    }

    #[test]
    fn deep_nesting_is_over_budget() {
        let mut bomb = json!({});
        for _ in 0..2_000 {
            // `json!` would copy recursively.
            bomb = Value::Object(Map::from_iter([("not".to_owned(), bomb)]));
        }
        assert_eq!(over_budget(&bomb), "levels of nesting");
    }

    #[test]
    fn long_chains_are_over_budget() {
        assert!(over_budget(&chain(70, |next| next, json!({}))).contains("chain about one value"));
        let below = |next: Value| json!({"properties": {"a": next}});
        assert!(over_budget(&chain(800, below, json!({}))).contains("in a chain"));
        assert!(accepted(&chain(300, below, json!({}))));
    }

    #[test]
    fn nested_unevaluated_is_over_budget() {
        let link = |next: Value| json!({"allOf": [next], "unevaluatedProperties": false});
        assert!(over_budget(&chain(20, link, json!({}))).contains("unevaluated"));
        assert!(accepted(&chain(4, link, json!({}))));
    }

    #[test]
    fn large_schemas_are_over_budget() {
        assert_eq!(
            over_budget(&json!({"description": "x".repeat(300_000)})),
            "bytes"
        );
        let patterns: Map<_, _> = (0..300).map(|i| (format!("{i}$"), json!(true))).collect();
        assert_eq!(
            over_budget(&json!({"patternProperties": patterns})),
            "regular expressions"
        );
        let properties: Map<_, _> = (0..11_000).map(|i| (i.to_string(), json!({}))).collect();
        assert_eq!(
            over_budget(&json!({"properties": properties})),
            "subschemas"
        );
    }

    #[test]
    fn subschemas_in_unknown_keywords_count() {
        let schema = json!({
            "$ref": "#/extension/0",
            "extension": [{"anyOf": [{"$ref": "#/extension/1"}, {"$ref": "#/extension/1"}]}, {"$ref": "#"}],
        });
        assert!(matches!(refusal(&schema), SchemaError::EndlessRef { .. }));
    }

    #[test]
    fn references_that_go_nowhere_or_out_are_refused() {
        for out in [
            "https://example.com/a.json",
            "http://json-schema.org/draft-07/schema#",
            "other.json",
            "file:///etc/passwd",
        ] {
            let error = refusal(&json!({"properties": {"a": {"$ref": out}}}));
            assert!(
                matches!(&error, SchemaError::ExternalRef { reference } if reference.contains(out)),
                "{error}"
            );
        }
        for nowhere in ["#/$defs/missing", "#missing", "#/%ff"] {
            let error = refusal(&json!({"items": {"$ref": nowhere}}));
            assert!(
                matches!(&error, SchemaError::UnresolvedRef { reference } if reference.contains(nowhere)),
                "{error}"
            );
        }
    }

    #[test]
    fn references_inside_the_document_resolve() {
        assert!(accepted(
            &json!({"$ref": "#node", "$defs": {"n": {"$anchor": "node", "items": {"$ref": "#node"}}}})
        ));
        assert!(accepted(
            &json!({"properties": {"a": {"$ref": "T0"}}, "$defs": {"x": {"$id": "T0", "type": "string"}}})
        ));
        assert!(accepted(
            &json!({"$id": "T0", "properties": {"child": {"$ref": "T0"}}})
        ));
        assert!(accepted(
            &json!({"$dynamicAnchor": "n", "items": {"$dynamicRef": "#n"}})
        ));
    }

    #[test]
    fn a_circle_at_one_value_is_refused_and_one_through_children_is_not() {
        for circle in [
            json!({"$ref": "#"}),
            json!({"allOf": [{"$ref": "#"}]}),
            json!({"dependentSchemas": {"a": {"not": {"$ref": "#"}}}}),
            chain(
                5,
                |next| json!({"if": next}),
                json!({"else": {"$ref": "#/$defs/d2"}}),
            ),
        ] {
            assert!(
                matches!(refusal(&circle), SchemaError::EndlessRef { .. }),
                "{circle}"
            );
        }
        assert!(accepted(
            &json!({"properties": {"children": {"items": {"$ref": "#"}}}})
        ));
        let any_json = json!({"anyOf": [
            {"type": ["string", "number", "boolean", "null"]},
            {"type": "array", "items": {"$ref": "#"}},
            {"type": "object", "additionalProperties": {"$ref": "#"}},
        ]});
        assert!(accepted(&any_json));
    }

    #[test]
    fn unknown_dialects_are_refused_everywhere() {
        let alien = "https://example.com/dialect";
        for schema in [
            json!({"$schema": alien}),
            json!({"properties": {"a": {"$id": "x", "$schema": alien}}}),
        ] {
            assert!(matches!(
                inspect(&schema),
                Err(SchemaError::UnknownDialect { .. } | SchemaError::ExternalRef { .. })
            ));
        }
        for known in [
            "draft-04",
            "draft-06",
            "draft-07",
            "draft/2019-09",
            "draft/2020-12",
        ] {
            assert!(accepted(
                &json!({"$schema": format!("http://json-schema.org/{known}/schema#"), "type": "object"})
            ));
        }
    }

    #[test]
    fn arguments_are_an_object() {
        for schema in [
            json!(true),
            json!([]),
            json!({"type": "string"}),
            json!({"type": ["array", "null"]}),
        ] {
            assert!(
                matches!(
                    inspect_parameters(&schema),
                    Err(SchemaError::NotForArguments { .. })
                ),
                "{schema}"
            );
        }
        for schema in [
            json!({}),
            json!({"type": "object"}),
            json!({"type": ["null", "object"]}),
        ] {
            assert!(inspect_parameters(&schema).is_ok(), "{schema}");
        }
        assert!(inspect(&json!(true)).is_ok());
        assert!(matches!(
            inspect(&json!(null)),
            Err(SchemaError::NotASchema { found: "null" })
        ));
    }

    /// Generates JSON that often looks like a schema.
    fn schemas() -> impl Strategy<Value = Value> {
        let key = prop::sample::select(vec![
            "$ref",
            "$id",
            "id",
            "$anchor",
            "$dynamicAnchor",
            "$dynamicRef",
            "$recursiveRef",
            "$recursiveAnchor",
            "$schema",
            "$defs",
            "definitions",
            "a",
            "properties",
            "items",
            "prefixItems",
            "allOf",
            "anyOf",
            "not",
            "if",
            "then",
            "dependentSchemas",
            "patternProperties",
            "unevaluatedProperties",
            "type",
            "pattern",
            "enum",
            "required",
        ]);
        let leaf = prop_oneof![
            prop::sample::select(vec![
                "#",
                "#/$defs/a",
                "#a",
                "a",
                "",
                "#/",
                "b#",
                "urn:a",
                "http://a/b#c",
                "object",
                "string",
                "^(?=a)*$",
                "%",
                "a b",
                "json-schema:///",
                "http://json-schema.org/draft-04/schema#",
                "http://json-schema.org/draft-07/schema#",
            ])
            .prop_map(Value::from),
            any::<bool>().prop_map(Value::from),
            any::<i8>().prop_map(Value::from),
            Just(Value::Null),
        ];
        leaf.prop_recursive(6, 48, 5, move |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::Array),
                prop::collection::btree_map(key.clone().prop_map(String::from), inner, 0..6)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1_000))]
        #[test]
        fn no_schema_and_no_value_panics(schema in schemas(), value in schemas()) {
            if let Ok(validator) = Compiled::new(&schema) {
                let _ = validator.check(&value);
                let _ = validator.check(&schema);
            }
        }
    }
}
