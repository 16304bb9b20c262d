//! The service that a host offers, its targets, and calls without it.

use serde_json::json;
use tools::policy::{Policy, Rule, Verdict};
use tools::{ErrorCode, Grant, Services, ToolErrorKind};
use tools_http::HttpClient;
use tools_testkit::TestHost;
use tools_web::search::{self, SearchError, WebSearch};

use super::{answer, at, host, service};

#[tokio::test]
async fn without_a_backend_the_reason_of_the_host_is_the_answer() {
    let setting = "no search backend is configured; write search = \"duckduckgo\"";
    let host = TestHost::new(tools_web::register)
        .with_service(HttpClient::default())
        .with_grant(&[]);
    let error = host
        .call("web.search", json!({"query": "rust"}))
        .await
        .unwrap_err();
    assert!(
        matches!(error.kind(), ToolErrorKind::Unavailable { reason } if reason.contains("WebSearch")),
        "{error}"
    );
    let host = host.with_context(|cx| cx.with_absent_service::<WebSearch>(setting));
    let error = host
        .call("web.search", json!({"query": "rust"}))
        .await
        .unwrap_err();
    assert!(
        matches!(error.kind(), ToolErrorKind::Unavailable { reason } if reason == setting),
        "{error}"
    );
    let mut services = Services::new();
    services.insert_absent::<WebSearch>(setting);
    assert!(services.get::<WebSearch>().is_none());
}

#[tokio::test]
async fn the_targets_are_all_that_a_search_needs() {
    for backend in super::BACKENDS {
        let server = service(answer(backend)).await;
        let web_search = at(backend, &server);
        let clauses: Vec<_> = web_search
            .targets()
            .iter()
            .map(ToString::to_string)
            .collect();
        let granted = |clauses: &[String]| {
            let clauses: Vec<_> = clauses.iter().map(String::as_str).collect();
            host(web_search.clone()).with_grant(&clauses)
        };
        granted(&clauses)
            .value("web.search", json!({"query": "rust"}))
            .await;
        for missing in 0..clauses.len() {
            let mut fewer = clauses.clone();
            fewer.remove(missing);
            let error = granted(&fewer)
                .call("web.search", json!({"query": "rust"}))
                .await
                .unwrap_err();
            assert_eq!(
                error.code(),
                ErrorCode::PermissionDenied,
                "{backend} without {}",
                clauses[missing]
            );
        }
        assert_eq!(server.received().len(), 1);
    }
}

#[tokio::test]
async fn a_service_that_takes_post_only_is_written_to_and_needs_a_rule() {
    let server = service(answer("tavily")).await;
    let web_search = at("tavily", &server);
    let target = web_search.targets()[1].to_string();
    assert_eq!(target, format!("net:write:{}", server.address()));
    let with = |policy: Policy| {
        host(web_search.clone()).with_context(|cx| cx.with_grant(Grant::all()).with_policy(policy))
    };
    let error = with(Policy::by_effects())
        .call("web.search", json!({"query": "rust"}))
        .await
        .unwrap_err();
    assert_eq!(error.code(), ErrorCode::Unapproved, "{error}");
    let rule = Rule::new(
        Verdict::Allow,
        Some("web.search"),
        Some(target.parse().unwrap()),
    )
    .unwrap();
    with(Policy::by_effects().with_rules([rule]))
        .value("web.search", json!({"query": "rust"}))
        .await;
}

#[test]
fn an_address_is_needed_and_checked() {
    let searxng = search::get("searxng").unwrap();
    assert!(matches!(
        WebSearch::new(searxng, None),
        Err(SearchError::NoBaseUrl { backend: "searxng" })
    ));
    for url in [
        "",
        "example.org",
        "ftp://example.org",
        "https://",
        "https://a:s3cret@example.org",
        "https://example.org?a=b",
        "https://example.org#a",
    ] {
        let error = WebSearch::new(searxng, Some(url)).unwrap_err();
        assert!(
            matches!(error, SearchError::BaseUrl { .. }) && !error.to_string().contains("s3cret"),
            "{url} {error}"
        );
    }
    let web_search = WebSearch::new(searxng, Some("https://example.org:8443/searx/")).unwrap();
    let targets: Vec<_> = web_search
        .targets()
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(targets, ["search:read:web", "net:read:example.org:8443"]);
}

#[test]
fn an_option_that_a_service_does_not_know_is_refused() {
    let new = |name| WebSearch::new(search::get(name).unwrap(), None).unwrap();
    let error = new("duckduckgo").with_language("de").unwrap_err();
    assert!(matches!(
        error,
        SearchError::NoLanguage {
            backend: "duckduckgo"
        }
    ));
}
