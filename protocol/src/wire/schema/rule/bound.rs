//! An exclusive bound becomes an inclusive one.

use serde_json::{Map, Value};

use crate::wire::schema::change::{Fidelity, Rule};
use crate::wire::schema::dialect::Dialect;
use crate::wire::schema::keyword::types;
use crate::wire::schema::log::Log;

pub(in crate::wire::schema) fn apply(keywords: &mut Map<String, Value>, dialect: &Dialect, log: &mut Log) {
    for (exclusive, inclusive, step) in [("exclusiveMinimum", "minimum", 1), ("exclusiveMaximum", "maximum", -1)] {
        if dialect.takes(exclusive) || !dialect.takes(inclusive) {
            continue;
        }
        let Some(bound) = keywords.remove(exclusive) else { continue };
        let is_integer = types(keywords) == Some(vec!["integer"]);
        let next = bound.as_i64().filter(|_| is_integer).and_then(|bound| bound.checked_add(step));
        let next_is_bound = keywords.get(inclusive).and_then(Value::as_f64).is_some_and(|own| {
            let bound = bound.as_f64().unwrap_or(own);
            if step > 0 { own > bound } else { own < bound }
        });
        if next_is_bound {
            log.exact(Rule::Bound);
            continue;
        }
        log.push(Rule::Bound, if next.is_some() { Fidelity::Exact } else { Fidelity::Loosened });
        keywords.insert(inclusive.to_owned(), next.map_or(bound, Value::from));
    }
}
