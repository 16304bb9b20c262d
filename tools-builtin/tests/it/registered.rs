//! Explicit registration gives the same tools as link-time registration; see `linked.rs`.

use tools::Catalog;

#[test]
fn registered_tools_are_the_linked_ones() {
    let mut catalog = Catalog::new();
    tools_builtin::register(&mut catalog).unwrap();
    assert_eq!(catalog.names(), Catalog::linked().names());
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
