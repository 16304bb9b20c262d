//! Pairs of definitions and their differences.

mod inclusion;
mod proof;
mod property;

use serde_json::{Value, json};
use tools::protocol::Example;
use tools::{Effects, Limits, Tool, ToolName};

use super::compare::compare;
use super::difference::{Compatibility, DefinitionChange, Difference};

fn tool(name: &str, parameters: Value) -> Tool {
    Tool::new(name, "Does it.", parameters)
        .unwrap()
        .with_effects(Effects::Pure)
}

fn object(properties: Value, required: &[&str]) -> Value {
    json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
}

/// Returns the place, the verdict and the kind of each difference of two schemas.
fn of_schemas(old: Value, new: Value) -> Vec<String> {
    of_tools(tool("t", old), tool("t", new))
}

fn of_tools(old: Tool, new: Tool) -> Vec<String> {
    compare(&[old], &[new]).iter().map(line).collect()
}

fn line(difference: &Difference) -> String {
    let kind = serde_json::to_value(&difference.change).unwrap()["change"]
        .as_str()
        .unwrap()
        .to_owned();
    let place = difference
        .place
        .strip_prefix("/parameters/properties/")
        .unwrap_or(&difference.place);
    format!("{place} {} {kind}", difference.verdict)
}

#[test]
fn each_change_of_a_parameter_has_its_place_and_verdict() {
    let a = || json!({"type": "string"});
    for (old, new, expected) in [
        (
            object(json!({}), &[]),
            object(json!({"a": a()}), &["a"]),
            "a incompatible required_parameter_added",
        ),
        (
            object(json!({}), &[]),
            object(json!({"a": a()}), &[]),
            "a compatible optional_parameter_added",
        ),
        (
            object(json!({"a": a()}), &[]),
            object(json!({}), &[]),
            "a incompatible parameter_removed",
        ),
        (
            object(json!({"a": a()}), &[]),
            object(json!({"a": a()}), &["a"]),
            "a incompatible parameter_required",
        ),
        (
            object(json!({"a": a()}), &["a"]),
            object(json!({"a": a()}), &[]),
            "a compatible parameter_optional",
        ),
    ] {
        assert_eq!(of_schemas(old, new), [expected]);
    }
    for (old, new, expected) in [
        (
            a(),
            json!({"type": "integer"}),
            "a/type incompatible type_changed",
        ),
        (
            a(),
            json!({"type": ["string", "null"]}),
            "a/type compatible type_widened",
        ),
        (
            json!({"type": "integer"}),
            json!({"type": "number"}),
            "a/type compatible type_widened",
        ),
        (
            json!({"type": "number"}),
            json!({"type": "integer"}),
            "a/type incompatible type_changed",
        ),
        (json!({}), a(), "a/type incompatible type_changed"),
        (a(), json!({}), "a/type compatible type_widened"),
        (
            json!({"enum": ["x", "y"]}),
            json!({"enum": ["x"]}),
            "a/enum incompatible value_removed",
        ),
        (
            json!({"enum": ["x"]}),
            json!({"enum": ["x", "y"]}),
            "a/enum compatible value_added",
        ),
        (
            json!({"const": "x"}),
            json!({"enum": ["x", "y"]}),
            "a/enum compatible value_added",
        ),
        (
            a(),
            json!({"type": "string", "enum": ["x"]}),
            "a/enum incompatible values_limited",
        ),
        (
            json!({"type": "string", "enum": ["x"]}),
            a(),
            "a/enum unknown changed",
        ),
        (
            json!({"type": "string", "description": "A."}),
            json!({"type": "string", "description": "B."}),
            "a/description compatible text_changed",
        ),
        (
            json!({"type": "string", "maxLength": 9}),
            json!({"type": "string", "maxLength": 8}),
            "a/maxLength unknown changed",
        ),
        (
            json!({"type": "string", "default": "x"}),
            a(),
            "a/default unknown changed",
        ),
        (
            json!({"type": "array", "items": {"type": "string"}}),
            json!({"type": "array", "items": {"type": "null"}}),
            "a/items/type incompatible type_changed",
        ),
        (
            object(json!({"b": a()}), &[]),
            object(json!({}), &[]),
            "a/properties/b incompatible parameter_removed",
        ),
        (
            json!({"anyOf": [a(), {"minimum": 1}]}),
            json!({"anyOf": [a(), {"minimum": 2}]}),
            "a/anyOf/1/minimum unknown changed",
        ),
        (
            json!({"anyOf": [a(), {"minimum": 1}]}),
            json!({"anyOf": [a()]}),
            "a/anyOf unknown changed",
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
fn an_enum_of_documented_values_is_compared_by_its_values() {
    let documented = |values: &[&str]| {
        let values = values
            .iter()
            .map(|value| json!({"const": value, "description": format!("The {value}.")}));
        json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/A"}}, "$defs": {"A": {"oneOf": values.collect::<Vec<_>>()}}})
    };
    assert_eq!(
        of_schemas(documented(&["x", "y"]), documented(&["x"])),
        ["a/enum incompatible value_removed"]
    );
    assert_eq!(
        of_schemas(documented(&["x"]), documented(&["x", "y"])),
        ["a/enum compatible value_added"]
    );
    let plain = json!({"type": "object", "properties": {"a": {"enum": ["x"]}}});
    assert_eq!(
        of_schemas(documented(&["x"]), plain),
        ["a/enum compatible text_changed"]
    );
    let optional = |values: &[&str]| json!({"type": "object", "properties": {"a": {"anyOf": [{"$ref": "#/$defs/A"}, {"type": "null"}]}}, "$defs": {"A": {"enum": values}}});
    assert_eq!(
        of_schemas(optional(&["x", "y"]), optional(&["x"])),
        ["a/enum incompatible value_removed"]
    );
}

#[test]
fn a_reference_is_compared_by_its_target_and_a_recursive_schema_ends() {
    let nested = |kind: &str| {
        json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/N"}}, "$defs": {
            "N": {"type": "object", "properties": {"next": {"$ref": "#/$defs/N"}, "v": {"type": kind}}},
        }})
    };
    assert_eq!(of_schemas(nested("string"), nested("string")), [""; 0]);
    assert_eq!(
        of_schemas(nested("string"), nested("null")),
        [
            "a/properties/v/type incompatible type_changed",
            "/parameters/$defs/N/properties/v/type unknown changed"
        ]
    );
    let inline = object(json!({"a": {"type": "string"}}), &[]);
    let mut referring = object(json!({"a": {"$ref": "#/$defs/A"}}), &[]);
    referring["$defs"] = json!({"A": {"type": "string"}});
    assert_eq!(
        of_schemas(inline, referring),
        ["/parameters compatible rewritten"]
    );
    // Alternatives that refer to themselves have no known types.
    let knot = json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/K"}}, "$defs": {"K": {"anyOf": [{"$ref": "#/$defs/K"}]}}});
    assert_eq!(
        of_schemas(knot.clone(), object(json!({"a": {}}), &[])).len(),
        2
    );
    assert_eq!(of_schemas(knot.clone(), knot), [""; 0]);
}

