//! Small schemas that would take much work or much space, if work were not bounded.

use std::time::Duration;

use protocol::wire::Format::{self, Anthropic, Gemini, Ollama, OpenAiChat};
use protocol::wire::schema::{Change, Fidelity, Rule, Unsendable};
use protocol::wire::{Strictness, WireTool};
use protocol::{Json, Tool};
use serde_json::{Map, Value, json};

/// The longest processor time for one schema on all wires. Most take far less, also in a debug build.
const PATIENCE: Duration = Duration::from_secs(30);

/// Returns the processor time of this thread, as Linux counts it: other programs do not add to it.
fn thread_time() -> Duration {
    let counted = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    Duration::from_nanos(counted.split_whitespace().next().unwrap().parse().unwrap())
}

/// Renders a tool on every wire in both modes.
fn render(schema: &Value) -> Vec<WireTool> {
    let started = thread_time();
    let tool = Tool::new("a", "A.", schema.clone()).unwrap();
    let modes = [Strictness::Relaxed, Strictness::Strict];
    let wires: Vec<_> = Format::ALL
        .iter()
        .flat_map(|format| modes.map(|mode| format.tool(&tool, mode).unwrap()))
        .collect();
    let taken = thread_time() - started;
    assert!(taken < PATIENCE, "{taken:?}");
    for wire in &wires {
        assert!(
            wire.definition.len() < 4_000_000,
            "{}",
            wire.definition.len()
        );
        assert_eq!(
            serde_json::from_str::<Value>(&wire.definition).unwrap(),
            wire.value()
        );
    }
    wires
}

fn relaxed(format: Format, schema: &Value) -> WireTool {
    format
        .tool(
            &Tool::new("a", "A.", schema.clone()).unwrap(),
            Strictness::Relaxed,
        )
        .unwrap()
}

fn property(schema: Value) -> Value {
    json!({"type": "object", "properties": {"x": schema}})
}

/// Returns definitions `n0` to `n<count>`, each made of the reference to the next one. The last one is loosened on every wire.
fn chain(count: usize, link: impl Fn(Value) -> Value) -> Value {
    let link = |index: usize| {
        let next = json!({"$ref": format!("#/$defs/n{}", index + 1)});
        (
            format!("n{index}"),
            if index == count {
                json!({"not": {"const": 1}, "type": "string"})
            } else {
                link(next)
            },
        )
    };
    Value::Object((0..=count).map(link).collect::<Map<_, _>>())
}

#[test]
fn nested_conditions_and_alternatives_are_rewritten_once() {
    let leaf = json!({"type": "object", "properties": {"y": false}});
    type Nest = fn(Value) -> Value;
    let nests: [Nest; 7] = [
        |inner| json!({"oneOf": [inner]}),
        |inner| json!({"anyOf": [inner, {"not": {}}]}),
        |inner| json!({"allOf": [inner]}),
        |inner| json!({"not": inner}),
        |inner| json!({"if": inner}),
        |inner| json!({"contains": inner, "maxContains": 3}),
        |inner| json!({"oneOf": [inner], "anyOf": [{}]}),
    ];
    for nest in nests {
        render(&property(
            (0..29).fold(leaf.clone(), |inner, _| nest(inner)),
        ));
    }
}

#[test]
fn chains_of_definitions_take_linear_time() {
    let through_properties = |next: Value| json!({"type": "object", "properties": {"a": next}});
    let in_place = |next: Value| json!({"description": "d", "allOf": [next]});
    let alias = |next: Value| next;
    for definitions in [
        chain(400, through_properties),
        chain(400, in_place),
        chain(400, alias),
    ] {
        let mut schema = property(json!({"$ref": "#/$defs/n0"}));
        schema["$defs"] = definitions.clone();
        render(&schema);
        render(&json!({"$ref": "#/$defs/n0", "$defs": definitions}));
    }
}

