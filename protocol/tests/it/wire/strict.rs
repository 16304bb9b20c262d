//! Strict definitions: which tools have them, and what their calls mean, on one schema each.

use protocol::Tool;
use protocol::wire::Strictness::Strict;
use protocol::wire::schema::{Fidelity, NotStrict, Rule};
use protocol::wire::{Format, Strictness, WireTool};
use serde_json::{Map, Value, json};

pub(super) const FORMATS: [Format; 3] = [
    Format::OpenAiChat,
    Format::OpenAiResponses,
    Format::Anthropic,
];

pub(super) fn tool(format: Format, schema: &Value) -> WireTool {
    format
        .tool(&Tool::new("a", "A.", schema.clone()).unwrap(), Strict)
        .unwrap()
}

fn rewrite(format: Format, schema: &Value) -> WireTool {
    let wire = tool(format, schema);
    assert_eq!(wire.strict, Ok(()));
    wire
}

/// Returns the reason that a property with this schema has no strict form at OpenAI.
fn reason(schema: Value) -> NotStrict {
    reason_at(Format::OpenAiChat, json!({"properties": {"x": schema}}))
}

fn reason_at(format: Format, schema: Value) -> NotStrict {
    let tool = Tool::new("a", "A.", schema).unwrap();
    let wire = format.tool(&tool, Strict).unwrap();
    assert_eq!(
        wire.definition,
        format.tool(&tool, Strictness::Relaxed).unwrap().definition
    );
    wire.strict.unwrap_err()
}

const OPENAI: [Format; 2] = [Format::OpenAiChat, Format::OpenAiResponses];

#[test]
fn optional_properties_are_required_and_may_be_null_at_openai() {
    let schema = json!({
        "properties": {
            "path": {"type": "string"},
            "mode": {"enum": ["r", "w"], "description": "The mode."},
            "range": {"type": "object", "properties": {"first": {"type": "integer"}}},
            "limit": {"type": ["integer", "null"], "minimum": 1, "default": 3},
            "user": {"type": ["string", "null"]},
        },
        "required": ["path", "user"],
    });
    for format in OPENAI {
        let wire = rewrite(format, &schema);
        assert_eq!(
            wire.parameters["required"],
            json!(["path", "user", "limit", "mode", "range"])
        );
        assert_eq!(wire.parameters["additionalProperties"], false);
        let properties = &wire.parameters["properties"];
        assert_eq!(
            properties["mode"],
            json!({"type": ["string", "null"], "enum": ["r", "w", null], "description": "The mode."})
        );
        assert_eq!(
            properties["range"]["anyOf"][0]["required"],
            json!(["first"])
        );
        assert_eq!(properties["range"]["anyOf"][1], json!({"type": "null"}));
        let sent = json!({"path": "a", "user": null, "limit": null, "mode": null, "range": {"first": null}});
        let meant = json!({"path": "a", "user": null, "range": {}});
        assert_eq!(wire.arguments.decode(&sent.clone().into()), meant);
        assert_eq!(wire.arguments.encode(&meant.into()), sent);
        let lost: Vec<_> = wire
            .changes
            .iter()
            .filter(|change| change.rule == Rule::Null)
            .collect();
        assert!(
            matches!(lost[..], [change] if change.pointer == "/properties/limit"),
            "{lost:?}"
        );
    }
}

#[test]
fn optional_properties_stay_optional_at_anthropic() {
    let schema = json!({
        "properties": {"path": {"type": "string"}, "limit": {"type": ["integer", "null"]}}, "required": ["path"],
    });
    let wire = rewrite(Format::Anthropic, &schema);
    assert_eq!(wire.parameters["required"], json!(["path"]));
    assert_eq!(wire.parameters["additionalProperties"], false);
    assert_eq!(wire.parameters["properties"], schema["properties"]);
    assert!(wire.arguments.is_identity());
}

