//! The JSON forms, compared with committed files, so that old data stays readable.

use protocol::{Effects, Message, Part, Tool, ToolCall, ToolResult};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// Deserializes a committed file as `T`, and asserts that `T` serializes to the same JSON.
fn round_trip<T: DeserializeOwned + Serialize>(text: &str) -> T {
    let file: Value = serde_json::from_str(text).unwrap();
    let value: T = serde_json::from_str(text).unwrap();
    assert_eq!(serde_json::to_value(&value).unwrap(), file);
    value
}

#[test]
fn a_tool_with_the_canonical_three_writes_exactly_those() {
    let tool: Tool = round_trip(include_str!("data/tool_minimal.json"));
    assert_eq!(tool.effects, Effects::Undeclared);
    let text = serde_json::to_string(&tool).unwrap();
    assert!(
        text.starts_with(r#"{"name":"fs.read","description":"Reads a file.","parameters":{"#),
        "{text}"
    );
}

#[test]
fn a_tool_with_everything_survives() {
    let tool: Tool = round_trip(include_str!("data/tool_full.json"));
    assert_eq!(
        tool.examples[1].result,
        Some(Value::Null),
        "a result of null is a result"
    );
    assert_eq!(tool.examples[2].result, None);
    assert!(tool.effects.is_idempotent());
}

#[test]
fn a_pure_tool_survives() {
    let tool: Tool = round_trip(include_str!("data/tool_pure.json"));
    assert!(tool.effects.is_pure());
}

#[test]
fn a_call_survives() {
    let call: ToolCall = round_trip(include_str!("data/call.json"));
    assert_eq!(call.arguments.value()["size"], json!(u64::MAX));
}

#[test]
fn a_result_with_every_kind_of_content_survives() {
    let result: ToolResult = round_trip(include_str!("data/result.json"));
    assert_eq!(result.to_text(), "one");
}

#[test]
fn a_conversation_survives() {
    let messages: Vec<Message> = round_trip(include_str!("data/conversation.json"));
    assert_eq!(messages[2].calls().count(), 2);
    assert_eq!(
        messages[2].to_text(),
        "I look.",
        "reasoning is no part of the answer"
    );
    assert_eq!(
        messages[2].parts[1],
        Part::Reasoning {
            text: String::new(),
            opaque: json!("sealed")
        }
    );
    let Part::ToolResult { result, .. } = &messages[3].parts[0] else {
        panic!("a result comes first")
    };
    assert_eq!(
        result.structured,
        Some(Value::Null.into()),
        "null is a value"
    );
}

#[test]
fn a_definition_with_a_misspelt_field_is_refused_by_its_name() {
    let refused = |text: &str| serde_json::from_str::<Tool>(text).unwrap_err().to_string();
    assert!(
        refused(r#"{"name": "a", "description": "b", "parameters": {}, "limts": {}}"#)
            .contains("limts")
    );
    assert!(refused(r#"{"name": "a b", "description": "b", "parameters": {}}"#).contains("U+0020"));
}
