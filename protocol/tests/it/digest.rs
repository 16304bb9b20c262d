//! The canonical form and its digests.

use proptest::prelude::*;
use protocol::{Digest, Tool, canonical_json};
use serde_json::{Map, Value, json};

use crate::sample::{config, exact, nested};

/// The example of RFC 8785, section 3.2.2, and its canonical form there.
#[test]
fn the_example_of_the_rfc_comes_out_as_printed() {
    let text = r#"{
        "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
        "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
        "literals": [null, true, false]
    }"#;
    let value: Value = serde_json::from_str(text).unwrap();
    assert_eq!(
        canonical_json(&value),
        "{\"literals\":[null,true,false],\"numbers\":[333333333.3333333,1e+30,4.5,0.002,1e-27],\
         \"string\":\"€$\\u000f\\nA'B\\\"\\\\\\\\\\\"/\"}"
    );
}

/// The order of RFC 8785, section 3.2.3: by UTF-16 code units, so that a surrogate pair comes before U+FB33.
#[test]
fn keys_are_sorted_by_utf_16() {
    let value = json!({"€": 1, "\r": 2, "\u{fb33}": 3, "1": 4, "😀": 5, "\u{80}": 6, "ö": 7});
    assert_eq!(
        canonical_json(&value),
        "{\"\\r\":2,\"1\":4,\"\u{80}\":6,\"ö\":7,\"€\":1,\"😀\":5,\"\u{fb33}\":3}"
    );
}

#[test]
fn integers_keep_their_digits_and_floats_are_as_ecmascript_prints_them() {
    let value = json!([
        1.0,
        -0.0,
        1e21,
        1e20,
        9007199254740993u64,
        u64::MAX,
        i64::MIN
    ]);
    assert_eq!(
        canonical_json(&value),
        "[1,0,1e+21,100000000000000000000,9007199254740993,18446744073709551615,-9223372036854775808]"
    );
}

#[test]
fn a_digest_is_the_sha_256_that_other_programs_compute() {
    // printf '{"a":1,"b":2}' | sha256sum
    let digest = Digest::hash_json(&json!({"b": 2, "a": 1}));
    assert_eq!(
        digest.to_string(),
        "43258cff783fe7036d8a43033f830adfc60ec037382473548ac742b888292777"
    );
    assert_eq!(digest.to_string().parse(), Ok(digest));
    assert!("43258".parse::<Digest>().is_err());
    assert!("+".repeat(64).parse::<Digest>().is_err());
}

#[test]
fn a_digest_with_a_key_is_the_hmac_that_other_programs_compute() {
    // printf '{"a":1,"b":2}' | openssl dgst -sha256 -mac HMAC -macopt hexkey:0707…07
    let digest = Digest::hash_json_with_key(&[7; 32], &json!({"b": 2, "a": 1}));
    assert_eq!(
        digest.to_string(),
        "4e9b9c9c2f63443bb40a9986da2650dd14b8a1cfc8b88315512c7f7511685b04"
    );
    assert_ne!(
        digest,
        Digest::hash_json_with_key(&[8; 32], &json!({"a": 1, "b": 2}))
    );
}

#[test]
fn a_tools_digest_looks_at_everything_but_the_order_of_keys() {
    let parse = |text: &str| serde_json::from_str::<Tool>(text).unwrap();
    let a = parse(
        r#"{"name":"a","description":"d","parameters":{"type":"object","properties":{"x":{},"y":{}}}}"#,
    );
    let b = parse(
        r#"{"parameters":{"properties":{"y":{},"x":{}},"type":"object"},"description":"d","name":"a"}"#,
    );
    assert_eq!(a.digest(), b.digest());
    assert_ne!(a.digest(), b.clone().with_audit(true).digest());
    assert_ne!(a.digest(), b.with_title("A").digest());
}

fn json_value() -> impl Strategy<Value = Value> {
    let finite = any::<f64>().prop_filter("JSON has no others", |number| number.is_finite());
    nested(prop_oneof![4 => exact(), 1 => finite.prop_map(Value::from), 1 => Just(Value::Null)])
}

/// Returns the value with the members of every object in reverse order.
fn reversed(value: &Value) -> Value {
    match value {
        Value::Array(items) => items.iter().map(reversed).collect(),
        Value::Object(members) => {
            let backwards: Vec<_> = members
                .iter()
                .rev()
                .map(|(key, member)| (key.clone(), reversed(member)))
                .collect();
            Value::Object(backwards.into_iter().collect::<Map<_, _>>())
        }
        other => other.clone(),
    }
}

proptest! {
    #![proptest_config(config(256))]

    #[test]
    fn the_order_of_keys_changes_nothing(value in json_value()) {
        prop_assert_eq!(Digest::hash_json(&value), Digest::hash_json(&reversed(&value)));
    }

    #[test]
    fn the_canonical_form_is_json_and_its_own_canonical_form(value in json_value()) {
        let text = canonical_json(&value);
        let parsed: Value = serde_json::from_str(&text).unwrap();
        prop_assert_eq!(canonical_json(&parsed), text);
    }

    #[test]
    fn any_text_is_a_digest_or_is_not_and_nothing_panics(text in any::<String>()) {
        let _ = text.parse::<Digest>();
    }
}
