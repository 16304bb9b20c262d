//! Explicit registration gives the same tools as link-time registration; see `linked.rs`.

use tools::Catalog;

const NAMES: &str = include_str!("../names.txt");

#[test]
fn registered_tools_match_the_golden_list() {
    let mut catalog = Catalog::new();
    tools_builtin::register(&mut catalog).unwrap();
    let entries = catalog.list();
    let registered: Vec<&str> = entries.iter().map(|entry| entry.name().as_str()).collect();
    assert_eq!(registered, NAMES.lines().collect::<Vec<_>>());
    assert!(catalog.problems().is_empty());
}

#[test]
fn registering_what_is_linked_changes_nothing() {
    let mut catalog = Catalog::linked();
    let linked: Vec<_> = catalog
        .list()
        .iter()
        .map(|entry| entry.source().clone())
        .collect();
    tools_builtin::register(&mut catalog).unwrap();
    let registered: Vec<_> = catalog
        .list()
        .iter()
        .map(|entry| entry.source().clone())
        .collect();
    assert_eq!(registered, linked);
}
