//! The requests of each backend.

use serde_json::{Value, json};
use tools_testkit::http::Received;
use tools_web::search::WebSearch;

use super::{answer, at, host, parameter, service};

const QUERY: &str = "c++ & \"größe\" #1? a=b/ü";

async fn sent(backend: &str, configure: impl FnOnce(WebSearch) -> WebSearch) -> Received {
    let server = service(answer(backend)).await;
    host(configure(at(backend, &server)))
        .value("web.search", json!({"query": QUERY, "count": 7}))
        .await;
    let [request] = &server.received()[..] else {
        panic!("one request is sent")
    };
    request.clone()
}

#[tokio::test]
async fn brave_is_asked_by_get() {
    let request = sent("brave", |search| search.with_language("de").unwrap()).await;
    assert!(
        request
            .head
            .starts_with("GET /base/web/search?q=c%2B%2B+%26+%22gr"),
        "{}",
        request.head
    );
    let expected = [
        ("q", QUERY),
        ("count", "7"),
        ("search_lang", "de"),
        ("result_filter", "web"),
    ];
    for (name, value) in expected {
        assert_eq!(parameter(&request, name).as_deref(), Some(value));
    }
    assert_eq!(request.header("accept"), Some("application/json"));
}

#[tokio::test]
async fn searxng_is_asked_by_get() {
    let request = sent("searxng", |search| search.with_language("de-CH").unwrap()).await;
    assert!(
        request.head.starts_with("GET /base/search?q="),
        "{}",
        request.head
    );
    for (name, value) in [("q", QUERY), ("format", "json"), ("language", "de-CH")] {
        assert_eq!(parameter(&request, name).as_deref(), Some(value));
    }
}

#[tokio::test]
async fn duckduckgo_is_asked_by_get_without_redirects() {
    let request = sent("duckduckgo", |search| search).await;
    assert!(
        request.head.starts_with("GET /base/?q="),
        "{}",
        request.head
    );
    for (name, value) in [
        ("q", QUERY),
        ("format", "json"),
        ("no_html", "1"),
        ("no_redirect", "1"),
    ] {
        assert_eq!(parameter(&request, name).as_deref(), Some(value));
    }
}

#[tokio::test]
async fn tavily_is_asked_by_post() {
    let request = sent("tavily", |search| search.with_language("de").unwrap()).await;
    assert!(
        request.head.starts_with("POST /base/search HTTP"),
        "{}",
        request.head
    );
    assert_eq!(request.header("content-type"), Some("application/json"));
    let body: Value = serde_json::from_slice(&request.body).unwrap();
    assert_eq!(
        body,
        json!({"query": QUERY, "max_results": 7, "language": "de"})
    );
}

#[tokio::test]
async fn the_configured_count_is_the_default_of_calls() {
    let server = service(answer("brave")).await;
    let call = async |search: WebSearch| {
        host(search)
            .value("web.search", json!({"query": "rust"}))
            .await;
        parameter(server.received().last().unwrap(), "count")
    };
    assert_eq!(call(at("brave", &server)).await.as_deref(), Some("5"));
}

#[tokio::test]
async fn a_query_that_no_service_takes_is_not_sent() {
    let server = service(answer("brave")).await;
    let host = host(at("brave", &server));
    let words = "a ".repeat(51);
    for (query, part) in [(" \n", "blank"), (words.trim(), "50 words")] {
        let error = host
            .call("web.search", json!({"query": query}))
            .await
            .unwrap_err()
            .to_string();
        assert!(error.contains(part), "{error}");
    }
    for arguments in [
        json!({"query": "a", "count": 21}),
        json!({"query": "a", "count": 0}),
        json!({"query": "a".repeat(401)}),
    ] {
        let error = host.call("web.search", arguments).await.unwrap_err();
        assert_eq!(error.code(), tools::ErrorCode::InvalidArguments, "{error}");
    }
    assert!(server.received().is_empty());
}
