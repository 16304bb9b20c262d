//! Rules about the text of keys go if keys have other names on the wire, as do listed objects, whose keys would not match.

use serde_json::{Map, Value};

use crate::wire::schema::change::Rule;
use crate::wire::schema::log::Log;

pub(in crate::wire::schema) fn apply(keywords: &mut Map<String, Value>, log: &mut Log) {
    if keywords.remove("patternProperties").is_some() {
        // Its keys would count as additional ones.
        keywords.remove("additionalProperties");
        log.loosened(Rule::Keyword("patternProperties".to_owned()));
    }
    let has_objects = |value: &Value| match value {
        Value::Array(values) => values.iter().any(|value| value.is_object() || value.is_array()),
        value => value.is_object(),
    };
    for keyword in ["propertyNames", "const", "enum"] {
        let goes = |value: &Value| keyword == "propertyNames" || has_objects(value);
        if keywords.get(keyword).is_some_and(goes) {
            keywords.remove(keyword);
            log.loosened(Rule::Keyword(keyword.to_owned()));
        }
    }
    for keyword in ["default", "examples"] {
        if keywords.get(keyword).is_some_and(has_objects) {
            keywords.remove(keyword);
        }
    }
}
