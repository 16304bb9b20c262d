//! Objects get `properties`, and arrays get `items`.

use serde_json::{Map, Value, json};

use crate::wire::schema::change::Rule;
use crate::wire::schema::dialect::Dialect;
use crate::wire::schema::keyword::types;
use crate::wire::schema::log::Log;

pub(in crate::wire::schema) fn apply(keywords: &mut Map<String, Value>, dialect: &Dialect, log: &mut Log) {
    if !dialect.containers {
        return;
    }
    let has = |name: &str| types(keywords).is_some_and(|types| types.contains(&name));
    let (is_object, is_array) = (has("object"), has("array"));
    if is_object && !keywords.contains_key("properties") {
        keywords.insert("properties".to_owned(), json!({}));
        log.exact(Rule::Properties);
    }
    if is_array && !keywords.contains_key("items") {
        keywords.insert("items".to_owned(), json!({}));
        log.exact(Rule::Items);
    }
}
