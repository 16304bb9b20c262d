//! Parsed and wrapped JSON, compared with `serde_json`.

use std::collections::{BTreeMap, HashMap};

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::json::canonical::canonical_json;

/// Asserts that text is parsed as by `serde_json`, or rejected by one of the stricter rules.
fn agrees(text: &str) -> Result<(), TestCaseError> {
    let expected = serde_json::from_str::<Value>(text);
    match Json::parse(text) {
        Ok(json) => prop_assert_eq!(
            Some(json.node().to_rounded_value()),
            expected.ok(),
            "{}",
            text
        ),
        Err(InvalidJson::Syntax { message }) => {
            prop_assert_eq!(
                Some(message),
                expected.err().map(|error| error.to_string()),
                "{}",
                text
            );
        }
        Err(_) => {}
    }
    Ok(())
}

/// Returns a value wrapped and parsed from text.
fn forms(value: &Value) -> [Json; 2] {
    [
        value.clone().into(),
        Json::parse(value.to_string()).unwrap(),
    ]
}

#[test]
fn text_is_read_as_serde_json_reads_it() {
    let deep = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
    let wide = |twin: &str| {
        let members: Vec<_> = (0..40)
            .map(|number| format!(r#""k{number}": {number}"#))
            .collect();
        format!("{{{}, \"{twin}\": 0}}", members.join(", "))
    };
    let texts = [
        "",
        " ",
        "nul",
        "{",
        "[1,]",
        "{\"a\": 1,}",
        "{a: 1}",
        "1 2",
        "{} {}",
        "\u{feff}{}",
        "\"\\ud800\"",
        "\"\u{1}\"",
        "01",
        "1e999",
        "-1e999",
        "NaN",
        "-0",
        "-0.0",
        "1.0",
        "1E2",
        "18446744073709551615",
        "18446744073709551616",
        "-9223372036854775808",
        "-9223372036854775809",
        "0.1",
        "123456789.12345678901234567890",
        "2.2250738585072011e-308",
        r#"{"x": {"a": 1}, "y": {"a": 1}}"#,
        r#""\ud83d\ude00 \n é""#,
        "[[], {}, \"\", null, true, false]",
    ];
    let made = [deep(MAX_DEPTH), wide("k40")];
    for text in texts.iter().map(|text| (*text).to_owned()).chain(made) {
        agrees(&text).unwrap_or_else(|error| panic!("{error}"));
    }
}

#[test]
fn repeated_keys_and_deep_nesting_are_refused_with_their_pointer() {
    let refused = |text: &str| Json::parse(text).expect_err(text);
    let repeated = |pointer: &str| InvalidJson::RepeatedKey {
        pointer: pointer.to_owned(),
    };
    assert_eq!(refused(r#"{"a": 1, "a": 2}"#), repeated("/a"));
    assert_eq!(refused(r#"{"a": 1, "\u0061": 2}"#), repeated("/a"));
    assert_eq!(
        refused(r#"{"x": [0, {"a/b~": 1, "a/b~": 1}]}"#),
        repeated("/x/1/a~1b~0")
    );
    for twin in ["k7", "\\u006b7"] {
        let members: Vec<_> = (0..40)
            .map(|number| format!(r#""k{number}": {number}"#))
            .collect();
        assert_eq!(
            refused(&format!("{{{}, \"{twin}\": 0}}", members.join(", "))),
            repeated("/k7")
        );
    }
    for levels in [MAX_DEPTH + 1, 100_000] {
        let text = format!("{}{}", "[".repeat(levels), "]".repeat(levels));
        assert_eq!(
            refused(&text),
            InvalidJson::TooDeep {
                pointer: "/0".repeat(MAX_DEPTH)
            }
        );
    }
}

#[test]
fn a_deep_value_is_measured_and_dropped_without_recursion() {
    let deep = (0..100_000).fold(json!(1), |inner, _| Value::Array(vec![inner]));
    assert_eq!(Json::from(deep).extent().depth, 512);
    let [value, text] = forms(&json!([[{"a": "b"}], 1])).map(|json| json.extent());
    assert_eq!((value.depth, value.values, value.text), (3, 6, 2));
    assert_eq!((text.depth, text.values), (3, 6));
}

#[test]
fn a_value_too_deep_to_be_walked_counts_as_too_large() {
    let deep = (0..600).fold(json!(1), |inner, _| Value::Array(vec![inner]));
    let json = Json::from(json!([deep, ["x".repeat(100_000)]]));
    assert!(
        json.extent().max_encoded_len() >= json.to_string().len(),
        "{:?}",
        json.extent()
    );
}

#[test]
fn a_node_shows_nothing_of_its_content() {
    for json in forms(&json!({"key": ["hunter2"]})) {
        let (node, text) = (json.node(), |shown: &dyn fmt::Debug| format!("{shown:?}"));
        for shown in [
            text(&node),
            text(&node.members()),
            text(&node.get("key").unwrap().elements()),
        ] {
            assert!(!shown.contains("hunter2"), "{shown}");
        }
    }
}

#[test]
fn an_integer_of_any_length_keeps_its_digits() {
    let text = r#"{"a":[18446744073709551616,-9223372036854775809,340282366920938463463374607431768211456]}"#;
    let json = Json::parse(text).unwrap();
    assert_eq!(canonical_json(&json), text);
    assert_eq!(json.value()["a"][0], "18446744073709551616");
    assert_eq!(json.to_string(), text);
    assert!(json.extent().has_big_integer);
}

#[test]
fn equality_ignores_form_and_order() {
    let [value, text] = forms(&json!({"a": [1, 2.5, null], "b": {"c": "d"}}));
    assert_eq!(value, text);
    assert_eq!(
        text,
        Json::parse(r#"{"b": {"c": "d"}, "a": [1, 2.5, null]}"#).unwrap()
    );
    assert_ne!(
        text,
        Json::parse(r#"{"b": {"c": "d"}, "a": [1, 2.5, false]}"#).unwrap()
    );
    assert_eq!(
        serde_json::from_str::<Json>(&text.to_string()).unwrap(),
        value
    );
    assert_eq!(value["b"]["c"], "d");
}

#[test]
fn json_that_is_shrunk_stays_the_same_without_maps() {
    let deep = (0..=MAX_DEPTH).fold(json!(1), |inner, _| Value::Array(vec![inner]));
    for value in [json!({"a\n": [1, -0.0, true, "x"], "b": {}}), deep] {
        let serialized = Json::from_serialize(&value).unwrap();
        for mut json in [value.clone().into(), serialized] {
            assert_eq!(json.value(), &value);
            let clone = json.clone();
            json.shrink_to_fit();
            assert_eq!(clone, value);
            drop(clone);
            json.shrink_to_fit();
            assert_eq!(json, value);
        }
    }
    let mut json = Json::from(json!({"path": "src/main.rs"}));
    json.shrink_to_fit();
    assert!(matches!(&*json.0, JsonForm::Text { value, .. } if value.get().is_none()));
}

#[test]
fn a_member_is_found_in_small_and_in_large_objects() {
    for size in [0, 1, 16, 17, 300] {
        let value = json!(
            (0..size)
                .map(|number| (format!("k{number}"), json!([number])))
                .collect::<BTreeMap<_, _>>()
        );
        for json in forms(&value) {
            for number in 0..size {
                let found = json.node().get(&format!("k{number}")).unwrap();
                assert_eq!(found.to_value(), json!([number]));
            }
            assert!(
                json.node().get("k").is_none() && json.node().get(&format!("k{size}")).is_none()
            );
        }
    }
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
enum Choice {
    Unit,
    One(u8),
    Two(i16, String),
    Named { a: Option<f32>, b: char },
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
enum Tagged {
    A { n: i64 },
    B { s: String },
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
enum Untagged {
    Number(u32),
    Words(Vec<String>),
    Pair { left: i32, right: bool },
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Closed {
    a: i32,
    b: Option<Vec<u8>>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Open {
    #[serde(default)]
    a: u64,
    #[serde(flatten)]
    rest: BTreeMap<String, Value>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Wrapped(u16);

/// Asserts that both forms deserialize as with `serde_json`, except for integral floats.
fn same<T: DeserializeOwned + PartialEq + fmt::Debug>(value: &Value) -> Result<(), TestCaseError> {
    let expected: Option<T> = serde_json::from_value(value.clone()).ok();
    for json in forms(value) {
        let read = json.deserialize::<T>().ok();
        if expected.is_some() || !deserialize::has_integral_float(json.node()) {
            prop_assert_eq!(&read, &expected, "{}", value);
        }
    }
    Ok(())
}

fn same_for_all(value: &Value) -> Result<(), TestCaseError> {
    same::<Choice>(value)?;
    same::<Tagged>(value)?;
    same::<Untagged>(value)?;
    same::<Closed>(value)?;
    same::<Open>(value)?;
    same::<Wrapped>(value)?;
    same::<Value>(value)?;
    same::<Option<bool>>(value)?;
    same::<(i8, String)>(value)?;
    same::<HashMap<u8, Wrapped>>(value)?;
    same::<HashMap<String, f64>>(value)?;
    same::<Vec<Choice>>(value)?;
    same::<()>(value)?;
    same::<char>(value)?;
    same::<u128>(value)?;
    same::<[i64; 2]>(value)
}

#[test]
fn types_of_every_kind_are_read_as_from_a_value() {
    let values = json!([
        "Unit", {"Unit": null}, {"Unit": 1}, {"One": 1}, {"One": 300}, {"Two": [1, "a"]}, {"Two": [1]},
        {"Two": [1, "a", 2]}, {"Named": {"b": "x"}}, {"Named": {"a": 1, "b": "xy"}}, {"kind": "a", "n": 1},
        {"n": 1, "kind": "a"}, {"kind": "b", "s": 1}, {"left": 1, "right": true}, {"a": 1}, {"a": 1.0}, [1, [2, 3]],
        [1, null, 3], {"a": 1, "b": null, "c": 2}, {"1": 2}, {"x": 2}, 7, -7, 7.0, u64::MAX, "x", "", null, [], {},
        [1, 2], [1, 2, 3], ["Unit", {"One": 2}], true,
    ]);
    for value in values.as_array().unwrap() {
        same_for_all(value).unwrap_or_else(|error| panic!("{error}"));
    }
}

#[test]
fn an_integral_float_is_an_integer_only_if_the_type_requires_one() {
    for json in forms(&json!({"a": 2.0})) {
        assert_eq!(
            json.deserialize::<Closed>().unwrap(),
            Closed { a: 2, b: None }
        );
        assert_eq!(json.deserialize::<Value>().unwrap(), json!({"a": 2.0}));
        assert_eq!(
            json.deserialize::<HashMap<String, f64>>().unwrap()["a"],
            2.0
        );
    }
}

fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>()
            .prop_filter("JSON has no others", |number| number.is_finite())
            .prop_map(Value::from),
        (-3i8..4).prop_map(Value::from),
        (-3i8..4).prop_map(|number| Value::from(f64::from(number))),
        prop::sample::select(vec!["a", "b", "Unit", "kind", "x"]).prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 64, 20, |inner| {
        let key = prop_oneof![
            prop::sample::select(vec!["a", "b", "n", "s", "kind", "One", "Two", "1"])
                .prop_map(str::to_owned),
            any::<String>()
        ];
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::Array),
            prop::collection::btree_map(key, inner, 0..20)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn both_forms_are_their_value(value in values()) {
        for json in forms(&value) {
            prop_assert_eq!(json.value(), &value);
            prop_assert_eq!(&json, &value);
            prop_assert_eq!(canonical_json(&json), canonical_json(&value));
            prop_assert!(json.to_string().len() <= json.extent().max_encoded_len());
            let mut shrunk = json;
            shrunk.shrink_to_fit();
            prop_assert_eq!(&shrunk, &value);
            prop_assert_eq!(canonical_json(&shrunk), canonical_json(&value));
            prop_assert!(shrunk.to_string().len() <= shrunk.extent().max_encoded_len());
        }
        same_for_all(&value)?;
    }

    #[test]
    fn broken_text_is_read_as_serde_json_reads_it(value in values(), at in any::<prop::sample::Index>(), with in "[\\[\\]{}\",:0-9e.\\\\-]{0,2}") {
        let text = value.to_string();
        let characters: Vec<char> = text.chars().collect();
        let at = at.index(characters.len());
        let broken: String = characters[..at].iter().copied().chain(with.chars()).chain(characters[at + 1..].iter().copied()).collect();
        agrees(&broken)?;
    }
}