#[test]
fn definitions_that_double_are_cut_off() {
    let twice = |next: Value| json!({"properties": {"a": next, "b": next}});
    let either = |next: Value| json!({"anyOf": [next, next]});
    let both = |next: Value| json!({"allOf": [next, next]});
    for definitions in [chain(24, twice), chain(24, either), chain(24, both)] {
        let mut schema = property(json!({"$ref": "#/$defs/n0"}));
        schema["$defs"] = definitions.clone();
        let wires = render(&schema);
        let is_cut_off = |wire: &WireTool| {
            wire.changes
                .iter()
                .any(|change| change.rule == Rule::CutOff)
        };
        assert!(wires.iter().any(is_cut_off));
        render(&json!({"$ref": "#/$defs/n0", "$defs": definitions}));
    }
}

#[test]
fn alternatives_at_the_root_are_bounded() {
    let branch = |index: usize| {
        let own = format!("own{index}");
        json!({"properties": {"kind": {"const": index.to_string()}, own: {"type": "string"}}, "required": ["kind"]})
    };
    render(&json!({"oneOf": (0..400).map(branch).collect::<Vec<_>>()}));
    render(&json!({"allOf": (0..400).map(branch).collect::<Vec<_>>()}));
    let node =
        json!({"anyOf": [{"$ref": "#"}, {"$ref": "#"}, {"allOf": [{"$ref": "#"}, {"$ref": "#"}]}]});
    render(&node);
}

#[test]
fn a_base_of_several_alternatives_at_the_root_is_no_recursion() {
    let branch = |key: &str| json!({"allOf": [{"$ref": "#/$defs/Base"}, {"properties": {key: {"type": "string"}}}]});
    let schema = json!({
        "oneOf": [branch("a"), branch("b"), branch("c"), branch("d")],
        "$defs": {
            "Base": {"type": "object", "properties": {"id": {"$ref": "#/$defs/Id"}}, "required": ["id"]},
            "Id": {"type": "string", "minLength": 1},
        },
    });
    for format in [OpenAiChat, Anthropic, Gemini, Ollama] {
        let wire = relaxed(format, &schema);
        assert!(
            wire.changes
                .iter()
                .all(|change| change.rule != Rule::CutOff),
            "{:?}",
            wire.changes
        );
        assert_eq!(wire.parameters["required"], json!(["id"]), "{format}");
        if format == Ollama {
            assert_eq!(wire.parameters["properties"]["id"]["type"], "string");
        }
    }
}

#[test]
fn deep_definitions_nest_no_deeper_than_parsers_read() {
    let mut schema = property(json!({"$ref": "#/$defs/n0"}));
    schema["$defs"] = chain(
        300,
        |next| json!({"type": "object", "properties": {"a": next}}),
    );
    for wire in render(&schema) {
        assert!(wire.value().is_object());
        let function = wire.value();
        let name = function.get("function").unwrap_or(&function)["name"].clone();
        assert_eq!(name, "a");
    }
    let mut deep = json!("leaf");
    for _ in 0..50 {
        deep = json!([deep]);
    }
    schema["$defs"]["n40"] = json!({"default": deep, "enum": [deep]});
    render(&schema);
}

#[test]
fn many_equal_names_of_definitions_and_keys_get_numbers_and_digests() {
    let lists = (0..600).map(|index| (format!("p{index}"), json!({"items": {"type": "string"}})));
    let mut properties: Map<_, _> = lists.collect();
    for index in 0..600 {
        properties.insert(
            format!("r{index}"),
            json!({"$ref": format!("#/properties/p{index}/items")}),
        );
    }
    render(&json!({"properties": properties}));
    let key = |index: u32| {
        (
            char::from_u32(0x4e00 + index).unwrap().to_string(),
            json!({"type": "string"}),
        )
    };
    let wires = render(&json!({"properties": (0..600).map(key).collect::<Map<_, _>>()}));
    for wire in wires {
        assert_eq!(
            wire.parameters["properties"].as_object().unwrap().len(),
            600,
            "{}",
            wire.name
        );
    }
}

