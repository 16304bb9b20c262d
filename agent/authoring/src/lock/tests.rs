//! Pairs of definitions and their differences.

use std::slice::from_ref;

use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};
use tools::protocol::Example;
use tools::{Effects, Limits, Tool, ToolName};

use super::compare::compare;
use super::difference::Difference;

fn tool(name: &str, parameters: Value) -> Tool {
    Tool::new(name, "Does it.", parameters)
        .unwrap()
        .with_effects(Effects::Pure)
}

/// Returns a closed object schema with these properties.
fn object(properties: Value, required: &[&str]) -> Value {
    json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
}

/// Returns the place and the rule of each difference of two schemas.
fn of_schemas(old: Value, new: Value) -> Vec<String> {
    of_lists(&[tool("t", old)], &[tool("t", new)])
}

fn of_tools(old: Tool, new: Tool) -> Vec<String> {
    of_lists(&[old], &[new])
}

fn of_lists(old: &[Tool], new: &[Tool]) -> Vec<String> {
    let line = |difference: &Difference| {
        let place = difference.place.replace("/parameters/properties/", "");
        let rule = json!(difference.breaking);
        let tool = Some(&difference.tool).filter(|tool| *tool != "t");
        let tool = tool.map_or(String::new(), |tool| format!("{tool}:"));
        format!("{tool}{place} {}", rule.as_str().unwrap_or("changed"))
    };
    compare(old, new).iter().map(line).collect()
}

#[test]
fn each_change_of_an_argument_has_its_place_and_rule() {
    let a = || json!({"type": "string"});
    for (old, new, expected) in [
        (
            object(json!({}), &[]),
            object(json!({"a": a()}), &["a"]),
            &["/parameters/required argument_required", "a changed"][..],
        ),
        (
            object(json!({}), &[]),
            object(json!({"a": a()}), &[]),
            &["a changed"],
        ),
        (
            object(json!({"a": a()}), &[]),
            object(json!({}), &[]),
            &["a argument_removed"],
        ),
        (
            json!({"properties": {"a": a()}}),
            json!({"properties": {}}),
            &["a changed"],
        ),
        (
            json!({"properties": {"a": a()}}),
            json!({"properties": {}, "unevaluatedProperties": false}),
            &[
                "a argument_removed",
                "/parameters/unevaluatedProperties type_narrowed",
            ],
        ),
        (
            object(json!({"a": a()}), &[]),
            object(json!({"a": a()}), &["a"]),
            &["/parameters/required argument_required"],
        ),
        (
            object(json!({"a": a()}), &["a"]),
            object(json!({"a": a()}), &[]),
            &["/parameters/required changed"],
        ),
        (
            json!({"properties": {"a": a()}}),
            json!({"properties": {"a": a()}, "additionalProperties": false}),
            &["/parameters/additionalProperties type_narrowed"],
        ),
    ] {
        assert_eq!(
            of_schemas(old.clone(), new.clone()),
            expected,
            "{old} {new}"
        );
    }
}

