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
        assert_eq!(
            names(&index, query).first().map(String::as_str),
            Some(name),
            "{query}"
        );
    }
    assert!(names(&index, "bicycle").is_empty());
    assert!(names(&index, "what is the").is_empty());
    assert!(names(&index, "").is_empty());
}

#[test]
fn a_result_says_which_words_matched_in_which_fields() {
    let index = Index::new(&tools());
    let found = index.search(
        "The nice PATH to FILES: read fs, please; reads!",
        10,
        |name| *name == "fs.read",
    );
    let matches: Vec<_> = found[0]
        .matches
        .iter()
        .map(|found| (found.word.as_str(), found.fields.as_slice()))
        .collect();
    let (name, description, parameter) =
        (Field::Name, Field::Description, Field::ParameterDescription);
    assert_eq!(
        matches,
        [
            ("path", &[Field::Parameter][..]),
            ("files", &[description, parameter]),
            ("read", &[name, description, parameter]),
            ("fs", &[name]),
        ]
    );
}

#[test]
fn a_rare_word_weighs_more_than_a_common_one() {
    let tool = |name: &str, description: &str| Tool::new(name, description, json!({})).unwrap();
    let index = Index::new(&[
        tool("a", "issue"),
        tool("b", "issue"),
        tool("c", "issue"),
        tool("d", "label"),
    ]);
    assert_eq!(names(&index, "issue label"), ["d", "a", "b", "c"]);
}

#[test]
fn words_that_a_model_says_of_any_tool_weigh_less_than_those_of_its_purpose() {
    let tool = |name: &str, description: &str| Tool::new(name, description, json!({})).unwrap();
    let index = Index::new(&[
        tool("git/createIssue", "Opens an issue in a repository."),
        tool("git/closeIssue", "Closes an issue in a repository."),
        tool("mcp/restartServer", "Restarts an MCP server and its tools."),
        tool("host/reboot", "Reboots a machine."),
    ]);
    let query = "MCP server for git repositories, tool: open an issue";
    assert_eq!(
        names(&index, query)[..2],
        ["git/createIssue", "git/closeIssue"]
    );
    assert_eq!(names(&index, "restart the server")[0], "mcp/restartServer");
    assert_eq!(names(&index, "servers"), ["mcp/restartServer"]);
}

#[test]
fn a_name_weighs_more_than_a_description_and_that_more_than_one_of_a_parameter() {
    let tool = |name: &str, description: &str, parameter: &str| {
        Tool::new(
            name,
            description,
            json!({"properties": {"xx": {"description": parameter}}}),
        )
        .unwrap()
    };
    let index = Index::new(&[
        tool("aa", "bb", "label"),
        tool("cc", "label", "bb"),
        tool("label", "bb", "cc"),
    ]);
    assert_eq!(names(&index, "label"), ["label", "cc", "aa"]);
}

#[test]
fn a_short_definition_weighs_more_than_a_long_one() {
    let tool = |name: &str, description: &str| Tool::new(name, description, json!({})).unwrap();
    let index = Index::new(&[
        tool("aa", "label with several other words around"),
        tool("bb", "label"),
    ]);
    assert_eq!(names(&index, "label"), ["bb", "aa"]);
}

#[test]
fn equal_results_are_sorted_by_name_and_limited() {
    let tool = |number: usize| {
        let description = if number == 70 {
            "same words, words"
        } else {
            "same words there"
        };
        Tool::new(format!("t{number}"), description, json!({})).unwrap()
    };
    let tools: Vec<Tool> = (10..99).map(tool).collect();
    let index = Index::new(&tools);
    let found = |limit| {
        let found = index
            .search("words", limit, |_| true)
            .into_iter()
            .map(|found| found.name.to_string());
        found.collect::<Vec<_>>()
    };
    assert_eq!(found(3), ["t70", "t10", "t11"]);
    assert!(found(0).is_empty());
    let all = found(usize::MAX);
    assert_eq!(all.len(), 89);
    assert!(all[1..].is_sorted());
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
        let updated = Index::new(&before).update(&after);
        prop_assert_eq!(updated.len(), after.len());
        prop_assert_eq!(updated.search(&query, 50, |_| true), Index::new(&after).search(&query, 50, |_| true));
    }
}
