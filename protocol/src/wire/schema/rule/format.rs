//! A `format` that the service does not know goes.

use serde_json::{Map, Value};

use crate::wire::schema::change::Rule;
use crate::wire::schema::dialect::Dialect;
use crate::wire::schema::log::Log;

pub(in crate::wire::schema) fn apply(keywords: &mut Map<String, Value>, dialect: &Dialect, log: &mut Log) {
    let Some(known) = dialect.formats else { return };
    if keywords.get("format").is_some_and(|format| !known.iter().any(|known| format == known)) {
        keywords.remove("format");
        log.loosened(Rule::Format);
    }
}
