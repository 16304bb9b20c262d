//! Wire definitions: complete JSON, with identical bytes for identical tools.

use proptest::prelude::*;
use protocol::wire::{Format, FormatCell, Strictness};
use protocol::{Example, Icon, Tool};
use serde_json::{Value, json};

use super::sampler::Choices;
use super::schemas::schema;
use crate::sample::config;

fn relaxed(format: Format, tool: &Tool) -> String {
    format
        .tool(tool, Strictness::Relaxed)
        .unwrap()
        .definition
        .to_string()
}

#[test]
fn each_format_is_spelt_as_its_service_wants_it() {
    let tool = Tool::new("fs.read", "Reads \"it\".", json!({}))
        .unwrap()
        .with_title("Read");
    let schema = r#"{"properties":{},"type":"object"}"#;
    let named = |name: &str| format!(r#""name":"{name}","description":"Reads \"it\".""#);
    let function = format!(
        r#"{{"type":"function","function":{{{},"parameters":{schema}}}}}"#,
        named("fs__read")
    );
    for (format, expected) in [
        (Format::OpenAiChat, function.clone()),
        (
            Format::OpenAiResponses,
            format!(
                r#"{{"type":"function",{},"parameters":{schema},"strict":false}}"#,
                named("fs__read")
            ),
        ),
        (
            Format::Anthropic,
            format!(r#"{{{},"input_schema":{schema}}}"#, named("fs__read")),
        ),
        (
            Format::Gemini,
            format!(
                r#"{{{},"parametersJsonSchema":{schema}}}"#,
                named("fs__read")
            ),
        ),
        (Format::Ollama, function),
        (
            Format::Mcp,
            format!(
                r#"{{"name":"fs.read","title":"Read","description":"Reads \"it\".","inputSchema":{{"type":"object"}},{}}}"#,
                r#""annotations":{"destructiveHint":true,"idempotentHint":false,"openWorldHint":true,"readOnlyHint":false}"#
            ),
        ),
    ] {
        assert_eq!(relaxed(format, &tool), expected, "{format}");
    }
}

#[test]
fn strict_definitions_say_so() {
    let tool = Tool::new("a", "A.", json!({"properties": {"b": {"type": "string"}}})).unwrap();
    for (format, place) in [
        (Format::OpenAiChat, "/function/strict"),
        (Format::OpenAiResponses, "/strict"),
        (Format::Anthropic, "/strict"),
    ] {
        let wire = format.tool(&tool, Strictness::Strict).unwrap();
        assert!(wire.strict.is_ok());
        assert_eq!(wire.value().pointer(place), Some(&json!(true)), "{format}");
    }
}

#[test]
fn relaxed_definitions_say_so_if_the_service_is_strict_by_default() {
    let tool = Tool::new("a", "A.", json!({})).unwrap();
    for (format, place, expected) in [
        (Format::OpenAiChat, "/function/strict", None),
        (Format::OpenAiResponses, "/strict", Some(json!(false))),
        (Format::Anthropic, "/strict", None),
    ] {
        let value = format.tool(&tool, Strictness::Relaxed).unwrap().value();
        assert_eq!(value.pointer(place), expected.as_ref(), "{format}");
    }
}

#[test]
fn examples_have_on_request_their_field_or_a_place_in_the_description() {
    let parameters = json!({"properties": {"$at": {"type": "string"}, "n": {"type": "integer"}}});
    let bare = Tool::new("t", "T.", parameters).unwrap();
    let tool = bare
        .clone()
        .with_example(Example::new(json!({"n": 1, "$at": "x"})))
        .with_example(Example::new(json!({})));
    for format in Format::ALL {
        let plain = format.tool(&tool, Strictness::Relaxed).unwrap().value();
        let described = format
            .tool_with_examples(&tool, Strictness::Relaxed)
            .unwrap()
            .value();
        assert_eq!(
            plain,
            format.tool(&bare, Strictness::Relaxed).unwrap().value(),
            "{format}"
        );
        if format == Format::Anthropic {
            assert_eq!(
                described["input_examples"],
                json!([{"at": "x", "n": 1}, {}])
            );
            assert_eq!(described["description"], plain["description"]);
            continue;
        }
        let fields = described.get("function").unwrap_or(&described);
        let key = if matches!(format, Format::Ollama | Format::Mcp) {
            "$at"
        } else {
            "at"
        };
        let expected = format!("T.\n\nExamples of arguments:\n{{\"{key}\":\"x\",\"n\":1}}\n{{}}");
        assert_eq!(fields["description"], expected, "{format}");
        assert_eq!(
            format
                .tool_with_examples(&bare, Strictness::Relaxed)
                .unwrap()
                .value(),
            format.tool(&bare, Strictness::Relaxed).unwrap().value()
        );
    }
}

#[test]
fn an_mcp_definition_has_the_output_schema_of_an_object() {
    let tool = Tool::new("t", "T.", json!({})).unwrap();
    let output = |schema: Value| {
        let tool = tool.clone().with_output(schema);
        Format::Mcp
            .tool(&tool, Strictness::Relaxed)
            .unwrap()
            .value()
            .get("outputSchema")
            .cloned()
    };
    let object =
        json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]});
    assert_eq!(output(object.clone()), Some(object));
    assert_eq!(output(json!({"type": "array"})), None);
    assert_eq!(output(json!(true)), None);
}

