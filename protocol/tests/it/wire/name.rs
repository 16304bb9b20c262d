//! Names on a wire: allowed, decoded to the name, and independent of other tools.

use proptest::prelude::*;
use protocol::ToolName;
use protocol::wire::NameGrammar::{self, Gemini, Mcp, Provider};
use protocol::wire::{Format, WireNames};

use crate::sample::config;

pub(crate) const GRAMMARS: [NameGrammar; 3] = [Provider, Gemini, Mcp];

/// Returns true if the service's own rule allows the name.
fn is_legal(grammar: NameGrammar, wire: &str) -> bool {
    let (most, more): (_, &[u8]) = if grammar == Mcp {
        (128, b"_-.")
    } else {
        (64, b"_-")
    };
    let starts_well =
        grammar != Gemini || !wire.starts_with(|c: char| c.is_ascii_digit() || c == '-');
    starts_well
        && (1..=most).contains(&wire.len())
        && wire
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || more.contains(&byte))
}

pub(crate) fn is_digested(wire: &str) -> bool {
    wire.rsplit_once("_-_").is_some_and(|(words, digest)| {
        !words.ends_with(['_', '-'])
            && digest.len() == 24
            && digest
                .bytes()
                .all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
    })
}

fn name(text: &str) -> ToolName {
    ToolName::new(text).unwrap()
}

/// Checks the laws of one name, and returns its wire form: it is allowed and decoded to the name, by a table if and only if it is digested.
pub(crate) fn check(grammar: NameGrammar, name: &ToolName) -> Result<String, TestCaseError> {
    let wire = grammar.encode(name);
    prop_assert!(is_legal(grammar, &wire), "{name} is {wire}");
    if is_digested(&wire) {
        prop_assert_eq!(grammar.decode(&wire), None);
        let names = WireNames::new(grammar, [name]).unwrap();
        prop_assert_eq!(names.tool(&wire), Some(name.clone()));
    } else {
        prop_assert_eq!(grammar.decode(&wire), Some(name.clone()), "{}", wire);
    }
    Ok(wire.into_owned())
}

#[test]
fn common_names_stay_and_others_are_readable() {
    for (grammar, name, wire) in [
        (Provider, "read_file", "read_file"),
        (Provider, "get-weather", "get-weather"),
        (Provider, "_private", "_private"),
        (Provider, "3d_render", "3d_render"),
        (Provider, "-x", "-x"),
        (Provider, "fs.read", "fs__read"),
        (
            Provider,
            "mcp:github/create_issue",
            "mcp-_github--create_issue",
        ),
        (Provider, "a..b", "a_-__-_b"),
        (Provider, "/root", "--root"),
        (Provider, "100%", "100_---"),
        (Provider, "__meeting", "____meeting"),
        (Gemini, "read_file", "read_file"),
        (Gemini, "fs.read", "fs__read"),
        (Gemini, "3d_render", "_--_33zd_render"),
        (Gemini, "/root", "_--_---__root"),
        (Mcp, "fs.read", "fs.read"),
        (Mcp, "3d.render", "3d.render"),
    ] {
        assert_eq!(grammar.encode(name), wire);
        assert_eq!(grammar.decode(wire).as_deref(), Some(name));
    }
    for (foreign, wire) in [
        ("Get MP3", "Get_-MP3"),
        ("Search (v2)", "Search-_--_--___---v2_--__-___"),
        ("weather in 東京", "weather_-in-_--_--_e69db1e4baacz"),
    ] {
        let name = ToolName::from_foreign(foreign).unwrap();
        assert_eq!(Provider.encode(&name), wire);
        assert_eq!(Provider.decode(wire), Some(name));
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
fn a_model_that_answers_with_the_own_name_of_a_tool_is_understood() {
    for own in [
        "fs.read",
        "mcp:github/create_issue",
        "Get%20MP3",
        "a___b",
        &format!("server.{}", "x".repeat(80)),
    ] {
        for grammar in GRAMMARS {
            let names = WireNames::new(grammar, [&name(own)]).unwrap();
            assert_eq!(names.tool(own), Some(name(own)), "{grammar:?}");
        }
    }
    let names = WireNames::new(Provider, []).unwrap();
    for text in ["", " ", "no name", "a\nb"] {
        assert_eq!(names.tool(text), None);
    }
}

#[test]
fn the_wire_form_of_a_tool_outside_the_set_is_not_the_own_name_of_another() {
    let long = format!("server.{}", "x".repeat(80));
    for (grammar, absent) in [
        (Provider, "fs.read"),
        (Gemini, "fs.read"),
        (Provider, &long),
        (Mcp, "a%20b"),
    ] {
        let wire = grammar.encode(absent);
        let names = WireNames::new(grammar, [&name(&wire)]).unwrap();
        assert_ne!(names.tool(&wire), Some(name(&wire)));
    }
}

#[test]
fn each_service_takes_the_names_of_its_format() {
    for format in Format::ALL {
        let wire = format.names().encode("3d.render");
        let expected = match format {
            Format::Gemini => "_--_33zd__render",
            Format::Mcp => "3d.render",
            _ => "3d__render",
        };
        assert_eq!(wire, expected, "{format}");
    }
}

#[test]
fn a_digested_form_shows_the_words_and_needs_the_table() {
    let long = name(&format!(
        "website_configuration/WebsiteConfigurationApi.get_website:{}",
        "x".repeat(60)
    ));
    let wire = Provider.encode(&long);
    assert!(
        wire.starts_with("website_configuration_WebsiteConfigur_-_"),
        "{wire}"
    );
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

proptest! {
    #![proptest_config(config(4096))]

    #[test]
    fn every_name_has_an_allowed_form_that_is_decoded(
        text in "[a.:/_%-]{1,8}|[A-Za-z0-9_.:/%-]{1,90}|([a-z]{1,4}(%20|%[0-9A-F]{2}|[_.:/%-])){1,12}"
    ) {
        for grammar in GRAMMARS {
            check(grammar, &name(&text))?;
        }
    }

    #[test]
    fn every_text_on_the_wire_is_one_name_at_most(text in "[a-z0-9_-]{1,12}|[_-]{1,6}[0-9a-f]{2}z[_-]{0,6}") {
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
