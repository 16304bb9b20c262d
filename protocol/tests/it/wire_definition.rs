//! Wire definitions: complete JSON, with identical bytes for identical tools.

use proptest::prelude::*;
use protocol::Tool;
use protocol::wire::{self, Format, NameGrammar};
use serde_json::{Value, json};

use crate::sample::{config, exact, nested};

fn tool(name: &str, description: &str) -> Tool {
    Tool::new(name, description, json!({"type": "object"})).unwrap()
}

fn definition(format: Format, tool: &Tool) -> Value {
    serde_json::from_str(&format.definition(tool, &NameGrammar::Provider.encode(&tool.name))).unwrap()
}

/// Returns the name, the description and the parameters from a definition in the given format.
fn fields(format: Format, definition: &Value) -> (&Value, &Value, &Value) {
    match format {
        Format::OpenAiChat => {
            assert_eq!(definition["type"], "function");
            let function = &definition["function"];
            (&function["name"], &function["description"], &function["parameters"])
        }
        Format::Anthropic => (&definition["name"], &definition["description"], &definition["input_schema"]),
        other => panic!("{other:?} is not tested"),
    }
}

#[test]
fn each_format_is_spelt_as_its_service_wants_it() {
    let tool = tool("fs.read", "Reads \"it\".");
    assert_eq!(
        &*Format::OpenAiChat.definition(&tool, "fs_read"),
        r#"{"type":"function","function":{"name":"fs_read","description":"Reads \"it\".","parameters":{"type":"object"}}}"#
    );
    assert_eq!(
        &*Format::Anthropic.definition(&tool, "fs_read"),
        r#"{"name":"fs_read","description":"Reads \"it\".","input_schema":{"type":"object"}}"#
    );
}

#[test]
fn every_definition_says_that_arguments_are_an_object() {
    for schema in [json!({}), json!({"type": ["object", "null"]}), json!({"type": "object"})] {
        let tool = Tool { parameters: schema, ..tool("t", "Takes anything.") };
        for format in Format::ALL {
            assert_eq!(fields(format, &definition(format, &tool)).2, &json!({"type": "object"}));
        }
    }
}

#[test]
fn the_order_of_keys_changes_nothing() {
    let object =
        |keys: &[&str]| Value::Object(keys.iter().map(|key| ((*key).to_owned(), json!({"type": "string"}))).collect());
    let schema = |keys: &[&str]| json!({"type": "object", "properties": object(keys)});
    let tool = |keys: &[&str]| Tool::new("x", "X.", schema(keys)).unwrap();
    for format in Format::ALL {
        let one = format.definition(&tool(&["a", "b", "c"]), "x");
        assert_eq!(one, format.definition(&tool(&["c", "a", "b"]), "x"));
        assert_eq!(one, format.definition(&tool(&["a", "b", "c"]), "x"));
    }
    let text = |keys: &[&str]| wire::parameters(&tool(keys)).to_string();
    assert_eq!(text(&["c", "a", "b"]), text(&["a", "b", "c"]));
}

#[test]
fn another_spelling_changes_the_name_alone() {
    let tool = tool("a.b", "a_b and \"name\":\"a_b\"");
    for format in Format::ALL {
        let [plain, other] = ["a_b", "a_b_0123"].map(|spelling| format.definition(&tool, spelling));
        let value: Value = serde_json::from_str(&other).unwrap();
        let (name, description, _) = fields(format, &value);
        assert_eq!((name, description), (&json!("a_b_0123"), &json!(tool.description)));
        assert_eq!(other.len(), plain.len() + "_0123".len());
    }
}

proptest! {
    #![proptest_config(config(256))]

    #[test]
    fn a_definition_has_the_fields_of_the_tool(
        name in "[A-Za-z0-9_.:/%-]{1,90}", description in any::<String>(), parameters in nested(exact())
    ) {
        let Ok(tool) = Tool::new(&name, description, parameters) else { return Ok(()) };
        for format in Format::ALL {
            let value = definition(format, &tool);
            let (name, description, parameters) = fields(format, &value);
            let name = name.as_str().unwrap();
            prop_assert!((1..=64).contains(&name.len()), "{}", name);
            prop_assert!(name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte)), "{}", name);
            prop_assert_eq!(description, &tool.description);
            let mut expected = tool.parameters.clone();
            if let Some(keywords) = expected.as_object_mut() {
                keywords.insert("type".to_owned(), "object".into());
            }
            prop_assert_eq!(parameters, &expected);
            prop_assert_eq!(wire::parameters(&tool), expected);
        }
    }
}
