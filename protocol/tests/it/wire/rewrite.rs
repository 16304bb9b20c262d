//! Each rule of rewriting on one schema, with its report.

use std::collections::BTreeSet;

use protocol::Tool;
use protocol::wire::Format::{self, Anthropic, Gemini, Mcp, Ollama, OpenAiChat, OpenAiResponses};
use protocol::wire::Strictness::Relaxed;
use protocol::wire::WireTool;
use protocol::wire::schema::Fidelity;
use serde_json::{Value, json};

pub(super) fn rewrite(format: Format, schema: &Value) -> WireTool {
    format
        .tool(&Tool::new("a", "A.", schema.clone()).unwrap(), Relaxed)
        .unwrap()
}

/// Returns the wire form of the property `x` with a schema, and the changes at it and inside.
fn property(format: Format, schema: Value) -> (Value, Vec<String>) {
    let wire = rewrite(
        format,
        &json!({"type": "object", "properties": {"x": schema}}),
    );
    (
        wire.parameters["properties"]["x"].clone(),
        wire.changes.iter().map(ToString::to_string).collect(),
    )
}

/// Asserts the wire form of a property and the number of its changes of each kind.
fn assert_property(format: Format, schema: Value, expected: Value, exact: usize, loosened: usize) {
    let wire = rewrite(
        format,
        &json!({"type": "object", "properties": {"x": schema.clone()}}),
    );
    assert_eq!(wire.parameters["properties"]["x"], expected, "{format}");
    let count = |fidelity| {
        wire.changes
            .iter()
            .filter(|change| change.fidelity == fidelity)
            .count()
    };
    assert_eq!(
        (count(Fidelity::Exact), count(Fidelity::Loosened)),
        (exact, loosened),
        "{:?}",
        wire.changes
    );
}

#[test]
fn a_construct_that_the_service_takes_stays() {
    for schema in [
        json!({"anyOf": [{"type": "string"}, {"type": "integer", "exclusiveMinimum": 3}]}),
        json!({"allOf": [{"minimum": 3}, {"multipleOf": 4}]}),
        json!({"type": ["string", "null"], "format": "custom", "default": null, "x-own": 1}),
        json!({"propertyNames": {"maxLength": 3}, "patternProperties": {"a": {"const": 1}}, "dependentRequired": {"a": ["b"]}}),
    ] {
        for format in [OpenAiChat, Anthropic, Mcp] {
            assert_property(format, schema.clone(), schema.clone(), 0, 0);
        }
    }
}

#[test]
fn conditions_are_removed_except_where_every_schema_is_taken() {
    let conditions = [
        (json!({"not": {"const": 4}}), 1),
        (
            json!({"if": {"type": "string"}, "then": {"minLength": 3}}),
            2,
        ),
        (json!({"contains": {"const": 1}, "maxContains": 3}), 2),
        (
            json!({"unevaluatedProperties": false, "unevaluatedItems": true}),
            1,
        ),
        (json!({"dependentSchemas": {"a": {"required": ["b"]}}}), 1),
    ];
    for (schema, changes) in conditions {
        assert_property(Mcp, schema.clone(), schema.clone(), 0, 0);
        for format in [OpenAiChat, Anthropic, Gemini, Ollama] {
            assert_property(format, schema.clone(), json!({}), 0, changes);
        }
    }
}

#[test]
fn references_stay_or_are_replaced() {
    let schema = json!({"properties": {"x": {"$ref": "#/definitions/P"}}, "definitions": {"P": {"type": "string"}}});
    let kept = rewrite(Anthropic, &schema);
    assert_eq!(
        kept.parameters["properties"]["x"],
        json!({"$ref": "#/$defs/P"})
    );
    assert_eq!(kept.parameters["$defs"], json!({"P": {"type": "string"}}));
    let replaced = rewrite(Ollama, &schema);
    assert_eq!(
        replaced.parameters["properties"]["x"],
        json!({"type": "string"})
    );
    assert_eq!(replaced.parameters.get("$defs"), None);
    assert!(
        replaced
            .changes
            .iter()
            .all(|change| change.fidelity == Fidelity::Exact)
    );
}

#[test]
fn recursion_is_cut_off_where_the_service_takes_none() {
    let node = json!({"type": "object", "properties": {"next": {"$ref": "#/$defs/Node"}}});
    let schema = json!({"type": "object", "properties": {"list": {"$ref": "#/$defs/Node"}}, "$defs": {"Node": node}});
    assert_eq!(
        rewrite(OpenAiChat, &schema).parameters["$defs"]["Node"],
        node
    );
    for format in [Gemini, Ollama] {
        let wire = rewrite(format, &schema);
        assert_eq!(
            wire.parameters["properties"]["list"]["properties"]["next"]["properties"]["next"],
            json!({})
        );
        assert!(
            wire.changes
                .iter()
                .any(|change| change.fidelity == Fidelity::Loosened)
        );
    }
}

#[test]
fn a_reference_without_a_target_accepts_anything() {
    for target in ["https://example.com/schema", "#/$defs/none", "#anchor"] {
        assert_property(OpenAiChat, json!({"$ref": target}), json!({}), 0, 1);
    }
}

