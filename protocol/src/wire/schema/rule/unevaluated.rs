//! An `unevaluatedProperties` or `unevaluatedItems` becomes its plain counterpart, or goes.

use serde_json::{Map, Value};

use crate::wire::schema::change::{Fidelity, Rule};
use crate::wire::schema::keyword::IN_PLACE;
use crate::wire::schema::log::Log;

pub(in crate::wire::schema) fn apply(keywords: &mut Map<String, Value>, log: &mut Log) {
    for (keyword, plain, evaluates) in
        [("unevaluatedProperties", "additionalProperties", None), ("unevaluatedItems", "items", Some("contains"))]
    {
        let Some(schema) = keywords.remove(keyword) else { continue };
        if schema == Value::Bool(true) {
            continue;
        }
        let has_others = IN_PLACE.iter().chain(&["$ref"]).copied().chain(evaluates);
        let is_plain = !has_others.into_iter().any(|other| keywords.contains_key(other));
        if keywords.contains_key(plain) && is_plain {
            continue; // Nothing is left unevaluated.
        }
        log.push(Rule::Unevaluated, if is_plain { Fidelity::Exact } else { Fidelity::Loosened });
        if is_plain {
            keywords.insert(plain.to_owned(), schema);
        }
    }
}
