//! The argument types, with valid seeds for each.

#![allow(dead_code)] // The fields are read only by `Debug`.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroU8;

use serde::{Deserialize, Deserializer};
use serde_json::Value;
use tools::JsonSchema;

use crate::intended::Intended::{
    EscapedKey, InfiniteFloat, KeptFloat, LenientIntegralFloat, WideInteger,
};
use crate::subject::Subject;

macro_rules! arguments {
    ($($(#[$attribute:meta])* $name:ident { $($(#[$on:meta])* $field:ident: $type:ty),* $(,)? })*) => {
        $(#[derive(Debug, Deserialize, JsonSchema)]
        $(#[$attribute])*
        struct $name { $($(#[$on])* $field: $type),* })*
    };
}

arguments! {
    Pay { a: u64, n: u8 }
    Signed { a: i8, b: i16, c: i32, n: i64 }
    Unsigned { a: u16, b: u32, n: usize }
    Wide { a: u128, #[serde(default)] b: i128 }
    Small { a: f32, #[serde(default)] b: Vec<f32> }
    Float { a: f64, #[serde(default)] b: Option<f64> }
    Text { a: String, b: char, #[serde(default)] c: Option<String> }
    #[serde(deny_unknown_fields)]
    Closed { a: u8, b: Option<bool> }
    Default_ { #[serde(default = "seven")] a: u8, #[serde(default)] b: String, #[serde(default)] c: Vec<u8> }
    Renamed { #[serde(rename = "kind", alias = "x")] a: i32, #[serde(default, rename = "é")] b: u8 }
    Colour { a: Colours, #[serde(default)] b: Vec<Colours> }
    Choice { a: Choices }
    Either { a: Untagged }
    Pair { a: (u8, String), #[serde(default)] b: Option<(i64, f64, bool)> }
    Fixed { a: [i16; 3] }
    Words { a: BTreeMap<String, u32> }
    Keyed { a: BTreeMap<u8, i64>, #[serde(default)] b: BTreeMap<i32, String> }
    Set { a: BTreeSet<u16> }
    Wrapped { a: Newtype, b: Option<Newtype> }
    Bounded { #[schemars(range(min = -3, max = 1000))] a: i64, #[schemars(length(max = 3))] b: String }
    NonZero { a: NonZeroU8 }
    Nothing {}
    Anything { a: Value, #[serde(default)] b: u8 }
    Flat { a: u8, #[serde(flatten)] rest: BTreeMap<String, u64> }
    FlatStruct { a: u8, #[serde(flatten)] inner: Inner }
    Nested { a: Vec<Closed>, #[serde(default)] b: Option<Box<Nested>> }
    Tried { a: Even }
    With { #[serde(with = "doubled")] #[schemars(with = "u32")] a: u32 }
    Lenient { #[serde(default, deserialize_with = "or_default")] #[schemars(with = "u8")] a: u8, b: Option<u8> }
    LenientText { #[serde(deserialize_with = "or_default")] #[schemars(with = "String")] a: String }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Colours {
    Red,
    #[serde(rename = "Green")]
    Green,
    /// Described, which schemars writes another way.
    Blue,
}

#[derive(Debug, Deserialize, JsonSchema)]
enum Choices {
    Unit,
    One(u8),
    Two(i16, String),
    Named { a: Option<f64>, b: u64 },
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
enum Untagged {
    Number(u32),
    Words(Vec<String>),
    Pair { a: i32, b: bool },
    Float(f64),
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "lowercase")]
enum Tagged {
    A { n: i64 },
    B { a: String },
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(tag = "kind", content = "value")]
enum Adjacent {
    Number(u16),
    Text(String),
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Newtype(u16);

#[derive(Debug, Deserialize, JsonSchema)]
struct Inner {
    b: i32,
    #[serde(default)]
    c: Option<f64>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(try_from = "u64")]
#[schemars(with = "u64")]
struct Even(u64);

impl TryFrom<u64> for Even {
    type Error = &'static str;

    fn try_from(number: u64) -> Result<Self, &'static str> {
        if number.is_multiple_of(2) {
            Ok(Self(number))
        } else {
            Err("an odd number")
        }
    }
}

fn seven() -> u8 {
    7
}

/// Deserializes invalid values as the default.
fn or_default<'de, D: Deserializer<'de>, T: Deserialize<'de> + Default>(
    deserializer: D,
) -> Result<T, D::Error> {
    Ok(T::deserialize(deserializer).unwrap_or_default())
}

mod doubled {
    use serde::{Deserialize, Deserializer};

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
        u32::deserialize(deserializer).map(|number| number.wrapping_mul(2))
    }
}

/// Every type.
pub(crate) fn all() -> Vec<Subject> {
    vec![
        Subject::new::<Pay>(
            &[
                r#"{"a": 9007199254740993, "n": 1.0}"#,
                r#"{"a": 1, "n": 2}"#,
            ],
            &[],
        ),
        Subject::new::<Signed>(
            &[r#"{"a": -1, "b": -2, "c": -3, "n": 9223372036854775807}"#],
            &[],
        ),
        Subject::new::<Unsigned>(&[r#"{"a": 1, "b": 2.0, "n": 18446744073709551615}"#], &[]),
        Subject::new::<Wide>(
            &[r#"{"a": 18446744073709551615}"#, r#"{"a": 1, "b": -5}"#],
            &[],
        ),
        Subject::new::<Small>(
            &[r#"{"a": 0.1}"#, r#"{"a": 1, "b": [2.5, 3]}"#],
            &[InfiniteFloat],
        ),
        Subject::new::<Float>(&[r#"{"a": 0.1}"#, r#"{"a": 1, "b": null}"#], &[]),
        Subject::new::<Text>(
            &[
                r#"{"a": "a", "b": "b"}"#,
                r#"{"a": "", "b": "é", "c": null}"#,
            ],
            &[],
        ),
        Subject::new::<Closed>(&[r#"{"a": 1}"#, r#"{"b": true, "a": 2}"#], &[]),
        Subject::new::<Default_>(&["{}", r#"{"a": 1, "b": "b", "c": [1, 2.0]}"#], &[]),
        Subject::new::<Renamed>(&[r#"{"kind": 1}"#, r#"{"kind": -1, "é": 2}"#], &[]),
        Subject::new::<Colour>(
            &[r#"{"a": "red"}"#, r#"{"a": "Green", "b": ["blue"]}"#],
            &[],
        ),
        Subject::new::<Choice>(
            &[
                r#"{"a": "Unit"}"#,
                r#"{"a": {"One": 1}}"#,
                r#"{"a": {"Two": [1, "a"]}}"#,
                r#"{"a": {"Named": {"a": null, "b": 1.0}}}"#,
            ],
            &[],
        ),
        Subject::new::<Either>(
            &[
                r#"{"a": 7}"#,
                r#"{"a": ["a"]}"#,
                r#"{"a": {"a": 1, "b": true}}"#,
                r#"{"a": 1.5}"#,
            ],
            &[WideInteger],
        ),
        Subject::new::<Tagged>(
            &[r#"{"kind": "a", "n": 1}"#, r#"{"a": "x", "kind": "b"}"#],
            &[WideInteger],
        ),
        Subject::new::<Adjacent>(
            &[
                r#"{"kind": "Number", "value": 1}"#,
                r#"{"value": "a", "kind": "Text"}"#,
            ],
            &[WideInteger],
        ),
        Subject::new::<Pair>(
            &[
                r#"{"a": [1, "a"]}"#,
                r#"{"a": [1.0, ""], "b": [1, 2.5, true]}"#,
            ],
            &[],
        ),
        Subject::new::<Fixed>(&[r#"{"a": [1, -2, 3]}"#], &[]),
        Subject::new::<Words>(&[r#"{"a": {"x": 1}}"#, r#"{"a": {}}"#], &[]),
        Subject::new::<Keyed>(
            &[
                r#"{"a": {"1": 1}}"#,
                r#"{"a": {"255": 2.0}, "b": {"-1": "a"}}"#,
            ],
            &[EscapedKey],
        ),
        Subject::new::<Set>(&[r#"{"a": [3, 1, 2]}"#], &[]),
        Subject::new::<Wrapped>(&[r#"{"a": 1, "b": null}"#, r#"{"a": 1.0, "b": 2}"#], &[]),
        Subject::new::<Bounded>(&[r#"{"a": 1, "b": ""}"#], &[]),
        Subject::new::<NonZero>(&[r#"{"a": 1}"#], &[]),
        Subject::new::<Nothing>(&["{}", r#"{"a": 1}"#], &[]),
        Subject::new::<Anything>(
            &[r#"{"a": 1}"#, r#"{"a": {"n": [1.0, null]}, "b": 1}"#],
            &[WideInteger, KeptFloat],
        ),
        Subject::new::<Flat>(
            &[r#"{"a": 1}"#, r#"{"a": 1, "x": 2, "n": 3.0}"#],
            &[WideInteger],
        ),
        Subject::new::<FlatStruct>(
            &[r#"{"a": 1, "b": 2}"#, r#"{"a": 1, "b": 2.0, "c": 3}"#],
            &[WideInteger],
        ),
        Subject::new::<Nested>(
            &[
                r#"{"a": [{"a": 1}]}"#,
                r#"{"a": [], "b": {"a": [], "b": null}}"#,
            ],
            &[],
        ),
        Subject::new::<Tried>(&[r#"{"a": 2}"#, r#"{"a": 4.0}"#], &[]),
        Subject::new::<With>(&[r#"{"a": 2}"#], &[]),
        Subject::new::<Lenient>(&[r#"{"a": 2}"#, r#"{"b": 1}"#], &[LenientIntegralFloat]),
        Subject::new::<LenientText>(&[r#"{"a": "a"}"#], &[]),
    ]
}