#[test]
fn defaults_stay_at_anthropic_and_arrays_have_one_item_at_least() {
    let list = |fewest: usize| json!({"type": "array", "items": {"type": "string"}, "minItems": fewest, "default": ["a"]});
    let wire = rewrite(
        Format::Anthropic,
        &json!({"properties": {"one": list(1), "two": list(2)}}),
    );
    assert_eq!(
        wire.parameters["properties"],
        json!({"one": list(1), "two": list(1)})
    );
    let lower: Vec<_> = wire
        .changes
        .iter()
        .filter(|change| change.rule == Rule::MinItems)
        .collect();
    assert!(
        matches!(lower[..], [change] if change.fidelity == Fidelity::Loosened),
        "{lower:?}"
    );
}

#[test]
fn a_schema_without_a_strict_form_says_why() {
    let place = "/properties/x".to_owned();
    assert_eq!(
        reason(json!({})),
        NotStrict::AnyValue {
            pointer: place.clone()
        }
    );
    assert_eq!(
        reason(json!({"properties": {"a": {"type": "null"}}})),
        NotStrict::AnyValue {
            pointer: place.clone()
        }
    );
    assert_eq!(
        reason(json!({"type": "array"})),
        NotStrict::AnyValue {
            pointer: "/properties/x/items".into()
        }
    );
    let of_x = |schema: Value| {
        reason_at(
            Format::Anthropic,
            json!({"properties": {"x": schema}, "required": ["x"]}),
        )
    };
    let is_open = NotStrict::OpenObject {
        pointer: place.clone(),
    };
    assert_eq!(of_x(json!({"type": "object"})), is_open);
    assert_eq!(
        of_x(json!({"type": "object", "additionalProperties": {"type": "string"}})),
        is_open
    );
    assert_eq!(
        of_x(json!({"type": "object", "patternProperties": {"a": {}}})),
        is_open
    );
    let string = json!({"type": "string"});
    let with_patterns = json!({
        "type": "object", "properties": {"$a": string}, "patternProperties": {"(?!b)": string}, "additionalProperties": false,
    });
    assert_eq!(of_x(with_patterns), is_open);
    assert_eq!(
        of_x(json!({"type": "object", "properties": {"a": {}}, "additionalProperties": true})),
        is_open
    );
    assert_eq!(
        of_x(json!({"type": "array", "prefixItems": [{"type": "null"}]})),
        NotStrict::Tuple {
            pointer: place.clone()
        }
    );
    let unlisted =
        json!({"type": "object", "properties": {"a": {"type": "null"}}, "required": ["a", "b"]});
    assert_eq!(
        of_x(unlisted),
        NotStrict::Unlisted {
            pointer: place.clone(),
            key: "b".to_owned()
        }
    );
    let node = json!({"properties": {"x": {"$ref": "#/$defs/N"}}, "$defs": {"N": {
        "type": "object", "properties": {"next": {"$ref": "#/$defs/N"}},
    }}});
    assert_eq!(
        reason_at(Format::Anthropic, node.clone()),
        NotStrict::Recursive {
            pointer: "/$defs/N".to_owned()
        }
    );
    assert!(tool(Format::OpenAiChat, &node).strict.is_ok());
    for format in [Format::Gemini, Format::Ollama, Format::Mcp] {
        assert_eq!(reason_at(format, json!({})), NotStrict::Unavailable);
    }
}

#[test]
fn patterns_that_the_service_documents_are_kept() {
    for (pattern, takers) in [
        (r"^AS\d+$", &FORMATS[..]),
        (r"^[^ ]+(ab)?\.\w{2}$", &FORMATS),
        ("^(asc|desc)$", &OPENAI),
        ("^.{1,200}$", &OPENAI),
        ("^(?=a)", &[]),
        (r"\p{L}", &[]),
    ] {
        let x = json!({"type": "string", "pattern": pattern});
        let schema =
            json!({"properties": {"x": x}, "required": ["x"], "additionalProperties": false});
        for format in FORMATS {
            let kept = rewrite(format, &schema).parameters["properties"]["x"]
                .get("pattern")
                .cloned();
            assert_eq!(
                kept.is_some(),
                takers.contains(&format),
                "{format} {pattern}"
            );
        }
    }
}