#[test]
fn each_change_of_a_keyword_is_judged_alone() {
    let a = || json!({"type": "string"});
    for (old, new, expected) in [
        (a(), json!({"type": "integer"}), "a/type type_narrowed"),
        (a(), json!({"type": ["string", "null"]}), "a/type changed"),
        (
            json!({"type": ["string", "null"]}),
            a(),
            "a/type type_narrowed",
        ),
        (
            json!({"type": "integer"}),
            json!({"type": "number"}),
            "a/type changed",
        ),
        (
            json!({"type": "number"}),
            json!({"type": "integer"}),
            "a/type type_narrowed",
        ),
        (json!({}), a(), "a/type type_narrowed"),
        (json!(true), a(), "a/type type_narrowed"),
        (a(), json!({}), "a/type changed"),
        (a(), json!(false), "a type_narrowed"),
        (json!(false), a(), "a changed"),
        (
            json!({"enum": ["x", "y"]}),
            json!({"enum": ["x"]}),
            "a/enum value_removed",
        ),
        (
            json!({"enum": ["x", "y"]}),
            json!({"enum": ["y", "x"]}),
            "a/enum changed",
        ),
        (
            json!({"enum": ["x"]}),
            json!({"enum": ["x", "y"]}),
            "a/enum changed",
        ),
        (
            json!({"const": "x"}),
            json!({"enum": ["x", "y"]}),
            "a/enum changed",
        ),
        (
            json!({"enum": ["x", "y"]}),
            json!({"const": "x"}),
            "a/const value_removed",
        ),
        (
            a(),
            json!({"type": "string", "enum": ["x"]}),
            "a/enum value_removed",
        ),
        (
            json!({"minimum": 1}),
            json!({"minimum": 2}),
            "a/minimum bound_tightened",
        ),
        (
            json!({"minimum": 2}),
            json!({"minimum": 1}),
            "a/minimum changed",
        ),
        (
            json!({}),
            json!({"minItems": 1}),
            "a/minItems bound_tightened",
        ),
        (
            json!({"maxLength": 9}),
            json!({"maxLength": 8}),
            "a/maxLength bound_tightened",
        ),
        (
            json!({"maxLength": 8}),
            json!({"maxLength": 9}),
            "a/maxLength changed",
        ),
        (json!({"maxLength": 8}), json!({}), "a/maxLength changed"),
        (
            json!({}),
            json!({"pattern": "x"}),
            "a/pattern bound_tightened",
        ),
        (
            json!({"pattern": "x"}),
            json!({"pattern": "y"}),
            "a/pattern changed",
        ),
        (
            json!({"description": "A."}),
            json!({"description": "B."}),
            "a/description changed",
        ),
        (json!({"default": "x"}), json!({}), "a/default changed"),
        (
            json!({"not": {"minimum": 1}}),
            json!({"not": {"minimum": 2}}),
            "a/not/minimum changed",
        ),
        (
            json!({"items": a()}),
            json!({"items": {"type": "null"}}),
            "a/items/type type_narrowed",
        ),
        (
            json!({}),
            json!({"items": a()}),
            "a/items/type type_narrowed",
        ),
        (
            object(json!({"b": a()}), &[]),
            object(json!({}), &[]),
            "a/properties/b argument_removed",
        ),
        (
            json!({"anyOf": [a(), {"minimum": 1}]}),
            json!({"anyOf": [a(), {"minimum": 2}]}),
            "a/anyOf/1/minimum bound_tightened",
        ),
        (
            json!({"anyOf": [a(), {"type": "null"}]}),
            json!({"anyOf": [a()]}),
            "a/anyOf/null value_removed",
        ),
        (
            json!({"anyOf": [{"type": "null"}]}),
            json!({"anyOf": [a(), {"type": "null"}]}),
            "a/anyOf/string changed",
        ),
        (
            json!({"oneOf": [{"const": "x", "description": "X."}, {"const": "y"}]}),
            json!({"oneOf": [{"const": "y"}]}),
            "a/oneOf/x value_removed",
        ),
        (
            json!({"prefixItems": [a()]}),
            json!({"prefixItems": [{"type": "string", "maxLength": 1}]}),
            "a/prefixItems/string/maxLength bound_tightened",
        ),
        (
            json!({"pattern~/": 1}),
            json!({"pattern~/": 2}),
            "a/pattern~0~1 changed",
        ),
    ] {
        let [before, after] = [&old, &new].map(|schema| object(json!({"a": schema}), &[]));
        let found = of_schemas(before, after);
        assert!(
            found.iter().any(|found| found == expected),
            "{old} {new}: {found:?}"
        );
    }
}

