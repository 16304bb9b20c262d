//! `key=value`, typed by a schema.

use agent::{ArgumentError, arguments_from_pairs, pairs_from_arguments};
use proptest::prelude::*;
use serde_json::{Value, json};

fn read(property: Value, text: &str) -> Result<Value, ArgumentError> {
    arguments_from_pairs(&json!({"properties": {"x": property}}), [("x", text)])
        .map(|arguments| arguments.value()["x"].clone())
}

#[test]
fn a_string_stays_text() {
    for text in ["007", "true", "null", "1", "[1]", "", " a "] {
        assert_eq!(read(json!({"type": "string"}), text).unwrap(), json!(text));
    }
}

#[test]
fn other_types_are_read_as_json() {
    assert_eq!(read(json!({"type": "integer"}), "-3").unwrap(), json!(-3));
    assert_eq!(read(json!({"type": "integer"}), "3.0").unwrap(), json!(3.0));
    assert_eq!(read(json!({"type": "number"}), "0.5").unwrap(), json!(0.5));
    assert_eq!(
        read(json!({"type": "boolean"}), "true").unwrap(),
        json!(true)
    );
    assert_eq!(read(json!({"type": "null"}), "null").unwrap(), json!(null));
    assert_eq!(
        read(json!({"type": "array"}), r#"["a", 1]"#).unwrap(),
        json!(["a", 1])
    );
    assert_eq!(
        read(json!({"type": "object"}), r#"{"a": 1}"#).unwrap(),
        json!({"a": 1})
    );
    assert_eq!(
        read(json!({"items": {"type": "string"}}), r#"["a"]"#).unwrap(),
        json!(["a"])
    );
}

#[test]
fn a_mismatch_is_refused_with_the_expected_type() {
    let error = read(json!({"type": "integer"}), "three").unwrap_err();
    assert_eq!(
        error.to_string(),
        "the argument `x` cannot be \"three\": it takes an integer, such as x=3"
    );
    for (kind, text) in [
        ("integer", "1.5"),
        ("boolean", "yes"),
        ("array", "a,b"),
        ("object", "[]"),
        ("null", ""),
    ] {
        assert!(
            matches!(
                read(json!({"type": kind}), text),
                Err(ArgumentError::Mismatch { .. })
            ),
            "{kind} {text}"
        );
    }
    assert!(
        read(json!({"type": "object"}), r#"{"a": 1, "a": 2}"#).is_err(),
        "a key that stands twice is a slip"
    );
}

#[test]
fn a_union_is_text_where_it_is_nothing_else() {
    let union = json!({"type": ["string", "integer", "null"]});
    assert_eq!(read(union.clone(), "3").unwrap(), json!(3));
    assert_eq!(read(union.clone(), "null").unwrap(), json!(null));
    assert_eq!(read(union.clone(), "3.5").unwrap(), json!("3.5"));
    assert_eq!(read(union, "three").unwrap(), json!("three"));
}

#[test]
fn listed_values_are_found_by_their_text() {
    let listed = json!({"enum": ["fast", "1", 2, null]});
    assert_eq!(read(listed.clone(), "fast").unwrap(), json!("fast"));
    assert_eq!(read(listed.clone(), "1").unwrap(), json!("1"));
    assert_eq!(read(listed.clone(), "2").unwrap(), json!(2));
    assert_eq!(read(listed.clone(), "null").unwrap(), json!(null));
    assert!(
        read(listed, "slow")
            .unwrap_err()
            .to_string()
            .contains(r#"one of "fast", "1", 2, null"#)
    );
    assert_eq!(read(json!({"const": true}), "true").unwrap(), json!(true));
}

#[test]
fn references_and_unions_of_schemas_are_looked_through() {
    let schema = json!({
        "$ref": "#/$defs/arguments",
        "$defs": {
            "arguments": {"properties": {
                "speed": {"anyOf": [{"$ref": "#/$defs/speed"}, {"type": "null"}]},
                "depth": {"oneOf": [{"type": "integer"}, {"type": "null"}]},
                "title": {"allOf": [{"description": "A title."}, {"$ref": "#/$defs/text"}]},
            }},
            "speed": {"oneOf": [{"const": "fast", "type": "string"}, {"const": "slow", "type": "string"}]},
            "text": {"type": "string"},
        },
    });
    let pairs = [("speed", "slow"), ("depth", "null"), ("title", "7")];
    let arguments = arguments_from_pairs(&schema, pairs).unwrap();
    assert_eq!(
        arguments,
        json!({"speed": "slow", "depth": null, "title": "7"})
    );
    assert!(arguments_from_pairs(&schema, [("speed", "medium")]).is_err());
}

#[test]
fn an_unknown_property_is_json_or_text() {
    for schema in [
        json!({"properties": {}}),
        json!(true),
        json!(null),
        json!({"properties": {"x": {}}}),
    ] {
        assert_eq!(
            arguments_from_pairs(&schema, [("x", "3")]).unwrap(),
            json!({"x": 3})
        );
        assert_eq!(
            arguments_from_pairs(&schema, [("x", "three")]).unwrap(),
            json!({"x": "three"})
        );
    }
    let open = json!({"additionalProperties": {"type": "string"}});
    assert_eq!(
        arguments_from_pairs(&open, [("x", "3")]).unwrap(),
        json!({"x": "3"})
    );
}

#[test]
fn an_argument_that_stands_twice_is_refused() {
    let error = arguments_from_pairs(&json!({}), [("x", "1"), ("y", "1"), ("x", "1")]).unwrap_err();
    assert_eq!(
        error,
        ArgumentError::Duplicate {
            name: "x".to_owned()
        }
    );
}

#[test]
fn schemas_that_go_in_circles_come_to_an_end() {
    let circle = json!({
        "properties": {"x": {"$ref": "#/$defs/a"}},
        "$defs": {"a": {"anyOf": [{"$ref": "#/$defs/a"}, {"$ref": "#/$defs/a"}, {"allOf": [{"$ref": "#/$defs/a"}]}]}},
    });
    assert_eq!(
        arguments_from_pairs(&circle, [("x", "1")]).unwrap(),
        json!({"x": 1})
    );
    let root = json!({"allOf": [{"$ref": "#"}, {"$ref": "#"}]});
    assert_eq!(
        arguments_from_pairs(&root, [("x", "a")]).unwrap(),
        json!({"x": "a"})
    );
}

#[test]
fn arguments_become_pairs_only_if_the_pairs_mean_the_same() {
    let schema = json!({"properties": {"path": {"type": "string"}, "n": {"type": "integer"}}, "required": ["path"]});
    let pairs = |arguments: Value| {
        let pairs = pairs_from_arguments(&schema, &arguments)?;
        Some(
            pairs
                .iter()
                .map(|(key, value)| format!("{key}={value}"))
                .collect::<Vec<_>>(),
        )
    };
    assert_eq!(
        pairs(json!({"n": 3, "path": "007"})),
        Some(vec!["path=007".to_owned(), "n=3".to_owned()])
    );
    for arguments in [
        json!({"other": "3"}),
        json!({"a=b": 1}),
        json!({"": 1}),
        json!([1]),
    ] {
        assert_eq!(pairs(arguments.clone()), None, "{arguments}");
    }
}

fn schema() -> impl Strategy<Value = Value> {
    let kind = prop::sample::select(vec![
        "string", "integer", "number", "boolean", "null", "array", "object",
    ]);
    let leaf = prop_oneof![
        kind.clone().prop_map(|kind| json!({"type": kind})),
        prop::collection::vec(kind, 1..3).prop_map(|kinds| json!({"type": kinds})),
        Just(json!({"enum": ["a", 1, null]})),
        Just(json!({"$ref": "#/properties/x"})),
        Just(json!(true)),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        (
            prop::sample::select(vec!["anyOf", "oneOf", "allOf"]),
            prop::collection::vec(inner, 0..3),
        )
            .prop_map(|(key, branches)| json!({key: branches}))
    })
}

proptest! {
    #[test]
    fn any_schema_and_text_give_a_value_or_an_error(schema in schema(), text in any::<String>()) {
        let _ = read(schema, &text);
    }

    #[test]
    fn a_value_that_is_written_out_is_read_back(number in any::<i64>(), flag in any::<bool>(), text in any::<String>()) {
        prop_assert_eq!(read(json!({"type": "integer"}), &number.to_string()).unwrap(), json!(number));
        prop_assert_eq!(read(json!({"type": "boolean"}), &flag.to_string()).unwrap(), json!(flag));
        prop_assert_eq!(read(json!({"type": "string"}), &text).unwrap(), json!(text.clone()));
        let list = json!([number, flag, text]);
        prop_assert_eq!(read(json!({"type": "array"}), &list.to_string()).unwrap(), list);
    }
}