#[test]
fn a_recursive_union_of_many_objects_has_a_fast_codec() {
    let branch = |index: usize| {
        let properties =
            (0..40).map(|key| (format!("$k{index}-{key}"), json!({"$ref": "#/$defs/any"})));
        json!({"type": "object", "properties": properties.collect::<Map<_, _>>()})
    };
    let mut schema = property(json!({"$ref": "#/$defs/any"}));
    schema["$defs"] = json!({"any": {"oneOf": (0..200).map(branch).collect::<Vec<_>>()}});
    let wire = relaxed(Anthropic, &schema);
    let members = (0..40).map(|key| {
        (
            format!("$k7-{key}"),
            json!({"$k9-0": {"$k199-39": {"k7-1": 1}}}),
        )
    });
    let arguments = Json::from(json!({"x": members.collect::<Map<_, _>>()}));
    let started = thread_time();
    let encoded = wire.arguments.encode(&arguments);
    assert_eq!(
        encoded.value()["x"]["k7-1"]["k9-0"]["k199-39"],
        json!({"k7-1_": 1})
    );
    assert_eq!(wire.arguments.decode(&encoded), arguments);
    let taken = thread_time() - started;
    assert!(taken < PATIENCE, "{taken:?}");
}

#[test]
fn a_cut_is_the_same_for_any_order_of_keys() {
    let names: Vec<_> = (0..60).map(|index| format!("k{index}")).collect();
    let schema = |names: &mut dyn Iterator<Item = &String>| {
        let list = names
            .map(|name| format!(r##""{name}":{{"$ref":"#/$defs/n0"}}"##))
            .collect::<Vec<_>>()
            .join(",");
        let definitions = chain(8, |next| json!({"properties": {"a": next, "b": next}}));
        serde_json::from_str::<Value>(&format!(
            r#"{{"properties":{{{list}}},"$defs":{definitions}}}"#
        ))
        .unwrap()
    };
    let changes = |schema: &Value| -> (Value, Vec<Change>) {
        let wire = relaxed(Ollama, schema);
        (wire.parameters, wire.changes)
    };
    let (first, second) = (
        changes(&schema(&mut names.iter())),
        changes(&schema(&mut names.iter().rev())),
    );
    assert!(
        first
            .1
            .iter()
            .any(|change| change.rule == Rule::CutOff && change.fidelity == Fidelity::Loosened)
    );
    assert_eq!(first, second);
}

#[test]
fn a_long_key_above_many_schemas_is_refused() {
    let inner: Map<_, _> = (0..9_000)
        .map(|index| (index.to_string(), Value::Bool(true)))
        .collect();
    let schema = json!({"properties": {"k".repeat(160_000): {"properties": inner}}});
    let tool = Tool::new("a", "A.", schema).unwrap();
    for format in [OpenAiChat, Anthropic, Gemini, Ollama] {
        let refused = format.tool(&tool, Strictness::Strict);
        assert!(
            matches!(refused, Err(Unsendable::TooLarge { .. })),
            "{format}"
        );
    }
}

#[test]
fn long_texts_are_not_repeated_for_each_reference() {
    let property = |index: usize| {
        (
            format!("p{index}"),
            json!({"$ref": "#/$defs/A", "minItems": 1}),
        )
    };
    let properties: Map<_, _> = (0..3_900).map(property).collect();
    let described = json!({"A": {"type": "array", "items": {"type": "string"}, "description": "d".repeat(120_000)}});
    render(&json!({"properties": properties, "$defs": described}));
    let values: Vec<_> = (0..500)
        .map(|index| format!("{index}{}", "v".repeat(200)))
        .collect();
    let listed = json!({"A": {"properties": {"x": {"enum": values}}}});
    render(&json!({"allOf": vec![json!({"$ref": "#/$defs/A"}); 1_000], "$defs": listed}));
}

#[test]
fn one_target_is_read_once_however_its_pointers_are_written() {
    let key = "~".repeat(12);
    let alias = |index: usize| {
        let tilde = |bit: usize| if (index >> bit) & 1 == 0 { "~" } else { "~0" };
        (
            format!("p{index}"),
            json!({"$ref": format!("#/$defs/{}", (0..12).map(tilde).collect::<String>())}),
        )
    };
    let properties: Map<_, _> = (0..2_000).map(alias).collect();
    let schema = json!({"properties": properties, "$defs": {key: {"type": "string", "description": "d".repeat(100_000)}}});
    for wire in render(&schema) {
        let definitions = wire.parameters.get("$defs").and_then(Value::as_object);
        assert!(definitions.is_none_or(|definitions| definitions.len() == 1));
    }
}

#[test]
fn many_references_side_by_side_are_not_deep() {
    let part = |index: usize| json!({"$ref": format!("#/$defs/n{index}")});
    let definition = |index: usize| {
        let properties =
            json!({format!("p{index}"): {"type": "array", "items": {"$ref": "#/$defs/Id"}}});
        (
            format!("n{index}"),
            json!({"type": "object", "properties": properties}),
        )
    };
    let mut definitions: Map<_, _> = (0..100).map(definition).collect();
    definitions.insert("Id".to_owned(), json!({"type": "string", "minLength": 1}));
    let merged = json!({"allOf": (0..100).map(part).collect::<Vec<_>>()});
    let nested = json!({"properties": {"x": merged}, "$defs": definitions});
    let at_root = json!({"allOf": merged["allOf"], "$defs": definitions});
    for format in [OpenAiChat, Anthropic, Gemini, Ollama] {
        for schema in [&nested, &at_root] {
            let wire = relaxed(format, schema);
            assert!(
                wire.changes
                    .iter()
                    .all(|change| change.rule != Rule::CutOff),
                "{format} {:?}",
                wire.changes
            );
        }
    }
}

#[test]
fn conjunctions_in_a_chain_of_definitions_fit_a_small_stack() {
    let nest = |next: Value| (0..29).fold(next, |inner, _| json!({"allOf": [inner]}));
    let mut schema = property(json!({"$ref": "#/$defs/n0"}));
    schema["$defs"] = chain(80, nest);
    let root = json!({"$ref": "#/$defs/n0", "$defs": schema["$defs"]});
    let either = |next: Value| (0..29).fold(next, |inner, _| json!({"anyOf": [inner]}));
    let union = json!({"$ref": "#/$defs/n0", "$defs": chain(80, either)});
    let small = std::thread::Builder::new().stack_size(2 * 1024 * 1024);
    let all = move || {
        [schema, root, union]
            .iter()
            .for_each(|schema| drop(render(schema)))
    };
    small.spawn(all).unwrap().join().unwrap();
}

#[test]
fn nulls_of_absent_properties_do_not_multiply_arguments() {
    let optional = |index: usize| {
        (
            format!("a_rather_long_key_{index}"),
            json!({"type": "string"}),
        )
    };
    let item =
        json!({"type": "object", "properties": (0..2_000).map(optional).collect::<Map<_, _>>()});
    let schema = json!({"properties": {"x": {"type": "array", "items": item}}, "required": ["x"]});
    let tool = Tool::new("a", "A.", schema).unwrap();
    let wire = OpenAiChat.tool(&tool, Strictness::Strict).unwrap();
    assert!(wire.strict.is_ok());
    let arguments = Json::from(json!({"x": vec![json!({}); 20_000]}));
    let encoded = wire.arguments.encode(&arguments);
    assert!(encoded.to_string().len() < 1_000_000);
    assert_eq!(wire.arguments.decode(&encoded), arguments);
}
