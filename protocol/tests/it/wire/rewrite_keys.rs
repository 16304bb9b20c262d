//! Keys that a service does not take: replaced in the definition, and mapped back in arguments.

use protocol::Json;
use protocol::wire::Format::{Anthropic, Gemini, Ollama};
use regex::Regex;
use serde_json::json;

use super::rewrite::rewrite;

#[test]
fn keys_are_replaced_and_mapped_back() {
    let schema = json!({
        "type": "object",
        "properties": {
            "$filter": {"type": "string"},
            "año": {"type": "array", "items": {"$ref": "#/$defs/Part"}},
            "plain-key.x": {},
            "free": {"type": "object", "additionalProperties": {"type": "string"}},
        },
        "required": ["$filter"],
        "$defs": {"Part": {"anyOf": [{"properties": {"a b": {}}, "required": ["a b"]}, {"type": "null"}]}},
    });
    let wire = rewrite(Anthropic, &schema);
    assert_eq!(wire.parameters["required"], json!(["filter"]));
    let mut keys: Vec<_> = wire.parameters["properties"]
        .as_object()
        .unwrap()
        .keys()
        .collect();
    keys.sort();
    assert_eq!(keys, ["a_o", "filter", "free", "plain-key.x"]);
    let sent = json!({"filter": "f", "a_o": [{"a_b": {"filter": 1}}, null], "free": {"filter": "kept", "a_b": "kept"}});
    let meant = json!({"$filter": "f", "año": [{"a b": {"filter": 1}}, null], "free": {"filter": "kept", "a_b": "kept"}});
    assert_eq!(wire.arguments.decode(&sent.clone().into()), meant);
    assert_eq!(wire.arguments.encode(&meant.clone().into()), sent);
    // A model may know the key from elsewhere.
    assert_eq!(wire.arguments.decode(&meant.clone().into()), meant);
    // A key that no schema names keeps its meaning.
    for other in [
        json!({"$filter": "f", "filter": 1}),
        json!({"filter": 1, "filter_": 2, "filter__": 3}),
    ] {
        let other = Json::from(other);
        assert_eq!(wire.arguments.decode(&wire.arguments.encode(&other)), other);
    }
    assert!(rewrite(Ollama, &schema).arguments.is_identity());
}

#[test]
fn keys_with_the_same_words_get_digests() {
    let wire = rewrite(
        Gemini,
        &json!({"properties": {"a b": {}, "a-b": {}, "a.b": {}, "1st": {}, "$": {}, "ok": {}}}),
    );
    let keys: Vec<_> = wire.parameters["properties"]
        .as_object()
        .unwrap()
        .keys()
        .cloned()
        .collect();
    assert!(keys.iter().all(|key| is_identifier(key)), "{keys:?}");
    assert_eq!(
        keys.iter()
            .filter(|key| key.starts_with("a_b_") && key.len() == 12)
            .count(),
        3,
        "{keys:?}"
    );
    assert!(
        ["key_1st", "key", "ok"]
            .iter()
            .all(|key| keys.iter().any(|own| own == key)),
        "{keys:?}"
    );
}

fn is_identifier(key: &str) -> bool {
    Regex::new("^[a-zA-Z_][a-zA-Z0-9_]{0,63}$")
        .unwrap()
        .is_match(key)
}

#[test]
fn long_keys_that_start_with_a_digit_are_mapped_back() {
    for end in 55..65 {
        let key = format!("1{}.bbbbbb", "a".repeat(end));
        let wire = rewrite(Gemini, &json!({"properties": {&key: {"type": "string"}}}));
        let (sent, _) = wire.parameters["properties"]
            .as_object()
            .unwrap()
            .iter()
            .next()
            .unwrap();
        assert!(is_identifier(sent), "{sent}");
        assert_eq!(
            wire.arguments.decode(&json!({sent: "x"}).into()),
            json!({&key: "x"})
        );
    }
}

#[test]
fn an_object_with_keys_of_the_catalog_keeps_all_its_keys() {
    let schema = json!({"properties": {"$filter": {"properties": {"$a": {}}}}});
    let wire = rewrite(Anthropic, &schema);
    for sent in [
        json!({"$filter": {"a": 1}, "filter": 1, "filter_": 2}),
        json!({"filter__": 0, "$filter": {"a": 1}, "filter_": 2}),
    ] {
        let mut meant = sent.clone();
        meant["$filter"] = json!({"$a": 1});
        assert_eq!(wire.arguments.decode(&sent.into()), meant);
    }
}

#[test]
fn integers_of_any_length_survive_the_codec() {
    let wire = rewrite(
        Anthropic,
        &json!({"properties": {"$n": {"type": "integer"}}}),
    );
    let sent = Json::parse(r#"{"n":340282366920938463463374607431768211457}"#).unwrap();
    assert_eq!(
        wire.arguments.decode(&sent).to_string(),
        r#"{"$n":340282366920938463463374607431768211457}"#
    );
}
