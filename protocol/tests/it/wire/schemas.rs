//! Schemas for property tests: every construct that a dialect may not take, in any combination.

use serde_json::{Map, Value, json};

use super::sampler::Choices;

/// The keys of properties: legal ones, others, and those that look like the replacement of another.
pub(super) const KEYS: [&str; 10] = [
    "kind",
    "a",
    "$a",
    "a_",
    "a b",
    "b",
    "b.c",
    "é",
    "$filter",
    "filter[name][of][a][property][that][is][longer][than][64]",
];

/// Keys that no schema names, but for chance.
pub(super) const OTHER_KEYS: [&str; 5] = ["a", "filter", "$a", "a__", "x-extra"];

/// Returns a schema of arguments.
pub(super) fn schema(choices: &mut Choices) -> Value {
    let mut root = object(choices, 0);
    if choices.below(3) == 0 {
        let keyword = *choices.pick(&["anyOf", "oneOf", "allOf"]);
        root[keyword] = (0..1 + choices.below(3))
            .map(|_| object(choices, 2))
            .collect();
    }
    if choices.below(6) == 0 {
        root.as_object_mut().unwrap().remove("type");
    }
    if choices.below(8) == 0 {
        root["type"] = json!(["object", "null"]);
    }
    if choices.below(8) == 0 {
        root["not"] = object(choices, 3);
    }
    root["$defs"] = definitions(choices, 2);
    if choices.below(5) == 0 {
        root = draft_07(root);
    }
    root
}

/// Returns a small schema of arguments: one property, whose schema is one that a rule changes.
pub(super) fn small(choices: &mut Choices) -> Value {
    let x = match choices.below(3) {
        0 => any(choices, 4),
        _ => rewritten(choices),
    };
    let mut root = json!({"type": "object", "properties": {*choices.pick(&["x", "$a"]): x}});
    match choices.below(12) {
        0 => root["enum"] = json!([{"x": 1}, {}, {"x": "a"}]),
        1 => root["dependentRequired"] = json!({"x": ["y"]}),
        2 => root["required"] = json!(["x"]),
        _ => {}
    }
    root["$defs"] = definitions(choices, 4);
    if choices.below(4) == 0 {
        root = draft_07(root);
    }
    root
}

fn definitions(choices: &mut Choices, depth: usize) -> Value {
    json!({
        "Node": any(choices, depth), "a/b": any(choices, depth), "Leaf": any(choices, depth),
        "Linked": {"properties": {"$a": {"type": "integer"}, "b": {"$ref": "#/$defs/Linked"}}, "required": ["$a"]},
        "Named": {"$anchor": "named", "type": ["string", "null"]},
    })
}

/// Returns a schema that a rule changes, with values that only a right change keeps.
fn rewritten(choices: &mut Choices) -> Value {
    let schemas = [
        json!({"$ref": "#/$defs/Linked"}),
        json!({"$ref": "#named"}),
        json!({"oneOf": [{"type": "integer"}, {"type": "string"}, {"minLength": 2, "type": "null"}]}),
        json!({"allOf": [{"enum": ["a", 1, null]}, {"enum": [1, "a", true]}]}),
        json!({"allOf": [{"type": ["integer", "string"]}, {"type": ["number", "string"]}]}),
        json!({"allOf": [{"type": "object", "properties": {"$a": {}}}, {"properties": {"b": {"type": "string"}}}]}),
        json!({"type": "array", "prefixItems": [{"type": "string"}, {}], "items": false}),
        json!({"type": "object", "properties": {"$a": false, "b": {"type": "string"}}}),
        json!({"type": "object", "patternProperties": {"^\\$": {"type": "string"}}, "additionalProperties": false}),
        json!({"type": "string", "format": "date"}),
        json!({"type": "integer", "exclusiveMinimum": 0, "exclusiveMaximum": 4}),
        json!({"enum": ["a", null]}),
        json!({"enum": ["a", true, [1], {"$a": 1}]}),
        json!({"const": {"$a": 1}}),
        json!({"type": "object"}),
        json!({"type": "array"}),
        json!({"type": "array", "items": {"type": "integer"}, "minItems": 2}),
        json!(true),
    ];
    choices.pick(&schemas).clone()
}

/// Moves a schema to draft 7, where it has tuples and dependencies.
fn draft_07(mut root: Value) -> Value {
    root["$schema"] = json!("http://json-schema.org/draft-07/schema#");
    root["dependencies"] = json!({"a": ["b"], "b": {"properties": {"$a": {}}}});
    root["definitions"] = json!({"Named": {"$id": "#named", "type": ["string", "null"]}});
    root["properties"]["tuple"] = json!({"type": "array", "items": [{"type": "string"}, {"properties": {"$a": {}}}], "additionalItems": {"type": "integer"}});
    root
}

