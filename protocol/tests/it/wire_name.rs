//! Wire names: valid, unique in a set, and independent of its order.

use std::collections::BTreeSet;

use proptest::prelude::*;
use protocol::ToolName;
use protocol::wire::WireNames;

use crate::sample::config;

fn names(texts: &[&str]) -> Vec<ToolName> {
    texts.iter().map(|text| ToolName::new(text).unwrap()).collect()
}

fn is_legal(spelling: &str) -> bool {
    (1..=64).contains(&spelling.len())
        && spelling.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte))
}

#[test]
fn a_dot_becomes_an_underscore_and_a_legal_name_stays() {
    let names = names(&["fs.read", "time-now"]);
    let wire = WireNames::new(&names);
    assert_eq!(wire.spelling("fs.read"), "fs_read");
    assert_eq!(wire.spelling("time-now"), "time-now");
    assert_eq!(wire.tool("fs_read"), Some(&names[0]));
    assert_eq!(wire.tool("fs.read"), None, "not a spelling");
}

#[test]
fn colliding_names_get_digests_and_the_legal_one_stays() {
    let names = names(&["a.b", "a/b", "a_b"]);
    let wire = WireNames::new(&names);
    assert_eq!(wire.spelling("a_b"), "a_b");
    assert!(wire.spelling("a.b").starts_with("a_b_"));
    assert_ne!(wire.spelling("a.b"), wire.spelling("a/b"));
}

#[test]
fn a_digest_never_displaces_a_plain_spelling() {
    let crowded = names(&["a.b", "a/b"]);
    let taken = WireNames::new(&crowded).spelling("a.b").into_owned();
    let mut all = crowded;
    all.push(ToolName::new(&taken).unwrap());
    let wire = WireNames::new(&all);
    assert_eq!(wire.spelling(&taken), taken);
    assert_ne!(wire.spelling("a.b"), taken);
}

#[test]
fn the_table_of_a_set_never_changes() {
    let long = format!("server.{}", "x".repeat(80));
    let names = names(&["a.b", "a/b", &long]);
    let wire = WireNames::new(&names);
    let spellings: Vec<_> = names.iter().map(|name| wire.spelling(name).into_owned()).collect();
    assert_eq!(spellings, EXPECTED);
}

const EXPECTED: [&str; 3] =
    ["a_b_eb178c74", "a_b_896902d9", "server_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx_7a359977"];

proptest! {
    #![proptest_config(config(256))]

    #[test]
    fn each_spelling_is_legal_and_leads_back(
        texts in prop::collection::btree_set("[a.:/_-]{1,4}|[A-Za-z0-9_.:/%-]{1,12}|[xy.]{60,80}", 0..40)
    ) {
        let names: Vec<_> = texts.iter().map(|text| ToolName::new(text).unwrap()).collect();
        let wire = WireNames::new(&names);
        let mut seen = BTreeSet::new();
        for name in &names {
            let spelling = wire.spelling(name).into_owned();
            prop_assert!(is_legal(&spelling), "{}", spelling);
            prop_assert_eq!(wire.tool(&spelling), Some(name));
            let alone = WireNames::default().spelling(name).into_owned();
            prop_assert_eq!(wire.spelling_with_digest(name), (spelling != alone).then_some(spelling.as_str()));
            prop_assert!(seen.insert(spelling));
        }
        let backwards = WireNames::new(names.iter().rev().chain(&names));
        prop_assert_eq!(backwards, wire);
    }

    #[test]
    fn a_name_outside_of_the_set_is_spelt_legally(text in any::<String>()) {
        prop_assert!(is_legal(&WireNames::default().spelling(&text)));
    }
}