#[test]
fn a_reference_is_compared_by_its_target_and_a_recursive_schema_ends() {
    let nested = |name: &str, kind: &str| {
        let next = json!({"$ref": format!("#/$defs/{name}")});
        json!({"properties": {"a": next}, "$defs": {
            name: {"properties": {"next": next, "v": {"type": kind}}},
        }})
    };
    assert_eq!(
        of_schemas(nested("N", "string"), nested("N", "string")),
        [""; 0]
    );
    assert_eq!(
        of_schemas(nested("N", "string"), nested("N", "null")),
        ["/parameters/$defs/N/properties/v/type type_narrowed"]
    );
    assert_eq!(
        of_schemas(nested("N", "string"), nested("M", "null")),
        [
            "a/properties/v/type type_narrowed",
            "/parameters/$defs/M changed",
            "/parameters/$defs/N changed",
            "a changed",
            "a/properties/next changed",
        ]
    );
    let inline = object(json!({"a": {"type": "string"}}), &[]);
    let mut referring = object(json!({"a": {"$ref": "#/$defs/A"}}), &[]);
    referring["$defs"] = json!({"A": {"type": "integer"}});
    assert_eq!(
        of_schemas(inline, referring),
        [
            "a/type type_narrowed",
            "/parameters/$defs/A changed",
            "a changed"
        ]
    );
    // References that lead to themselves have no target.
    let knot =
        json!({"properties": {"a": {"$ref": "#/$defs/K"}}, "$defs": {"K": {"$ref": "#/$defs/K"}}});
    assert!(!of_schemas(knot.clone(), object(json!({"a": {}}), &[])).is_empty());
    assert_eq!(of_schemas(knot.clone(), knot), [""; 0]);
}

#[test]
fn an_added_effect_is_breaking() {
    let effects = |value: Value| serde_json::from_value::<Effects>(value).unwrap();
    let with = |effects: &Effects| tool("t", json!({})).with_effects(effects.clone());
    let reads = effects(json!({"reads": ["a:x"]}));
    let writes = effects(json!({"reads": ["a:x"], "writes": ["a:x"]}));
    let moved = effects(json!({"reads": ["a:y"]}));
    let open = effects(json!({"reads": ["a:x"], "open_world": true}));
    let twice = effects(json!({"reads": ["a:x"], "writes": ["a:x"], "idempotent": true}));
    let anywhere = effects(json!({"open_world": true}));
    for (old, new, expected) in [
        (&open, &anywhere, "/effects effects_widened"),
        (&anywhere, &open, "/effects changed"),
        (&Effects::Pure, &reads, "/effects effects_widened"),
        (&reads, &writes, "/effects effects_widened"),
        (&reads, &open, "/effects effects_widened"),
        (&reads, &Effects::Undeclared, "/effects effects_widened"),
        (&reads, &moved, "/effects effects_widened"),
        (&writes, &reads, "/effects changed"),
        (&Effects::Undeclared, &open, "/effects changed"),
        (&twice, &writes, "/effects changed"),
    ] {
        assert_eq!(of_tools(with(old), with(new)), [expected], "{old} {new}");
    }
}

#[test]
fn other_fields_of_a_definition_are_for_a_person_to_look_at() {
    let base = || tool("t", json!({"type": "object"}));
    let limits = Limits {
        timeout_ms: Some(5),
        ..Limits::default()
    };
    let mut described = base();
    described.description = "Does that.".to_owned();
    for (new, expected) in [
        (described, "/description changed"),
        (base().with_title("T"), "/title changed"),
        (
            base().with_example(Example::new(json!({}))),
            "/examples changed",
        ),
        (base().with_limits(limits), "/limits changed"),
        (base().with_audit(true), "/audit changed"),
        (base().with_tags(["a"]), "/tags changed"),
        (
            base().with_output(json!({"type": "object"})),
            "/output changed",
        ),
    ] {
        assert_eq!(of_tools(base(), new), [expected]);
    }
    let output = |kind: &str| base().with_output(json!({"properties": {"a": {"type": kind}}}));
    assert_eq!(
        of_tools(output("string"), output("null")),
        ["/output/properties/a/type changed"]
    );
}