#[test]
fn an_added_effect_is_incompatible() {
    let effects = |value: Value| serde_json::from_value::<Effects>(value).unwrap();
    let with =
        |effects: &Effects| tool("t", json!({"type": "object"})).with_effects(effects.clone());
    let reads = effects(json!({"reads": ["a:x"]}));
    let writes = effects(json!({"reads": ["a:x"], "writes": ["a:x"]}));
    let moved = effects(json!({"reads": ["a:y"]}));
    let open = effects(json!({"reads": ["a:x"], "open_world": true}));
    let twice = effects(json!({"reads": ["a:x"], "writes": ["a:x"], "idempotent": true}));
    let added = "/effects incompatible effect_added";
    let removed = "/effects unknown effect_removed";
    for (old, new, expected) in [
        (&Effects::Pure, &reads, &[added][..]),
        (&reads, &writes, &[added]),
        (&reads, &open, &[added]),
        (&reads, &Effects::Undeclared, &[added]),
        (&reads, &moved, &[added, removed]),
        (&writes, &reads, &[removed]),
        (&Effects::Undeclared, &reads, &[removed]),
        (&twice, &writes, &["/effects/idempotent unknown changed"]),
    ] {
        assert_eq!(of_tools(with(old), with(new)), expected, "{old} {new}");
    }
}

#[test]
fn other_fields_of_a_definition_are_compared_by_their_leaves() {
    let base = || tool("t", json!({"type": "object"}));
    let limits = Limits {
        timeout_ms: Some(5),
        ..Limits::default()
    };
    for (new, expected) in [
        (
            Tool {
                description: "Does that.".to_owned(),
                ..base()
            },
            "/description compatible text_changed",
        ),
        (base().with_title("T"), "/title compatible text_changed"),
        (
            base().with_example(Example::new(json!({}))),
            "/examples compatible text_changed",
        ),
        (
            base().with_limits(limits),
            "/limits/timeout_ms unknown changed",
        ),
        (base().with_audit(true), "/audit unknown changed"),
        (base().with_tags(["a"]), "/tags unknown changed"),
        (
            base().with_output(json!({"type": "object"})),
            "/output unknown changed",
        ),
    ] {
        assert_eq!(of_tools(base(), new), [expected]);
    }
    let output = |kind: &str| base().with_output(json!({"properties": {"a": {"type": kind}}}));
    assert_eq!(
        of_tools(output("string"), output("null")),
        ["/output/properties/a/type unknown type_changed"]
    );
    let described =
        |text: &str| base().with_output(json!({"properties": {"a": {"description": text}}}));
    assert_eq!(
        of_tools(described("A."), described("B.")),
        ["/output/properties/a/description compatible text_changed"]
    );
}

