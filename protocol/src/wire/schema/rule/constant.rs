//! A `const` becomes an `enum` of one value.

use serde_json::{Map, Value, json};

use crate::wire::schema::change::{Fidelity, Rule};
use crate::wire::schema::dialect::Dialect;
use crate::wire::schema::log::Log;

pub(in crate::wire::schema) fn apply(keywords: &mut Map<String, Value>, dialect: &Dialect, log: &mut Log) {
    if dialect.takes("const") {
        return;
    }
    let Some(value) = keywords.remove("const") else { return };
    let replaces = keywords.insert("enum".to_owned(), json!([value])).is_some();
    log.push(Rule::Constant, if replaces { Fidelity::Loosened } else { Fidelity::Exact });
}
