//! Makes the root an object.

use serde_json::{Map, Value};

use crate::wire::schema::change::{Changes, Rule};

/// Sets the type of the root, and removes listed values. Arguments are always an object, so the type is exact.
pub(in crate::wire::schema) fn root(keywords: &mut Map<String, Value>, changes: &mut Changes) {
    for keyword in ["const", "enum"] {
        if keywords.remove(keyword).is_some() {
            changes.loosened(Rule::Keyword(keyword.to_owned()));
        }
    }
    if keywords.insert("type".to_owned(), "object".into()) != Some("object".into()) {
        changes.exact(Rule::RootType);
    }
}