#[test]
fn an_mcp_definition_has_the_icons_and_hints_of_another_party_unchanged() {
    let foreign = json!({
        "name": "t", "description": "T.", "inputSchema": {"type": "object"},
        "icons": [{"src": "https://example.org/t.png", "mimeType": "image/png", "sizes": ["48x48"], "theme": "dark"}],
        "annotations": {"title": "T", "readOnlyHint": true},
    });
    let icons: Vec<Icon> = serde_json::from_value(foreign["icons"].clone()).unwrap();
    let mut tool = Tool::new("t", "T.", foreign["inputSchema"].clone()).unwrap();
    tool.icons = icons;
    tool.annotations = foreign["annotations"].as_object().cloned();
    assert_eq!(
        Format::Mcp
            .tool(&tool, Strictness::Relaxed)
            .unwrap()
            .value(),
        foreign
    );
    assert!(!tool.effects.is_read_only());
}

#[test]
fn the_value_of_a_definition_deeper_than_a_parser_reads_is_complete() {
    let link =
        |depth: usize| json!({"properties": {"p": {"$ref": format!("#/$defs/{}", depth + 1)}}});
    let mut chain: serde_json::Map<_, _> = (0..70)
        .map(|depth| (depth.to_string(), link(depth)))
        .collect();
    chain.insert("70".to_owned(), json!({"type": "string"}));
    let tool = Tool::new(
        "t",
        "T.",
        json!({"properties": {"p": {"$ref": "#/$defs/0"}}, "$defs": chain}),
    )
    .unwrap();
    for format in Format::ALL {
        let Ok(wire) = format.tool(&tool, Strictness::Relaxed) else {
            continue;
        };
        assert_eq!(
            wire.value().to_string().len(),
            wire.definition.len(),
            "{format}"
        );
    }
}

#[test]
fn required_properties_come_first_in_their_order() {
    let names = ["d", "c", "b", "a"].map(|name| (name.to_owned(), json!({"type": "string"})));
    let parameters =
        json!({"properties": Value::Object(names.into_iter().collect()), "required": ["c", "b"]});
    let tool = Tool::new("t", "T.", parameters).unwrap();
    for format in Format::ALL {
        let text = relaxed(format, &tool);
        let place = |name: &str| {
            text.find(&format!(r#""{name}":{{"type":"string"}}"#))
                .unwrap()
        };
        assert!(
            place("c") < place("b") && place("b") < place("a") && place("a") < place("d"),
            "{text}"
        );
    }
}

#[test]
fn the_value_and_the_parameters_are_those_of_the_text() {
    let tool = Tool::new(
        "t",
        "T.",
        json!({"properties": {"b": {"const": 1}, "a": true}, "required": ["b"]}),
    )
    .unwrap();
    for format in Format::ALL {
        let wire = format.tool(&tool, Strictness::Relaxed).unwrap();
        assert_eq!(
            serde_json::from_str::<Value>(&wire.definition).unwrap(),
            wire.value()
        );
        let is_inside = |name: &str| wire.value().pointer(name) == Some(&wire.parameters);
        let places = [
            "/parameters",
            "/function/parameters",
            "/input_schema",
            "/parametersJsonSchema",
            "/inputSchema",
        ];
        assert!(places.into_iter().any(is_inside), "{format}");
    }
}

#[test]
fn a_cell_has_one_value_per_format_and_mode() {
    let cell = FormatCell::new();
    for format in Format::ALL {
        for strictness in [Strictness::Relaxed, Strictness::Strict] {
            assert_eq!(
                cell.get_or_init(format, strictness, || (format, strictness)),
                &(format, strictness)
            );
        }
    }
    assert_eq!(
        cell.get_or_init(Format::Mcp, Strictness::Strict, || unreachable!()),
        &(Format::Mcp, Strictness::Strict)
    );
}

proptest! {
    #![proptest_config(config(100))]

    #[test]
    fn a_definition_has_the_fields_of_the_tool(seed in any::<u64>(), description in any::<String>()) {
        let tool = Tool::new("a.b", description, schema(&mut Choices::new(seed))).unwrap();
        for format in Format::ALL {
            let wire = format.tool(&tool, Strictness::Relaxed).unwrap();
            prop_assert_eq!(&wire.name, if format == Format::Mcp { "a.b" } else { "a__b" });
            let value = wire.value();
            let fields = value.get("function").unwrap_or(&value);
            prop_assert_eq!(&fields["name"], &wire.name);
            prop_assert_eq!(&fields["description"], &tool.description);
        }
    }
}
