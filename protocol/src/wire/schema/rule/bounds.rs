//! Turns bounds into those that the service takes.

use serde_json::{Map, Value};

use crate::wire::schema::change::{Changes, Rule};
use crate::wire::schema::dialect::Dialect;
use crate::wire::schema::keyword::types;

pub(in crate::wire::schema) fn bounds(
    keywords: &mut Map<String, Value>,
    dialect: &Dialect,
    changes: &mut Changes,
) {
    for (exclusive, inclusive, step) in [
        ("exclusiveMinimum", "minimum", 1),
        ("exclusiveMaximum", "maximum", -1),
    ] {
        if dialect.takes(exclusive) || !dialect.takes(inclusive) || keywords.contains_key(inclusive)
        {
            continue;
        }
        let Some(bound) = keywords.remove(exclusive) else {
            continue;
        };
        let is_integer = types(keywords) == Some(vec!["integer"]);
        let next = bound
            .as_i64()
            .filter(|_| is_integer)
            .and_then(|bound| bound.checked_add(step));
        changes.exact_if(next.is_some(), Rule::Bound);
        keywords.insert(inclusive.to_owned(), next.map_or(bound, Value::from));
    }
    let Some(most) = dialect.strict.and_then(|rules| rules.min_items) else {
        return;
    };
    let Some(own) = keywords.get("minItems").and_then(Value::as_f64) else {
        return;
    };
    if types(keywords).is_some_and(|types| !types.contains(&"array")) {
        // Anthropic's SDK removes the keyword from schemas of other types, where it judges nothing.
        keywords.remove("minItems");
        changes.exact(Rule::MinItems);
    } else if own > most as f64 {
        keywords.insert("minItems".to_owned(), most.into());
        changes.loosened(Rule::MinItems);
    }
}
