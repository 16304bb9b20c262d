//! The results of a search.

use std::collections::HashSet;

use proptest::prelude::*;
use protocol::Tool;
use serde_json::json;
use tools_search::{Field, Index};

use crate::{catalogs, names, tools};

#[test]
fn every_field_is_searched() {
    let index = Index::new(&tools());
    for (query, name) in [
        ("FS.READ", "fs.read"),
        ("weather", "getWeather"),
        ("forecasts", "getWeather"),
        ("cities", "getWeather"),
        ("path", "fs.read"),
        ("fahrenheit", "getWeather"),
        ("danger", "fs.remove"),
        ("anybody", "mail.send"),
    ] {
        assert_eq!(names(&index, query).first().map(String::as_str), Some(name), "{query}");
    }
    assert!(names(&index, "bicycle").is_empty());
    assert!(names(&index, "what is the").is_empty());
    assert!(names(&index, "").is_empty());
}

#[test]
fn a_result_says_which_words_matched_in_which_fields() {
    let index = Index::new(&tools());
    let found = index.search("Reading the nice FILES, please: reads!", 10, |name| *name == "fs.read");
    let matches: Vec<_> = found[0].matches.iter().map(|found| (found.word.as_str(), found.fields.as_slice())).collect();
    let (name, description, parameter) = (Field::Name, Field::Description, Field::ParameterDescription);
    assert_eq!(matches, [("reading", &[name, description, parameter][..]), ("files", &[description, parameter]),]);
}

#[test]
fn a_rare_word_weighs_more_and_a_name_more_than_a_description() {
    let tool = |name: &str, description: &str| Tool::new(name, description, json!({})).unwrap();
    let index = Index::new(&[
        tool("a", "list issue comments"),
        tool("b", "list issue labels"),
        tool("c", "list issue events"),
        tool("labels", "all of them, really all"),
    ]);
    assert_eq!(names(&index, "list labels"), ["b", "labels", "a", "c"]);
    assert_eq!(names(&index, "labels"), ["labels", "b"]);
}

#[test]
fn equal_results_are_sorted_by_name_and_limited() {
    let tools: Vec<Tool> = (0..9).rev().map(|n| Tool::new(format!("t{n}"), "same words", json!({})).unwrap()).collect();
    let index = Index::new(&tools);
    let found: Vec<_> = index.search("words", 3, |_| true).into_iter().map(|found| found.name.to_string()).collect();
    assert_eq!(found, ["t0", "t1", "t2"]);
    assert!(index.search("words", 0, |_| true).is_empty());
    assert_eq!(index.search("words", usize::MAX, |_| true).len(), 9);
}

#[test]
fn an_empty_index_finds_nothing() {
    let index = Index::new(&[]);
    assert!(index.is_empty());
    assert!(names(&index, "read").is_empty());
}

proptest! {
    // Of a refused tool, not even the number of its words shows: in the order, in a score, or in a match.
    #[test]
    fn a_refused_tool_has_no_influence(tools in catalogs(), refused: HashSet<u8>, query in "(read|file|weather|city|mail|搜|s3| ){1,6}") {
        let may = |tool: &str| !refused.iter().any(|number| tool == format!("tool_{}", number % 40));
        let found = Index::new(&tools).search(&query, 5, |name| may(name));
        let allowed: Vec<Tool> = tools.into_iter().filter(|tool| may(&tool.name)).collect();
        prop_assert_eq!(found, Index::new(&allowed).search(&query, 5, |_| true));
    }

    #[test]
    fn an_updated_index_equals_a_new_one(before in catalogs(), after in catalogs(), query in "(read|file|weather|city|mail|搜|s3| ){1,6}") {
        let updated = Index::new(&before).updated(&after);
        prop_assert_eq!(updated.len(), after.len());
        prop_assert_eq!(updated.search(&query, 50, |_| true), Index::new(&after).search(&query, 50, |_| true));
    }
}
