//! Names on a wire: a million generated ones, and those of all real tools.

use std::collections::{BTreeSet, HashMap};

use protocol::ToolName;
use protocol::wire::NameGrammar::{Mcp, Provider};

use super::rows_of;
use crate::wire::name::{GRAMMARS, check, is_digested};

/// Returns a name of the pieces that the codes treat differently.
fn numbered(mut number: u64) -> String {
    const PIECES: [&str; 16] =
        ["_", "-", ".", "/", ":", "%20", "%", "%E6", "%25", "a", "3", "z", "25", "__", "_-_", "%28"];
    let mut text = String::new();
    while number > 0 {
        text.push_str(PIECES[(number % 16) as usize]);
        number /= 16;
    }
    text
}

#[test]
#[ignore = "takes half a minute: cargo test -p toolcrib-protocol --test it -- --ignored corpus::names"]
fn a_million_names_are_decoded_and_no_two_have_one_wire_form() {
    for grammar in GRAMMARS {
        // The grammars share the code.
        let count = if grammar == Provider { 1_000_000 } else { 50_000 };
        let mut forms = HashMap::with_capacity(count);
        // Some numbers have the same name.
        for number in 1.. {
            if forms.len() == count {
                break;
            }
            let name = ToolName::new(numbered(number)).unwrap();
            let wire = check(grammar, &name).unwrap();
            let other = forms.insert(wire, name.clone());
            assert!(other.as_ref().is_none_or(|other| *other == name), "{other:?} and {name}");
        }
    }
}

#[test]
#[ignore = "needs the data folder: TOOLCRIB_DATA=... cargo test -p toolcrib-protocol --test it -- --ignored corpus::names"]
fn every_real_name_is_decoded_and_shows_its_words() {
    let names: BTreeSet<_> = rows_of("tools_livemcp_bfcl_ref.jsonl.gz")
        .map(|row| ToolName::from_foreign(row["name"].as_str().unwrap_or_default()).unwrap())
        .collect();
    for grammar in GRAMMARS {
        let forms: BTreeSet<_> = names.iter().map(|name| grammar.encode(name)).collect();
        assert_eq!(forms.len(), names.len(), "{grammar:?}");
        names.iter().for_each(|name| drop(check(grammar, name).unwrap()));
        let count = |is_counted: &dyn Fn(&str) -> bool| forms.iter().filter(|form| is_counted(form)).count();
        let kept = names.iter().filter(|name| grammar.encode(name) == name.as_str()).count();
        let (digested, hexadecimal) = (count(&is_digested), count(&|form| form.contains("_--_")));
        eprintln!("{grammar:?}: {} names, {kept} kept, {digested} digested, {hexadecimal} with bytes", names.len());
        assert!(hexadecimal == 0 && digested <= 4, "{grammar:?}");
    }
    let legal = |name: &&ToolName| name.len() <= 64 && !name.contains(['.', '/', ':', '%']);
    let changed: Vec<_> = names.iter().filter(legal).filter(|name| Provider.encode(name) != name.as_str()).collect();
    assert!(changed.iter().all(|name| name.starts_with("__")), "{changed:?}");
    assert!(names.iter().all(|name| Mcp.encode(name) == name.as_str() || name.contains(['/', ':', '%', '_'])));
}
