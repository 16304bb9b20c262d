//! The judge refuses a planted violation of each rule, and no definition that we make.

use protocol::Tool;
use protocol::wire::{Format, Strictness};
use serde_json::{Value, json};

use super::judge::Judge;

const GOOD: &str = r#"{"type": "object", "properties": {
    "path": {"type": "string"}, "kind": {"enum": ["a", "b"]}, "tags": {"type": "array", "items": {"type": "string"}}
}, "required": ["path"]}"#;

fn definition(format: Format, strictness: Strictness) -> Value {
    let tool = Tool::new("fs.read", "Reads.", serde_json::from_str(GOOD).unwrap()).unwrap();
    let wire = format.tool(&tool, strictness).unwrap();
    assert_eq!(wire.is_strict, strictness == Strictness::Strict);
    wire.value()
}

/// Asserts that a definition is fine, and that it breaks exactly `rule` with `change` made at `place`.
fn plant(format: Format, strictness: Strictness, rule: &str, place: &str, change: Value) {
    let judge = Judge::new(format, strictness);
    let mut planted = definition(format, strictness);
    assert_eq!(judge.violations(&planted), []);
    let pointer = planted.pointer("/function").map_or("", |_| "/function");
    let root = ["parameters", "input_schema", "parametersJsonSchema", "inputSchema"]
        .into_iter()
        .find(|name| planted.pointer(&format!("{pointer}/{name}")).is_some())
        .unwrap();
    let place = place.replace("ROOT", &format!("{pointer}/{root}")).replace("TOOL", pointer);
    let (parent, key) = place.rsplit_once('/').unwrap();
    planted.pointer_mut(parent).unwrap()[key] = change;
    let broken = judge.violations(&planted);
    assert!(broken.iter().any(|violation| violation.rule == rule), "{format} {rule}: {broken:?}\n{planted}");
}

const SERVICES: [Format; 5] =
    [Format::OpenAiChat, Format::OpenAiResponses, Format::Anthropic, Format::Gemini, Format::Ollama];
const STRICT: [Format; 3] = [Format::OpenAiChat, Format::OpenAiResponses, Format::Anthropic];

#[test]
fn a_planted_violation_of_each_rule_is_refused() {
    let plant = |format, rule: &str, place: &str, change| plant(format, Strictness::Relaxed, rule, place, change);
    for format in Format::ALL {
        plant(format, "name", "TOOL/name", json!("fs read"));
        plant(format, "root type", "ROOT/type", json!(["object", "null"]));
        plant(format, "root type", "ROOT/type", Value::Null);
        plant(format, "reference", "ROOT/properties/path", json!({"$ref": "#/$defs/none"}));
        plant(format, "boolean", "ROOT/properties/path", json!("string"));
    }
    plant(Format::Mcp, "name", "TOOL/name", json!("a".repeat(129)));
    for format in SERVICES {
        plant(format, "name", "TOOL/name", json!("fs.read"));
        for keyword in ["allOf", "anyOf", "oneOf"] {
            plant(format, "root keyword", &format!("ROOT/{keyword}"), json!([{"required": ["path"]}]));
        }
        plant(format, "root keyword", "ROOT/not", json!({}));
        plant(format, "boolean", "ROOT/properties/path", json!(true));
        plant(format, "items", "ROOT/properties/path", json!({"type": "array"}));
        plant(format, "properties", "ROOT/properties/path", json!({"type": ["object", "null"]}));
        if format != Format::Ollama {
            plant(format, "key", "ROOT/properties/$filter", json!({"type": "string"}));
            plant(format, "key", &format!("ROOT/properties/{}", "a".repeat(65)), json!({"type": "string"}));
            plant(format, "key", "ROOT/properties/path", json!({"type": "object", "properties": {"a b": {}}}));
        }
    }
    for format in STRICT {
        let strict = if format == Format::Anthropic { "/strict" } else { "TOOL/strict" };
        plant(format, "strict", strict, json!(true));
    }
    plant(Format::Gemini, "key", "ROOT/properties/a.b", json!({"type": "string"}));
    plant(Format::Gemini, "keyword", "ROOT/properties/path/const", json!("a"));
    plant(Format::Gemini, "keyword", "ROOT/properties/path/oneOf", json!([{}]));
    plant(Format::Gemini, "enum", "ROOT/properties/kind/enum", json!(["a", null]));
    plant(Format::Gemini, "reference", "ROOT/properties/path/$ref", json!("#/properties/kind"));
    plant(Format::Ollama, "keyword", "ROOT/properties/path/oneOf", json!([{}]));
    plant(Format::Ollama, "reference", "ROOT/properties/path", json!({"$ref": "#/properties/kind"}));
}

#[test]
fn a_planted_violation_of_each_strict_rule_is_refused() {
    let plant = |format, rule: &str, place: &str, change| plant(format, Strictness::Strict, rule, place, change);
    for format in STRICT {
        let strict = if format == Format::Anthropic { "/strict" } else { "TOOL/strict" };
        plant(format, "strict", strict, json!(false));
        if format != Format::Anthropic {
            plant(format, "required", "ROOT/required", json!(["path"]));
        }
        plant(format, "closed", "ROOT/additionalProperties", json!(true));
        plant(format, "typed", "ROOT/properties/path", json!({}));
        plant(format, "keyword", "ROOT/properties/path/minLength", json!(1));
        plant(format, "keyword", "ROOT/properties/path/allOf", json!([{}]));
        plant(format, "enum", "ROOT/properties/kind/enum", json!([{}]));
        plant(format, "format", "ROOT/properties/path/format", json!("regex"));
        plant(format, "reference", "ROOT/properties/path/$ref", json!("#/properties/kind"));
    }
    plant(Format::Anthropic, "keyword", "ROOT/properties/path/minimum", json!(1));
    plant(Format::Anthropic, "reference", "ROOT/properties/path", json!({"$ref": "#"}));
}