#[test]
fn pointers_of_any_form_are_found() {
    for target in [
        "#/$defs/a%20b~1c",
        "#/properties/p",
        "https://a.example/#/properties/p",
    ] {
        let string = json!({"type": "string"});
        let schema = json!({
            "properties": {"x": {"$ref": target}, "p": string},
            "$defs": {"a b/c": string}, "$id": "https://a.example/",
        });
        assert_eq!(
            rewrite(Ollama, &schema).parameters["properties"]["x"],
            string,
            "{target}"
        );
    }
}

#[test]
fn a_part_with_its_own_base_loses_its_references_alone() {
    let part = |id: &str| json!({id: "user", "type": "object", "properties": {"a": {"$ref": "#/$defs/c"}}});
    let (draft4, draft6) = (
        "http://json-schema.org/draft-04/schema#",
        "http://json-schema.org/draft-06/schema#",
    );
    let cases = [
        ("$id", draft4, false),
        ("id", draft4, true),
        ("$id", draft6, true),
        ("id", draft6, false),
    ];
    for (id, draft, is_base) in cases {
        let schema = json!({"$schema": draft, "properties": {"x": part(id)}, "$defs": {"c": {"type": "string"}}});
        let wire = rewrite(Anthropic, &schema);
        let inner = &wire.parameters["properties"]["x"]["properties"]["a"];
        assert_eq!(
            *inner,
            if is_base {
                json!({})
            } else {
                json!({"$ref": "#/$defs/c"})
            },
            "{id} in {draft}"
        );
    }
}

#[test]
fn exclusive_alternatives_become_alternatives() {
    let branches = json!([{"type": "number"}, {"type": "integer"}]);
    for format in [OpenAiChat, Anthropic, Gemini, Ollama] {
        assert_property(
            format,
            json!({"oneOf": branches}),
            json!({"anyOf": branches}),
            0,
            1,
        );
    }
    let both = json!({"oneOf": branches, "anyOf": [{"minimum": 1}]});
    let expected = json!({"anyOf": [{"minimum": 1}], "allOf": [{"anyOf": branches}]});
    assert_property(OpenAiChat, both, expected, 0, 1);
}

#[test]
fn conjunctions_are_merged() {
    assert_property(
        Gemini,
        json!({"description": "d", "allOf": [
            {"type": "object", "properties": {"a": {"type": "number"}}, "required": ["a"]},
            {"properties": {"a": {"minimum": 1}, "b": {"type": "string"}}, "required": ["b"]},
        ]}),
        json!({
            "description": "d", "type": "object", "required": ["a", "b"],
            "properties": {"a": {"type": "number", "minimum": 1}, "b": {"type": "string"}},
        }),
        2,
        0,
    );
    let closed = json!({"allOf": [
        {"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": false},
        {"properties": {"b": {"type": "string"}}},
    ]});
    let expected = json!({"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": false});
    assert_property(Gemini, closed, expected, 1, 0);
}

#[test]
fn values_bounds_and_formats_become_those_that_the_service_knows() {
    assert_property(Gemini, json!({"const": "a"}), json!({"enum": ["a"]}), 1, 0);
    assert_property(
        Gemini,
        json!({"enum": ["a", null]}),
        json!({"anyOf": [{"enum": ["a"]}, {"type": "null"}]}),
        1,
        0,
    );
    assert_property(
        Gemini,
        json!({"enum": [true]}),
        json!({"type": "boolean"}),
        0,
        1,
    );
    assert_property(
        Gemini,
        json!({"type": "integer", "exclusiveMinimum": 0, "exclusiveMaximum": 9}),
        json!({"type": "integer", "minimum": 1, "maximum": 8}),
        1,
        0,
    );
    assert_property(
        Gemini,
        json!({"type": "number", "exclusiveMinimum": 0}),
        json!({"type": "number", "minimum": 0}),
        0,
        1,
    );
    assert_property(
        Gemini,
        json!({"type": "string", "default": "x"}),
        json!({"type": "string"}),
        1,
        0,
    );
    assert_property(
        Gemini,
        json!({"type": "string", "minLength": 1}),
        json!({"type": "string"}),
        0,
        1,
    );
}

#[test]
fn patterns_that_fail_a_request_are_removed() {
    for pattern in [r"^(?!\.).+$", r"^[\p{L}\p{N}_]+$", r"(a)\1", r"(?<name>a)"] {
        let string = json!({"type": "string"});
        let schema = json!({"type": "string", "pattern": pattern});
        assert_property(OpenAiChat, schema.clone(), string, 0, 1);
        assert_property(Anthropic, schema.clone(), schema, 0, 0);
        let of_keys =
            json!({"patternProperties": {pattern: {}, "^a$": {}}, "additionalProperties": false});
        assert_property(OpenAiChat, of_keys, json!({}), 0, 1);
    }
    let kept = json!({"type": "string", "pattern": r"^(a|\S+)\.\d{3,40}?$"});
    assert_property(OpenAiChat, kept.clone(), kept, 0, 0);
}

