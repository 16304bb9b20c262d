//! [`Validator`]: a compiled schema.

use std::panic::{AssertUnwindSafe, catch_unwind};

use jsonschema::ValidationError;
use jsonschema::error::ValidationErrorKind;
use protocol::json::{Extent, MAX_DEPTH, Node};
use serde_json::Value;

use super::budget::{Inspection, STACK};
use super::instance::Instance;
use super::mask::Mask;
use super::measure::Measure;
use super::pattern::{self, MATCH_BUDGET, Patterns};
use super::shape::Shape;
use super::violation::{self, Violation};
use super::{SchemaError, phrase};

/// The most evaluations for one verdict: the size of the value times the size of the schema.
const MOST_WORK: u64 = 250_000_000;
/// The most memory for an explanation of all errors, in bytes.
const MOST_EXPLAINED: u64 = 256 << 20;

/// A compiled schema. The tool owns the schema itself and passes it to every check.
pub(crate) struct Validator {
    inner: jsonschema::Validator<Instance>,
    measure: Measure,
    pub(super) max_depth: u64,
}

impl Validator {
    /// Compiles an inspected schema.
    ///
    /// # Errors
    /// Returns an error if the schema is not valid in its dialect, or a regular expression cannot be used.
    pub(super) fn compile(schema: &Value, inspection: &Inspection) -> Result<Self, SchemaError> {
        let measure = inspection.measure.clone();
        let count = inspection.pattern_count();
        let patterns = Patterns::compile(&inspection.patterns, count)?;
        let options = jsonschema::options_for::<Instance>()
            // Without this, a reference would be fetched from the network or a file; MCP forbids it too.
            .offline()
            // Older dialects may check formats and encodings. Here they are annotations in each.
            .should_validate_formats(false)
            .without_content_encoding_support("base64")
            .without_content_media_type_support("application/json")
            .with_pattern_options(pattern::options(count))
            // The limits of jsonschema do not bound the time of a match, so each is paid for.
            .with_keyword("pattern", move |_: &_, value: &_, _| {
                patterns.keyword(value)
            });
        // Hostile identifiers reach code in `jsonschema` that panics on them.
        let built = catch_unwind(AssertUnwindSafe(|| options.build(schema)));
        let inner = built
            .map_err(|_| SchemaError::Unsupported {
                reason: "the validator panicked; simplify the schema".into(),
            })?
            .map_err(to_schema_error)?;
        let max_depth = if measure.height.is_some() {
            MAX_DEPTH as u64
        } else {
            (MAX_DEPTH as u64).min(STACK / measure.stacked.max(1))
        };
        Ok(Self {
            inner,
            measure,
            max_depth,
        })
    }

    /// Checks that a value satisfies the schema.
    ///
    /// # Errors
    /// Returns all violations, sorted by pointer and masked. A value that is too costly to check is one violation as a whole.
    pub(crate) fn check(
        &self,
        schema: &Value,
        value: Node<'_>,
        mask: Option<&Mask>,
    ) -> Result<(), Vec<Violation>> {
        let too_costly = |expected: &str| vec![too_costly(expected, value, mask)];
        let extent = value.extent();
        let depth = extent.depth as u64;
        if depth > self.max_depth {
            return Err(vec![self.too_deep(depth)]);
        }
        if !self.is_cheap(extent) {
            let shape = Shape::from_value(value, &self.measure);
            if shape.weight.saturating_mul(self.measure.evaluated) > MOST_WORK
                || shape.names > MATCH_BUDGET
            {
                return Err(too_costly(
                    "a smaller or flatter value: this one takes too long to check",
                ));
            }
        }
        let verdict = catch_unwind(AssertUnwindSafe(|| {
            pattern::with_match_budget(|| self.inner.is_valid(value))
        }));
        match verdict {
            Ok(Some(true)) => Ok(()),
            Ok(Some(false)) => Err(self.explain(schema, value, mask)),
            Ok(None) => Err(too_costly(
                "shorter strings: the patterns take too long to match",
            )),
            Err(_) => Err(too_costly("a value that can be checked")),
        }
    }

    /// Returns true if the value's size alone bounds the cost of a verdict. True for nearly all values; saves a walk.
    fn is_cheap(&self, extent: Extent) -> bool {
        let weight = extent.values as u64 + extent.text as u64 / 16;
        let looks_once = self.measure.verdict_fan_out <= 1 && self.measure.names.is_empty();
        looks_once && weight.saturating_mul(self.measure.evaluated) <= MOST_WORK
    }

    fn too_deep(&self, depth: u64) -> Violation {
        let expected = format!(
            "at most {} levels of arrays and objects, for this schema",
            self.max_depth
        );
        Violation::whole(expected, format!("{} levels", phrase::group_digits(depth)))
    }

