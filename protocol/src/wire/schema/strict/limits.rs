//! The largest schema that a strict dialect takes.

use serde_json::{Map, Value};

use crate::wire::schema::dialect::SchemaLimits;
use crate::wire::schema::keyword::{for_each, has_type, members};

/// Returns the limit that a rewritten schema exceeds, in words. Returns `None` if it fits.
pub(in crate::wire::schema) fn exceeded(root: &Value, limits: &SchemaLimits) -> Option<String> {
    let mut size = SchemaLimits {
        levels: 0,
        properties: 0,
        enum_values: 0,
        characters: 0,
    };
    add(root, 0, &mut size);
    [
        (size.levels, limits.levels, "nested objects"),
        (size.properties, limits.properties, "properties"),
        (size.enum_values, limits.enum_values, "values in enums"),
        (
            size.characters,
            limits.characters,
            "characters in keys and values of enums",
        ),
    ]
    .into_iter()
    .find(|(size, limit, _)| size > limit)
    .map(|(_, limit, name)| format!("has more than {limit} {name}"))
}

fn add(schema: &Value, level: usize, size: &mut SchemaLimits) {
    let Value::Object(keywords) = schema else {
        return;
    };
    let level = level + usize::from(has_type(keywords, "object"));
    size.levels = size.levels.max(level);
    let characters = |text: &str| text.chars().count();
    for keyword in ["properties", "$defs"] {
        let keys = members(keywords, keyword).into_iter().flat_map(Map::keys);
        size.characters += keys.map(|key| characters(key)).sum::<usize>();
    }
    size.properties += members(keywords, "properties").map_or(0, Map::len);
    let values = keywords
        .get("enum")
        .and_then(Value::as_array)
        .map_or(&[][..], Vec::as_slice);
    size.enum_values += values.len();
    let texts = values
        .iter()
        .chain(keywords.get("const"))
        .filter_map(Value::as_str);
    size.characters += texts.map(characters).sum::<usize>();
    // A definition is not nested in the root.
    for_each(keywords, |place, schema| {
        add(
            schema,
            if place.starts_with("/$defs/") {
                0
            } else {
                level
            },
            size,
        )
    });
}