#[test]
fn several_objects_or_arrays_as_alternatives_are_not_strict() {
    let object = |key: &str| json!({"type": "object", "properties": {key: {"type": "string"}}});
    let list = |kind: &str| json!({"type": "array", "items": {"type": kind}});
    let mut mixed = object("a");
    mixed["anyOf"] = json!([object("b"), {"type": "null"}]);
    let nested = json!({"anyOf": [object("a"), {"anyOf": [object("b"), {"type": "null"}]}]});
    for schema in [
        json!({"anyOf": [object("a"), object("b")]}),
        json!({"oneOf": [object("a"), {"$ref": "#/$defs/o"}]}),
        json!({"anyOf": [list("string"), list("null")]}),
        mixed,
        nested,
    ] {
        let root = json!({"properties": {"x": schema}, "$defs": {"o": object("c")}});
        assert_eq!(
            reason_at(Format::OpenAiChat, root),
            NotStrict::Union {
                pointer: "/properties/x".to_owned()
            }
        );
    }
    let one =
        json!([{"$ref": "#/$defs/o"}, {"$ref": "#/$defs/e"}, list("string"), {"type": "null"}]);
    let schema = json!({"properties": {"x": {"anyOf": one}}, "$defs": {"o": object("c"), "e": {"enum": ["a"], "type": "string"}}});
    let wire = rewrite(Format::OpenAiChat, &schema);
    assert_eq!(
        wire.arguments.decode(&json!({"x": {"c": null}}).into()),
        json!({"x": {}})
    );
}

#[test]
fn a_schema_beyond_the_limits_of_openai_is_not_strict() {
    let nested = |levels: usize| {
        let inner = json!({"type": "object", "properties": {"a": {"type": "null"}}});
        (1..levels).fold(
            inner,
            |inner, _| json!({"type": "object", "properties": {"a": inner}}),
        )
    };
    let listed = |count: usize| {
        let values: Vec<_> = (0..count).map(|number| number.to_string()).collect();
        json!({"type": "object", "properties": {"a": {"enum": values}}})
    };
    let wide = |count: usize| {
        let properties: Map<_, _> = (0..count)
            .map(|number| (number.to_string(), json!({"type": "null"})))
            .collect();
        json!({"type": "object", "properties": properties})
    };
    for (fits, exceeds) in [
        (nested(10), nested(11)),
        (listed(999), listed(1_001)),
        (wide(5_000), wide(5_001)),
    ] {
        assert!(tool(Format::OpenAiChat, &fits).strict.is_ok());
        assert!(matches!(
            reason_at(Format::OpenAiChat, exceeds),
            NotStrict::TooLarge { .. }
        ));
    }
    let texts: Vec<_> = (0..10)
        .map(|number| number.to_string().repeat(12_001))
        .collect();
    let many = json!({"properties": {"a": {"enum": texts}}});
    assert!(matches!(
        reason_at(Format::OpenAiChat, many),
        NotStrict::TooLarge { .. }
    ));
}

#[test]
fn alternatives_at_the_root_are_one_list_of_nullable_properties() {
    let branch = |key: &str| json!({"type": "object", "properties": {key: {"type": "string"}}, "required": [key]});
    let schema = json!({"anyOf": [branch("id"), branch("name")]});
    for format in OPENAI {
        let wire = rewrite(format, &schema);
        assert_eq!(wire.parameters["required"], json!(["id", "name"]));
        assert_eq!(
            wire.arguments
                .decode(&json!({"id": "1", "name": null}).into()),
            json!({"id": "1"})
        );
    }
}