    fn explain(&self, schema: &Value, value: Node<'_>, mask: Option<&Mask>) -> Vec<Violation> {
        let shape = Shape::from_value(value, &self.measure);
        if shape.explained.saturating_mul(self.measure.errors) > MOST_EXPLAINED {
            let expected = "a value that matches the schema; this one does not, and it is too large or too deep to say where";
            return vec![too_costly(expected, value, mask)];
        }
        // Members in the order of the value, so that text and value give the same explanation.
        let ordered = value.to_rounded_value();
        let masked = mask.map(|mask| mask.apply(&ordered));
        let explained = catch_unwind(AssertUnwindSafe(|| {
            pattern::with_match_budget(|| {
                violation::all(
                    self.inner.iter_errors(Node::from(&ordered)).collect(),
                    schema,
                    masked.as_ref(),
                )
            })
        }));
        match explained {
            Ok(Some(violations)) if !violations.is_empty() => violations,
            _ => vec![too_costly("a value that matches the schema", value, mask)],
        }
    }
}

fn too_costly(expected: &str, value: Node<'_>, mask: Option<&Mask>) -> Violation {
    let value = value.to_rounded_value();
    Violation::whole(
        expected,
        phrase::show(&mask.map_or_else(|| value.clone(), |mask| mask.apply(&value))),
    )
}

