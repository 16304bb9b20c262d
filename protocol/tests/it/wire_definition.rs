//! Definitions on the wire: JSON that says what the tool says, the same bytes for the same tool.

use proptest::prelude::*;
use protocol::Tool;
use protocol::wire::{Definition, Definitions, Format};
use serde_json::{Map, Value, json};

fn tool(name: &str, description: &str) -> Tool {
    Tool::new(name, description, json!({"type": "object"})).unwrap()
}

/// The three that a model is told, from where each format has them.
fn told(format: Format, definition: &Value) -> (&Value, &Value, &Value) {
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
        Definition::new(Format::OpenAiChat, &tool).as_str(),
        r#"{"type":"function","function":{"name":"fs_read","description":"Reads \"it\".","parameters":{"type":"object"}}}"#
    );
    assert_eq!(
        Definition::new(Format::Anthropic, &tool).as_str(),
        r#"{"name":"fs_read","description":"Reads \"it\".","input_schema":{"type":"object"}}"#
    );
}

#[test]
fn services_are_told_that_arguments_are_an_object() {
    for schema in [json!({}), json!({"type": ["object", "null"]}), json!({"type": "object"})] {
        let tool = Tool { parameters: schema, ..tool("t", "Takes anything.") };
        for format in Format::ALL {
            let definition: Value = serde_json::from_str(Definition::new(format, &tool).as_str()).unwrap();
            assert_eq!(told(format, &definition).2, &json!({"type": "object"}));
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
        let one = Definition::new(format, &tool(&["a", "b", "c"]));
        assert_eq!(one, Definition::new(format, &tool(&["c", "a", "b"])));
        assert_eq!(one, Definition::new(format, &tool(&["a", "b", "c"])));
    }
}

#[test]
fn a_set_is_its_definitions_in_a_row() {
    let tools = ["a", "b.c", "d"].map(|name| tool(name, "Does it."));
    for format in Format::ALL {
        let definitions: Vec<_> = tools.iter().map(|tool| Definition::new(format, tool)).collect();
        let set = Definitions::new(definitions.iter().map(|definition| (definition, None)));
        let texts: Vec<_> = definitions.iter().map(Definition::as_str).collect();
        assert_eq!(set.as_str(), format!("[{}]", texts.join(",")));
        assert_eq!(
            (0..4).map(|position| set.get(position)).collect::<Vec<_>>(),
            [Some(texts[0]), Some(texts[1]), Some(texts[2]), None]
        );
        assert_eq!(set.subset([2, 0, 7]).as_str(), format!("[{},{}]", texts[2], texts[0]));
        assert_eq!(set.subset(0..3), set);
        assert_eq!(set.clone().as_str().as_ptr(), set.as_str().as_ptr());
    }
    let none = Definitions::new([]);
    assert_eq!((none.as_str(), none.len(), none.is_empty(), none.get(0)), ("[]", 0, true, None));
    assert_eq!(none.subset([0]), none);
}

#[test]
fn another_spelling_changes_the_name_alone() {
    let tool = tool("a.b", "a_b and \"name\":\"a_b\"");
    for format in Format::ALL {
        let definition = Definition::new(format, &tool);
        let set = Definitions::new([(&definition, Some("a_b_0123"))]);
        let value: Value = serde_json::from_str(set.as_str()).unwrap();
        let (name, description, _) = told(format, &value[0]);
        assert_eq!((name, description), (&json!("a_b_0123"), &json!(tool.description)));
        assert_eq!(set.as_str().len(), definition.as_str().len() + 2 + "_0123".len());
    }
}

#[test]
fn a_set_that_is_a_text_already_shares_it() {
    let tools = ["a", "b", "c"].map(|name| tool(name, "Does it."));
    for format in Format::ALL {
        let listed = Definition::list(format, &tools);
        let plain = |definitions: &[Definition]| Definitions::new(definitions.iter().map(|it| (it, None)));
        let text = |set: &Definitions| set.as_str().as_ptr();
        let all = plain(&listed);
        assert_eq!(text(&plain(&listed)), text(&all));
        assert_eq!(text(&all.subset(0..9)), text(&all));
        assert_eq!(all.get(1).unwrap().as_ptr(), listed[1].as_str().as_ptr());
        assert_ne!(text(&plain(&listed[1..])), text(&all));
        assert_ne!(Definitions::new([(&listed[0], None), (&listed[1], Some("other")), (&listed[2], None)]), all);
        let backwards: Vec<_> = listed.iter().rev().cloned().collect();
        assert_eq!(plain(&backwards), all.subset([2, 1, 0]));
        assert_ne!(plain(&backwards), all);
    }
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(any::<String>(), inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_set_has_the_bytes_of_one_written_tool_by_tool(
        together in prop::collection::vec(1..9usize, 1..5),
        chosen in prop::collection::vec((any::<prop::sample::Index>(), 1..6usize, prop::bool::weighted(0.2)), 0..8),
        part in prop::collection::vec(0..40usize, 0..20),
    ) {
        let count = together.iter().sum::<usize>();
        let tools: Vec<_> =
            (0..count).map(|number| tool(&format!("t.{number}"), &"\"name\":\"x\" ".repeat(number % 4))).collect();
        for format in Format::ALL {
            let mut rest = tools.as_slice();
            let mut definitions = Vec::new();
            for length in &together {
                let (now, later) = rest.split_at(*length);
                definitions.extend(Definition::list(format, now));
                rest = later;
            }
            // Neighbours mostly, some of them respelt.
            let mut asked = Vec::new();
            for (first, length, respelt) in &chosen {
                let first = first.index(count);
                asked.extend((first..count.min(first + length)).map(|position| (position, *respelt)));
            }
            let spelling = |respelt: bool| respelt.then_some("another_name");
            let set = Definitions::new(
                asked.iter().map(|(position, respelt)| (&definitions[*position], spelling(*respelt))),
            );
            let written = |(position, respelt): &(usize, bool)| {
                let mut tool = tools[*position].clone();
                if let Some(name) = spelling(*respelt) {
                    tool.name = protocol::ToolName::new(name).unwrap();
                }
                Definition::new(format, &tool).as_str().to_owned()
            };
            let texts: Vec<String> = asked.iter().map(written).collect();
            prop_assert_eq!(set.as_str(), format!("[{}]", texts.join(",")));
            prop_assert_eq!(set.len(), texts.len());
            for (position, text) in texts.iter().enumerate() {
                prop_assert_eq!(set.get(position), Some(text.as_str()));
            }
            let part_of_it: Vec<_> = part.iter().filter_map(|position| texts.get(*position).cloned()).collect();
            let of_set = set.subset(part.iter().copied());
            prop_assert_eq!(of_set.as_str(), format!("[{}]", part_of_it.join(",")));
        }
    }

    #[test]
    fn what_is_told_is_what_the_tool_says(
        name in "[A-Za-z0-9_.:/%-]{1,90}", description in any::<String>(), parameters in value()
    ) {
        let Ok(tool) = Tool::new(&name, description, parameters) else { return Ok(()) };
        for format in Format::ALL {
            let definition = Definition::new(format, &tool);
            let value: Value = serde_json::from_str(definition.as_str()).unwrap();
            let (name, description, parameters) = told(format, &value);
            let name = name.as_str().unwrap();
            prop_assert!((1..=64).contains(&name.len()), "{}", name);
            prop_assert!(name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte)), "{}", name);
            prop_assert_eq!(description, &tool.description);
            let mut said = tool.parameters.clone();
            if let Some(keywords) = said.as_object_mut() {
                keywords.insert("type".to_owned(), "object".into());
            }
            prop_assert_eq!(parameters, &said);
        }
    }
}
