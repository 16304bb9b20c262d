//! The generator starts from Rust types: for each there is a text that fits, and what is tried is that text with something in it
//! changed.

#![allow(dead_code)]

mod change;

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::fmt::Debug;
use std::num::NonZeroU8;

use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use self::change::{changed, changes};
use super::read;
use crate::schema::{Plain, Validator};
use crate::tree::Tree;
use crate::{Input, schema_of};

/// What is read at once is what would have been read and validated one after the other.
fn holds<T: DeserializeOwned + JsonSchema + Debug>(text: &str) -> Result<(), TestCaseError> {
    let schema = schema_of::<T>();
    let Some(plain) = Plain::of(&schema) else { return Ok(()) };
    let Some(at_once) = read::<T>(text, &plain) else { return Ok(()) };
    let tree = Tree::read(text.to_owned());
    prop_assert!(tree.is_ok(), "{text} is refused as text");
    let tree = tree.unwrap();
    let validator = Validator::compile(&schema).unwrap();
    prop_assert_eq!(validator.check_tree(&tree, None), Ok(()), "{} against {}", text, schema);
    let after: Result<T, _> = Input::of_tree(tree).deserialize();
    prop_assert!(after.is_ok(), "{text} is no {}", std::any::type_name::<T>());
    prop_assert_eq!(format!("{at_once:?}"), format!("{:?}", after.unwrap()), "{}", text);
    Ok(())
}

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "schemars")]
#[serde(deny_unknown_fields)]
struct Integers {
    a: i8,
    b: u8,
    c: i32,
    d: u64,
    e: i64,
    f: Option<u16>,
    g: usize,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "schemars")]
struct Wide {
    a: i128,
    b: u128,
    c: Option<NonZeroU8>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "schemars")]
struct Open {
    a: f32,
    b: f64,
    c: bool,
    #[serde(default)]
    d: Vec<f32>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "schemars")]
#[serde(deny_unknown_fields)]
struct Texts<'a> {
    a: String,
    #[serde(alias = "alias")]
    b: Cow<'a, str>,
    #[serde(rename = "c")]
    other: Option<Box<str>>,
    d: Option<char>,
    #[serde(skip)]
    e: u8,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "schemars", rename_all = "lowercase")]
#[serde(rename_all = "lowercase")]
enum Word {
    /// One.
    A,
    /// The other.
    #[serde(alias = "unknown")]
    B,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "schemars")]
enum Bare {
    A,
    B,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "schemars")]
struct New(i16);

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "schemars")]
#[serde(transparent)]
struct Clear {
    inner: Vec<Bare>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "schemars")]
#[serde(deny_unknown_fields)]
struct Nested {
    a: Word,
    b: Option<Word>,
    c: Vec<Option<Inner>>,
    d: New,
    e: Clear,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "schemars")]
#[serde(default)]
struct Inner {
    a: u32,
    b: Vec<Vec<bool>>,
}

impl Default for Inner {
    fn default() -> Self {
        Self { a: 7, b: Vec::new() }
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "schemars")]
struct Flat {
    a: i64,
    #[serde(flatten)]
    rest: Rest,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "schemars")]
struct Rest {
    b: Option<String>,
    c: f64,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "schemars")]
struct Various {
    a: HashMap<String, u8>,
    b: BTreeMap<String, Value>,
    c: (u8, String),
    d: [bool; 2],
    e: Choice,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "schemars")]
#[serde(untagged)]
enum Choice {
    Number(u8),
    Text { a: String },
}

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "schemars")]
#[serde(tag = "a")]
enum Tagged {
    A { b: u8 },
    B { b: Option<String>, c: Word },
}

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "schemars")]
#[serde(try_from = "Open")]
struct Tried(f64);

impl TryFrom<Open> for Tried {
    type Error = String;

    fn try_from(open: Open) -> Result<Self, String> {
        if open.c { Ok(Self(open.b)) } else { Err("no".to_owned()) }
    }
}

/// Takes whatever comes, and says it takes little.
#[derive(Debug)]
struct Greedy(Value);

impl<'de> Deserialize<'de> for Greedy {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Value::deserialize(deserializer).map(Self)
    }
}

