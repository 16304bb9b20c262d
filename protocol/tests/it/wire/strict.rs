//! Strict definitions: which tools have them, and what their calls mean.

use proptest::prelude::*;
use protocol::wire::Strictness::Strict;
use protocol::wire::schema::{Fidelity, NotStrict, Rule};
use protocol::wire::{Format, Strictness, WireTool};
use protocol::{Json, Tool};
use serde_json::{Map, Value, json};

use super::judge::Judge;
use super::law::{Reached, accepted, judge_of, seeds};
use super::sampler::Choices;
use crate::sample::config;

const FORMATS: [Format; 3] = [Format::OpenAiChat, Format::OpenAiResponses, Format::Anthropic];

fn tool(format: Format, schema: &Value) -> WireTool {
    format.tool(&Tool::new("a", "A.", schema.clone()).unwrap(), Strict).unwrap()
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
    assert_eq!(wire.definition, format.tool(&tool, Strictness::Relaxed).unwrap().definition);
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
        assert_eq!(wire.parameters["required"], json!(["path", "user", "limit", "mode", "range"]));
        assert_eq!(wire.parameters["additionalProperties"], false);
        let properties = &wire.parameters["properties"];
        assert_eq!(
            properties["mode"],
            json!({"type": ["string", "null"], "enum": ["r", "w", null], "description": "The mode."})
        );
        assert_eq!(properties["range"]["anyOf"][0]["required"], json!(["first"]));
        assert_eq!(properties["range"]["anyOf"][1], json!({"type": "null"}));
        let sent = json!({"path": "a", "user": null, "limit": null, "mode": null, "range": {"first": null}});
        let meant = json!({"path": "a", "user": null, "range": {}});
        assert_eq!(wire.arguments.decode(&sent.clone().into()), meant);
        assert_eq!(wire.arguments.encode(&meant.into()), sent);
        let lost: Vec<_> = wire.changes.iter().filter(|change| change.rule == Rule::Null).collect();
        assert!(matches!(lost[..], [change] if change.pointer == "/properties/limit"), "{lost:?}");
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
    let list =
        |fewest: usize| json!({"type": "array", "items": {"type": "string"}, "minItems": fewest, "default": ["a"]});
    let wire = rewrite(Format::Anthropic, &json!({"properties": {"one": list(1), "two": list(2)}}));
    assert_eq!(wire.parameters["properties"], json!({"one": list(1), "two": list(1)}));
    let lower: Vec<_> = wire.changes.iter().filter(|change| change.rule == Rule::MinItems).collect();
    assert!(matches!(lower[..], [change] if change.fidelity == Fidelity::Loosened), "{lower:?}");
}

#[test]
fn a_schema_without_a_strict_form_says_why() {
    let place = "/properties/x".to_owned();
    assert_eq!(reason(json!({})), NotStrict::AnyValue { pointer: place.clone() });
    assert_eq!(reason(json!({"properties": {"a": {"type": "null"}}})), NotStrict::AnyValue { pointer: place.clone() });
    assert_eq!(reason(json!({"type": "array"})), NotStrict::AnyValue { pointer: "/properties/x/items".into() });
    let of_x = |schema: Value| reason_at(Format::Anthropic, json!({"properties": {"x": schema}, "required": ["x"]}));
    let is_open = NotStrict::OpenObject { pointer: place.clone() };
    assert_eq!(of_x(json!({"type": "object"})), is_open);
    assert_eq!(of_x(json!({"type": "object", "additionalProperties": {"type": "string"}})), is_open);
    assert_eq!(of_x(json!({"type": "object", "patternProperties": {"a": {}}})), is_open);
    let string = json!({"type": "string"});
    let with_patterns = json!({
        "type": "object", "properties": {"$a": string}, "patternProperties": {"(?!b)": string}, "additionalProperties": false,
    });
    assert_eq!(of_x(with_patterns), is_open);
    assert_eq!(of_x(json!({"type": "object", "properties": {"a": {}}, "additionalProperties": true})), is_open);
    assert_eq!(
        of_x(json!({"type": "array", "prefixItems": [{"type": "null"}]})),
        NotStrict::Tuple { pointer: place.clone() }
    );
    let unlisted = json!({"type": "object", "properties": {"a": {"type": "null"}}, "required": ["a", "b"]});
    assert_eq!(of_x(unlisted), NotStrict::Unlisted { pointer: place.clone(), key: "b".to_owned() });
    let node = json!({"properties": {"x": {"$ref": "#/$defs/N"}}, "$defs": {"N": {
        "type": "object", "properties": {"next": {"$ref": "#/$defs/N"}},
    }}});
    assert_eq!(reason_at(Format::Anthropic, node.clone()), NotStrict::Recursive { pointer: "/$defs/N".to_owned() });
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
        let schema = json!({"properties": {"x": x}, "required": ["x"], "additionalProperties": false});
        for format in FORMATS {
            let kept = rewrite(format, &schema).parameters["properties"]["x"].get("pattern").cloned();
            assert_eq!(kept.is_some(), takers.contains(&format), "{format} {pattern}");
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
        assert_eq!(reason_at(Format::OpenAiChat, root), NotStrict::Union { pointer: "/properties/x".to_owned() });
    }
    let one = json!([{"$ref": "#/$defs/o"}, {"$ref": "#/$defs/e"}, list("string"), {"type": "null"}]);
    let schema = json!({"properties": {"x": {"anyOf": one}}, "$defs": {"o": object("c"), "e": {"enum": ["a"], "type": "string"}}});
    let wire = rewrite(Format::OpenAiChat, &schema);
    assert_eq!(wire.arguments.decode(&json!({"x": {"c": null}}).into()), json!({"x": {}}));
}

