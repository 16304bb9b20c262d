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
        "\"", "\"\"", "'", "*", "read*", "^read", "-file", "+file", "name:", "{name description}:",
        "NEAR(read file, 2)", "AND", "OR", "NOT", "(", ")", "((((", "~", "\\", "%", "_", ";--", "' OR 1=1 --", "$$",
        "\0", "\u{1}", "\r\n", "weather", "\u{202e}", "\u{200d}", "\u{feff}", "e\u{301}\u{301}", "İstanbul", "ß",
        "ﬁle", "погода", "طقس", "מזג", "天気", "อากาศ", "날씨", "👩‍👩‍👧‍👦", "🇩🇪🇩🇪🇩", "́", "a:a:a.a", "3,3.3", "१२",
    ];
    let once = prop_oneof![prop::sample::select(syntax.map(str::to_owned).to_vec()), any::<String>()];
    prop_oneof![60 => (once.clone(), 1..4_usize), 1 => (once, 1..1_000_usize)]
        .prop_map(|(part, times)| part.repeat(times))
}

#[test]
fn five_thousand_hostile_queries_do_no_harm() {
    let index = Index::new(&tools());
    let mut runner = TestRunner::new(Config { failure_persistence: None, ..Config::with_cases(5_000) });
    let queries = prop::collection::vec(parts(), 0..8).prop_map(|parts| parts.concat());
    runner
        .run(&queries, |query| {
            let found = index.search(&query, 3, |_| true);
            prop_assert!(found.len() <= 3);
            prop_assert!(found.is_sorted_by(|a, b| a.score >= b.score));
            for found in &found {
                prop_assert!(found.score.is_finite() && found.score > 0.0);
                prop_assert!(!found.matches.is_empty() && found.matches.len() <= Index::MAX_QUERY_WORDS);
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
    for query in
        ["\"read weather\" files*", "read:weather^2 -files", "+read AND (weather OR NOT files)", "read\0weather\0files"]
    {
        let words_only =
            |found: &[tools_search::Found]| found.iter().map(|found| found.name.clone()).collect::<Vec<_>>();
        assert_eq!(words_only(&index.search(query, 10, |_| true)), words_only(&plain), "{query:?}");
    }
}

#[test]
fn only_the_beginning_of_a_megabyte_is_read() {
    let index = Index::new(&tools());
    for filler in ["weather ", "ab", "\0", "\"", "🇩🇪", "é", "a:", "天", "e\u{301}"] {
        let long = filler.repeat(1_000_000 / filler.len());
        assert_eq!(names(&index, &format!("{long} mail")), names(&index, &long), "{filler:?}");
        assert_eq!(names(&index, &format!("mail {long}"))[0], "mail.send", "{filler:?}");
    }
    // The limit is inside a character for some of these.
    for start in 0..4 {
        names(&index, &format!("{}{}", "x".repeat(start), "🌧".repeat(10_000)));
    }
}

#[test]
fn words_after_the_limit_are_ignored() {
    let index = Index::new(&tools());
    let many: String = (0..Index::MAX_QUERY_WORDS).map(|number| format!("{} ", number + 1_000)).collect();
    assert!(names(&index, &format!("{many}weather")).is_empty());
    assert_eq!(names(&index, &format!("weather {many}")), ["getWeather"]);
    assert_eq!(names(&index, &format!("{}weather", "1000 ".repeat(500))), ["getWeather"]);
}

#[test]
fn a_deeply_nested_schema_is_read() {
    let mut parameters = json!({"properties": {"innermost": {}}});
    for _ in 0..1_000 {
        // The macro would copy it.
        let properties = Value::Object([("level".to_owned(), parameters)].into_iter().collect());
        parameters = Value::Object([("properties".to_owned(), properties)].into_iter().collect());
    }
    let deep = Tool::new("deep", "", parameters).unwrap();
    let index = Index::new(&[deep]);
    for word in ["level", "innermost"] {
        assert_eq!(names(&index, word), ["deep"]);
    }
}
