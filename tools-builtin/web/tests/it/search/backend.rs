//! The results of each backend, all in one shape.
//!
//! The answers are made after these packages:
//! - `answers/brave.json`: the first results of `brave_search_python_client/responses/mock_data/web.json` in
//!   `brave-search-python-client` 0.4.27 (PyPI, MIT), without pictures. Brave's own `@brave/brave-search-mcp-server` 2.1.4 (npm) reads
//!   the same fields in `dist/tools/web/index.js`, and sends the request in `dist/BraveAPI/index.js`.
//! - `answers/tavily.json`: the fields that the official `@tavily/core` 0.7.13 (npm) reads in `dist/index.js`; the official
//!   `tavily-python` 0.8.5 (PyPI) sends the request in `tavily/tavily.py`.
//! - `answers/searxng.json`: `get_json_response` in `searx/webutils.py` and `MainResult` in `searx/result_types/_base.py` of
//!   `searxng/searxng`; `searxng` 0.1.2 (PyPI) sends the same request in `searxng/adapters.py`.
//! - `answers/duckduckgo.json`: the keys in `duckduckpy/api.py` of `duckduckpy` 0.2 (PyPI).

use serde_json::{Value, json};

use super::{BACKENDS, answer, at, host, service};

async fn results(backend: &str, json: impl Into<String>) -> Value {
    let server = service(json).await;
    let value = host(at(backend, &server))
        .value("web.search", json!({"query": "rust", "count": 20}))
        .await;
    assert_eq!(value["backend"], backend);
    value["results"].clone()
}

#[tokio::test]
async fn brave_gives_the_text_of_its_html() {
    let results = results("brave", answer("brave")).await;
    assert_eq!(results[0]["title"], "\"Hello, World!\" program - Wikipedia");
    assert_eq!(
        results[0]["url"],
        "https://en.wikipedia.org/wiki/%22Hello,_World!%22_program"
    );
    assert_eq!(results[0]["date"], "2024-12-27T15:49:55");
    let snippet = results[0]["snippet"].as_str().unwrap();
    assert!(
        snippet.starts_with("A \"Hello, World!\" program is usually a simple"),
        "{snippet}"
    );
    assert!(
        snippet.contains("a language's basic syntax") && !snippet.contains("strong"),
        "{snippet}"
    );
    assert_eq!(results.as_array().unwrap().len(), 3);
}

#[tokio::test]
async fn brave_may_find_nothing() {
    let empty = json!({"type": "search", "query": {"original": "rust"}}).to_string();
    assert_eq!(results("brave", empty).await, json!([]));
}

#[tokio::test]
async fn tavily_gives_its_content_as_it_is() {
    let results = results("tavily", answer("tavily")).await;
    let expected = json!([
        {
            "title": "A tokenizer in Rust",
            "url": "https://example.org/tokenizer",
            "snippet": "It returns `Token<'a>` values & never recurses.",
            "date": "Tue, 02 Jun 2026 08:00:00 GMT",
        },
        {"title": "HTML, in short", "url": "https://example.net/html", "snippet": "The states of the tokenizer."},
    ]);
    assert_eq!(results, expected);
}

#[tokio::test]
async fn searxng_gives_its_content_as_it_is() {
    let results = results("searxng", answer("searxng")).await;
    let expected = json!([
        {
            "title": "A tokenizer in Rust",
            "url": "https://example.org/tokenizer",
            "snippet": "It returns Vec<u8> & never recurses.",
            "date": "2026-06-02T08:00:00",
        },
        {"title": "HTML, in short", "url": "https://example.net/html", "snippet": "The states of the tokenizer."},
    ]);
    assert_eq!(results, expected);
}

#[tokio::test]
async fn duckduckgo_gives_the_abstract_the_site_and_related_topics() {
    let results = results("duckduckgo", answer("duckduckgo")).await;
    let parts: Vec<_> = results
        .as_array()
        .unwrap()
        .iter()
        .map(|each| (&each["title"], &each["url"]))
        .collect();
    let expected = [
        (
            "Rust (programming language)",
            "https://en.wikipedia.org/wiki/Rust_(programming_language)",
        ),
        ("Official site", "https://www.rust-lang.org/"),
        ("Cargo", "https://duckduckgo.com/Cargo_(software)"),
        (
            "Programming languages",
            "https://duckduckgo.com/c/Programming_languages",
        ),
    ];
    let expected: Vec<_> = expected
        .iter()
        .map(|(title, url)| (json!(title), json!(url)))
        .collect();
    assert_eq!(
        parts,
        expected
            .iter()
            .map(|(title, url)| (title, url))
            .collect::<Vec<_>>()
    );
    assert_eq!(
        results[2]["snippet"],
        "Cargo - The package manager of Rust."
    );
}

#[tokio::test]
async fn an_answer_of_duckduckgo_has_the_page_that_shows_it() {
    let sum = json!({"Answer": "<b>3</b>", "AnswerType": "calc", "Heading": "", "RelatedTopics": [], "Results": []});
    let results = results("duckduckgo", sum.to_string()).await;
    assert_eq!(
        results,
        json!([{"title": "Answer", "url": "https://duckduckgo.com/?q=rust", "snippet": "3"}])
    );
}

#[tokio::test]
async fn no_more_results_than_wanted_are_returned() {
    for backend in BACKENDS {
        let server = service(answer(backend)).await;
        let value = host(at(backend, &server))
            .value("web.search", json!({"query": "rust", "count": 1}))
            .await;
        assert_eq!(value["results"].as_array().unwrap().len(), 1, "{backend}");
    }
}
