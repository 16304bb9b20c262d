//! The tools that a selection matches.

use crate::workshop::{catalog, tool};
use agent::Selection;
use proptest::prelude::*;
use serde_json::{Value, json};
use tools::{Catalog, Effects, ToolContext};

fn picked(selection: &Selection, catalog: &Catalog) -> Vec<String> {
    catalog
        .list()
        .iter()
        .filter(|entry| selection.matches(entry))
        .map(|entry| entry.name().to_string())
        .collect()
}

#[test]
fn a_star_matches_dots_and_slashes() {
    let catalog = catalog(["fs.read", "fs.a.b", "mcp/fs.read", "time.now"]);
    assert_eq!(
        picked(&Selection::parse(["fs.*"]).unwrap(), &catalog),
        ["fs.a.b", "fs.read"]
    );
    assert_eq!(
        picked(&Selection::parse(["*.read"]).unwrap(), &catalog),
        ["fs.read", "mcp/fs.read"]
    );
}

#[test]
fn an_exclusion_wins_wherever_it_stands() {
    let catalog = catalog(["fs.read", "fs.write"]);
    for texts in [["fs.*", "!fs.write"], ["!fs.write", "fs.*"]] {
        assert_eq!(
            picked(&Selection::parse(texts).unwrap(), &catalog),
            ["fs.read"]
        );
    }
    assert_eq!(
        picked(&Selection::parse(["!fs.write"]).unwrap(), &catalog),
        ["fs.read"]
    );
}

#[test]
fn read_only_takes_what_changes_nothing() {
    let mut catalog = catalog(["pure"]);
    let effects = |value: Value| serde_json::from_value::<Effects>(value).unwrap();
    let handler = async |_: ToolContext, _: Value| "x".to_owned();
    catalog
        .register(
            tool("reads").with_effects(effects(json!({"reads": ["thing:x"]}))),
            handler,
        )
        .unwrap();
    catalog
        .register(
            tool("writes").with_effects(effects(json!({"writes": ["thing:x"]}))),
            handler,
        )
        .unwrap();
    catalog
        .register(
            tool("undeclared").with_effects(Effects::Undeclared),
            handler,
        )
        .unwrap();
    assert_eq!(
        picked(&Selection::new().with_read_only(true), &catalog),
        ["pure", "reads"]
    );
}

#[test]
fn one_of_the_tags_is_enough() {
    let mut catalog = catalog(["plain"]);
    let handler = async |_: ToolContext, _: Value| "x".to_owned();
    catalog
        .register(tool("a").with_tags(["web", "slow"]), handler)
        .unwrap();
    catalog
        .register(tool("b").with_tags(["files"]), handler)
        .unwrap();
    assert_eq!(
        picked(&Selection::new().with_tags(["web", "files"]), &catalog),
        ["a", "b"]
    );
}

#[test]
fn an_invalid_glob_is_refused() {
    for text in ["", "!", " ", "fs.[", "{a"] {
        let error = Selection::parse([text]).unwrap_err();
        assert!(error.to_string().contains("write a glob"), "{error}");
    }
}

#[test]
fn misspelt_globs_are_reported() {
    let catalog = catalog(["fs.read"]);
    let selection = Selection::parse(["fs.*", "tiem.*", "!fs.wirte"]).unwrap();
    assert_eq!(selection.unmatched(&catalog.list()), ["tiem.*", "fs.wirte"]);
}

proptest! {
    #[test]
    fn a_name_selects_itself_alone(names in prop::collection::btree_set("[a-z]{1,3}(\\.[a-z]{1,3})?", 1..8)) {
        let catalog = catalog(names.iter().map(String::as_str));
        for name in &names {
            prop_assert_eq!(picked(&Selection::parse([name]).unwrap(), &catalog), [name.clone()]);
        }
    }

    #[test]
    fn include_and_exclude_divide_the_catalog(
        names in prop::collection::btree_set("[a-c]{1,2}\\.[a-c]{1,2}", 1..12),
        glob in "[abc*?.]{1,4}",
    ) {
        let catalog = catalog(names.iter().map(String::as_str));
        let taken = picked(&Selection::new().with_include(&glob).unwrap(), &catalog);
        let left = picked(&Selection::new().with_exclude(&glob).unwrap(), &catalog);
        let mut all = [taken, left].concat();
        all.sort();
        prop_assert_eq!(all, names.into_iter().collect::<Vec<_>>());
    }

    #[test]
    fn another_rule_never_selects_more(
        names in prop::collection::btree_set("[a-c]{1,2}\\.[a-c]{1,2}", 1..12),
        include in "[abc*?.]{1,4}",
        exclude in "[abc*?.]{1,4}",
    ) {
        let catalog = catalog(names.iter().map(String::as_str));
        let all = picked(&Selection::new(), &catalog);
        let some = Selection::new().with_include(&include).unwrap();
        let fewer = some.clone().with_exclude(&exclude).unwrap();
        let some = picked(&some, &catalog);
        prop_assert!(some.iter().all(|name| all.contains(name)));
        prop_assert!(picked(&fewer, &catalog).iter().all(|name| some.contains(name)));
    }

    #[test]
    fn arbitrary_text_never_panics(text in any::<String>()) {
        let _ = Selection::parse([text]);
    }
}

#[test]
fn a_glob_matches_a_former_name() {
    let mut catalog = catalog(["fs.write"]);
    let renamed = tool("fs.read").with_was(["fs.cat".parse().unwrap()]);
    catalog
        .register(renamed, async |_: ToolContext, _: Value| "x".to_owned())
        .unwrap();
    assert_eq!(
        picked(&Selection::parse(["*.cat"]).unwrap(), &catalog),
        ["fs.read"]
    );
    assert_eq!(
        picked(&Selection::parse(["!fs.cat"]).unwrap(), &catalog),
        ["fs.write"]
    );
    assert_eq!(
        Selection::parse(["fs.cat"])
            .unwrap()
            .unmatched(&catalog.list()),
        [""; 0]
    );
}

#[test]
fn a_selection_may_match_a_prefix_unless_its_globs_exclude_it() {
    let may_match = |texts: &[&str]| Selection::parse(texts).unwrap().may_match("mcp:git/");
    for texts in [
        &[][..],
        &["*"],
        &["mcp:*"],
        &["mcp:git/*"],
        &["mcp:git/log"],
        &["fs.*", "mcp:g?t/*"],
        &["*log", "!mcp:git/log"],
    ] {
        assert!(may_match(texts), "{texts:?}");
    }
    for texts in [
        &["fs.*"][..],
        &["mcp:files/*"],
        &["*", "!mcp:*"],
        &["!mcp:git/*"],
    ] {
        assert!(!may_match(texts), "{texts:?}");
    }
}

proptest! {
    #[test]
    fn a_selected_tool_has_no_prefix_that_cannot_match(
        globs in prop::collection::vec("!?(a|b|[ab*?]|\\{a,b\\}|\\[ab\\]){1,4}", 0..4), name in "[ab]{1,5}", at in 0..5_usize,
    ) {
        let selection = Selection::parse(&globs).unwrap();
        let catalog = catalog([&*name]);
        if !picked(&selection, &catalog).is_empty() {
            prop_assert!(selection.may_match(&name[..at.min(name.len())]), "{}", name);
        }
    }
}
