//! Checks a schema against the rules of its dialect without compiling it.
//!
//! `jsonschema` checks a schema against a compiled meta-schema. That costs 100,000 instructions for a schema of 2 KB, and six million
//! once a process. [`is_surely_valid`] walks the schema for 8,000 instructions. It accepts no schema that the meta-schema refuses.
//! The meta-schema decides about all other schemas.

use std::panic::{AssertUnwindSafe, catch_unwind};

use serde_json::Value;

use super::budget::Inspection;
use super::pattern::Patterns;
use super::validator::{Validator, to_schema_error};
use super::{SchemaError, walk};

/// The dialects that [`is_surely_valid`] supports. The first is the default.
const KNOWN_DIALECTS: [&str; 3] = [
    "https://json-schema.org/draft/2020-12/schema",
    "http://json-schema.org/draft-07/schema#",
    "http://json-schema.org/draft-07/schema",
];

const TYPES: [&str; 7] = [
    "array", "boolean", "integer", "null", "number", "object", "string",
];

/// The longest list that is checked for duplicates by comparing all pairs.
const MOST_NAMES: usize = 32;

/// Checks a schema against the meta-schema of its dialect, and its regular expressions.
///
/// # Errors
/// Returns an error if the schema breaks a rule, or a regular expression cannot be used.
pub(super) fn check(schema: &Value, inspection: &Inspection) -> Result<(), SchemaError> {
    let count = inspection.pattern_count();
    Patterns::compile(&inspection.patterns, count)?;
    Patterns::compile(&inspection.name_patterns, count)?;
    if is_surely_valid(schema) {
        return Ok(());
    }
    if has_dialects_inside(schema) {
        // Each dialect has its own rules, and only compiling finds where a dialect begins.
        return Validator::compile(schema, inspection).map(drop);
    }
    catch_unwind(AssertUnwindSafe(|| {
        jsonschema::meta::validate(schema).map_err(to_schema_error)
    }))
    .unwrap_or_else(|_| {
        Err(SchemaError::Unsupported {
            reason: "its check panicked; simplify the schema".into(),
        })
    })
}

/// Returns true if the schema satisfies the meta-schema of its dialect, false if the meta-schema must decide. Recurses as deep as
/// the schema nests.
fn is_surely_valid(schema: &Value) -> bool {
    let Some(keywords) = schema.as_object() else {
        return schema.is_boolean();
    };
    let dialect = keywords.get("$schema");
    let is_known =
        dialect.is_none_or(|dialect| KNOWN_DIALECTS.iter().any(|known| dialect == known));
    is_known
        && keywords
            .iter()
            .all(|(keyword, value)| keyword == "$schema" || is_valid_keyword(keyword, value))
}

fn is_valid_subschema(schema: &Value) -> bool {
    match schema {
        Value::Object(keywords) => keywords
            .iter()
            .all(|(keyword, value)| is_valid_keyword(keyword, value)),
        other => other.is_boolean(),
    }
}

fn is_valid_keyword(keyword: &str, value: &Value) -> bool {
    match keyword {
        "additionalItems"
        | "additionalProperties"
        | "contains"
        | "contentSchema"
        | "else"
        | "if"
        | "items"
        | "not"
        | "propertyNames"
        | "then"
        | "unevaluatedItems"
        | "unevaluatedProperties" => is_valid_subschema(value),
        "allOf" | "anyOf" | "oneOf" | "prefixItems" => value
            .as_array()
            .is_some_and(|schemas| !schemas.is_empty() && schemas.iter().all(is_valid_subschema)),
        "$defs" | "definitions" | "dependentSchemas" | "properties" => value
            .as_object()
            .is_some_and(|schemas| schemas.values().all(is_valid_subschema)),
        "type" => {
            is_type(value)
                || value
                    .as_array()
                    .is_some_and(|types| !types.is_empty() && are_unique(types, is_type))
        }
        "required" => value
            .as_array()
            .is_some_and(|names| are_unique(names, Value::is_string)),
        "enum" | "examples" => value.is_array(),
        "const" | "default" => true,
        "$comment" | "contentEncoding" | "contentMediaType" | "description" | "format"
        | "title" => value.is_string(),
        "deprecated" | "readOnly" | "uniqueItems" | "writeOnly" => value.is_boolean(),
        "exclusiveMaximum" | "exclusiveMinimum" | "maximum" | "minimum" => value.is_number(),
        "maxContains" | "maxItems" | "maxLength" | "maxProperties" | "minContains" | "minItems"
        | "minLength" | "minProperties" => value.is_u64(),
        "multipleOf" => value.as_f64().is_some_and(|number| number > 0.0),
        "$ref" => value
            .as_str()
            .and_then(|reference| reference.strip_prefix("#/"))
            .is_some_and(is_unescaped_pointer),
        // Their rules differ between dialects.
        "dependencies" | "dependentRequired" | "id" | "pattern" | "patternProperties" => false,
        // No dialect has rules for other keywords.
        other => !other.starts_with('$'),
    }
}

fn is_type(value: &Value) -> bool {
    value.as_str().is_some_and(|name| TYPES.contains(&name))
}