#[test]
fn a_removed_name_is_incompatible_unless_a_tool_keeps_it() {
    let named = |name: &str, was: &[&str]| {
        tool(name, object(json!({}), &[]))
            .with_was(was.iter().map(|name| ToolName::new(name).unwrap()))
    };
    let changes = |old: &[Tool], new: &[Tool]| -> Vec<(String, Compatibility, DefinitionChange)> {
        compare(old, new)
            .into_iter()
            .map(|it| (it.tool.to_string(), it.verdict, it.change))
            .collect()
    };
    let name = |name: &str| ToolName::new(name).unwrap();
    let (a, b, c) = (|| "a".to_owned(), || "b".to_owned(), || "c".to_owned());
    assert_eq!(
        changes(&[named("a", &[])], &[]),
        [(
            a(),
            Compatibility::Incompatible,
            DefinitionChange::ToolRemoved
        )]
    );
    assert_eq!(
        changes(&[], &[named("a", &[])]),
        [(a(), Compatibility::Compatible, DefinitionChange::ToolAdded)]
    );
    assert_eq!(
        changes(&[named("a", &[])], &[named("b", &["a"])]),
        [(
            a(),
            Compatibility::Compatible,
            DefinitionChange::ToolRenamed { to: name("b") }
        )]
    );
    assert_eq!(
        changes(&[named("a", &[])], &[named("b", &[])]),
        [
            (
                a(),
                Compatibility::Incompatible,
                DefinitionChange::ToolRemoved
            ),
            (b(), Compatibility::Compatible, DefinitionChange::ToolAdded)
        ]
    );
    assert_eq!(
        changes(&[named("b", &["a"])], &[named("b", &[])]),
        [(
            b(),
            Compatibility::Incompatible,
            DefinitionChange::FormerNameRemoved { name: name("a") }
        )]
    );
    assert_eq!(
        changes(&[named("b", &["a"])], &[named("c", &["a", "b"])]).len(),
        1,
        "the old name moves on"
    );
    let moved = changes(
        &[named("b", &["a"])],
        &[named("b", &["a"]), named("c", &["old"])],
    );
    let added = (
        c(),
        Compatibility::Unknown,
        DefinitionChange::FormerNameAdded { name: name("old") },
    );
    assert_eq!(
        moved,
        [
            added,
            (c(), Compatibility::Compatible, DefinitionChange::ToolAdded)
        ]
    );
    // A renamed tool is compared with its former definition.
    let mut changed = named("b", &["a"]);
    changed.parameters = object(json!({"x": {}}), &["x"]);
    let found = changes(&[named("a", &[])], &[changed]);
    assert!(
        found.contains(&(
            a(),
            Compatibility::Incompatible,
            DefinitionChange::RequiredParameterAdded
        )),
        "{found:?}"
    );
}

#[test]
fn a_former_name_that_is_added_or_moves_to_another_tool_is_reported() {
    let named = |name: &str, was: &[&str]| {
        tool(name, object(json!({}), &[]))
            .with_was(was.iter().map(|name| ToolName::new(name).unwrap()))
    };
    assert_eq!(
        of_tools(named("b", &[]), named("b", &["fs.write"])),
        [" unknown former_name_added"]
    );
    let taken = compare(
        &[named("fs.list", &["fs.read"])],
        &[named("fs.list", &[]), named("fs.read", &[])],
    );
    let taken: Vec<_> = taken
        .iter()
        .map(|it| format!("{} {}", it.tool, line(it)))
        .collect();
    assert_eq!(
        taken,
        [
            "fs.list  incompatible former_name_removed",
            "fs.read  compatible tool_added"
        ]
    );
    let taken = compare(
        &[named("a", &["old"]), named("b", &[])],
        &[named("a", &[]), named("b", &["old"])],
    );
    let taken: Vec<_> = taken
        .iter()
        .map(|it| format!("{} {}", it.tool, line(it)))
        .collect();
    assert_eq!(
        taken,
        [
            "a  incompatible former_name_removed",
            "b  unknown former_name_added"
        ]
    );
}

#[test]
fn a_renamed_tool_with_unbounded_effects_needs_another_grant() {
    let open: Effects = serde_json::from_value(json!({"open_world": true})).unwrap();
    let bounded: Effects =
        serde_json::from_value(json!({"reads": ["net:x"], "open_world": true})).unwrap();
    for (effects, expected) in [
        (Effects::Pure, &[" compatible tool_renamed"][..]),
        (bounded, &[" compatible tool_renamed"]),
        (
            open,
            &[
                "/effects incompatible effect_added",
                "/effects unknown effect_removed",
                " compatible tool_renamed",
            ],
        ),
        (
            Effects::Undeclared,
            &[
                "/effects incompatible effect_added",
                "/effects unknown effect_removed",
                " compatible tool_renamed",
            ],
        ),
    ] {
        let named = |name| tool(name, json!({"type": "object"})).with_effects(effects.clone());
        assert_eq!(
            of_tools(
                named("web.ask"),
                named("web.query").with_was([ToolName::new("web.ask").unwrap()])
            ),
            expected
        );
    }
}
