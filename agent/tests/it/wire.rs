//! Wire definitions of a tool set: sorted, legal, and equal bytes for equal tools.

use crate::workshop;
use std::collections::BTreeSet;
use std::sync::Arc;

use crate::workshop::catalog;
use agent::{Selection, ToolSet};
use proptest::prelude::*;
use serde_json::Value;
use tools::protocol::wire::Format;
use tools::{Catalog, Entry, Services};

const NAMES: [&str; 6] = ["fs.read", "fs/read", "fs_read", "time.now", "a", "z:z"];

fn set(entries: impl IntoIterator<Item = Arc<Entry>>, globs: &[&str]) -> ToolSet {
    ToolSet::new(entries, &Selection::parse(globs).unwrap(), &Services::new())
}

fn names(format: Format, text: &str) -> Vec<String> {
    let definitions: Vec<Value> = serde_json::from_str(text).unwrap();
    let name = |definition: &Value| match format {
        Format::OpenAiChat => definition["function"]["name"].as_str().unwrap().to_owned(),
        _ => definition["name"].as_str().unwrap().to_owned(),
    };
    definitions.iter().map(name).collect()
}

#[test]
fn definitions_stand_in_the_order_of_the_tools_by_names_that_lead_back() {
    let set = set(catalog(NAMES).list(), &[]);
    for format in Format::ALL {
        let names = names(format, &set.wire_definitions(format));
        assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), NAMES.len(), "{names:?}");
        let tools: Vec<_> = names.iter().map(|name| set.wire_names().tool(name).unwrap()).collect();
        assert_eq!(tools, set.list().iter().map(|entry| entry.name()).collect::<Vec<_>>());
        let is_legal = |name: &String| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte));
        assert!(names.iter().all(is_legal), "{names:?}");
    }
}

#[test]
fn equal_sets_give_equal_bytes_however_they_came_about() {
    let mut backwards = Catalog::new();
    NAMES.iter().rev().for_each(|name| workshop::add(&mut backwards, name));
    let mut entries = catalog(NAMES).list();
    entries.reverse();
    for format in Format::ALL {
        let text = set(catalog(NAMES).list(), &[]).wire_definitions(format);
        assert_eq!(set(backwards.list(), &[]).wire_definitions(format), text);
        assert_eq!(set(entries.clone(), &[]).wire_definitions(format), text);
    }
}

#[test]
fn an_unchanged_set_gives_the_bytes_it_has() {
    let set = set(catalog(NAMES).list(), &[]);
    for format in Format::ALL {
        let bytes = |set: &ToolSet| set.wire_definitions(format).as_ptr();
        assert_eq!(bytes(&set), bytes(&set.clone()));
    }
    let [one, other] = Format::ALL.map(|format| set.wire_definitions(format));
    assert_ne!(one, other);
}

#[test]
fn the_text_of_a_set_is_the_definitions_of_its_entries_in_a_row() {
    let set = set(catalog(["time.now", "b", "a"]).list(), &[]);
    for format in Format::ALL {
        let definitions: Vec<_> = set.list().iter().map(|entry| entry.definition(format).clone()).collect();
        assert_eq!(*set.wire_definitions(format), format!("[{}]", definitions.join(",")));
    }
    assert_eq!(Format::ALL.map(|format| ToolSet::default().wire_definitions(format).to_string()), ["[]", "[]"]);
}

#[test]
fn a_respelt_name_changes_nothing_but_the_spelling() {
    let set = set(catalog(NAMES).list(), &[]);
    for format in Format::ALL {
        let definitions: Vec<_> = (set.list().iter())
            .map(|entry| format.definition(entry.tool(), &set.wire_names().spelling(entry.name())))
            .collect();
        assert_eq!(*set.wire_definitions(format), format!("[{}]", definitions.join(",")));
        let names = names(format, &set.wire_definitions(format));
        assert!(
            set.wire_names().spelling_with_digest(set.get("fs.read").unwrap().name()).is_some(),
            "another tool has that name"
        );
        assert!(names.contains(&set.wire_names().spelling("fs.read").into_owned()), "{names:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn earlier_requests_change_no_byte(
        requests in prop::collection::vec(prop::sample::subsequence(NAMES.to_vec(), 0..=NAMES.len()), 1..6)
    ) {
        let catalog = catalog(NAMES);
        for names in &requests {
            let some = |catalog: &Catalog| names.iter().map(|name| catalog.get(name).unwrap()).collect::<Vec<_>>();
            for format in Format::ALL {
                let fresh = set(some(&workshop::catalog(NAMES)), &[]);
                prop_assert_eq!(set(some(&catalog), &[]).wire_definitions(format), fresh.wire_definitions(format));
            }
        }
    }
}