fn object(choices: &mut Choices, depth: usize) -> Value {
    let mut properties = Map::new();
    for _ in 0..choices.below(4) {
        let key = *choices.pick(&KEYS);
        let schema = if key == "kind" {
            json!({"const": choices.pick(&["x", "y", "z"])})
        } else {
            any(choices, depth + 1)
        };
        properties.insert(key.to_owned(), schema);
    }
    let mut keys: Vec<_> = properties.keys().cloned().collect();
    keys.sort();
    let required: Vec<_> = keys
        .iter()
        .filter(|_| choices.below(2) == 0)
        .cloned()
        .collect();
    let mut object = json!({"type": "object", "properties": properties, "required": required});
    let closed = match choices.below(6) {
        0 | 1 => Some(json!(false)),
        2 => Some(any(choices, depth + 2)),
        _ => None,
    };
    if let Some(rest) = closed {
        object["additionalProperties"] = rest;
    }
    match choices.below(20) {
        0 => object["patternProperties"] = json!({"^\\$": {"type": ["string", "integer", "null"]}}),
        1 => object["propertyNames"] = json!({"maxLength": 9}),
        2 => object["dependentRequired"] = json!({"a": ["$a"]}),
        3 => object["dependentSchemas"] = json!({"$a": object_of("b")}),
        4 => object["unevaluatedProperties"] = json!(false),
        5 => object["minProperties"] = json!(1),
        6 => {
            object["if"] = json!({"required": ["a"]});
            object["then"] = any(choices, depth + 2);
        }
        7 => object["not"] = json!({"required": ["$a"], "properties": {"$a": {"minLength": 5}}}),
        _ => {}
    }
    object
}

fn object_of(key: &str) -> Value {
    json!({"properties": {key: {"type": ["string", "null", "integer"]}}})
}

fn any(choices: &mut Choices, depth: usize) -> Value {
    if depth > 4 {
        return scalar(choices);
    }
    match choices.below(19) {
        0..=4 => scalar(choices),
        5 | 6 => object(choices, depth + 1),
        7 => json!({"type": "array", "items": any(choices, depth + 1)}),
        8 => {
            json!({"type": "array", "prefixItems": [any(choices, depth + 1), any(choices, depth + 1)], "items": any(choices, depth + 1)})
        }
        9 => {
            let keyword = *choices.pick(&["anyOf", "oneOf", "allOf"]);
            json!({keyword: (0..1 + choices.below(3)).map(|_| any(choices, depth + 1)).collect::<Vec<_>>()})
        }
        10 => {
            json!({"$ref": choices.pick(&["#/$defs/Node", "#/$defs/a~1b", "#/$defs/Leaf", "#", "#named"])})
        }
        11 => {
            json!({"$ref": "#/$defs/Node", "properties": {"b": any(choices, depth + 1)}, "description": "d"})
        }
        12 => json!({"not": any(choices, depth + 1)}),
        13 => {
            json!({"type": "array", "contains": any(choices, depth + 1), "maxContains": 2, "minContains": 0})
        }
        14 => json!({"type": "array"}),
        15 => {
            let array = json!({"type": "array", "items": any(choices, depth + 1)});
            json!({"allOf": [array, {"items": any(choices, depth + 1)}]})
        }
        16 => rewritten(choices),
        17 => {
            let mut branches = || json!({"anyOf": [any(choices, depth + 1), scalar(choices)]});
            json!({"allOf": [branches(), branches()]})
        }
        _ => json!({"anyOf": [any(choices, depth + 1), {"not": {}}, true]}),
    }
}

fn scalar(choices: &mut Choices) -> Value {
    let scalars = [
        json!(true),
        json!(false),
        json!({}),
        json!({"type": "string"}),
        json!({"type": ["string", "null"]}),
        json!({"type": "integer", "exclusiveMinimum": 0}),
        json!({"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 3}),
        json!({"const": {"$a": 1}}),
        json!({"enum": ["a", 1, null, true]}),
        json!({"enum": ["a", null]}),
        json!({"enum": ["a", "", null]}),
        json!({"enum": []}),
        json!({"enum": ["a", "b"], "type": ["string", "null"]}),
        json!({"type": "string", "minLength": 2, "format": "date", "pattern": "a|2|x"}),
        json!({"type": "string", "pattern": "^(?!b)"}),
        json!({"type": "boolean", "default": true}),
        json!({"type": "null"}),
        json!({"type": ["object", "array", "string"]}),
    ];
    choices.pick(&scalars).clone()
}
