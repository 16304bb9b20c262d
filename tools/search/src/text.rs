//! The texts of a definition.

use std::collections::VecDeque;

use protocol::Tool;
use serde_json::Value;

use crate::field::Field;

/// The keys of a schema with one schema or a list of schemas for the same value or its parts.
const NESTED: [&str; 6] = [
    "items",
    "prefixItems",
    "additionalProperties",
    "anyOf",
    "oneOf",
    "allOf",
];

/// The keys of a schema with named schemas, whose names are no parameters.
const NAMED: [&str; 3] = ["$defs", "definitions", "patternProperties"];

/// Calls `each` with the texts of a definition, until it returns false. The name and the description come first, then the parameters,
/// the outer ones before the nested ones.
pub(crate) fn each_text<'a>(tool: &'a Tool, mut each: impl FnMut(Field, &'a str) -> bool) {
    let own = [(Field::Name, tool.name.as_str())]
        .into_iter()
        .chain(tool.title.as_deref().map(|title| (Field::Title, title)))
        .chain(tool.tags.iter().map(|tag| (Field::Tag, tag.as_str())))
        .chain([(Field::Description, tool.description.as_str())]);
    for (field, text) in own {
        if !each(field, text) {
            return;
        }
    }
    // A queue, because a schema from outside may be nested deeper than the stack allows.
    let mut schemas = VecDeque::from([&tool.parameters]);
    while let Some(schema) = schemas.pop_front() {
        let Value::Object(keys) = schema else {
            continue;
        };
        if let Some(Value::Object(properties)) = keys.get("properties") {
            for (name, property) in properties {
                if !each(Field::Parameter, name) {
                    return;
                }
                schemas.push_back(property);
            }
        }
        for nested in NESTED.iter().filter_map(|key| keys.get(*key)) {
            match nested {
                Value::Array(several) => schemas.extend(several),
                one => schemas.push_back(one),
            }
        }
        for named in NAMED.iter().filter_map(|key| keys.get(*key)?.as_object()) {
            schemas.extend(named.values());
        }
        let described = keys.get("description").into_iter().chain(keys.get("const"));
        let allowed = keys.get("enum").and_then(Value::as_array);
        let all = described.chain(allowed.into_iter().flatten());
        for text in all.filter_map(Value::as_str) {
            if !each(Field::ParameterDescription, text) {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn nested_parameters_follow_outer_ones() {
        let parameters = json!({
            "description": "All.",
            "properties": {
                "place": {
                    "description": "A place.",
                    "properties": {"city": {"description": "A city.", "enum": ["Oslo", 5]}},
                },
                "days": {"items": {"anyOf": [{"const": "monday"}, {"$ref": "#/$defs/Day"}]}},
            },
            "$defs": {"Day": {"properties": {"hour": {"properties": {"minute": true}}}}},
        });
        let mut tool = Tool::new("weather.get", "Gets it.", parameters)
            .unwrap()
            .with_tags(["net"]);
        tool.title = Some("Weather".to_owned());
        let mut texts = Vec::new();
        each_text(&tool, |field, text| {
            texts.push((field, text));
            true
        });
        let field = |wanted| {
            texts
                .iter()
                .filter(|(field, _)| *field == wanted)
                .map(|(_, text)| *text)
                .collect::<Vec<_>>()
        };
        assert_eq!(field(Field::Name), ["weather.get"]);
        assert_eq!(field(Field::Title), ["Weather"]);
        assert_eq!(field(Field::Tag), ["net"]);
        assert_eq!(field(Field::Description), ["Gets it."]);
        let depth = |name: &&str| match *name {
            "place" | "days" => 1,
            "city" | "hour" => 2,
            "minute" => 3,
            other => panic!("{other}"),
        };
        let parameters = field(Field::Parameter);
        assert_eq!(parameters.len(), 5);
        assert!(parameters.is_sorted_by_key(depth), "{parameters:?}");
        let mut described = field(Field::ParameterDescription);
        described.sort_unstable();
        assert_eq!(described, ["A city.", "A place.", "All.", "Oslo", "monday"]);
    }
}
