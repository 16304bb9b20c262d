//! Removes keywords, patterns and formats that the service does not take.

use serde_json::{Map, Value};

use crate::wire::schema::change::{Changes, Rule};
use crate::wire::schema::dialect::Dialect;
use crate::wire::schema::keyword::judges;
use crate::word_list::has_word;

/// Removes keywords and regular expressions. If properties have other keys on the wire, so are those about the text of keys.
pub(in crate::wire::schema) fn removal(
    keywords: &mut Map<String, Value>,
    dialect: &Dialect,
    has_other_keys: bool,
    changes: &mut Changes,
) {
    // In strict mode, patterns of keys stay: they are a reason against it.
    let is_relaxed = dialect.strict.is_none();
    let is_about_keys = |keyword: &str, value: &Value| match keyword {
        "patternProperties" => is_relaxed,
        "propertyNames" => true,
        "default" | "examples" => value.is_object() || value.is_array(),
        _ => false,
    };
    let is_untaken_pattern = |keyword: &str, value: &Value| match (keyword, value) {
        ("pattern", Value::String(pattern)) => !dialect.patterns.takes(pattern),
        ("patternProperties", Value::Object(schemas)) => {
            is_relaxed
                && !schemas
                    .keys()
                    .all(|pattern| dialect.patterns.takes(pattern))
        }
        _ => false,
    };
    let removed: Vec<_> = keywords
        .iter()
        .filter(|(keyword, value)| {
            !dialect.takes(keyword)
                || is_untaken_pattern(keyword, value)
                || (has_other_keys && is_about_keys(keyword, value))
        })
        .map(|(keyword, _)| keyword.clone())
        .collect();
    for keyword in removed {
        keywords.remove(&keyword);
        // It judges the properties that no pattern matches.
        if keyword == "patternProperties" {
            keywords.remove("additionalProperties");
        }
        changes.exact_if(!judges(&keyword), Rule::Keyword(keyword));
    }
    if let (Some(format), Some(known)) = (keywords.get("format"), dialect.formats)
        && !format
            .as_str()
            .is_some_and(|format| has_word(known, format))
    {
        keywords.remove("format");
        changes.loosened(Rule::Format);
    }
}