#[test]
fn an_empty_text_is_listed_nowhere_and_the_other_values_stay_visible() {
    let listed = json!({"enum": ["a"]});
    let text = json!({"type": "string"});
    assert_property(
        Gemini,
        json!({"enum": ["a", ""]}),
        json!({"anyOf": [listed, text]}),
        0,
        1,
    );
    let or_null = json!({"anyOf": [listed, text, {"type": "null"}]});
    assert_property(Gemini, json!({"enum": ["", "a", null]}), or_null, 0, 1);
    let typed = json!({"anyOf": [{"enum": ["a"], "type": "string"}, text]});
    for types in [json!("string"), json!(["string", "null"])] {
        assert_property(
            Gemini,
            json!({"type": types, "enum": ["a", ""]}),
            typed.clone(),
            0,
            1,
        );
    }
    let number = json!({"anyOf": [{"enum": [1], "type": "integer"}]});
    assert_property(
        Gemini,
        json!({"type": "integer", "enum": [1, ""]}),
        number,
        1,
        0,
    );
    assert_property(Gemini, json!({"const": ""}), text.clone(), 1, 1);
    assert_property(
        OpenAiChat,
        json!({"enum": ["a", ""]}),
        json!({"enum": ["a", ""]}),
        0,
        0,
    );
}

#[test]
fn an_empty_list_of_values_is_removed() {
    for format in [OpenAiChat, OpenAiResponses, Anthropic, Gemini, Ollama] {
        assert_property(format, json!({"enum": []}), json!({}), 0, 1);
        assert_property(
            format,
            json!({"type": "string", "enum": []}),
            json!({"type": "string"}),
            0,
            1,
        );
    }
    assert_property(Mcp, json!({"enum": []}), json!({"enum": []}), 0, 0);
}

#[test]
fn booleans_become_objects() {
    assert_property(OpenAiChat, json!(true), json!({}), 1, 0);
    assert_property(
        OpenAiChat,
        json!({"anyOf": [{"not": {}}, {"type": "number"}]}),
        json!({"anyOf": [{"type": "number"}]}),
        1,
        0,
    );
    let list = json!({"type": "array", "items": false});
    assert_property(
        OpenAiChat,
        list,
        json!({"type": "array", "items": {}, "maxItems": 0}),
        2,
        0,
    );
    let refused = json!({"type": "object", "properties": {"y": false}});
    assert_property(
        OpenAiChat,
        refused,
        json!({"type": "object", "properties": {}}),
        0,
        1,
    );
}

#[test]
fn objects_and_arrays_have_their_parts() {
    assert_property(
        OpenAiChat,
        json!({"type": "object"}),
        json!({"type": "object", "properties": {}}),
        1,
        0,
    );
    assert_property(
        Anthropic,
        json!({"type": "array"}),
        json!({"type": "array", "items": {}}),
        1,
        0,
    );
}

#[test]
fn older_drafts_become_the_newest() {
    let draft_7 = json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "type": "object",
        "properties": {"x": {"type": "array", "items": [{"type": "string"}], "additionalItems": {"type": "null"}}},
        "dependencies": {"x": ["y"], "y": {"required": ["z"]}},
    });
    let wire = rewrite(Anthropic, &draft_7).parameters;
    assert_eq!(
        wire["properties"]["x"],
        json!({"type": "array", "prefixItems": [{"type": "string"}], "items": {"type": "null"}})
    );
    assert_eq!(
        (&wire["dependentRequired"], wire.get("dependentSchemas")),
        (&json!({"x": ["y"]}), None)
    );
    assert_eq!(
        (wire.get("$schema"), wire.get("dependencies")),
        (None, None)
    );
    let draft_4 = json!({
        "$schema": "http://json-schema.org/draft-04/schema#",
        "properties": {"x": {"minimum": 3, "exclusiveMinimum": true}},
    });
    assert_eq!(
        rewrite(Anthropic, &draft_4).parameters["properties"]["x"],
        json!({"exclusiveMinimum": 3})
    );
}

#[test]
fn changes_say_where_and_what() {
    let (_, changes) = property(Gemini, json!({"type": "number", "exclusiveMinimum": 0}));
    assert_eq!(
        changes,
        ["/properties/x: the exclusive bound is inclusive; accepts more"]
    );
    let (_, changes) = property(Gemini, json!({"properties": {"a/b": {"const": 1}}}));
    assert_eq!(changes.len(), 2, "{changes:?}");
    assert!(
        changes[1].starts_with("/properties/x/properties/a~1b: the key is a_b"),
        "{changes:?}"
    );
    let schema = json!({
        "allOf": [{"properties": {"$x": {"$ref": "#/definitions/a b"}}}], "definitions": {"a b": {"oneOf": [{"minLength": 1}]}},
    });
    for format in [Gemini, Ollama] {
        let changes = rewrite(format, &schema).changes;
        let pointers: BTreeSet<_> = changes.iter().map(|change| &*change.pointer).collect();
        assert!(pointers.contains("/definitions/a b"), "{changes:?}");
        assert!(
            pointers
                .iter()
                .all(|pointer| schema.pointer(pointer).is_some()),
            "{changes:?}"
        );
    }
}