#[test]
fn a_schema_beyond_the_limits_of_openai_is_not_strict() {
    let nested = |levels: usize| {
        let inner = json!({"type": "object", "properties": {"a": {"type": "null"}}});
        (1..levels).fold(inner, |inner, _| json!({"type": "object", "properties": {"a": inner}}))
    };
    let listed = |count: usize| {
        let values: Vec<_> = (0..count).map(|number| number.to_string()).collect();
        json!({"type": "object", "properties": {"a": {"enum": values}}})
    };
    let wide = |count: usize| {
        let properties: Map<_, _> = (0..count).map(|number| (number.to_string(), json!({"type": "null"}))).collect();
        json!({"type": "object", "properties": properties})
    };
    for (fits, exceeds) in [(nested(10), nested(11)), (listed(999), listed(1_001)), (wide(5_000), wide(5_001))] {
        assert!(tool(Format::OpenAiChat, &fits).strict.is_ok());
        assert!(matches!(reason_at(Format::OpenAiChat, exceeds), NotStrict::TooLarge { .. }));
    }
    let texts: Vec<_> = (0..10).map(|number| number.to_string().repeat(12_001)).collect();
    let many = json!({"properties": {"a": {"enum": texts}}});
    assert!(matches!(reason_at(Format::OpenAiChat, many), NotStrict::TooLarge { .. }));
}

#[test]
fn alternatives_at_the_root_are_one_list_of_nullable_properties() {
    let branch = |key: &str| json!({"type": "object", "properties": {key: {"type": "string"}}, "required": [key]});
    let schema = json!({"anyOf": [branch("id"), branch("name")]});
    for format in OPENAI {
        let wire = rewrite(format, &schema);
        assert_eq!(wire.parameters["required"], json!(["id", "name"]));
        assert_eq!(wire.arguments.decode(&json!({"id": "1", "name": null}).into()), json!({"id": "1"}));
    }
}

#[test]
fn a_root_with_alternatives_keeps_its_own_properties() {
    let string = json!({"type": "string"});
    let keys = |wire: &WireTool| wire.parameters["properties"].as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    let base = json!({"path": string, "id": string});
    let partial =
        json!({"type": "object", "properties": base, "oneOf": [{"required": ["path"]}, {"required": ["id"]}]});
    let branch = |key: &str| json!({"properties": {key: string}, "required": [key]});
    let shared = json!({"type": "object", "properties": {"id": string}, "anyOf": [branch("a"), branch("b")]});
    for format in FORMATS {
        assert_eq!(keys(&rewrite(format, &partial)), ["id", "path"]);
        assert_eq!(keys(&rewrite(format, &shared)), ["a", "b", "id"]);
    }
}

