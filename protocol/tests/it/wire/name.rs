//! Names on a wire: allowed, independent of other tools, and leading back.

use std::collections::HashMap;

use proptest::prelude::*;
use protocol::ToolName;
use protocol::wire::NameGrammar::{self, Mcp, Provider};
use protocol::wire::WireNames;

use crate::sample::config;

const GRAMMARS: [NameGrammar; 2] = [Provider, Mcp];

/// Returns true if the service's own rule allows the name.
fn is_legal(grammar: NameGrammar, wire: &str) -> bool {
    let (most, more): (_, &[u8]) = if grammar == Mcp { (128, b"_-.") } else { (64, b"_-") };
    let starts_well = grammar == Mcp || !wire.starts_with(|c: char| c.is_ascii_digit() || c == '-');
    starts_well
        && (1..=most).contains(&wire.len())
        && wire.bytes().all(|byte| byte.is_ascii_alphanumeric() || more.contains(&byte))
}

fn is_digested(wire: &str) -> bool {
    wire.rsplit_once("_-_").is_some_and(|(_, digest)| {
        digest.len() == 24 && digest.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
    })
}

fn name(text: &str) -> ToolName {
    ToolName::new(text).unwrap()
}

/// Checks every law for one name.
fn check(grammar: NameGrammar, name: &ToolName) -> Result<(), TestCaseError> {
    let wire = grammar.encode(name);
    prop_assert!(is_legal(grammar, &wire), "{name} is {wire}");
    match grammar.decode(&wire) {
        Some(back) => prop_assert!(back == *name && !is_digested(&wire), "{name} is {wire}, which is {back}"),
        None => prop_assert!(is_digested(&wire), "{name} is {wire}"),
    }
    let names = WireNames::new(grammar, [name]).unwrap();
    prop_assert_eq!(names.tool(&wire), Some(name.clone()));
    Ok(())
}

#[test]
fn common_names_stay_and_others_are_readable() {
    for (name, wire) in [
        ("read_file", "read_file"),
        ("get-weather", "get-weather"),
        ("_private", "_private"),
        ("fs.read", "fs__read"),
        ("mcp:github/create_issue", "mcp-_github--create_issue"),
        ("a..b", "a_-__-_b"),
        ("3d.render", "_--_33zd__render"),
        ("/root", "_--_2fzroot"),
        ("100%", "_--_31z00_---"),
    ] {
        assert_eq!(Provider.encode(name), wire);
        assert_eq!(Provider.decode(wire).as_deref(), Some(name));
    }
    assert_eq!(Mcp.encode("fs.read"), "fs.read");
    assert_eq!(Mcp.encode("3d.render"), "3d.render");
    for (foreign, wire) in [("Get MP3", "Get_-MP3"), ("weather in 東京", "weather_-in-_--_--_e69db1e4baacz")] {
        assert_eq!(Provider.encode(&ToolName::from_foreign(foreign).unwrap()), wire);
        assert_eq!(Provider.decode(wire).unwrap().to_foreign(), foreign);
    }
}

#[test]
fn a_tool_named_like_the_wire_form_of_another_does_not_take_its_place() {
    let long = format!("server.{}", "x".repeat(80));
    for victim in ["fs.read", "send.message", "a/b:c", "Get%20MP3", &long] {
        for grammar in GRAMMARS {
            let wire = grammar.encode(victim);
            let attacker = name(&wire);
            let names = WireNames::new(grammar, [&name(victim), &attacker]).unwrap();
            assert_eq!(names.tool(&wire), Some(name(victim)), "{wire}");
            if wire != victim {
                assert_ne!(grammar.encode(&attacker), wire);
                assert_eq!(names.tool(&grammar.encode(&attacker)), Some(attacker));
            }
        }
    }
}

#[test]
fn a_digested_form_shows_the_words_and_needs_the_table() {
    let long = name(&format!("website_configuration/WebsiteConfigurationApi.get_website:{}", "x".repeat(60)));
    let wire = Provider.encode(&long);
    assert!(wire.starts_with("website_configuration_WebsiteConfigur_-_"), "{wire}");
    assert_eq!(Provider.decode(&wire), None);
    let empty = WireNames::new(Provider, []).unwrap();
    assert_eq!(empty.tool(&wire), None);
}

#[test]
fn the_wire_form_of_a_name_never_changes() {
    // The digits: printf 'server.%s' "$(printf 'x%.0s' {1..80})" | sha256sum | cut -c-24
    let wire = "server_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxx_-_176b74d3ab88af86eecc599d";
    assert_eq!(Provider.encode(&format!("server.{}", "x".repeat(80))), wire);
}

/// Returns names of the characters that the codes treat differently, one for each number.
fn numbered(mut number: u64) -> String {
    const PIECES: [&str; 16] =
        ["_", "-", ".", "/", ":", "%20", "%", "%E6", "%25", "a", "3", "z", "25", "__", "_-_", "word"];
    let mut text = String::new();
    while number > 0 {
        text.push_str(PIECES[(number % 16) as usize]);
        number /= 16;
    }
    text
}

#[test]
#[ignore = "takes minutes in debug: cargo test --release -p toolcrib-protocol --test it -- --ignored a_million_names"]
fn a_million_names_lead_back_and_no_two_have_one_wire_form() {
    for grammar in GRAMMARS {
        let mut forms = HashMap::new();
        for number in 1..=1_000_000 {
            let name = name(&numbered(number));
            check(grammar, &name).unwrap();
            let other = forms.insert(grammar.encode(&name).into_owned(), name.clone());
            assert!(other.is_none_or(|other| other == name));
        }
    }
}

proptest! {
    #![proptest_config(config(4096))]

    #[test]
    fn every_name_has_an_allowed_form_that_leads_back(
        text in "[a.:/_%-]{1,8}|[A-Za-z0-9_.:/%-]{1,90}|([a-z]{1,4}(%20|%[0-9A-F]{2}|[_.:/%-])){1,12}"
    ) {
        for grammar in GRAMMARS {
            check(grammar, &name(&text))?;
        }
    }

    #[test]
    fn every_text_on_the_wire_leads_to_one_name_at_most(text in "[a-z0-9_-]{1,12}|[_-]{1,6}[0-9a-f]{2}z[_-]{0,6}") {
        for grammar in GRAMMARS {
            if let Some(name) = grammar.decode(&text) {
                prop_assert_eq!(grammar.encode(&name), text.as_str());
            }
        }
    }

    #[test]
    fn a_text_that_is_no_name_is_allowed_too(text in any::<String>()) {
        for grammar in GRAMMARS {
            prop_assert!(is_legal(grammar, &grammar.encode(&text)));
        }
    }
}
