//! The root of a schema: one object without alternatives, or no definition.

use protocol::Tool;
use protocol::wire::Format::{self, Anthropic, Gemini, Mcp, Ollama, OpenAiChat};
use protocol::wire::Strictness::Relaxed;
use protocol::wire::schema::{Fidelity, Unsendable};
use serde_json::{Value, json};

use super::rewrite::rewrite;

#[test]
fn the_root_is_an_object_without_alternatives() {
    for format in [OpenAiChat, Anthropic, Gemini, Ollama] {
        let tagged = |tag: &str, key: &str| {
            json!({
                "type": "object", "additionalProperties": false, "required": ["kind", key],
                "properties": {"kind": {"type": "string", "const": tag}, key: {"type": "integer"}},
            })
        };
        let wire = rewrite(
            format,
            &json!({"oneOf": [tagged("a", "x"), tagged("b", "y")]}),
        )
        .parameters;
        let integer = json!({"type": "integer"});
        let expected = json!({
            "type": "object", "required": ["kind"], "additionalProperties": false,
            "properties": {"kind": {"type": "string", "enum": ["a", "b"]}, "x": integer, "y": integer},
        });
        assert_eq!(wire, expected, "{format}");
        let either = json!({"properties": {"a": integer, "b": integer}, "anyOf": [{"required": ["a"]}, {"required": ["b"]}]});
        assert_eq!(
            rewrite(format, &either).parameters,
            json!({"type": "object", "properties": {"a": integer, "b": integer}})
        );
        for schema in [
            json!({}),
            json!(true),
            json!({"type": ["object", "null"]}),
            json!({"not": {"required": ["a"]}}),
        ] {
            assert_eq!(
                rewrite(format, &schema).parameters,
                json!({"type": "object", "properties": {}}),
                "{format} {schema}"
            );
        }
    }
}

#[test]
fn an_open_alternative_at_the_root_keeps_the_other_ones_types_visible() {
    let schema = json!({"anyOf": [{"properties": {"a": {"type": "integer"}}}, {"properties": {"b": {"type": "string"}}}]});
    let properties = &rewrite(OpenAiChat, &schema).parameters["properties"];
    assert_eq!(properties["a"], json!({"anyOf": [{"type": "integer"}, {}]}));
}

#[test]
fn a_schema_that_accepts_no_object_is_refused() {
    for format in Format::ALL {
        let refused = |schema: Value| {
            format
                .tool(&Tool::new("a", "A.", schema).unwrap(), Relaxed)
                .unwrap_err()
        };
        for schema in [
            json!(false),
            json!({"type": "string"}),
            json!({"type": ["null", "array"]}),
            json!("text"),
        ] {
            assert_eq!(refused(schema), Unsendable::NotAnObject);
        }
    }
    let mut deep = json!({});
    for _ in 0..100 {
        deep = json!({"properties": {"a": deep}});
    }
    let error = Anthropic
        .tool(&Tool::new("a", "A.", deep).unwrap(), Relaxed)
        .unwrap_err();
    assert!(matches!(error, Unsendable::TooLarge { .. }));
}

#[test]
fn a_recursive_root_without_a_type_keeps_its_meaning_inside() {
    let child = json!({"child": {"$ref": "#"}, "n": {"type": "integer"}});
    for (format, root) in [Mcp, OpenAiChat, Anthropic].into_iter().flat_map(|format| {
        let roots = [
            json!({"properties": child}),
            json!({"properties": child, "type": ["object", "null"]}),
        ];
        roots.map(|root| (format, root))
    }) {
        let wire = rewrite(format, &root);
        assert!(
            wire.changes
                .iter()
                .all(|change| change.fidelity == Fidelity::Exact),
            "{format}: {:?}",
            wire.changes
        );
        let validators =
            [&root, &wire.parameters].map(|schema| jsonschema::validator_for(schema).unwrap());
        for value in [
            json!({"child": {"child": {"n": 1}}}),
            json!({"child": null}),
            json!({"child": 1}),
            json!({"child": {"child": {"n": "x"}}}),
        ] {
            let [canonical, sent] = validators
                .each_ref()
                .map(|validator| validator.is_valid(&value));
            assert_eq!(
                canonical, sent,
                "{format}: {value} {root} {}",
                wire.parameters
            );
        }
    }
}
