//! Queries that no person would write.

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use protocol::Tool;
use serde_json::{Value, json};
use tools_search::Index;

use crate::{names, tools};

/// Parts of hostile queries: the syntax of search engines and databases, control characters, long runs, other scripts.
fn parts() -> impl Strategy<Value = String> {
    let syntax = [
        "\"",
        "\"\"",
        "'",
        "*",
        "read*",
        "^read",
        "-file",
        "+file",
        "name:",
        "{name description}:",
        "NEAR(read file, 2)",
        "AND",
        "OR",
        "NOT",
        "(",
        ")",
        "((((",
        "~",
        "\\",
        "%",
        "_",
        ";--",
        "' OR 1=1 --",
        "$$",
        "\0",
        "\u{1}",
        "\r\n",
        "weather",
        "\u{202e}",
        "\u{200d}",
        "\u{feff}",
        "e\u{301}\u{301}",
        "İstanbul",
        "ß",
        "ﬁle",
        "погода",
        "طقس",
        "מזג",
        "天気",
        "อากาศ",
        "날씨",
        "👩‍👩‍👧‍👦",
        "🇩🇪🇩🇪🇩",
        "́",
        "a:a:a.a",
        "3,3.3",
        "१२",
    ];
    let once = prop_oneof![
        prop::sample::select(syntax.map(str::to_owned).to_vec()),
        any::<String>()
    ];
    let megabyte = once
        .clone()
        .prop_map(|part| (1_000_000 / part.len().max(1), part));
    prop_oneof![60 => (1..4_usize, once), 1 => megabyte]
        .prop_map(|(times, part)| part.repeat(times))
}

#[test]
fn five_thousand_hostile_queries_do_no_harm() {
    let index = Index::new(&tools());
    let mut runner = TestRunner::new(Config {
        failure_persistence: None,
        ..Config::with_cases(5_000)
    });
    let queries = prop::collection::vec(parts(), 0..8).prop_map(|parts| parts.concat());
    runner
        .run(&queries, |query| {
            let found = index.search(&query, 3, |_| true);
            prop_assert!(found.len() <= 3);
            // The work ends with the part that is read.
            if query.len() > 8 * 1024 {
                let read = (0..=8 * 1024)
                    .rev()
                    .find(|end| query.is_char_boundary(*end))
                    .unwrap();
                let other = format!("{} mail read weather", &query[..read]);
                prop_assert_eq!(&index.search(&other, 3, |_| true), &found);
            }
            prop_assert!(found.is_sorted_by(|a, b| a.score >= b.score));
            for found in &found {
                prop_assert!(found.score.is_finite() && found.score > 0.0);
                prop_assert!(
                    !found.matches.is_empty() && found.matches.len() <= Index::MAX_QUERY_WORDS
                );
            }
            Ok(())
        })
        .unwrap();
}

#[test]
fn no_character_is_syntax() {
    let index = Index::new(&tools());
    let plain = index.search("read weather files", 10, |_| true);
    assert_eq!(plain.len(), 3);
    for query in [
        "\"read weather\" files*",
        "read:weather^2 -files",
        "+read AND (weather OR NOT files)",
        "read\0weather\0files",
    ] {
        let words_only = |found: &[tools_search::Found]| {
            found
                .iter()
                .map(|found| found.name.clone())
                .collect::<Vec<_>>()
        };
        assert_eq!(
            words_only(&index.search(query, 10, |_| true)),
            words_only(&plain),
            "{query:?}"
        );
    }
}

#[test]
fn only_the_beginning_of_a_megabyte_is_read() {
    let index = Index::new(&tools());
    for filler in [
        "weather ", "ab", "\0", "\"", "🇩🇪", "é", "a:", "天", "e\u{301}",
    ] {
        let long = filler.repeat(1_000_000 / filler.len());
        assert_eq!(
            names(&index, &format!("{long} mail")),
            names(&index, &long),
            "{filler:?}"
        );
        assert_eq!(
            names(&index, &format!("mail {long}"))[0],
            "mail.send",
            "{filler:?}"
        );
    }
    // The limit is inside a character for some of these.
    for start in 0..4 {
        names(
            &index,
            &format!("{}{}", "x".repeat(start), "🌧".repeat(10_000)),
        );
    }
}

#[test]
fn words_after_the_limit_are_ignored() {
    let index = Index::new(&tools());
    let many: String = (0..Index::MAX_QUERY_WORDS)
        .map(|number| format!("{} ", number + 1_000))
        .collect();
    assert!(names(&index, &format!("{many}weather")).is_empty());
    assert_eq!(names(&index, &format!("weather {many}")), ["getWeather"]);
    assert_eq!(
        names(&index, &format!("{}weather", "1000 ".repeat(500))),
        ["getWeather"]
    );
}