pub(super) fn to_schema_error(error: ValidationError<'_>) -> SchemaError {
    if let ValidationErrorKind::Referencing(error) = error.kind() {
        return SchemaError::UnresolvedRef {
            reference: phrase::visible(&error.to_string(), 200),
        };
    }
    let worst = violation::first(error);
    SchemaError::Invalid {
        pointer: worst.pointer,
        expected: worst.expected,
        found: worst.found,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Map, json};

    use super::*;
    use crate::schema::compiled::Compiled;

    fn compiled(schema: Value) -> Compiled {
        Compiled::new(&schema).unwrap_or_else(|error| panic!("{error}"))
    }

    fn nested(levels: usize, inner: Value) -> Value {
        (0..levels).fold(inner, |value, _| json!({ "a": value }))
    }

    /// Returns the first violation. Without bounds on the cost this would take years.
    fn refusal(validator: &Compiled, value: &Value) -> String {
        let violations = validator.check(value).expect_err("a violation");
        violations[0].to_string()
    }

    #[test]
    fn a_fan_out_bomb_is_not_explained_to_the_end_of_time() {
        // Each level doubles the visits of the next: 2^60 at the bottom.
        let bomb = compiled(
            json!({"type": "object", "properties": {"a": {"allOf": [{"$ref": "#"}, {"$ref": "#"}]}}}),
        );
        assert!(refusal(&bomb, &nested(60, json!(1))).contains("too deep to say where"));
        assert!(refusal(&bomb, &nested(5, json!(1))).starts_with("at `/a/a/a/a/a`"));
    }

    #[test]
    fn a_deep_value_that_fits_passes_whatever_the_fan_out() {
        let tree = json!({"$ref": "#"});
        let operators = [
            "add", "sub", "mul", "div", "neg", "not", "and", "or", "eq", "lt",
        ];
        let expression = operators.map(|name| {
            json!({"type": "object", "properties": {"left": tree, "op": {"const": name}, "right": tree}, "required": ["op"]})
        });
        let syntax = compiled(json!({ "anyOf": expression }));
        let deep = (0..30).fold(
            json!({"op": "neg"}),
            |inner, _| json!({"left": inner, "op": "lt"}),
        );
        assert_eq!(syntax.check(&deep), Ok(()));
        for keyword in ["allOf", "anyOf"] {
            let doubling =
                compiled(json!({"type": "object", "properties": {"a": {(keyword): [tree, tree]}}}));
            assert_eq!(doubling.check(&nested(60, json!({}))), Ok(()));
        }
    }

    #[test]
    fn unevaluated_recursion_is_bounded() {
        let tree = json!({"$ref": "#"});
        let again = json!({ "unevaluatedProperties": tree });
        let bomb = compiled(
            json!({"type": "object", "anyOf": [again, again], "unevaluatedProperties": tree}),
        );
        assert_eq!(bomb.check(&nested(2, json!({}))), Ok(()));
        assert!(refusal(&bomb, &nested(60, json!({}))).contains("too long to check"));
    }

    #[test]
    fn explaining_does_not_fill_the_memory() {
        let names: Vec<String> = (0..20_000).map(|i| format!("p{i}")).collect();
        let copies = compiled(json!({"anyOf": [{"required": names}, {"type": "null"}]}));
        assert!(refusal(&copies, &json!({"a": "x".repeat(1_000_000)})).contains("too large"));
        let options: Vec<Value> = (0..20_000).map(Value::from).collect();
        let schemas = compiled(json!({"items": {"not": {"not": {"enum": options}}}}));
        assert!(refusal(&schemas, &json!(vec!["x"; 100_000])).contains("too large"));
    }

    #[test]
    fn deep_values_do_not_overflow_the_stack() {
        let mut definitions: Map<_, _> = (0..20)
            .map(|i| {
                (
                    format!("d{i}"),
                    json!({"oneOf": [{"$ref": format!("#/$defs/d{}", i + 1)}, {"type": "null"}]}),
                )
            })
            .collect();
        definitions.insert(
            "d20".into(),
            json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/d0"}}}),
        );
        let schema = json!({"$ref": "#/$defs/d0", "$defs": definitions});
        // The stack size of tokio's threads.
        let thread = std::thread::Builder::new()
            .stack_size(2 << 20)
            .spawn(move || {
                let tall = compiled(schema);
                for levels in 0..100 {
                    let fits = tall.check(&nested(levels, json!({}))).is_ok();
                    assert_eq!(fits, (levels as u64) < tall.max_depth());
                    assert!(tall.check(&nested(levels, json!(1))).is_err());
                }
            });
        thread.unwrap().join().unwrap();
        let flat = compiled(json!({}));
        assert!(refusal(&flat, &nested(65, json!(1))).contains("64 levels"));
    }

    #[test]
    fn large_values_against_large_schemas_are_refused() {
        let options: Vec<Value> = (0..5_000).map(|i| json!({ "const": i })).collect();
        let wide = compiled(json!({"items": {"anyOf": options}}));
        assert_eq!(wide.check(&json!([1, 2, 4_999])), Ok(()));
        assert!(refusal(&wide, &json!(vec![6_000; 400_000])).contains("too long to check"));
    }

    #[test]
    fn formats_and_encodings_are_annotations() {
        for dialect in ["draft-04", "draft-07", "draft/2020-12"] {
            let schema = json!({
                "$schema": format!("http://json-schema.org/{dialect}/schema#"),
                "format": "email", "contentEncoding": "base64", "contentMediaType": "application/json",
            });
            assert_eq!(compiled(schema).check(&json!("!")), Ok(()));
        }
    }

    #[test]
    fn an_invalid_schema_says_where_and_what() {
        let error = Compiled::new(&json!({"properties": {"a": {"type": "dict"}}}))
            .err()
            .expect("a refusal");
        let SchemaError::Invalid {
            pointer, expected, ..
        } = &error
        else {
            panic!("{error}")
        };
        assert_eq!(pointer, "/properties/a/type");
        assert!(expected.contains("\"string\""), "{error}");
    }

    fn values() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            (-3i8..4).prop_map(Value::from),
            "[ab\\u{0}-\\u{ff}]{0,100}".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 32, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::Array),
                prop::collection::btree_map("[abc]|.{0,200}", inner, 0..4)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    fn rules() -> impl Strategy<Value = Value> {
        let leaf = prop::sample::select(vec![
            json!(true),
            json!(false),
            json!({"type": "object"}),
            json!({"type": ["string", "null"]}),
            json!({"enum": [1, "a", null]}),
            json!({"const": {"a": 1}}),
            json!({"minimum": 1, "maxLength": 2, "maxItems": 1, "pattern": "^a(?=b|$)"}),
            json!({"required": ["a", "b"], "propertyNames": {"maxLength": 1}}),
        ]);
        leaf.prop_recursive(3, 16, 3, |inner| {
            let map = |schema: fn(Value) -> Value| inner.clone().prop_map(schema);
            let two = (inner.clone(), inner.clone());
            prop_oneof![
                map(|a| json!({"properties": {"a": a}, "additionalProperties": false})),
                map(|a| json!({"items": a, "uniqueItems": true})),
                map(|a| json!({ "not": a })),
                map(|a| json!({"contains": a, "maxContains": 2})),
                two.clone()
                    .prop_map(|(a, b)| json!({"allOf": [a], "properties": {"b": b}, "unevaluatedProperties": false})),
                two.clone().prop_map(|(a, b)| json!({"anyOf": [a, b]})),
                two.clone().prop_map(|(a, b)| json!({"oneOf": [a, b, {"type": "null"}]})),
                two.prop_map(|(a, b)| json!({"if": a, "else": b, "patternProperties": {"a": b}})),
            ]
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1_000))]
        #[test]
        fn the_verdict_is_that_of_json_schema_and_every_refusal_is_short(schema in rules(), value in values()) {
            let verdict = compiled(schema.clone()).check(&value);
            prop_assert_eq!(verdict.is_ok(), jsonschema::is_valid(&schema, &value));
            for violation in verdict.err().unwrap_or_default() {
                prop_assert!(violation.found.chars().count() <= 64, "{}", violation);
                prop_assert!(violation.expected.chars().count() <= 1_000, "{}", violation);
                prop_assert!(violation.near.len() <= 3);
                prop_assert!(!violation.to_string().chars().any(char::is_control));
                let shown = violation.pointer.contains(['…', '\\']);
                prop_assert!(shown || value.pointer(&violation.pointer).is_some(), "{}", violation);
            }
        }
    }
}
