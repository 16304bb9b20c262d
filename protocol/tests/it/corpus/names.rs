//! Names on a wire: a million generated ones, and those of all real tools.

use std::collections::{BTreeSet, HashMap};

use protocol::ToolName;
use protocol::wire::NameGrammar::{Mcp, Provider};
use protocol::wire::WireNames;

use super::rows_of;
use crate::wire::name::{GRAMMARS, check, is_digested};

/// Returns a name of the pieces that the codes treat differently.
fn numbered(mut number: u64) -> String {
    const PIECES: [&str; 16] = [
        "_", "-", ".", "/", ":", "%20", "%", "%E6", "%25", "a", "3", "z", "25", "__", "_-_", "%28",
    ];
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
        let count = if grammar == Provider {
            1_000_000
        } else {
            50_000
        };
        let mut forms = HashMap::with_capacity(count);
        // Some numbers have the same name.
        for number in 1.. {
            if forms.len() == count {
                break;
            }
            let name = ToolName::new(numbered(number)).unwrap();
            let wire = check(grammar, &name).unwrap();
            let other = forms.insert(wire, name.clone());
            assert!(
                other.as_ref().is_none_or(|other| *other == name),
                "{other:?} and {name}"
            );
        }
    }
}

fn real_names() -> BTreeSet<ToolName> {
    let rows = rows_of("tools_livemcp_bfcl_ref.jsonl.gz");
    rows.map(|row| ToolName::from_foreign(row["name"].as_str().unwrap_or_default()).unwrap())
        .collect()
}

#[test]
#[ignore = "needs the data folder: TOOLCRIB_DATA=... cargo test -p toolcrib-protocol --test it -- --ignored corpus::names"]
fn no_real_name_changes_the_meaning_of_another_ones_wire_form() {
    let names = real_names();
    for grammar in GRAMMARS {
        let forms: Vec<_> = names.iter().map(|name| grammar.encode(name)).collect();
        // The other names need no table.
        let digested: Vec<_> = names
            .iter()
            .zip(&forms)
            .filter(|(_, form)| is_digested(form))
            .collect();
        let with_all = WireNames::new(grammar, &names).unwrap();
        let meant = |set: &WireNames| forms.iter().map(|form| set.tool(form)).collect::<Vec<_>>();
        assert!(
            meant(&with_all)
                .iter()
                .zip(&names)
                .all(|(meant, name)| meant.as_ref() == Some(name))
        );
        let check = |newcomer: &ToolName, is_in: bool| {
            let others = digested
                .iter()
                .map(|(name, _)| *name)
                .filter(|name| *name != newcomer);
            let set = WireNames::new(grammar, others.chain((!is_in).then_some(newcomer))).unwrap();
            for (name, meant) in names
                .iter()
                .zip(meant(&set))
                .filter(|(name, _)| *name != newcomer)
            {
                assert_eq!(meant.as_ref(), Some(name), "{newcomer} changes it");
            }
        };
        // All pairs take a minute and a half. The grammars share the code.
        let step = if grammar == Provider { 10 } else { 50 };
        names
            .iter()
            .step_by(step)
            .for_each(|name| check(name, true));
        digested.iter().for_each(|(name, _)| check(name, true));
        // The wire forms of real names are names as well.
        let attackers = forms
            .iter()
            .zip(&names)
            .filter(|(form, name)| **form != name.as_str());
        attackers
            .step_by(step)
            .for_each(|(form, _)| check(&ToolName::new(&**form).unwrap(), false));
    }
}

#[test]
#[ignore = "needs the data folder: TOOLCRIB_DATA=... cargo test -p toolcrib-protocol --test it -- --ignored corpus::names"]
fn every_real_name_is_decoded_and_shows_its_words() {
    let names = real_names();
    for grammar in GRAMMARS {
        let forms: BTreeSet<_> = names.iter().map(|name| grammar.encode(name)).collect();
        assert_eq!(forms.len(), names.len(), "{grammar:?}");
        names
            .iter()
            .for_each(|name| drop(check(grammar, name).unwrap()));
        let count = |is_counted: &dyn Fn(&str) -> bool| {
            forms.iter().filter(|form| is_counted(form)).count()
        };
        let kept = names
            .iter()
            .filter(|name| grammar.encode(name) == name.as_str())
            .count();
        let (digested, hexadecimal) = (count(&is_digested), count(&|form| form.contains("_--_")));
        eprintln!(
            "{grammar:?}: {} names, {kept} kept, {digested} digested, {hexadecimal} with bytes",
            names.len()
        );
        assert!(hexadecimal == 0 && digested <= 4, "{grammar:?}");
    }
    let legal = |name: &&ToolName| name.len() <= 64 && !name.contains(['.', '/', ':', '%']);
    let changed: Vec<_> = names
        .iter()
        .filter(legal)
        .filter(|name| Provider.encode(name) != name.as_str())
        .collect();
    assert!(
        changed.iter().all(|name| name.starts_with("__")),
        "{changed:?}"
    );
    assert!(
        names
            .iter()
            .all(|name| Mcp.encode(name) == name.as_str() || name.contains(['/', ':', '%', '_']))
    );
}