impl JsonSchema for Greedy {
    fn schema_name() -> Cow<'static, str> {
        "Greedy".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": "object",
            "properties": {"a": {"type": "integer", "maximum": 200}, "b": {"type": ["string", "null"]}, "c": {"type": "number"}},
            "required": ["a"],
        })
    }
}

macro_rules! types {
    ($($name:ident: $type:ty = $sample:expr,)*) => {
        proptest! {
            #![proptest_config(ProptestConfig::with_cases(3_000))]
            $(#[test]
            fn $name(changes in changes()) {
                holds::<$type>(&changed($sample, &changes))?;
            })*
        }
    };
}

types! {
    integers: Integers = r#"{"a": -1, "b": 2, "c": 3, "d": 4, "e": -5, "f": 6, "g": 7}"#,
    wide_integers: Wide = r#"{"a": 1, "b": 2, "c": 3}"#,
    numbers_of_an_open_object: Open = r#"{"a": 0.1, "b": 1, "c": true, "d": [1.5, 2]}"#,
    texts: Texts<'static> = r#"{"a": "x\ny", "b": "é", "c": null, "d": "d"}"#,
    nested: Nested = r#"{"a": "a", "b": null, "c": [{"a": 1, "b": [[true]]}, null, {}], "d": 4, "e": ["A", "B"]}"#,
    flattened: Flat = r#"{"a": 1, "b": "x", "c": 2.5}"#,
    various: Various = r#"{"a": {"x": 1}, "b": {"y": []}, "c": [1, "a"], "d": [true, false], "e": 3}"#,
    tagged: Tagged = r#"{"a": "B", "b": "x", "c": "a"}"#,
    tried: Tried = r#"{"a": 0.5, "b": 1, "c": true}"#,
    greedy: Greedy = r#"{"a": 3, "b": "x", "c": 0.5}"#,
}

#[test]
fn usual_types_are_read_at_once() {
    #[track_caller]
    fn at_once<T: DeserializeOwned + JsonSchema>(text: &str) {
        let schema = schema_of::<T>();
        let plain = Plain::of(&schema).unwrap_or_else(|| panic!("{schema} is not plain"));
        assert!(read::<T>(text, &plain).is_some(), "{text}");
    }
    at_once::<Integers>(r#"{"a": -1, "b": 2, "c": 3, "d": 4, "e": -5, "g": 7}"#);
    at_once::<Open>(r#"{"a": 0.1, "b": 1, "c": true, "d": [1.5, 2]}"#);
    at_once::<Nested>(r#"{"a": "a", "b": "b", "c": [{"a": 1, "b": [[true]]}, null, {}], "d": 4, "e": ["A", "B"]} "#);
}

#[test]
fn what_a_type_takes_and_its_schema_does_not_is_not_read_at_once() {
    #[track_caller]
    fn refused<T: DeserializeOwned + JsonSchema>(text: &str) {
        assert!(serde_json::from_str::<T>(text).is_ok(), "{text} would not tell");
        let schema = schema_of::<T>();
        let plain = Plain::of(&schema).unwrap_or_else(|| panic!("{schema} is not plain"));
        assert!(read::<T>(text, &plain).is_none(), "{text}");
    }
    refused::<Integers>("[1, 2, 3, 4, 5, 6, 7]");
    refused::<Inner>(r#"{"unknown": 1}"#);
    refused::<Greedy>(r#"{"a": 1, "a": 2}"#);
    refused::<Greedy>(r#"{"a": 201}"#);
    refused::<Greedy>(r#"{"b": null}"#);
    refused::<Clear>(r#"[{"A": null}]"#);
    refused::<Nested>(r#"{"a": "unknown", "c": [], "d": 4, "e": []}"#);
}

#[test]
fn the_samples_are_changed_in_ways_that_matter() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let (mut read_at_once, mut refused) = (0, 0);
    let plain = Plain::of(&schema_of::<Nested>()).unwrap();
    let sample = r#"{"a": "a", "b": null, "c": [{"a": 1, "b": [[true]]}, null, {}], "d": 4, "e": ["A", "B"]}"#;
    for _ in 0..1_000 {
        let changes = changes().new_tree(&mut runner).unwrap().current();
        match read::<Nested>(&changed(sample, &changes), &plain) {
            Some(_) => read_at_once += 1,
            None => refused += 1,
        }
    }
    assert!(read_at_once > 300 && refused > 300, "{read_at_once} read, {refused} refused");
}
