//! Trees beside the values that they stand for.

use std::collections::{BTreeMap, HashMap};

use proptest::prelude::*;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::*;
use crate::strict::{self, MAX_DEPTH};

/// Whether a text is read, and what as, beside the slow way.
fn agrees(text: &str) -> Result<(), TestCaseError> {
    let tree = Tree::read(text.to_owned()).map(|tree| tree.root().to_value());
    prop_assert_eq!(tree.ok(), strict::read(text).ok(), "{}", text);
    Ok(())
}

#[test]
fn what_is_refused_is_what_strict_reading_refuses() {
    let deep = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
    let wide = |twin: &str| {
        let members: Vec<_> = (0..40).map(|number| format!(r#""k{number}": {number}"#)).collect();
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
        r#"{"a": 1, "a": 2}"#,
        r#"{"a": 1, "\u0061": 2}"#,
        r#"{"x": {"a": 1}, "y": {"a": 1}}"#,
        r#"[{"a/b~": 1, "a/b~": 1}]"#,
        r#""\ud83d\ude00 \n é""#,
        "[[], {}, \"\", null, true, false]",
    ];
    let made = [deep(MAX_DEPTH), deep(MAX_DEPTH + 1), deep(100_000), wide("k40"), wide("k7"), wide("\\u006b7")];
    for text in texts.iter().map(|text| (*text).to_owned()).chain(made) {
        agrees(&text).unwrap_or_else(|error| panic!("{error}"));
    }
}

#[test]
fn a_member_is_found_in_small_and_in_large_objects() {
    for size in [0, 1, 16, 17, 300] {
        let value = json!((0..size).map(|number| (format!("k{number}"), json!([number]))).collect::<BTreeMap<_, _>>());
        for tree in [Tree::of_value(&value).unwrap(), Tree::read(value.to_string()).unwrap()] {
            for number in 0..size {
                let found = tree.root().get(&format!("k{number}")).unwrap();
                assert_eq!(found.to_value(), json!([number]));
            }
            assert!(tree.root().get("k").is_none() && tree.root().get(&format!("k{size}")).is_none());
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

/// A tree gives the type that its value gives, and nothing where the value gives nothing. Integral floats are the exception.
fn same<T: DeserializeOwned + PartialEq + std::fmt::Debug>(value: &Value) -> Result<(), TestCaseError> {
    let of_value: Result<T, _> = serde_json::from_value(value.clone());
    for tree in [Tree::of_value(value).unwrap(), Tree::read(value.to_string()).unwrap()] {
        if !tree.has_integral_float() {
            let typed = T::deserialize(Reader::new(tree.root(), Floats::AsSent)).ok();
            prop_assert_eq!(typed.as_ref(), of_value.as_ref().ok(), "{}", value);
        }
        let asked = crate::Input::of_tree(tree).deserialize::<T>();
        if of_value.is_ok() {
            prop_assert_eq!(asked.ok(), of_value.as_ref().ok().map(|_| serde_json::from_value(value.clone()).unwrap()));
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
    for value in [
        json!("Unit"),
        json!({"Unit": null}),
        json!({"Unit": 1}),
        json!({"One": 1}),
        json!({"One": 300}),
        json!({"Two": [1, "a"]}),
        json!({"Two": [1]}),
        json!({"Two": [1, "a", 2]}),
        json!({"Named": {"b": "x"}}),
        json!({"Named": {"a": 1, "b": "xy"}}),
        json!({"kind": "a", "n": 1}),
        json!({"n": 1, "kind": "a"}),
        json!({"kind": "b", "s": 1}),
        json!({"left": 1, "right": true}),
        json!({"a": 1}),
        json!({"a": 1.0}),
        json!([1, [2, 3]]),
        json!([1, null, 3]),
        json!({"a": 1, "b": null, "c": 2}),
        json!({"1": 2}),
        json!({"x": 2}),
        json!(7),
        json!(-7),
        json!(7.0),
        json!(u64::MAX),
        json!("x"),
        json!(""),
        json!(null),
        json!([]),
        json!({}),
        json!([1, 2]),
        json!([1, 2, 3]),
        json!(["Unit", {"One": 2}]),
        json!(true),
    ] {
        same_for_all(&value).unwrap_or_else(|error| panic!("{error}"));
    }
}

#[test]
fn an_integral_float_is_an_integer_only_where_the_type_takes_nothing_else() {
    let input = crate::Input::of_tree(Tree::read(r#"{"a": 2.0}"#.to_owned()).unwrap());
    assert_eq!(input.deserialize::<Closed>().unwrap(), Closed { a: 2, b: None });
    assert_eq!(input.deserialize::<Value>().unwrap(), json!({"a": 2.0}));
    assert_eq!(input.deserialize::<HashMap<String, f64>>().unwrap()["a"], 2.0);
}

fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_filter("JSON has no others", |number| number.is_finite()).prop_map(Value::from),
        (-3i8..4).prop_map(Value::from),
        (-3i8..4).prop_map(|number| Value::from(f64::from(number))),
        prop::sample::select(vec!["a", "b", "Unit", "kind", "x"]).prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 64, 20, |inner| {
        let key = prop_oneof![
            prop::sample::select(vec!["a", "b", "n", "s", "kind", "One", "Two", "1"]).prop_map(str::to_owned),
            any::<String>()
        ];
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::Array),
            prop::collection::btree_map(key, inner, 0..20).prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn a_tree_is_its_value(value in values()) {
        prop_assert_eq!(Tree::of_value(&value).unwrap().root().to_value(), value.clone());
        prop_assert_eq!(Tree::read(value.to_string()).unwrap().root().to_value(), value.clone());
        same_for_all(&value)?;
    }

    #[test]
    fn broken_text_is_read_as_the_strict_way_reads_it(value in values(), at in any::<prop::sample::Index>(), with in "[\\[\\]{}\",:0-9e.\\\\-]{0,2}") {
        let text = value.to_string();
        let characters: Vec<char> = text.chars().collect();
        let at = at.index(characters.len());
        let broken: String = characters[..at].iter().copied().chain(with.chars()).chain(characters[at + 1..].iter().copied()).collect();
        agrees(&broken)?;
    }
}
