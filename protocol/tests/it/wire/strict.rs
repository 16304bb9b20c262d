//! Strict definitions: which tools have them, and what their calls mean.

use proptest::prelude::*;
use protocol::wire::Strictness::Strict;
use protocol::wire::schema::{NotStrict, WireSchema};
use protocol::wire::{Format, Strictness};
use protocol::{Json, Tool};
use serde_json::{Map, Value, json};

use super::judge::Judge;
use super::law::accepted;
use super::sampler::Choices;
use crate::sample::config;

const FORMATS: [Format; 3] = [Format::OpenAiChat, Format::OpenAiResponses, Format::Anthropic];

fn rewrite(format: Format, schema: &Value) -> WireSchema {
    WireSchema::new(schema, format.dialect(Strict).unwrap()).unwrap()
}

/// Returns the reason that a property with this schema has no strict form at OpenAI.
fn reason(schema: Value) -> NotStrict {
    reason_at(Format::OpenAiChat, json!({"properties": {"x": schema}}))
}

fn reason_at(format: Format, schema: Value) -> NotStrict {
    let tool = Tool::new("a", "A.", schema).unwrap();
    let wire = format.tool(&tool, Strict).unwrap();
    assert!(!wire.is_strict);
    assert_eq!(wire.definition, format.tool(&tool, Strictness::Relaxed).unwrap().definition);
    wire.not_strict.unwrap()
}

#[test]
fn optional_properties_are_required_and_may_be_null() {
    let schema = json!({
        "properties": {
            "path": {"type": "string"},
            "mode": {"enum": ["r", "w"], "description": "The mode."},
            "range": {"type": "object", "properties": {"first": {"type": "integer"}}},
            "limit": {"type": ["integer", "null"], "minimum": 1, "default": 3},
        },
        "required": ["path"],
    });
    for format in FORMATS {
        let wire = rewrite(format, &schema);
        assert_eq!(wire.schema["required"], json!(["path", "limit", "mode", "range"]));
        assert_eq!(wire.schema["additionalProperties"], false);
        let properties = &wire.schema["properties"];
        assert_eq!(
            properties["mode"],
            json!({"type": ["string", "null"], "enum": ["r", "w", null], "description": "The mode."})
        );
        assert_eq!(properties["range"]["anyOf"][0]["required"], json!(["first"]));
        assert_eq!(properties["range"]["anyOf"][1], json!({"type": "null"}));
        let sent = json!({"path": "a", "mode": null, "range": {"first": null}, "limit": null});
        // The schema accepts a null for the limit, so it is one.
        let meant = json!({"path": "a", "range": {}, "limit": null});
        assert_eq!(wire.arguments.decode(&sent.into()), meant);
        let encoded = json!({"path": "a", "mode": null, "range": {"first": null}, "limit": null});
        assert_eq!(wire.arguments.encode(&json!({"path": "a", "range": {}}).into()), encoded);
    }
}

#[test]
fn a_schema_without_a_strict_form_says_why() {
    let place = "/properties/x".to_owned();
    assert_eq!(reason(json!({})), NotStrict::AnyValue { pointer: place.clone() });
    assert_eq!(reason(json!({"type": "array"})), NotStrict::AnyValue { pointer: "/properties/x/items".into() });
    let open = |schema: Value| reason_at(Format::Anthropic, json!({"properties": {"x": schema}, "required": ["x"]}));
    let is_open = NotStrict::OpenObject { pointer: place.clone() };
    assert_eq!(open(json!({"type": "object"})), is_open);
    assert_eq!(open(json!({"type": "object", "additionalProperties": {"type": "string"}})), is_open);
    assert_eq!(open(json!({"type": "object", "patternProperties": {"a": {}}})), is_open);
    assert_eq!(open(json!({"type": "object", "properties": {"a": {}}, "additionalProperties": true})), is_open);
    assert_eq!(
        open(json!({"type": "array", "prefixItems": [{"type": "null"}]})),
        NotStrict::Tuple { pointer: place.clone() }
    );
    let object = |key: &str| json!({"type": "object", "properties": {key: {"type": "string"}}});
    let union = |branches: Value| json!({"anyOf": branches});
    assert_eq!(open(union(json!([object("a"), object("b")]))), NotStrict::UntaggedUnion { pointer: place.clone() });
    let mut mixed = object("a");
    mixed["anyOf"] = json!([object("b"), {"required": ["a"]}]);
    assert_eq!(open(mixed), NotStrict::MixedUnion { pointer: place });
    let tagged = |tag: &str, kind: Value| {
        let properties = json!({"kind": {"const": tag}, "n": {"type": kind}});
        json!({"type": "object", "required": ["kind"], "properties": properties})
    };
    let mixed = union(json!([tagged("a", json!("string")), tagged("b", json!(["string", "null"]))]));
    assert_eq!(open(mixed), NotStrict::AmbiguousNull { key: "n".to_owned() });
    let node = json!({"properties": {"x": {"$ref": "#/$defs/N"}}, "$defs": {"N": {
        "type": "object", "properties": {"next": {"$ref": "#/$defs/N"}},
    }}});
    assert_eq!(reason_at(Format::Anthropic, node.clone()), NotStrict::Recursive { pointer: "/$defs/N".to_owned() });
    assert!(WireSchema::new(&node, Format::OpenAiChat.dialect(Strict).unwrap()).is_ok());
    for format in [Format::Gemini, Format::Ollama, Format::Mcp] {
        assert_eq!(reason_at(format, json!({})), NotStrict::Unavailable);
    }
}

