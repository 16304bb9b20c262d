//! Describes a keyword or a schema as a phrase that can follow "expected".

use std::collections::HashSet;

use jsonschema::error::{TypeKind, ValidationErrorKind as Kind};
use jsonschema::{JsonType, ValidationError};
use serde_json::Value;

use super::accepted::{self, AcceptedValues, MOST_VISITS};
use super::phrase;

/// Returns the expectation of the failed keyword.
pub(super) fn for_error(error: &ValidationError<'_>) -> String {
    match error.kind() {
        Kind::Type {
            kind: TypeKind::Single(kind),
        } => name(*kind).into(),
        Kind::Type {
            kind: TypeKind::Multiple(kinds),
        } => kinds.iter().map(name).collect::<Vec<_>>().join(" or "),
        Kind::Constant { .. } | Kind::Enum { .. } => one_of(&options(error)),
        Kind::Minimum { limit } => format!("a number of at least {limit}"),
        Kind::Maximum { limit } => format!("a number of at most {limit}"),
        Kind::ExclusiveMinimum { limit } => format!("a number greater than {limit}"),
        Kind::ExclusiveMaximum { limit } => format!("a number less than {limit}"),
        Kind::MultipleOf { multiple_of } => format!("a multiple of {multiple_of}"),
        Kind::MinLength { limit } => format!("a string of at least {}", phrase::characters(*limit)),
        Kind::MaxLength { limit } => format!("a string of at most {}", phrase::characters(*limit)),
        Kind::MinItems { limit } => format!("an array of at least {}", phrase::items(*limit)),
        Kind::MaxItems { limit } => format!("an array of at most {}", phrase::items(*limit)),
        Kind::AdditionalItems { limit } => {
            format!("an array of at most {}", phrase::items(*limit as u64))
        }
        Kind::UnevaluatedItems { unexpected } => {
            format!(
                "no further items; {} too many",
                phrase::group_digits(unexpected.len())
            )
        }
        Kind::MinProperties { limit } => {
            format!("an object with at least {}", phrase::properties(*limit))
        }
        Kind::MaxProperties { limit } => {
            format!("an object with at most {}", phrase::properties(*limit))
        }
        Kind::UniqueItems => "an array whose items all differ".into(),
        Kind::Contains => "an array with the items that `contains` in the schema asks for".into(),
        Kind::Pattern { pattern } => format!(
            "a string that matches the pattern {}",
            phrase::quote(pattern, 200)
        ),
        Kind::Format { format } => format!("a string in the format {}", phrase::quote(format, 64)),
        Kind::Required { property } => {
            format!("an object with the property {}", phrase::show(property))
        }
        Kind::Not { schema } => format!("a value that does not match {}", phrase::show(schema)),
        Kind::FalseSchema => "nothing here: no value is allowed".into(),
        // Only this crate's keyword for `pattern` creates custom errors.
        Kind::Custom { message, .. } => message.clone(),
        Kind::BacktrackLimitExceeded { .. } | Kind::RegexEngineFailure { .. } => {
            "a shorter string: the pattern takes too long to match".into()
        }
        other => format!("a value that satisfies `{}` in the schema", other.keyword()),
    }
}

/// Returns the valid values of a failed `const` or `enum`, and none for other keywords.
pub(super) fn options<'a>(error: &'a ValidationError<'_>) -> Vec<&'a Value> {
    match error.kind() {
        Kind::Constant { expected_value } => vec![expected_value],
        Kind::Enum { options } => options.as_array().into_iter().flatten().collect(),
        _ => Vec::new(),
    }
}

/// Describes a choice of values.
pub(super) fn one_of(options: &[&Value]) -> String {
    match options {
        [only] => phrase::show(only),
        several => format!("one of {}", phrase::options(several.iter().copied())),
    }
}

fn name(kind: JsonType) -> &'static str {
    match kind {
        JsonType::Array => "an array",
        JsonType::Boolean => "a boolean",
        JsonType::Integer => "an integer",
        JsonType::Null => "null",
        JsonType::Number => "a number",
        JsonType::Object => "an object",
        JsonType::String => "a string",
    }
}

/// Describes the values that a schema inside of `root` accepts, such as `an integer or null` or `one of "a", "b"`.
///
/// Leaves out bounds. Returns `anything` if the schema does not restrict the type.
pub fn describe_schema(root: &Value, schema: &Value) -> String {
    describe(root, schema, &mut { MOST_VISITS }).unwrap_or_else(|| "anything".to_owned())
}

fn describe(root: &Value, schema: &Value, visits: &mut usize) -> Option<String> {
    let mut known = HashSet::new();
    let accepted = accepted::within(root, schema, visits)?;
    let mut alternatives: Vec<_> = accepted
        .iter()
        .map(|accepted| alternative(root, accepted, visits))
        .collect();
    alternatives.retain(|words| known.insert(words.clone()));
    Some(alternatives.join(" or "))
}

fn alternative(root: &Value, accepted: &AcceptedValues<'_>, visits: &mut usize) -> String {
    let (type_name, schema) = match accepted {
        AcceptedValues::Listed(values) => return one_of(values),
        AcceptedValues::Typed { name, schema } => (*name, schema),
    };
    let words = type_name
        .parse()
        .map_or_else(|_| type_name.to_owned(), |kind| name(kind).to_owned());
    let items = schema
        .get("items")
        .filter(|_| type_name == "array")
        .and_then(|items| describe(root, items, visits));
    match items.as_deref().map(|items| (items, items.split_once(' '))) {
        None => words,
        Some((_, Some(("a" | "an", noun)))) if !noun.contains(' ') => format!("{words} of {noun}s"),
        Some((items, _)) => format!("{words}, each item {items}"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn schemas_are_described() {
        let root = json!({"$defs": {
            "unit": {"enum": ["a", "b"]},
            "loop": {"$ref": "#/$defs/loop"},
            "tree": {"anyOf": [{"$ref": "#/$defs/tree"}, {"$ref": "#/$defs/tree"}]},
        }});
        for (schema, words) in [
            (json!({"type": ["integer", "null"]}), "an integer or null"),
            (
                json!({"type": "array", "items": {"type": "string"}}),
                "an array of strings",
            ),
            (
                json!({"type": "array", "items": {"const": 3}}),
                "an array, each item 3",
            ),
            (
                json!({"anyOf": [{"$ref": "#/$defs/unit"}, {"type": "null"}]}),
                r#"one of "a", "b" or null"#,
            ),
            (
                json!({"allOf": [{"description": "A unit."}, {"$ref": "#/$defs/unit"}]}),
                r#"one of "a", "b""#,
            ),
            (json!({"items": {"type": "object"}}), "an array of objects"),
            (json!({"anyOf": [{"type": "string"}, {}]}), "anything"),
            (json!({"$ref": "#/$defs/loop"}), "anything"),
            (json!({"$ref": "#/$defs/tree"}), "anything"),
            (json!({"type": "dict"}), "anything"),
            (json!({"type": ["dict"]}), "anything"),
            (json!(true), "anything"),
        ] {
            assert_eq!(describe_schema(&root, &schema), words, "{schema}");
        }
    }
}
