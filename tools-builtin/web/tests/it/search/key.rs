//! Keys reach their own service only.

use serde_json::json;
use tools_http::{HttpClient, HttpOptions};
use tools_testkit::TestHost;
use tools_testkit::http::TestServer;
use tools_web::search::{self, WebSearch};

use super::{answer, at, grant, options, response};

const KEY: &str = "canary-7f3a9c";

fn host_with_key(web_search: &WebSearch, key: &str, options: HttpOptions) -> TestHost {
    let secret = web_search.bind_key(key).unwrap().unwrap();
    TestHost::new(tools_web::register)
        .with_context(|cx| cx.with_grant(grant(web_search)))
        .with_service(
            HttpClient::from_options(HttpOptions {
                secrets: vec![secret],
                ..options
            })
            .unwrap(),
        )
        .with_service(web_search.clone())
}

#[tokio::test]
async fn a_key_is_in_the_header_of_its_service() {
    for (backend, header, value) in [
        ("brave", "x-subscription-token", KEY.to_owned()),
        ("tavily", "authorization", format!("Bearer {KEY}")),
    ] {
        let server =
            TestServer::start(move |_| TestServer::ok("application/json", answer(backend))).await;
        let result = host_with_key(&at(backend, &server), KEY, options())
            .call("web.search", json!({"query": "rust"}))
            .await;
        let [request] = &server.received()[..] else {
            panic!("one request is sent")
        };
        assert_eq!(request.header(header), Some(&*value));
        assert!(
            !request.path().contains(KEY) && !String::from_utf8_lossy(&request.body).contains(KEY)
        );
        assert!(!format!("{result:?}").contains(KEY));
    }
}

#[tokio::test]
async fn a_key_does_not_follow_a_redirect_to_another_origin() {
    let other = TestServer::start(|_| TestServer::ok("application/json", answer("brave"))).await;
    let to = other.url("/elsewhere");
    let server =
        TestServer::start(move |_| response("302 Found", &format!("location: {to}\r\n"), "")).await;
    let hosts = [&server, &other].map(|server| format!("net:read:{}", server.address()));
    let host = host_with_key(&at("brave", &server), KEY, options()).with_grant(&[
        "search:read:web",
        &hosts[0],
        &hosts[1],
    ]);
    host.value("web.search", json!({"query": "rust"})).await;
    assert!(server.received()[0].head.contains(KEY));
    assert!(
        !other.received()[0].head.contains(KEY),
        "{}",
        other.received()[0].head
    );
}

#[tokio::test]
async fn a_key_in_an_error_is_masked() {
    let body = format!(r#"{{"error": {{"code": "X", "detail": "the token {KEY} is not known"}}}}"#);
    let server = TestServer::start(move |_| {
        response(
            "422 Unprocessable",
            "content-type: application/json\r\n",
            &body,
        )
    })
    .await;
    let error = host_with_key(&at("brave", &server), KEY, options())
        .call("web.search", json!({"query": "rust"}))
        .await
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("is not known") && !error.contains(KEY),
        "{error}"
    );
}

#[tokio::test]
async fn a_service_without_a_key_binds_none() {
    let server = TestServer::start(|_| Vec::new()).await;
    for (backend, has_key) in [
        ("brave", true),
        ("duckduckgo", false),
        ("searxng", false),
        ("tavily", true),
    ] {
        assert_eq!(
            at(backend, &server).bind_key(KEY).unwrap().is_some(),
            has_key
        );
        assert_eq!(
            search::get(backend)
                .unwrap()
                .key
                .is_some_and(|key| key.is_required),
            has_key
        );
    }
}
