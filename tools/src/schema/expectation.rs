//! What one keyword asks for, in words that finish the sentence "expected …".

use jsonschema::error::{TypeKind, ValidationErrorKind as Kind};
use jsonschema::{JsonType, ValidationError};
use serde_json::Value;

use super::phrase;

/// What the keyword that failed asks for.
pub(super) fn of(error: &ValidationError<'_>) -> String {
    match error.kind() {
        Kind::Type { kind: TypeKind::Single(kind) } => name(*kind).into(),
        Kind::Type { kind: TypeKind::Multiple(kinds) } => kinds.iter().map(name).collect::<Vec<_>>().join(" or "),
        Kind::Constant { .. } | Kind::Enum { .. } => one_of(&options(error)),
        Kind::Minimum { limit } => format!("a number of at least {limit}"),
        Kind::Maximum { limit } => format!("a number of at most {limit}"),
        Kind::ExclusiveMinimum { limit } => format!("a number greater than {limit}"),
        Kind::ExclusiveMaximum { limit } => format!("a number less than {limit}"),
        Kind::MultipleOf { multiple_of } => format!("a multiple of {multiple_of}"),
        Kind::MinLength { limit } => format!("a string of at least {}", counted(*limit, "character")),
        Kind::MaxLength { limit } => format!("a string of at most {}", counted(*limit, "character")),
        Kind::MinItems { limit } => format!("an array of at least {}", counted(*limit, "item")),
        Kind::MaxItems { limit } => format!("an array of at most {}", counted(*limit, "item")),
        Kind::AdditionalItems { limit } => format!("an array of at most {}", counted(*limit as u64, "item")),
        Kind::UnevaluatedItems { unexpected } => {
            format!("no further items; {} too many", phrase::grouped(unexpected.len()))
        }
        Kind::MinProperties { limit } => format!("an object with at least {} properties", phrase::grouped(*limit)),
        Kind::MaxProperties { limit } => format!("an object with at most {} properties", phrase::grouped(*limit)),
        Kind::UniqueItems => "an array whose items all differ".into(),
        Kind::Contains => "an array with the items that `contains` in the schema asks for".into(),
        Kind::Pattern { pattern } => format!("a string that matches the pattern {}", phrase::quote(pattern, 200)),
        Kind::Format { format } => format!("a string in the format {}", phrase::quote(format, 64)),
        Kind::Required { property } => format!("an object with the property {}", phrase::show(property)),
        Kind::Not { schema } => format!("a value that does not match {}", phrase::show(schema)),
        Kind::FalseSchema => "nothing here: no value is allowed".into(),
        // Only our own keyword for `pattern` makes these.
        Kind::Custom { message, .. } => message.clone(),
        Kind::BacktrackLimitExceeded { .. } | Kind::RegexEngineFailure { .. } => {
            "a shorter string: the pattern takes too long to match".into()
        }
        other => format!("a value that satisfies `{}` in the schema", other.keyword()),
    }
}

/// The values that would do, where there are but some.
pub(super) fn options<'a>(error: &'a ValidationError<'_>) -> Vec<&'a Value> {
    match error.kind() {
        Kind::Constant { expected_value } => vec![expected_value],
        Kind::Enum { options } => options.as_array().into_iter().flatten().collect(),
        _ => Vec::new(),
    }
}

/// Words for a choice of values.
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

fn counted(number: u64, what: &str) -> String {
    format!("{} {what}{}", phrase::grouped(number), if number == 1 { "" } else { "s" })
}
