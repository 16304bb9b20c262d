//! Each rule of rewriting on one schema, with its report.

use std::collections::BTreeSet;

use protocol::wire::Format::{self, Anthropic, Gemini, Mcp, Ollama, OpenAiChat, OpenAiResponses};
use protocol::wire::Strictness::Relaxed;
use protocol::wire::WireTool;
use protocol::wire::schema::{Fidelity, Unsendable};
use protocol::{Json, Tool};
use regex::Regex;
use serde_json::{Value, json};

fn rewrite(format: Format, schema: &Value) -> WireTool {
    format.tool(&Tool::new("a", "A.", schema.clone()).unwrap(), Relaxed).unwrap()
}

/// Returns the wire form of the property `x` with a schema, and the changes at it and inside.
fn property(format: Format, schema: Value) -> (Value, Vec<String>) {
    let wire = rewrite(format, &json!({"type": "object", "properties": {"x": schema}}));
    (wire.parameters["properties"]["x"].clone(), wire.changes.iter().map(ToString::to_string).collect())
}

/// Asserts the wire form of a property and the number of its changes of each kind.
fn assert_property(format: Format, schema: Value, expected: Value, exact: usize, loosened: usize) {
    let wire = rewrite(format, &json!({"type": "object", "properties": {"x": schema.clone()}}));
    assert_eq!(wire.parameters["properties"]["x"], expected, "{format}");
    let count = |fidelity| wire.changes.iter().filter(|change| change.fidelity == fidelity).count();
    assert_eq!((count(Fidelity::Exact), count(Fidelity::Loosened)), (exact, loosened), "{:?}", wire.changes);
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
        (json!({"if": {"type": "string"}, "then": {"minLength": 3}}), 2),
        (json!({"contains": {"const": 1}, "maxContains": 3}), 2),
        (json!({"unevaluatedProperties": false, "unevaluatedItems": true}), 1),
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
    assert_eq!(kept.parameters["properties"]["x"], json!({"$ref": "#/$defs/P"}));
    assert_eq!(kept.parameters["$defs"], json!({"P": {"type": "string"}}));
    let replaced = rewrite(Ollama, &schema);
    assert_eq!(replaced.parameters["properties"]["x"], json!({"type": "string"}));
    assert_eq!(replaced.parameters.get("$defs"), None);
    assert!(replaced.changes.iter().all(|change| change.fidelity == Fidelity::Exact));
}