#[test]
fn a_root_with_alternatives_keeps_its_own_properties() {
    let string = json!({"type": "string"});
    let keys = |wire: &WireTool| {
        wire.parameters["properties"]
            .as_object()
            .unwrap()
            .keys()
            .cloned()
            .collect::<Vec<_>>()
    };
    let base = json!({"path": string, "id": string});
    let partial = json!({"type": "object", "properties": base, "oneOf": [{"required": ["path"]}, {"required": ["id"]}]});
    let branch = |key: &str| json!({"properties": {key: string}, "required": [key]});
    let shared = json!({"type": "object", "properties": {"id": string}, "anyOf": [branch("a"), branch("b")]});
    for format in FORMATS {
        assert_eq!(keys(&rewrite(format, &partial)), ["id", "path"]);
        assert_eq!(keys(&rewrite(format, &shared)), ["a", "b", "id"]);
    }
}

#[test]
fn an_alternative_does_not_narrow_a_property_for_the_others() {
    let narrow =
        json!({"anyOf": [{"properties": {"id": {"type": "string"}}}, {"required": ["id"]}]});
    let base = json!({"id": {"type": ["string", "integer"]}});
    let before = json!({"properties": base, "anyOf": narrow["anyOf"]});
    let wire = rewrite(Format::OpenAiChat, &before);
    assert_eq!(
        wire.parameters["properties"]["id"]["type"],
        json!(["string", "integer", "null"])
    );
    let required =
        json!({"anyOf": [{"properties": {"id": {"type": "string"}}}, {"required": ["id"]}]});
    assert!(matches!(
        reason_at(Format::OpenAiChat, required),
        NotStrict::AnyValue { .. }
    ));
    let narrow = json!({"anyOf": [{"properties": {"id": {"type": "string"}}}, {"properties": {"x": {"type": "null"}}}]});
    let after = json!({"allOf": [narrow, {"properties": base}]});
    assert_eq!(
        reason_at(Format::OpenAiChat, after),
        NotStrict::Union {
            pointer: String::new()
        }
    );
}

#[test]
fn a_conjunction_of_alternatives_is_not_strict() {
    let object = |key: &str| json!({"type": "object", "properties": {key: {"type": "string"}}});
    let either = |key: &str| json!({"anyOf": [object(key), {"type": "null"}]});
    let list = |key: &str| json!({"type": "array", "items": object(key)});
    for parts in [[either("a"), either("b")], [list("a"), list("b")]] {
        assert!(matches!(
            reason(json!({"allOf": parts})),
            NotStrict::Union { .. }
        ));
    }
}

#[test]
fn a_null_that_another_property_requires_is_read_as_absence_which_the_changes_say() {
    let schema = json!({
        "properties": {"a": {"type": "string"}, "e": {"type": ["integer", "null"]}},
        "required": ["a"],
        "dependentRequired": {"a": ["e"]},
    });
    for format in OPENAI {
        let wire = rewrite(format, &schema);
        assert_eq!(
            wire.arguments
                .decode(&json!({"a": "x", "e": null}).into())
                .value(),
            &json!({"a": "x"})
        );
        assert_eq!(
            wire.arguments
                .decode(&json!({"a": "x", "e": 1}).into())
                .value(),
            &json!({"a": "x", "e": 1})
        );
        let lost = wire
            .changes
            .iter()
            .find(|change| change.rule == Rule::Null)
            .unwrap();
        assert_eq!(
            (&*lost.pointer, lost.fidelity),
            ("/properties/e", Fidelity::Narrowed)
        );
    }
}

#[test]
fn absent_properties_are_nulls_in_the_order_of_the_schema() {
    let string = json!({"type": "string"});
    let schema = json!({"properties": {"c": string, "a": string, "b": string, "d": string}, "required": ["d"]});
    let wire = rewrite(Format::OpenAiChat, &schema);
    let encoded = wire
        .arguments
        .encode(&json!({"c": "1", "d": "2", "x": 3}).into());
    assert_eq!(
        encoded.to_string(),
        r#"{"d":"2","a":null,"b":null,"c":"1","x":3}"#
    );
}