/// Tools such as `mail.archive_invoice`.
fn shop() -> Vec<Tool> {
    let (families, verbs) = (
        ["mail", "ledger", "stock", "garden"],
        ["archive", "create", "export", "find", "rename"],
    );
    let nouns = ["invoice", "event", "label", "ticket", "recipe"];
    let names = families
        .iter()
        .flat_map(|family| verbs.iter().map(move |verb| (family, verb)));
    let names = names.flat_map(|(family, verb)| nouns.iter().map(move |noun| (family, verb, noun)));
    let tool = |(family, verb, noun): (&&str, &&str, &&str)| {
        let description = format!(
            "Can {verb} one {noun} of the {family}, and answers with it as it is afterwards."
        );
        Tool::new(format!("{family}.{verb}_{noun}"), description, json!({})).unwrap()
    };
    names.map(tool).collect()
}

#[test]
fn a_tool_that_repeats_all_words_comes_first_for_no_other_tool() {
    let tools = shop();
    let all = tools
        .iter()
        .map(|tool| format!("{} {}", tool.name, tool.description))
        .collect::<Vec<_>>()
        .join(" ");
    let once: std::collections::BTreeSet<_> = all.split([' ', '.', '_', ',']).collect();
    let once = once.into_iter().collect::<Vec<_>>().join(" ");
    let times = |times: usize| format!("{once} ").repeat(times);
    for stuffed in [once.clone(), times(5), times(30), all.clone()] {
        let title = stuffed.chars().take(1_000).collect::<String>();
        let words = || once.split(' ').filter(|word| word.len() > 1);
        let properties: serde_json::Map<_, _> =
            words().map(|word| (word.to_owned(), json!({}))).collect();
        for hostile in [
            Tool::new("aaa", &stuffed, json!({})).unwrap(),
            Tool::new(
                "aaa",
                &stuffed,
                json!({"properties": properties, "description": stuffed}),
            )
            .unwrap(),
            Tool::new("aaa", "", json!({}))
                .unwrap()
                .with_title(&title)
                .with_tags(words().collect::<Vec<_>>()),
        ] {
            let index = Index::new(tools.iter().chain([&hostile]));
            for tool in tools.iter().step_by(7) {
                for query in [tool.name.to_string(), tool.description.clone()] {
                    assert_eq!(names(&index, &query)[0], *tool.name, "{query}");
                }
            }
        }
    }
}

#[test]
fn a_second_word_of_the_query_counts_more_than_any_repetition_of_the_first() {
    for times in [4, 8, 16, 125_000] {
        let hostile = Tool::new("aaa", "invoice ".repeat(times), json!({})).unwrap();
        let index = Index::new(shop().iter().chain([&hostile]));
        for query in ["archive invoice", "invoice export", "invoice of mail"] {
            assert_ne!(names(&index, query)[0], "aaa", "{query}, {times} times");
        }
    }
}

#[test]
fn long_definitions_of_no_use_do_no_harm() {
    let mut tools = tools();
    let fillers = [
        "\u{200b}",
        "\u{e0061}",
        "e\u{301}",
        "🇩🇪",
        "a\u{ad}",
        "x",
        "天",
        "\0",
    ];
    for (number, filler) in fillers.into_iter().enumerate() {
        let long = filler.repeat(100_000 / filler.len());
        let parameters = json!({"properties": {long.as_str(): {"enum": [long]}}});
        tools.push(Tool::new(format!("hostile{number}"), &long, parameters).unwrap());
    }
    let index = Index::new(&tools);
    assert_eq!(names(&index, "forecast of the weather"), ["getWeather"]);
    assert_eq!(names(&index, "mail"), ["mail.send"]);
    for filler in fillers {
        assert!(
            index
                .search(filler, 100, |_| true)
                .iter()
                .all(|found| found.score.is_finite())
        );
    }
}

#[test]
fn a_deeply_nested_schema_is_read() {
    let mut parameters = json!({"properties": {"innermost": {}}});
    for _ in 0..1_000 {
        // The macro would copy it.
        let properties = Value::Object([("level".to_owned(), parameters)].into_iter().collect());
        parameters = Value::Object(
            [("properties".to_owned(), properties)]
                .into_iter()
                .collect(),
        );
    }
    let deep = Tool::new("deep", "", parameters).unwrap();
    let index = Index::new(&[deep]);
    for word in ["level", "innermost"] {
        assert_eq!(names(&index, word), ["deep"]);
    }
}