#[test]
fn recursion_is_cut_off_where_the_service_takes_none() {
    let node = json!({"type": "object", "properties": {"next": {"$ref": "#/$defs/Node"}}});
    let schema = json!({"type": "object", "properties": {"list": {"$ref": "#/$defs/Node"}}, "$defs": {"Node": node}});
    assert_eq!(rewrite(OpenAiChat, &schema).parameters["$defs"]["Node"], node);
    for format in [Gemini, Ollama] {
        let wire = rewrite(format, &schema);
        assert_eq!(wire.parameters["properties"]["list"]["properties"]["next"]["properties"]["next"], json!({}));
        assert!(wire.changes.iter().any(|change| change.fidelity == Fidelity::Loosened));
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
    for target in ["#/$defs/a%20b~1c", "#/properties/p", "https://a.example/#/properties/p"] {
        let string = json!({"type": "string"});
        let schema = json!({
            "properties": {"x": {"$ref": target}, "p": string},
            "$defs": {"a b/c": string}, "$id": "https://a.example/",
        });
        assert_eq!(rewrite(Ollama, &schema).parameters["properties"]["x"], string, "{target}");
    }
}

#[test]
fn a_part_with_its_own_base_loses_its_references_alone() {
    let part = |id: &str| json!({id: "user", "type": "object", "properties": {"a": {"$ref": "#/$defs/c"}}});
    let (draft4, draft6) = ("http://json-schema.org/draft-04/schema#", "http://json-schema.org/draft-06/schema#");
    let cases = [("$id", draft4, false), ("id", draft4, true), ("$id", draft6, true), ("id", draft6, false)];
    for (id, draft, is_base) in cases {
        let schema = json!({"$schema": draft, "properties": {"x": part(id)}, "$defs": {"c": {"type": "string"}}});
        let wire = rewrite(Anthropic, &schema);
        let inner = &wire.parameters["properties"]["x"]["properties"]["a"];
        assert_eq!(*inner, if is_base { json!({}) } else { json!({"$ref": "#/$defs/c"}) }, "{id} in {draft}");
    }
}

#[test]
fn exclusive_alternatives_become_alternatives() {
    let branches = json!([{"type": "number"}, {"type": "integer"}]);
    for format in [OpenAiChat, Anthropic, Gemini, Ollama] {
        assert_property(format, json!({"oneOf": branches}), json!({"anyOf": branches}), 0, 1);
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
    assert_property(Gemini, json!({"enum": ["a", null]}), json!({"anyOf": [{"enum": ["a"]}, {"type": "null"}]}), 1, 0);
    assert_property(Gemini, json!({"enum": [true]}), json!({"type": "boolean"}), 0, 1);
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
    assert_property(Gemini, json!({"type": "string", "default": "x"}), json!({"type": "string"}), 1, 0);
    assert_property(Gemini, json!({"type": "string", "minLength": 1}), json!({"type": "string"}), 0, 1);
}

#[test]
fn patterns_that_fail_a_request_are_removed() {
    for pattern in [r"^(?!\.).+$", r"^[\p{L}\p{N}_]+$", r"(a)\1", r"(?<name>a)"] {
        let string = json!({"type": "string"});
        let schema = json!({"type": "string", "pattern": pattern});
        assert_property(OpenAiChat, schema.clone(), string, 0, 1);
        assert_property(Anthropic, schema.clone(), schema, 0, 0);
        let of_keys = json!({"patternProperties": {pattern: {}, "^a$": {}}, "additionalProperties": false});
        assert_property(OpenAiChat, of_keys, json!({}), 0, 1);
    }
    let kept = json!({"type": "string", "pattern": r"^(a|\S+)\.\d{3,40}?$"});
    assert_property(OpenAiChat, kept.clone(), kept, 0, 0);
}

#[test]
fn an_empty_text_is_listed_nowhere_and_the_other_values_stay_visible() {
    let listed = json!({"enum": ["a"]});
    let text = json!({"type": "string"});
    assert_property(Gemini, json!({"enum": ["a", ""]}), json!({"anyOf": [listed, text]}), 0, 1);
    let or_null = json!({"anyOf": [listed, text, {"type": "null"}]});
    assert_property(Gemini, json!({"enum": ["", "a", null]}), or_null, 0, 1);
    let typed = json!({"anyOf": [{"enum": ["a"], "type": "string"}, text]});
    for types in [json!("string"), json!(["string", "null"])] {
        assert_property(Gemini, json!({"type": types, "enum": ["a", ""]}), typed.clone(), 0, 1);
    }
    let number = json!({"anyOf": [{"enum": [1], "type": "integer"}]});
    assert_property(Gemini, json!({"type": "integer", "enum": [1, ""]}), number, 1, 0);
    assert_property(Gemini, json!({"const": ""}), text.clone(), 1, 1);
    assert_property(OpenAiChat, json!({"enum": ["a", ""]}), json!({"enum": ["a", ""]}), 0, 0);
}

#[test]
fn an_empty_list_of_values_is_removed() {
    for format in [OpenAiChat, OpenAiResponses, Anthropic, Gemini, Ollama] {
        assert_property(format, json!({"enum": []}), json!({}), 0, 1);
        assert_property(format, json!({"type": "string", "enum": []}), json!({"type": "string"}), 0, 1);
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
    assert_property(OpenAiChat, list, json!({"type": "array", "items": {}, "maxItems": 0}), 2, 0);
    let refused = json!({"type": "object", "properties": {"y": false}});
    assert_property(OpenAiChat, refused, json!({"type": "object", "properties": {}}), 0, 1);
}

#[test]
fn objects_and_arrays_have_their_parts() {
    assert_property(OpenAiChat, json!({"type": "object"}), json!({"type": "object", "properties": {}}), 1, 0);
    assert_property(Anthropic, json!({"type": "array"}), json!({"type": "array", "items": {}}), 1, 0);
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
    assert_eq!((&wire["dependentRequired"], wire.get("dependentSchemas")), (&json!({"x": ["y"]}), None));
    assert_eq!((wire.get("$schema"), wire.get("dependencies")), (None, None));
    let draft_4 = json!({
        "$schema": "http://json-schema.org/draft-04/schema#",
        "properties": {"x": {"minimum": 3, "exclusiveMinimum": true}},
    });
    assert_eq!(rewrite(Anthropic, &draft_4).parameters["properties"]["x"], json!({"exclusiveMinimum": 3}));
}

#[test]
fn the_root_is_an_object_without_alternatives() {
    for format in [OpenAiChat, Anthropic, Gemini, Ollama] {
        let tagged = |tag: &str, key: &str| {
            json!({
                "type": "object", "additionalProperties": false, "required": ["kind", key],
                "properties": {"kind": {"type": "string", "const": tag}, key: {"type": "integer"}},
            })
        };
        let wire = rewrite(format, &json!({"oneOf": [tagged("a", "x"), tagged("b", "y")]})).parameters;
        let integer = json!({"type": "integer"});
        let expected = json!({
            "type": "object", "required": ["kind"], "additionalProperties": false,
            "properties": {"kind": {"type": "string", "enum": ["a", "b"]}, "x": integer, "y": integer},
        });
        assert_eq!(wire, expected, "{format}");
        let either =
            json!({"properties": {"a": integer, "b": integer}, "anyOf": [{"required": ["a"]}, {"required": ["b"]}]});
        assert_eq!(
            rewrite(format, &either).parameters,
            json!({"type": "object", "properties": {"a": integer, "b": integer}})
        );
        for schema in [json!({}), json!(true), json!({"type": ["object", "null"]}), json!({"not": {"required": ["a"]}})]
        {
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
    let schema =
        json!({"anyOf": [{"properties": {"a": {"type": "integer"}}}, {"properties": {"b": {"type": "string"}}}]});
    let properties = &rewrite(OpenAiChat, &schema).parameters["properties"];
    assert_eq!(properties["a"], json!({"anyOf": [{"type": "integer"}, {}]}));
}

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
    let mut keys: Vec<_> = wire.parameters["properties"].as_object().unwrap().keys().collect();
    keys.sort();
    assert_eq!(keys, ["a_o", "filter", "free", "plain-key.x"]);
    let sent = json!({"filter": "f", "a_o": [{"a_b": {"filter": 1}}, null], "free": {"filter": "kept", "a_b": "kept"}});
    let meant =
        json!({"$filter": "f", "año": [{"a b": {"filter": 1}}, null], "free": {"filter": "kept", "a_b": "kept"}});
    assert_eq!(wire.arguments.decode(&sent.clone().into()), meant);
    assert_eq!(wire.arguments.encode(&meant.clone().into()), sent);
    // A model may know the key from elsewhere.
    assert_eq!(wire.arguments.decode(&meant.clone().into()), meant);
    // A key that no schema names keeps its meaning.
    for other in [json!({"$filter": "f", "filter": 1}), json!({"filter": 1, "filter_": 2, "filter__": 3})] {
        let other = Json::from(other);
        assert_eq!(wire.arguments.decode(&wire.arguments.encode(&other)), other);
    }
    assert!(rewrite(Ollama, &schema).arguments.is_identity());
}

#[test]
fn keys_with_the_same_words_get_digests() {
    let wire = rewrite(Gemini, &json!({"properties": {"a b": {}, "a-b": {}, "a.b": {}, "1st": {}, "$": {}, "ok": {}}}));
    let keys: Vec<_> = wire.parameters["properties"].as_object().unwrap().keys().cloned().collect();
    assert!(keys.iter().all(|key| is_identifier(key)), "{keys:?}");
    assert_eq!(keys.iter().filter(|key| key.starts_with("a_b_") && key.len() == 12).count(), 3, "{keys:?}");
    assert!(["key_1st", "key", "ok"].iter().all(|key| keys.iter().any(|own| own == key)), "{keys:?}");
}

fn is_identifier(key: &str) -> bool {
    Regex::new("^[a-zA-Z_][a-zA-Z0-9_]{0,63}$").unwrap().is_match(key)
}

#[test]
fn long_keys_that_start_with_a_digit_are_mapped_back() {
    for end in 55..65 {
        let key = format!("1{}.bbbbbb", "a".repeat(end));
        let wire = rewrite(Gemini, &json!({"properties": {&key: {"type": "string"}}}));
        let (sent, _) = wire.parameters["properties"].as_object().unwrap().iter().next().unwrap();
        assert!(is_identifier(sent), "{sent}");
        assert_eq!(wire.arguments.decode(&json!({sent: "x"}).into()), json!({&key: "x"}));
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
    let wire = rewrite(Anthropic, &json!({"properties": {"$n": {"type": "integer"}}}));
    let sent = Json::parse(r#"{"n":340282366920938463463374607431768211457}"#).unwrap();
    assert_eq!(wire.arguments.decode(&sent).to_string(), r#"{"$n":340282366920938463463374607431768211457}"#);
}

#[test]
fn changes_say_where_and_what() {
    let (_, changes) = property(Gemini, json!({"type": "number", "exclusiveMinimum": 0}));
    assert_eq!(changes, ["/properties/x: the exclusive bound is inclusive; accepts more"]);
    let (_, changes) = property(Gemini, json!({"properties": {"a/b": {"const": 1}}}));
    assert_eq!(changes.len(), 2, "{changes:?}");
    assert!(changes[1].starts_with("/properties/x/properties/a~1b: the key is a_b"), "{changes:?}");
    let schema = json!({
        "allOf": [{"properties": {"$x": {"$ref": "#/definitions/a b"}}}], "definitions": {"a b": {"oneOf": [{"minLength": 1}]}},
    });
    for format in [Gemini, Ollama] {
        let changes = rewrite(format, &schema).changes;
        let pointers: BTreeSet<_> = changes.iter().map(|change| &*change.pointer).collect();
        assert!(pointers.contains("/definitions/a b"), "{changes:?}");
        assert!(pointers.iter().all(|pointer| schema.pointer(pointer).is_some()), "{changes:?}");
    }
}

#[test]
fn a_schema_that_accepts_no_object_is_refused() {
    for format in Format::ALL {
        let refused = |schema: Value| format.tool(&Tool::new("a", "A.", schema).unwrap(), Relaxed).unwrap_err();
        for schema in [json!(false), json!({"type": "string"}), json!({"type": ["null", "array"]}), json!("text")] {
            assert_eq!(refused(schema), Unsendable::NotAnObject);
        }
    }
    let mut deep = json!({});
    for _ in 0..100 {
        deep = json!({"properties": {"a": deep}});
    }
    let error = Anthropic.tool(&Tool::new("a", "A.", deep).unwrap(), Relaxed).unwrap_err();
    assert!(matches!(error, Unsendable::TooLarge { .. }));
}

#[test]
fn a_recursive_root_without_a_type_keeps_its_meaning_inside() {
    let child = json!({"child": {"$ref": "#"}, "n": {"type": "integer"}});
    for (format, root) in [Mcp, OpenAiChat, Anthropic].into_iter().flat_map(|format| {
        let roots = [json!({"properties": child}), json!({"properties": child, "type": ["object", "null"]})];
        roots.map(|root| (format, root))
    }) {
        let wire = rewrite(format, &root);
        assert!(wire.changes.iter().all(|change| change.fidelity == Fidelity::Exact), "{format}: {:?}", wire.changes);
        let validators = [&root, &wire.parameters].map(|schema| jsonschema::validator_for(schema).unwrap());
        for value in [
            json!({"child": {"child": {"n": 1}}}),
            json!({"child": null}),
            json!({"child": 1}),
            json!({"child": {"child": {"n": "x"}}}),
        ] {
            let [canonical, sent] = validators.each_ref().map(|validator| validator.is_valid(&value));
            assert_eq!(canonical, sent, "{format}: {value} {root} {}", wire.parameters);
        }
    }
}
