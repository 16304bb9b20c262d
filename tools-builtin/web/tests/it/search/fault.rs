//! Errors of services: typed, with the next step.
//!
//! The bodies are made after these places:
//! - Brave: `{"type": "ErrorResponse", "error": {"code", "detail", …}}` is the body that users of Brave report for a status of 422
//!   (egoist/chatwise-releases#936, nearai/ironclaw#2780).
//! - Tavily: `_handle_error_response` in `tavily/tavily.py` of the official `tavily-python` 0.8.5 (PyPI) reads `detail.error`.
//! - SearXNG: `/search` aborts with 403 if the format is not listed (docs.searxng.org/dev/search_api).

use std::time::Duration;

use serde_json::json;
use tools::{ErrorCode, ToolError};
use tools_testkit::http::TestServer;

use super::{BACKENDS, at, host, refusing, service};

async fn refused(backend: &str, server: &TestServer) -> ToolError {
    host(at(backend, server))
        .call("web.search", json!({"query": "rust"}))
        .await
        .unwrap_err()
}

#[tokio::test]
async fn each_status_says_the_next_step() {
    for (status, part) in [
        ("401 Unauthorized", "check the key"),
        ("402 Payment Required", "used up"),
        ("404 Not Found", "address of this service"),
        ("400 Bad Request", "change the query"),
        ("422 Unprocessable Entity", "change the query"),
    ] {
        let server = refusing(status, "", "").await;
        for backend in BACKENDS {
            let error = refused(backend, &server).await;
            assert_eq!(error.code(), ErrorCode::ExecutionFailed, "{error}");
            let text = error.to_string();
            assert!(
                text.contains(part) && text.contains(&status[..3]) && text.contains("127.0.0.1"),
                "{text}"
            );
        }
    }
}

#[tokio::test]
async fn a_busy_or_failing_service_is_a_transient_error() {
    for status in [
        "429 Too Many Requests",
        "500 Internal Server Error",
        "503 Service Unavailable",
    ] {
        let server = refusing(status, "retry-after: 3600\r\n", "busy").await;
        for backend in BACKENDS {
            let error = refused(backend, &server).await;
            assert_eq!(
                (error.code(), error.retry_after()),
                (ErrorCode::Transient, Some(Duration::from_secs(3600))),
                "{error}"
            );
        }
    }
}

#[tokio::test]
async fn the_time_of_a_retry_may_be_a_date() {
    let server = refusing(
        "429 Too Many Requests",
        "retry-after: Wed, 21 Oct 2015 07:28:00 GMT\r\n",
        "",
    )
    .await;
    assert_eq!(
        refused("tavily", &server).await.retry_after(),
        Some(Duration::ZERO)
    );
    let server = refusing("429 Too Many Requests", "retry-after: soon\r\n", "").await;
    assert_eq!(refused("tavily", &server).await.retry_after(), None);
}

#[tokio::test]
async fn an_invalid_key_of_brave_is_no_fault_of_the_query() {
    let body = r#"{"type": "ErrorResponse", "error": {"id": "1", "status": 422, "code": "SUBSCRIPTION_TOKEN_INVALID",
        "detail": "The provided subscription token is invalid.", "meta": {"component": "authentication"}}, "time": 1}"#;
    let server = refusing(
        "422 Unprocessable Entity",
        "content-type: application/json\r\n",
        body,
    )
    .await;
    let text = refused("brave", &server).await.to_string();
    assert!(
        text.contains("token is invalid") && text.contains("check the key"),
        "{text}"
    );
}

#[tokio::test]
async fn a_used_up_plan_of_tavily_is_no_fault_of_the_query() {
    let body = r#"{"detail": {"error": "This request exceeds your plan's set usage limit."}}"#;
    let server = refusing("432 Plan", "content-type: application/json\r\n", body).await;
    let error = refused("tavily", &server).await;
    assert_eq!(error.code(), ErrorCode::ExecutionFailed);
    assert!(
        error.to_string().contains("usage limit") && error.to_string().contains("used up"),
        "{error}"
    );
}

#[tokio::test]
async fn an_instance_of_searxng_without_json_says_so() {
    let server = refusing(
        "403 Forbidden",
        "content-type: text/html\r\n",
        "<h1>Forbidden</h1>",
    )
    .await;
    let text = refused("searxng", &server).await.to_string();
    assert!(
        text.contains("search.formats") && !text.contains("<h1>"),
        "{text}"
    );
}

#[tokio::test]
async fn engines_that_do_not_answer_are_no_empty_result() {
    let silent = json!({"results": [], "unresponsive_engines": [["google", "CAPTCHA"], ["brave", "timeout"], 3]});
    let server = service(silent.to_string()).await;
    let error = refused("searxng", &server).await;
    assert_eq!(error.code(), ErrorCode::Transient);
    assert!(
        error
            .to_string()
            .contains("google (CAPTCHA), brave (timeout)"),
        "{error}"
    );
}

#[tokio::test]
async fn an_error_in_an_answer_of_success_is_an_error() {
    for body in [
        r#"{"error": "no engine"}"#,
        r#"{"error": {"message": "no engine"}}"#,
        r#"{"error": {"detail": "no engine"}}"#,
    ] {
        let server = service(body).await;
        for backend in BACKENDS {
            let error = refused(backend, &server).await;
            assert_eq!(error.code(), ErrorCode::ExecutionFailed);
            assert!(error.to_string().contains("no engine"), "{error}");
        }
    }
}

#[tokio::test]
async fn a_page_instead_of_json_is_named_as_such() {
    let server =
        TestServer::start(|_| TestServer::ok("text/html; charset=utf-8", "<p>Log in")).await;
    for backend in BACKENDS {
        let text = refused(backend, &server).await.to_string();
        assert!(
            text.contains("a page of HTML") && !text.contains("Log in"),
            "{text}"
        );
    }
    let empty = refusing("202 Accepted", "", "").await;
    assert!(
        refused("duckduckgo", &empty)
            .await
            .to_string()
            .contains("empty (status 202)")
    );
}

#[tokio::test]
async fn the_message_of_a_service_is_one_visible_line() {
    let body = concat!(r#"{"error": {"detail": "a\nb\u202e\u0007"#, "c", r#""}}"#);
    let server = refusing(
        "400 Bad Request",
        "content-type: application/json\r\n",
        body,
    )
    .await;
    let text = refused("brave", &server).await.to_string();
    assert!(text.contains("a b<U+202E><U+0007>c"), "{text}");
}