#[test]
fn an_alternative_does_not_narrow_a_property_for_the_others() {
    let narrow = json!({"anyOf": [{"properties": {"id": {"type": "string"}}}, {"required": ["id"]}]});
    let base = json!({"id": {"type": ["string", "integer"]}});
    let before = json!({"properties": base, "anyOf": narrow["anyOf"]});
    let wire = rewrite(Format::OpenAiChat, &before);
    assert_eq!(wire.parameters["properties"]["id"]["type"], json!(["string", "integer", "null"]));
    let required = json!({"anyOf": [{"properties": {"id": {"type": "string"}}}, {"required": ["id"]}]});
    assert!(matches!(reason_at(Format::OpenAiChat, required), NotStrict::AnyValue { .. }));
    let narrow =
        json!({"anyOf": [{"properties": {"id": {"type": "string"}}}, {"properties": {"x": {"type": "null"}}}]});
    let after = json!({"allOf": [narrow, {"properties": base}]});
    assert_eq!(reason_at(Format::OpenAiChat, after), NotStrict::Union { pointer: String::new() });
}

#[test]
fn a_conjunction_of_alternatives_is_not_strict() {
    let object = |key: &str| json!({"type": "object", "properties": {key: {"type": "string"}}});
    let either = |key: &str| json!({"anyOf": [object(key), {"type": "null"}]});
    let list = |key: &str| json!({"type": "array", "items": object(key)});
    for parts in [[either("a"), either("b")], [list("a"), list("b")]] {
        assert!(matches!(reason(json!({"allOf": parts})), NotStrict::Union { .. }));
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
        assert_eq!(wire.arguments.decode(&json!({"a": "x", "e": null}).into()).value(), &json!({"a": "x"}));
        assert_eq!(wire.arguments.decode(&json!({"a": "x", "e": 1}).into()).value(), &json!({"a": "x", "e": 1}));
        let lost = wire.changes.iter().find(|change| change.rule == Rule::Null).unwrap();
        assert_eq!((&*lost.pointer, lost.fidelity), ("/properties/e", Fidelity::Narrowed));
    }
}

#[test]
fn absent_properties_are_nulls_in_the_order_of_the_schema() {
    let string = json!({"type": "string"});
    let schema = json!({"properties": {"c": string, "a": string, "b": string, "d": string}, "required": ["d"]});
    let wire = rewrite(Format::OpenAiChat, &schema);
    let encoded = wire.arguments.encode(&json!({"c": "1", "d": "2", "x": 3}).into());
    assert_eq!(encoded.to_string(), r#"{"d":"2","a":null,"b":null,"c":"1","x":3}"#);
}

/// Returns a schema that usually has a strict form, sometimes with alternatives at its root.
fn root(choices: &mut Choices) -> Value {
    let mut root = schema(choices, 0);
    if choices.below(3) == 0 {
        let mut branch = |closes: bool| {
            let mut branch = schema(choices, 2);
            if !closes {
                branch.as_object_mut().unwrap().remove("additionalProperties");
            }
            if choices.below(3) == 0 {
                branch.as_object_mut().unwrap().remove("properties");
            }
            branch
        };
        let branches = json!([branch(false), branch(true)]);
        root.as_object_mut().unwrap().remove("additionalProperties");
        // With oneOf instead, the absence that a null stands for could match another alternative as well.
        match choices.below(2) {
            0 => root["anyOf"] = branches,
            _ => root["allOf"] = json!([{"anyOf": branches}, schema(choices, 3)]),
        }
    }
    root["$defs"] = json!({
        "Leaf": value(choices, 4),
        "Part": schema(choices, 2),
        // Some services take recursion in strict mode.
        "Node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/Node"}, "$b": {"type": "string"}}},
        "Named": {"$anchor": "named", "type": ["string", "null"]},
    });
    match choices.below(10) {
        0 => drop(root.as_object_mut().unwrap().remove("type")),
        1 => root["type"] = json!(["object", "null"]),
        2 => {
            root["$schema"] = json!("http://json-schema.org/draft-07/schema#");
            root["dependencies"] = json!({"a": ["e"]});
            root["definitions"] = json!({"Named": {"$id": "#named", "type": ["string", "null"]}});
        }
        3 => root["not"] = json!({"required": ["f"]}),
        4 => root = json!({"type": ["object", "null"], "$defs": root["$defs"]}),
        _ => {}
    }
    root
}

/// Returns a schema that usually has a strict form.
fn schema(choices: &mut Choices, depth: usize) -> Value {
    let mut properties = Map::new();
    for _ in 0..1 + choices.below(4) {
        let key = *choices.pick(&["a", "$b", "c d", "e", "f"]);
        properties.insert(key.to_owned(), value(choices, depth));
    }
    let mut keys: Vec<_> = properties.keys().cloned().collect();
    keys.sort();
    let required: Vec<_> = keys.into_iter().filter(|_| choices.below(2) == 0).collect();
    let mut object = json!({"type": "object", "properties": properties, "required": required});
    if choices.below(3) == 0 {
        object["additionalProperties"] = json!(false);
    }
    object
}

