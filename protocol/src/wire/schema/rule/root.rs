//! The root is an object without conditions.

use serde_json::{Map, Value};

use crate::wire::schema::change::Rule;
use crate::wire::schema::keyword::types;
use crate::wire::schema::log::Log;

/// Removes the keywords that services refuse at the root, other than alternatives.
pub(in crate::wire::schema) fn without_conditions(keywords: &mut Map<String, Value>, log: &mut Log) {
    for keyword in ["const", "else", "enum", "if", "not", "then"] {
        if keywords.remove(keyword).is_some() {
            log.loosened(Rule::Keyword(keyword.to_owned()));
        }
    }
}

/// Sets the type of the root. Arguments are always an object, so this is exact.
pub(in crate::wire::schema) fn typed(keywords: &mut Map<String, Value>, log: &mut Log) {
    if types(keywords) != Some(vec!["object"]) || !keywords.get("type").is_some_and(Value::is_string) {
        keywords.insert("type".to_owned(), "object".into());
        log.exact(Rule::RootType);
    }
}
