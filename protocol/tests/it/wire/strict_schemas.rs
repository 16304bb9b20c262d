//! Schemas for the property tests of strict definitions. They usually have a strict form.

use serde_json::{Map, Value, json};

use super::sampler::Choices;

/// Returns a schema of arguments, sometimes with alternatives at its root.
pub(super) fn root(choices: &mut Choices) -> Value {
    let mut root = schema(choices, 0);
    if choices.below(3) == 0 {
        let mut branch = |closes: bool| {
            let mut branch = schema(choices, 2);
            if !closes {
                branch
                    .as_object_mut()
                    .unwrap()
                    .remove("additionalProperties");
            }
            if choices.below(3) == 0 {
                branch.as_object_mut().unwrap().remove("properties");
            }
            branch
        };
        let branches = json!([branch(false), branch(true)]);
        root.as_object_mut().unwrap().remove("additionalProperties");
        // With oneOf instead, the absence that a null stands for could match another alternative as well.
        match choices.below(2) {
            0 => root["anyOf"] = branches,
            _ => root["allOf"] = json!([{"anyOf": branches}, schema(choices, 3)]),
        }
    }
    root["$defs"] = json!({
        "Leaf": value(choices, 4),
        "Part": schema(choices, 2),
        // Some services take recursion in strict mode.
        "Node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/Node"}, "$b": {"type": "string"}}},
        "Named": {"$anchor": "named", "type": ["string", "null"]},
    });
    match choices.below(10) {
        0 => drop(root.as_object_mut().unwrap().remove("type")),
        1 => root["type"] = json!(["object", "null"]),
        2 => {
            root["$schema"] = json!("http://json-schema.org/draft-07/schema#");
            root["dependencies"] = json!({"a": ["e"]});
            root["definitions"] = json!({"Named": {"$id": "#named", "type": ["string", "null"]}});
        }
        3 => root["not"] = json!({"required": ["f"]}),
        4 => root = json!({"type": ["object", "null"], "$defs": root["$defs"]}),
        _ => {}
    }
    root
}

/// Returns the schema of an object.
pub(super) fn schema(choices: &mut Choices, depth: usize) -> Value {
    let mut properties = Map::new();
    for _ in 0..1 + choices.below(4) {
        let key = *choices.pick(&["a", "$b", "c d", "e", "f"]);
        properties.insert(key.to_owned(), value(choices, depth));
    }
    let mut keys: Vec<_> = properties.keys().cloned().collect();
    keys.sort();
    let required: Vec<_> = keys.into_iter().filter(|_| choices.below(2) == 0).collect();
    let mut object = json!({"type": "object", "properties": properties, "required": required});
    if choices.below(3) == 0 {
        object["additionalProperties"] = json!(false);
    }
    object
}

/// Returns the schema of a property.
pub(super) fn value(choices: &mut Choices, depth: usize) -> Value {
    match choices.below(if depth > 3 { 14 } else { 21 }) {
        0 => json!({"type": "string", "minLength": 1}),
        1 => json!({"type": ["integer", "null"], "minimum": 0}),
        2 => json!({"enum": ["x", "y", null]}),
        3 => json!({"enum": ["x", 2]}),
        4 => json!({"const": "k"}),
        5 => json!({"anyOf": [{"type": "string"}, {"type": "number"}]}),
        6 => json!({"type": "boolean"}),
        7 => json!({"type": "array", "items": {"type": "string"}}),
        8 => json!({"type": "string", "format": choices.pick(&["date", "regex"])}),
        9 => json!({"type": "string", "pattern": choices.pick(&["^.*$", "^(?!b)", "a|x"])}),
        10 => json!({"type": "array", "items": {"type": "integer"}, "minItems": 2}),
        11 => {
            json!({"type": ["string", "array"], "items": {"type": "integer"}, "enum": ["x", [1]]})
        }
        12 => {
            json!({"type": "integer", "exclusiveMinimum": 0, "allOf": [{"minimum": 1}, {"type": "number"}]})
        }
        13 => json!({"type": "string", "$ref": "#named"}),
        14 => json!({"type": "array", "items": value(choices, depth + 1)}),
        15 => json!({"anyOf": [schema(choices, depth + 1), {"type": "null"}]}),
        16 => json!({"$ref": choices.pick(&["#/$defs/Leaf", "#/$defs/Part", "#/$defs/Node"])}),
        17 => json!({"$ref": "#/$defs/Leaf", "description": "d"}),
        18 => {
            json!({"oneOf": [schema(choices, depth + 1), {"type": "string"}, {"type": "array", "items": value(choices, depth + 1)}]})
        }
        19 => json!({"allOf": [schema(choices, depth + 1), {"description": "d"}]}),
        _ => {
            let mut object = schema(choices, depth + 1);
            object["properties"]["never"] = json!(false);
            object
        }
    }
}

/// Returns a schema from [`root`] whose alternatives accept no properties that neither they nor the root names.
pub(super) fn named(mut root: Value) -> Value {
    let own = |schema: &Value| {
        schema["properties"]
            .as_object()
            .into_iter()
            .flat_map(Map::keys)
            .cloned()
            .collect()
    };
    let mut base: Vec<String> = own(&root);
    base.extend(root["allOf"].as_array().into_iter().flatten().flat_map(own));
    let pointer = if root.get("allOf").is_some() {
        "/allOf/0/anyOf"
    } else {
        "/anyOf"
    };
    for branch in root
        .pointer_mut(pointer)
        .and_then(Value::as_array_mut)
        .into_iter()
        .flatten()
    {
        let required = branch["required"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .map(str::to_owned);
        let names: Vec<_> = base
            .iter()
            .cloned()
            .chain(own(branch))
            .chain(required)
            .collect();
        branch["propertyNames"] = json!({"enum": names});
    }
    root
}
