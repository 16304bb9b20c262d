//! Adds `properties` to objects, and `items` to arrays.

use serde_json::{Map, Value, json};

use crate::wire::schema::change::{Changes, Rule};
use crate::wire::schema::dialect::Dialect;
use crate::wire::schema::keyword::has_type;

pub(in crate::wire::schema) fn containers(
    keywords: &mut Map<String, Value>,
    dialect: &Dialect,
    changes: &mut Changes,
) {
    for (name, keyword, rule) in [
        ("object", "properties", Rule::Properties),
        ("array", "items", Rule::Items),
    ] {
        if dialect.containers && has_type(keywords, name) && !keywords.contains_key(keyword) {
            keywords.insert(keyword.to_owned(), json!({}));
            changes.exact(rule);
        }
    }
}