#[test]
fn a_name_that_is_removed_moves_or_changes_is_breaking() {
    let named = |name: &str, was: &[&str]| {
        let was = was.iter().map(|name| ToolName::new(name).unwrap());
        tool(name, object(json!({}), &[])).with_was(was)
    };
    for (old, new, expected) in [
        (vec![named("a", &[])], vec![], &["a: name_removed"][..]),
        (vec![], vec![named("a", &["b"])], &["a: changed"]),
        (
            vec![named("a", &[])],
            vec![named("b", &["a"])],
            &["a:/name tool_renamed"],
        ),
        (
            vec![named("a", &[])],
            vec![named("b", &[])],
            &["a: name_removed", "b: changed"],
        ),
        (
            vec![named("b", &["a"])],
            vec![named("b", &[])],
            &["b:/was name_removed"],
        ),
        (
            vec![named("b", &["a"])],
            vec![named("c", &["a", "b"])],
            &["b:/name tool_renamed"],
        ),
        (
            vec![named("b", &[])],
            vec![named("b", &["fs.write"])],
            &["b:/was changed"],
        ),
        (
            vec![named("fs.list", &["fs.read"])],
            vec![named("fs.list", &[]), named("fs.read", &[])],
            &["fs.list:/was name_removed", "fs.read: changed"],
        ),
        (
            vec![named("a", &["old"]), named("b", &[])],
            vec![named("a", &[]), named("b", &["old"])],
            &["a:/was name_removed", "b:/was changed"],
        ),
    ] {
        assert_eq!(of_lists(&old, &new), expected, "{old:?} {new:?}");
    }
    // A renamed tool is compared with its former definition.
    let mut changed = named("b", &["a"]);
    changed.parameters = object(json!({}), &["x"]);
    assert_eq!(
        of_tools(named("a", &[]), changed),
        [
            "a:/name tool_renamed",
            "a:/parameters/required argument_required"
        ]
    );
}

/// A schema, with objects and lists nested at most three deep.
fn schema() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        select(vec!["string", "integer", "boolean"]).prop_map(|kind| json!({"type": kind})),
        select(vec![
            json!({}),
            json!(true),
            json!(false),
            json!({"description": "A."})
        ]),
        select(vec!["x", "y"]).prop_map(|value| json!({"const": value})),
        Just(json!({"type": "string", "enum": ["x", "y", "z"]})),
        select(vec!["D", "R"]).prop_map(|to| json!({"$ref": format!("#/$defs/{to}")})),
        Just(json!({"$ref": "#/$defs/D", "type": "string"})),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        let list = prop::collection::vec(inner.clone(), 0..3);
        prop_oneof![
            (
                select(vec!["items", "not", "additionalProperties"]),
                inner.clone()
            )
                .prop_map(|(key, schema)| json!({key: schema})),
            (select(vec!["anyOf", "oneOf", "allOf", "prefixItems"]), list)
                .prop_map(|(key, list)| json!({key: list})),
            properties(inner),
        ]
    })
}

fn properties(property: impl Strategy<Value = Value>) -> impl Strategy<Value = Value> {
    let names = select(vec!["a", "b", "e/~f"]);
    prop::collection::btree_map(names, property, 0..4)
        .prop_map(|properties| json!({"type": "object", "properties": properties}))
}

fn any_tool() -> impl Strategy<Value = Tool> {
    (properties(schema()), schema(), schema()).prop_map(|(mut parameters, d, r)| {
        parameters["$defs"] = json!({"D": d, "R": r});
        tool("t", parameters)
    })
}

proptest! {
    #[test]
    fn definitions_have_a_difference_exactly_if_they_differ(old in any_tool(), new in any_tool()) {
        prop_assert_eq!(compare(from_ref(&old), from_ref(&old)), []);
        let found = compare(from_ref(&old), from_ref(&new));
        prop_assert_eq!(found.is_empty(), old.digest() == new.digest(), "{:?}", found);
    }
}
