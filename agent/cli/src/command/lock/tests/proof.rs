//! Schemas whose difference proves nothing by itself.

use serde_json::{Value, json};

use super::{object, of_schemas};

/// Returns the differences between two schemas of a parameter.
fn of_parameter(old: &Value, new: &Value) -> Vec<String> {
    let [old, new] = [old, new].map(|schema| object(json!({"a": schema}), &[]));
    of_schemas(old, new)
}

#[test]
fn a_schema_that_is_written_in_another_way_is_compatible() {
    let string = json!({"type": "string"});
    for (one, other) in [
        (json!({"allOf": [string]}), string.clone()),
        (
            json!({"anyOf": [string, {"type": "null"}]}),
            json!({"anyOf": [{"type": "null"}, string]}),
        ),
        (
            json!({"anyOf": [string, {"type": "null"}]}),
            json!({"type": ["null", "string"]}),
        ),
        (
            json!({"anyOf": [string, {"minimum": 1}]}),
            json!({"anyOf": [{"minimum": 1}, string]}),
        ),
        (
            json!({"oneOf": [{"const": "x"}, {"const": "y"}]}),
            json!({"type": "string", "enum": ["y", "x"]}),
        ),
        (
            json!({"type": "integer", "enum": [1, 2]}),
            json!({"enum": [2.0, 1.0]}),
        ),
        (
            json!({"type": "object", "required": ["x", "y"]}),
            json!({"type": "object", "allOf": [{"required": ["y"]}, {"required": ["x"]}]}),
        ),
        (
            json!({"type": "array", "items": true}),
            json!({"type": "array"}),
        ),
    ] {
        assert_eq!(
            of_parameter(&one, &other),
            ["/parameters compatible rewritten"],
            "{one} {other}"
        );
        assert_eq!(
            of_parameter(&other, &one),
            ["/parameters compatible rewritten"],
            "{other} {one}"
        );
    }
    let mut referring = object(
        json!({"a": {"$ref": "#/$defs/A", "description": "A."}}),
        &[],
    );
    referring["$defs"] = json!({"A": {"allOf": [{"$ref": "#/$defs/B"}]}, "B": {"type": "string"}});
    let inline = object(json!({"a": {"type": "string", "description": "A."}}), &[]);
    assert_eq!(
        of_schemas(referring, inline),
        ["/parameters compatible rewritten"]
    );
}

#[test]
fn no_verdict_is_compatible_where_former_arguments_are_refused() {
    let listed = json!({"enum": ["text", "choice", "confirmation"]});
    let overlapping =
        json!({"oneOf": [{"enum": ["text", "choice"]}, {"enum": ["choice", "confirmation"]}]});
    for (old, new) in [
        (
            listed.clone(),
            json!({"enum": ["text", "choice", "confirmation"], "anyOf": [{"const": "text"}]}),
        ),
        (listed, overlapping),
        (
            json!({"oneOf": [{"type": "integer"}, {"type": "string", "minLength": 1}]}),
            json!({"oneOf": [{"type": "integer"}, {"type": ["string", "integer"], "minLength": 1}]}),
        ),
        (
            json!({"type": "object", "additionalProperties": {"type": "integer"}}),
            json!({"type": "object", "properties": {"x": {"type": "string"}}, "additionalProperties": {"type": "integer"}}),
        ),
        (json!({"not": {"type": "string"}}), json!({"not": {}})),
        (
            json!({"properties": {"x": {}, "y": {}}, "additionalProperties": false}),
            json!({"properties": {"y": {}}, "allOf": [{"properties": {"x": {}}, "additionalProperties": false}]}),
        ),
        (
            json!({"anyOf": [{"type": "string"}, {"minimum": 1}]}),
            json!({"allOf": [{"type": "string"}, {"minimum": 1}]}),
        ),
    ] {
        let found = of_parameter(&old, &new);
        assert!(
            found.iter().any(|it| !it.contains(" compatible ")),
            "{old} {new}: {found:?}"
        );
    }
}

#[test]
fn a_new_optional_parameter_is_compatible_in_a_closed_and_in_an_open_schema() {
    for additional in [json!(false), json!(true)] {
        let with = |properties| json!({"type": "object", "properties": properties, "additionalProperties": additional});
        let (old, new) = (with(json!({})), with(json!({"limit": {"type": "integer"}})));
        assert_eq!(
            of_schemas(old, new),
            ["limit compatible optional_parameter_added"]
        );
    }
}

#[test]
fn a_reference_is_joined_with_the_keywords_beside_it() {
    let plain = object(json!({"path": {"type": "string"}}), &["path"]);
    let mut narrowed = plain.clone();
    narrowed["$ref"] = json!("#/$defs/B");
    narrowed["$defs"] =
        json!({"B": {"properties": {"path": {"type": "integer"}}, "required": ["zzz"]}});
    narrowed["properties"]["path"]["description"] = json!("A path.");
    let found = of_schemas(plain.clone(), narrowed.clone());
    assert!(
        found.iter().any(|it| !it.contains(" compatible ")),
        "{found:?}"
    );
    // Draft 7 ignores the keywords beside a reference.
    let mut old = json!({"$schema": "http://json-schema.org/draft-07/schema#", "$ref": "#/$defs/B", "type": "object"});
    old["$defs"] = json!({"B": {"type": "object"}});
    let mut new = old.clone();
    new["required"] = json!(["x"]);
    assert_eq!(of_schemas(old, new), ["/parameters compatible rewritten"]);
}

#[test]
fn an_unknown_difference_is_shown_by_its_fields() {
    for (old, new, expected) in [
        (
            json!({"not": {"type": "null"}}),
            json!({"not": {"type": "string"}}),
            "a/not/type unknown changed",
        ),
        (
            json!({"patternProperties": {"^x": {"maxLength": 1}}}),
            json!({"patternProperties": {"^x": {"maxLength": 2}}}),
            "a/patternProperties/^x/maxLength unknown changed",
        ),
        (
            json!({"type": "number", "multipleOf": 1}),
            json!({"type": "integer", "multipleOf": 1}),
            "a/type unknown type_changed",
        ),
        (
            json!({"type": "boolean"}),
            json!({"enum": [true, false]}),
            "a/enum unknown values_limited",
        ),
        (
            json!({"enum": ["ab", "a"], "minLength": 2}),
            json!({"enum": ["ab"], "minLength": 2}),
            "a/enum unknown value_removed",
        ),
        (
            json!({"type": ["string", "null"], "not": {"type": "null"}}),
            json!({"type": "string", "not": {"type": "null"}}),
            "a/type unknown type_changed",
        ),
    ] {
        assert_eq!(of_parameter(&old, &new), [expected], "{old} {new}");
    }
    // A dialect without a normal form is compared as text.
    let dynamic = |kind: &str| json!({"type": "object", "$dynamicRef": "#/$defs/A", "$defs": {"A": {"type": kind}}});
    assert_eq!(
        of_schemas(dynamic("object"), dynamic("null")),
        ["/parameters/$defs/A/type unknown changed"]
    );
}