fn value(choices: &mut Choices, depth: usize) -> Value {
    match choices.below(if depth > 3 { 14 } else { 21 }) {
        0 => json!({"type": "string", "minLength": 1}),
        1 => json!({"type": ["integer", "null"], "minimum": 0}),
        2 => json!({"enum": ["x", "y", null]}),
        3 => json!({"enum": ["x", 2]}),
        4 => json!({"const": "k"}),
        5 => json!({"anyOf": [{"type": "string"}, {"type": "number"}]}),
        6 => json!({"type": "boolean"}),
        7 => json!({"type": "array", "items": {"type": "string"}}),
        8 => json!({"type": "string", "format": choices.pick(&["date", "regex"])}),
        9 => json!({"type": "string", "pattern": choices.pick(&["^.*$", "^(?!b)", "a|x"])}),
        10 => json!({"type": "array", "items": {"type": "integer"}, "minItems": 2}),
        11 => json!({"type": ["string", "array"], "items": {"type": "integer"}, "enum": ["x", [1]]}),
        12 => json!({"type": "integer", "exclusiveMinimum": 0, "allOf": [{"minimum": 1}, {"type": "number"}]}),
        13 => json!({"type": "string", "$ref": "#named"}),
        14 => json!({"type": "array", "items": value(choices, depth + 1)}),
        15 => json!({"anyOf": [schema(choices, depth + 1), {"type": "null"}]}),
        16 => json!({"$ref": choices.pick(&["#/$defs/Leaf", "#/$defs/Part", "#/$defs/Node"])}),
        17 => json!({"$ref": "#/$defs/Leaf", "description": "d"}),
        18 => {
            json!({"oneOf": [schema(choices, depth + 1), {"type": "string"}, {"type": "array", "items": value(choices, depth + 1)}]})
        }
        19 => json!({"allOf": [schema(choices, depth + 1), {"description": "d"}]}),
        _ => {
            let mut object = schema(choices, depth + 1);
            object["properties"]["never"] = json!(false);
            object
        }
    }
}

/// Returns a schema from [`root`] whose alternatives accept no properties that neither they nor the root names.
fn named(mut root: Value) -> Value {
    let own = |schema: &Value| schema["properties"].as_object().into_iter().flat_map(Map::keys).cloned().collect();
    let mut base: Vec<String> = own(&root);
    base.extend(root["allOf"].as_array().into_iter().flatten().flat_map(own));
    let pointer = if root.get("allOf").is_some() { "/allOf/0/anyOf" } else { "/anyOf" };
    for branch in root.pointer_mut(pointer).and_then(Value::as_array_mut).into_iter().flatten() {
        let required = branch["required"].as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned);
        let names: Vec<_> = base.iter().cloned().chain(own(branch)).chain(required).collect();
        branch["propertyNames"] = json!({"enum": names});
    }
    root
}

/// Returns the target of a schema's reference.
fn target<'a>(root: &'a Value, schema: &Value) -> Option<&'a Value> {
    root.pointer(schema["$ref"].as_str()?.strip_prefix('#')?)
}

/// Returns true if a schema requires the key of every object.
fn requires(schema: &Value, key: &str, root: &Value) -> bool {
    let list = |keyword: &str| schema[keyword].as_array().into_iter().flatten();
    let mut objects = list("anyOf").chain(list("oneOf")).filter(|branch| branch["type"] == "object").peekable();
    list("required").any(|name| name == key)
        || list("allOf").any(|part| requires(part, key, root))
        || (objects.peek().is_some() && objects.all(|branch| requires(branch, key, root)))
        || target(root, schema).is_some_and(|schema| requires(schema, key, root))
}

