//! Wire definitions: complete JSON, with identical bytes for identical tools.

use proptest::prelude::*;
use protocol::Tool;
use protocol::wire::{Format, FormatCell, Strictness, UnknownFormat};
use serde_json::{Value, json};

use super::sampler::Choices;
use super::schemas::schema;
use crate::sample::config;

fn relaxed(format: Format, tool: &Tool) -> String {
    format.tool(tool, Strictness::Relaxed).unwrap().definition.to_string()
}

#[test]
fn each_format_is_spelt_as_its_service_wants_it() {
    let tool = Tool::new("fs.read", "Reads \"it\".", json!({})).unwrap().with_title("Read");
    let schema = r#"{"properties":{},"type":"object"}"#;
    let named = |name: &str| format!(r#""name":"{name}","description":"Reads \"it\".""#);
    let function = format!(r#"{{"type":"function","function":{{{},"parameters":{schema}}}}}"#, named("fs__read"));
    for (format, expected) in [
        (Format::OpenAiChat, function.clone()),
        (
            Format::OpenAiResponses,
            format!(r#"{{"type":"function",{},"parameters":{schema},"strict":false}}"#, named("fs__read")),
        ),
        (Format::Anthropic, format!(r#"{{{},"input_schema":{schema}}}"#, named("fs__read"))),
        (Format::Gemini, format!(r#"{{{},"parametersJsonSchema":{schema}}}"#, named("fs__read"))),
        (Format::Ollama, function),
        (
            Format::Mcp,
            r#"{"name":"fs.read","title":"Read","description":"Reads \"it\".","inputSchema":{"type":"object"}}"#
                .to_owned(),
        ),
    ] {
        assert_eq!(relaxed(format, &tool), expected, "{format}");
    }
}

#[test]
fn strict_definitions_say_so() {
    let tool = Tool::new("a", "A.", json!({"properties": {"b": {"type": "string"}}})).unwrap();
    for (format, place) in
        [(Format::OpenAiChat, "/function/strict"), (Format::OpenAiResponses, "/strict"), (Format::Anthropic, "/strict")]
    {
        let wire = format.tool(&tool, Strictness::Strict).unwrap();
        assert!(wire.is_strict && wire.not_strict.is_none());
        assert_eq!(wire.value().pointer(place), Some(&json!(true)), "{format}");
    }
}

#[test]
fn required_properties_come_first_in_their_order() {
    let names = ["d", "c", "b", "a"].map(|name| (name.to_owned(), json!({"type": "string"})));
    let parameters = json!({"properties": Value::Object(names.into_iter().collect()), "required": ["c", "b"]});
    let tool = Tool::new("t", "T.", parameters).unwrap();
    for format in Format::ALL {
        let text = relaxed(format, &tool);
        let place = |name: &str| text.find(&format!(r#""{name}":{{"type":"string"}}"#)).unwrap();
        assert!(place("c") < place("b") && place("b") < place("a") && place("a") < place("d"), "{text}");
    }
}

#[test]
fn the_value_and_the_parameters_are_those_of_the_text() {
    let tool = Tool::new("t", "T.", json!({"properties": {"b": {"const": 1}, "a": true}, "required": ["b"]})).unwrap();
    for format in Format::ALL {
        let wire = format.tool(&tool, Strictness::Relaxed).unwrap();
        assert_eq!(serde_json::from_str::<Value>(&wire.definition).unwrap(), wire.value());
        let is_inside = |name: &str| wire.value().pointer(name) == Some(&wire.parameters);
        let places = ["/parameters", "/function/parameters", "/input_schema", "/parametersJsonSchema", "/inputSchema"];
        assert!(places.into_iter().any(is_inside), "{format}");
    }
}

#[test]
fn a_format_is_found_by_its_name_alone() {
    for format in Format::ALL {
        assert_eq!(format.name().parse(), Ok(format));
    }
    assert!(matches!("openai".parse::<Format>(), Err(UnknownFormat { name, .. }) if name == "openai"));
}

#[test]
fn a_cell_has_one_value_per_format_and_mode() {
    let cell = FormatCell::new();
    for format in Format::ALL {
        for strictness in [Strictness::Relaxed, Strictness::Strict] {
            assert_eq!(cell.get_or_init(format, strictness, || (format, strictness)), &(format, strictness));
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
