//! Keywords that the service does not take go.

use serde_json::{Map, Value};

use crate::wire::schema::change::{Fidelity, Rule};
use crate::wire::schema::dialect::Dialect;
use crate::wire::schema::keyword::ANNOTATIONS;
use crate::wire::schema::log::Log;

pub(in crate::wire::schema) fn apply(keywords: &mut Map<String, Value>, dialect: &Dialect, log: &mut Log) {
    let names: Vec<_> = keywords.keys().filter(|keyword| !dialect.takes(keyword)).cloned().collect();
    for keyword in names {
        keywords.remove(&keyword);
        // The keywords that judge the values which the other one leaves.
        match &*keyword {
            "patternProperties" => drop(keywords.remove("additionalProperties")),
            "prefixItems" => drop(keywords.remove("items")),
            _ => {}
        }
        let exact = ANNOTATIONS.contains(&&*keyword);
        log.push(Rule::Keyword(keyword), if exact { Fidelity::Exact } else { Fidelity::Loosened });
    }
}