/// Returns the value without the nulls of optional properties.
fn without_lost_nulls(value: &Value, schemas: &[&Value], root: &Value) -> Value {
    let mut all = schemas.to_vec();
    let mut next = 0;
    while let Some(schema) = all.get(next).copied() {
        for keyword in ["allOf", "anyOf", "oneOf"] {
            all.extend(schema.get(keyword).and_then(Value::as_array).into_iter().flatten());
        }
        all.extend(target(root, schema));
        next += 1;
    }
    match value {
        Value::Object(members) => {
            let is_required = |key: &str| schemas.iter().any(|schema| requires(schema, key, root));
            let kept = members.iter().filter(|(key, member)| !member.is_null() || is_required(key));
            let inner =
                |key: &String| all.iter().filter_map(|schema| schema["properties"].get(key)).collect::<Vec<_>>();
            kept.map(|(key, member)| (key.clone(), without_lost_nulls(member, &inner(key), root))).collect()
        }
        Value::Array(items) => {
            let inner: Vec<_> = all.iter().filter_map(|schema| schema.get("items")).collect();
            items.iter().map(|item| without_lost_nulls(item, &inner, root)).collect()
        }
        value => value.clone(),
    }
}

#[test]
fn the_schemas_reach_each_rule_of_strict_definitions() {
    let mut reached = Reached::default();
    for seed in seeds(1_000) {
        let schema = root(&mut Choices::new(seed));
        if accepted(&named(schema.clone()), seed, 12, &[]).is_empty() {
            continue;
        }
        let wires = FORMATS.map(|format| tool(format, &schema));
        wires.iter().filter(|wire| wire.strict.is_ok()).for_each(|wire| reached.add(&wire.changes));
    }
    reached.assert_each(&[
        "Alternative", "Boolean", "Closed", "Conjunction", "Draft", "Enumeration", "Format", "Key", "MinItems", "Null",
        "Optional", "Properties", "Reference", "RootType", "RootUnion", "Unresolved",
    ]);
    reached.assert_each(&["dependentRequired", "exclusiveMinimum", "minLength", "minimum", "not", "pattern"]);
}

/// Checks the law for some arguments of a schema, in every strict format.
fn check(schema: Value, seed: u64, count: usize) -> Result<(), TestCaseError> {
    let may_require_null = ["anyOf", "allOf", "dependencies"].iter().any(|keyword| schema.get(keyword).is_some());
    let canonical = jsonschema::validator_for(&schema).unwrap();
    let tool = Tool::new("a", "A.", schema.clone()).unwrap();
    for format in FORMATS {
        let wire = format.tool(&tool, Strict).unwrap();
        let mode = if wire.strict.is_ok() { Strict } else { Strictness::Relaxed };
        let judged = Judge::new(format, mode).violations(&wire.value());
        prop_assert!(judged.is_empty(), "{:?} {}", judged, wire.definition);
        let validator = judge_of(&wire.parameters).unwrap();
        for value in accepted(&named(schema.clone()), seed, count, &[]) {
            let encoded = wire.arguments.encode(&Json::from(value.clone()));
            prop_assert!(
                validator.is_valid(encoded.value()),
                "{}: {} of {}\n{}\n{}",
                format,
                encoded,
                value,
                schema,
                wire.parameters
            );
            let decoded = wire.arguments.decode(&encoded);
            let has_nulls = wire.strict.is_ok() && format != Format::Anthropic;
            let meant = if has_nulls { without_lost_nulls(&value, &[&schema], &schema) } else { value.clone() };
            // A null that one of several alternatives or another property requires is lost, which the changes say.
            let loses_null =
                meant != value && may_require_null && wire.changes.iter().any(|change| change.rule == Rule::Null);
            prop_assert!(loses_null || canonical.is_valid(decoded.value()), "{}: {}\n{}", format, decoded, schema);
            prop_assert_eq!(decoded.value(), &meant);
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(config(150))]

    #[test]
    fn a_strict_wire_accepts_what_the_schema_names(seed in any::<u64>()) {
        check(root(&mut Choices::new(seed)), seed, 12)?;
    }

    #[test]
    fn each_rewrite_of_a_strict_wire_keeps_what_the_schema_names(seed in any::<u64>()) {
        let mut choices = Choices::new(seed);
        let mut root = root(&mut choices);
        root["properties"] = json!({*choices.pick(&["a", "$b"]): value(&mut choices, 4)});
        check(root, seed, 30)?;
    }
}

#[test]
fn many_such_schemas_are_strict() {
    let tools = seeds(2_000).map(|seed| Tool::new("a", "A.", schema(&mut Choices::new(seed), 0)).unwrap());
    let strict = tools.filter(|tool| Format::OpenAiChat.tool(tool, Strict).unwrap().strict.is_ok()).count();
    assert!(strict >= 1_000, "{strict} of 2,000");
}