/// Returns true if the list is short, its elements are distinct and each passes.
fn are_unique(list: &[Value], passes: impl Fn(&Value) -> bool) -> bool {
    // Pairs are enough for so few names, and need no memory.
    let mut values = list.iter().enumerate();
    list.len() <= MOST_NAMES
        && values.all(|(place, value)| passes(value) && !list[..place].contains(value))
}

/// Returns true if the pointer contains only characters that a URI does not escape.
fn is_unescaped_pointer(pointer: &str) -> bool {
    pointer
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || b"/_-.~$".contains(&byte))
}

/// Returns true if `$schema` occurs below the root.
fn has_dialects_inside(schema: &Value) -> bool {
    walk::values(schema)
        .skip(1)
        .any(|(value, _)| value.get("$schema").is_some())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::schema::budget::inspect;
    use crate::schema::compiled::Compiled;

    /// All keywords with a rule in some dialect, and one without.
    const WORDS: &str = "$anchor $comment $defs $dynamicAnchor $dynamicRef $id $recursiveAnchor $recursiveRef $ref $schema \
        $vocabulary additionalItems additionalProperties allOf anyOf const contains contentEncoding contentMediaType \
        contentSchema default definitions dependencies dependentRequired dependentSchemas deprecated description \
        else enum examples exclusiveMaximum exclusiveMinimum format id if items maxContains maxItems maxLength \
        maxProperties maximum minContains minItems minLength minProperties minimum multipleOf not oneOf pattern \
        patternProperties prefixItems properties propertyNames readOnly required then title type unevaluatedItems \
        unevaluatedProperties uniqueItems x-word";

    /// Generates schemas of one or several keywords, most of them invalid.
    fn schemas() -> impl Strategy<Value = Value> {
        let leaves = json!([
            true, false, null, 0, -1, 2, 1.0, 0.5, -0.0, "", "object", "dict", "a", "#/$defs/a", "#/a b", "#/%zz", "(?=a)",
            "http://json-schema.org/draft-07/schema#", [], {}, ["a"], ["a", "a"], ["string", "null"], ["string", "string"],
            [1, 1.0], [{}], [true, 5], {"a": {}}, {"a": ["b"]}, {"a": 1},
        ]);
        let leaf = prop::sample::select(leaves.as_array().cloned().unwrap_or_default());
        leaf.prop_recursive(4, 24, 4, |inner| {
            let word =
                prop::sample::select(WORDS.split(' ').collect::<Vec<_>>()).prop_map(String::from);
            let members = prop::collection::btree_map(word, inner.clone(), 0..4);
            prop_oneof![
                4 => members.prop_map(|members| Value::Object(members.into_iter().collect())),
                1 => prop::collection::vec(inner.clone(), 1..3).prop_map(Value::Array),
                1 => inner.prop_map(|schema| json!({ "a": schema })),
            ]
        })
    }

    fn in_all_dialects(schema: &Value) -> Vec<Value> {
        let with_dialect = |dialect: &str| {
            let mut schema = schema.clone();
            if let Some(keywords) = schema.as_object_mut() {
                keywords.insert("$schema".to_owned(), dialect.into());
            }
            schema
        };
        [schema.clone()]
            .into_iter()
            .chain(KNOWN_DIALECTS.map(with_dialect))
            .collect()
    }

    #[test]
    fn every_word_is_judged_alone_as_the_meta_schema_judges_it() {
        let values = json!([
            true, null, 0, -1, 1.5, 0.0, "a", "object", "#/a", "#/ ", [], {}, ["a"], ["a", "a"], ["null"], [{}], {"a": {}},
            {"a": 1}, {"type": "dict"}, [{"type": "dict"}], {"a": {"type": "dict"}},
        ]);
        let values = values.as_array().cloned().unwrap_or_default();
        let mut accepted = 0;
        let words = WORDS.split(' ').filter(|word| *word != "$schema");
        for (word, value) in words.flat_map(|word| values.iter().map(move |value| (word, value))) {
            for schema in in_all_dialects(&json!({ (word): value })) {
                let is_valid = is_surely_valid(&schema);
                assert!(!is_valid || jsonschema::meta::is_valid(&schema), "{schema}");
                accepted += usize::from(is_valid);
            }
        }
        assert!(accepted > 500, "{accepted} are accepted at once");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4_000))]
        #[test]
        fn nothing_is_accepted_that_the_meta_schema_refuses(schema in schemas()) {
            for schema in in_all_dialects(&schema) {
                if is_surely_valid(&schema) {
                    prop_assert!(jsonschema::meta::is_valid(&schema), "{}", schema);
                }
            }
        }

        #[test]
        fn nothing_is_refused_that_compiles(schema in schemas()) {
            for schema in in_all_dialects(&schema) {
                let Ok(inspection) = inspect(&schema) else { continue };
                let checked = check(&schema, &inspection);
                prop_assert!(checked.is_ok() || Compiled::new(&schema).is_err(), "{}: {:?}", schema, checked);
                if !schema.to_string().contains("Ref\"") && !schema.to_string().contains("ref\"") {
                    prop_assert_eq!(checked.is_ok(), Compiled::new(&schema).is_ok(), "{}", schema);
                }
            }
        }
    }
}