#[test]
fn tagged_alternatives_are_strict() {
    let shape = |tag: &str, key: &str| {
        let properties = json!({"kind": {"const": tag}, key: {"type": "number"}, "note": {"type": "string"}});
        json!({"type": "object", "required": ["kind", key], "properties": properties})
    };
    let union = json!({"oneOf": [shape("circle", "radius"), shape("square", "side")]});
    let schema = json!({"properties": {"shape": union}, "required": ["shape"]});
    for format in FORMATS {
        let wire = rewrite(format, &schema);
        let sent = json!({"shape": {"kind": "square", "side": 1, "note": null}});
        let meant = json!({"shape": {"kind": "square", "side": 1}});
        assert_eq!(wire.arguments.encode(&meant.clone().into()), sent);
        assert_eq!(wire.arguments.decode(&sent.into()), meant);
    }
}

#[test]
fn alternatives_at_the_root_are_one_list_of_nullable_properties() {
    let branch = |key: &str| json!({"type": "object", "properties": {key: {"type": "string"}}, "required": [key]});
    let schema = json!({"anyOf": [branch("id"), branch("name")]});
    for format in FORMATS {
        let wire = rewrite(format, &schema);
        assert_eq!(wire.schema["required"], json!(["id", "name"]));
        assert_eq!(wire.arguments.decode(&json!({"id": "1", "name": null}).into()), json!({"id": "1"}));
    }
}

/// Returns a schema that usually has a strict form.
fn schema(choices: &mut Choices, depth: usize) -> Value {
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

fn value(choices: &mut Choices, depth: usize) -> Value {
    let tagged = |choices: &mut Choices, tag: &str| {
        let mut object = schema(choices, depth + 2);
        object["properties"]["kind"] = json!({"const": tag});
        object["required"].as_array_mut().unwrap().push(json!("kind"));
        object
    };
    match choices.below(if depth > 3 { 8 } else { 13 }) {
        0 => json!({"type": "string", "minLength": 1}),
        1 => json!({"type": ["integer", "null"], "minimum": 0}),
        2 => json!({"enum": ["x", "y", null]}),
        3 => json!({"enum": ["x", 2]}),
        4 => json!({"const": "k"}),
        5 => json!({"anyOf": [{"type": "string"}, {"type": "number"}]}),
        6 => json!({"type": "boolean"}),
        7 => json!({"type": "array", "items": {"type": "string"}}),
        8 => json!({"type": "array", "items": value(choices, depth + 1)}),
        9 => json!({"anyOf": [schema(choices, depth + 1), {"type": "null"}]}),
        10 => json!({"oneOf": [tagged(choices, "one"), tagged(choices, "two")]}),
        11 => json!({"allOf": [schema(choices, depth + 1), {"description": "d"}]}),
        _ => schema(choices, depth + 1),
    }
}

/// Returns the value without the members that are null.
fn without_nulls(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            let kept = members.iter().filter(|(_, member)| !member.is_null());
            Value::Object(kept.map(|(key, member)| (key.clone(), without_nulls(member))).collect())
        }
        Value::Array(items) => items.iter().map(without_nulls).collect(),
        value => value.clone(),
    }
}

proptest! {
    #![proptest_config(config(150))]

    #[test]
    fn a_strict_wire_accepts_what_the_schema_names(seed in any::<u64>()) {
        let schema = schema(&mut Choices::new(seed), 0);
        let canonical = jsonschema::validator_for(&schema).unwrap();
        let tool = Tool::new("a", "A.", schema.clone()).unwrap();
        for format in FORMATS {
            let wire = format.tool(&tool, Strict).unwrap();
            let mode = if wire.is_strict { Strict } else { Strictness::Relaxed };
            let judged = Judge::new(format, mode).violations(&wire.value());
            prop_assert!(judged.is_empty(), "{:?} {}", judged, wire.definition);
            let validator = jsonschema::validator_for(&wire.parameters).unwrap();
            for value in accepted(&schema, seed, 12, &[]) {
                let encoded = wire.arguments.encode(&Json::from(value.clone()));
                prop_assert!(
                    validator.is_valid(encoded.value()), "{}: {} of {}\n{}\n{}", format, encoded, value, schema, wire.parameters
                );
                let decoded = wire.arguments.decode(&encoded);
                prop_assert!(canonical.is_valid(decoded.value()), "{}: {}\n{}", format, decoded, schema);
                // A null that the schema accepts may stand for an absent property.
                prop_assert_eq!(without_nulls(decoded.value()), without_nulls(&value));
            }
        }
    }

    #[test]
    fn most_such_schemas_are_strict(seed in any::<u64>()) {
        let schemas = (0..20).map(|index| schema(&mut Choices::new(seed.wrapping_add(index * 7919)), 0));
        let tools = schemas.map(|schema| Tool::new("a", "A.", schema).unwrap());
        let strict = tools.filter(|tool| Format::OpenAiChat.tool(tool, Strict).unwrap().is_strict).count();
        prop_assert!(strict >= 5, "{} of 20", strict);
    }
}
