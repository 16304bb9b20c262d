//! The cache of a session: what it keeps, what it asks for again, and what it never keeps.

use std::sync::atomic::{AtomicUsize, Ordering};

use tools_http::{
    BoundSecret, HeaderName, HeaderValue, HttpClient, HttpError, HttpLimits, HttpOptions, Method,
    Request,
};
use tools_testkit::http::{Received, TestServer};

use crate::setup::{granted, local, unlimited};

/// Starts a server whose answers have these headers and count the requests.
async fn counting(headers: &'static [(&'static str, &'static str)]) -> TestServer {
    let count = AtomicUsize::new(0);
    TestServer::start(move |request| {
        let body = format!("answer {}", count.fetch_add(1, Ordering::SeqCst) + 1);
        let headers: String = headers
            .iter()
            .map(|(name, value)| format!("{name}: {value}\r\n"))
            .collect();
        if is_conditional(request) {
            return format!("HTTP/1.1 304 Not Modified\r\n{headers}x-confirmed: yes\r\n\r\n")
                .into_bytes();
        }
        format!(
            "HTTP/1.1 200 OK\r\n{headers}content-length: {}\r\n\r\n{body}",
            body.len()
        )
        .into_bytes()
    })
    .await
}

fn is_conditional(request: &Received) -> bool {
    request.header("if-none-match").is_some() || request.header("if-modified-since").is_some()
}

async fn get(client: &HttpClient, server: &TestServer) -> String {
    let response = client
        .send(&unlimited(), Request::get(&server.url("/")).unwrap())
        .await
        .unwrap();
    assert_eq!(response.status, 200);
    String::from_utf8(response.body.to_vec()).unwrap()
}

#[tokio::test]
async fn a_fresh_response_is_used_again_in_its_session_only() {
    let server = counting(&[("cache-control", "max-age=60")]).await;
    let client = local(HttpLimits::default());
    assert_eq!(
        (
            get(&client, &server).await,
            get(&client.clone(), &server).await
        ),
        ("answer 1".into(), "answer 1".into())
    );
    assert_eq!(get(&client.new_session(), &server).await, "answer 2");
    assert_eq!(get(&client, &server).await, "answer 1");
}

#[tokio::test]
async fn a_stale_response_is_confirmed_by_its_validators() {
    for (headers, sent) in [
        (
            &[("cache-control", "no-cache"), ("etag", "\"v1\"")][..],
            ("if-none-match", "\"v1\""),
        ),
        (
            &[("cache-control", "max-age=0"), ("etag", "W/\"v1\"")][..],
            ("if-none-match", "W/\"v1\""),
        ),
        (
            &[
                ("cache-control", "max-age=0"),
                ("last-modified", "Mon, 01 Jan 2024 00:00:00 GMT"),
            ][..],
            ("if-modified-since", "Mon, 01 Jan 2024 00:00:00 GMT"),
        ),
    ] {
        let server = counting(headers).await;
        let client = local(HttpLimits::default());
        assert_eq!(
            (get(&client, &server).await, get(&client, &server).await),
            ("answer 1".into(), "answer 1".into())
        );
        let received = server.received();
        assert_eq!(
            (received.len(), received[1].header(sent.0)),
            (2, Some(sent.1)),
            "{headers:?}"
        );
    }
}

#[tokio::test]
async fn a_changed_response_replaces_the_stored_one_and_a_wrong_confirmation_does_not_count() {
    let server = TestServer::start(|request| {
        let answer = |tag: &str, body: &str| {
            format!("HTTP/1.1 200 OK\r\netag: \"{tag}\"\r\ncache-control: no-cache\r\ncontent-length: 1\r\n\r\n{body}")
                .into_bytes()
        };
        match request.header("if-none-match") {
            None => answer("a", "1"),
            Some("\"a\"") => answer("b", "2"),
            Some(_) => TestServer::head("304 Not Modified", &[("etag", "\"another\"")]),
        }
    })
    .await;
    let client = local(HttpLimits::default());
    let mut bodies = Vec::new();
    for _ in 0..4 {
        bodies.push(get(&client, &server).await);
    }
    assert_eq!(bodies, ["1", "2", "1", "2"]);
    // The third request was confirmed wrongly, so it was sent again without conditions.
    assert_eq!(server.received().len(), 5);
}

#[tokio::test]
async fn responses_that_may_not_be_stored_are_requested_again() {
    for headers in [
        &[("cache-control", "no-store")][..],
        &[("cache-control", "max-age=60"), ("vary", "*")][..],
        &[("cache-control", "max-age=0")][..],
        &[][..],
    ] {
        let server = counting(headers).await;
        let client = local(HttpLimits::default());
        assert_eq!(
            (get(&client, &server).await, get(&client, &server).await),
            ("answer 1".into(), "answer 2".into())
        );
    }
}

#[tokio::test]
async fn a_response_that_varies_is_used_for_the_same_headers_only() {
    let server = counting(&[("cache-control", "max-age=60"), ("vary", "accept-language")]).await;
    let client = local(HttpLimits::default());
    let mut bodies = Vec::new();
    for language in ["de", "de", "en"] {
        let request = Request::get(&server.url("/")).unwrap();
        let request = request.with_header(
            HeaderName::from_static("accept-language"),
            HeaderValue::from_static(language),
        );
        bodies.push(client.send(&unlimited(), request).await.unwrap().body);
    }
    assert_eq!(bodies, ["answer 1", "answer 1", "answer 2"]);
}

#[tokio::test]
async fn the_grant_and_the_limit_hold_for_stored_responses_too() {
    let server = counting(&[("cache-control", "max-age=60")]).await;
    let client = local(HttpLimits::default());
    get(&client, &server).await;
    let request = Request::get(&server.url("/")).unwrap();
    let refused = client
        .send(&granted(["net:read:other.example"]), request.clone())
        .await;
    assert!(matches!(refused, Err(HttpError::Refused { .. })));
    let refused = client
        .send(&unlimited(), request.with_max_body_bytes(3))
        .await;
    assert!(matches!(refused, Err(HttpError::TooLarge { limit: 3, .. })));
    assert_eq!(server.received().len(), 1);
}

#[tokio::test]
async fn a_stored_redirect_still_asks_for_its_target() {
    let server = TestServer::start(|request| match request.path() {
        "/" => TestServer::head(
            "301 Moved",
            &[
                ("location", "http://127.0.0.1:1/"),
                ("cache-control", "max-age=60"),
            ],
        ),
        _ => Vec::new(),
    })
    .await;
    let client = local(HttpLimits::default());
    let cx = granted([&*format!("net:read:{}", server.address())]);
    for _ in 0..3 {
        let refused = client
            .send(&cx, Request::get(&server.url("/")).unwrap())
            .await
            .unwrap_err();
        assert!(
            matches!(&refused, HttpError::Refused { url, .. } if url == "http://127.0.0.1:1/"),
            "{refused}"
        );
    }
    assert_eq!(server.received().len(), 1);
}

#[tokio::test]
async fn requests_with_secrets_or_own_headers_are_not_stored() {
    let server = counting(&[("cache-control", "public, max-age=60")]).await;
    let key = BoundSecret::new("key", &server.url(""), "x-key", "", "0123456789").unwrap();
    let options = HttpOptions {
        private_hosts: vec!["127.0.0.1".into()],
        secrets: vec![key],
        ..HttpOptions::default()
    };
    let client = HttpClient::from_options(options).unwrap();
    assert_eq!(
        (get(&client, &server).await, get(&client, &server).await),
        ("answer 1".into(), "answer 2".into())
    );
    let client = local(HttpLimits::default());
    for name in ["authorization", "cookie", "range", "x-key"] {
        let request = Request::get(&server.url("/")).unwrap();
        let request =
            request.with_header(HeaderName::from_static(name), HeaderValue::from_static("a"));
        client.send(&unlimited(), request).await.unwrap();
    }
    assert_eq!(get(&client, &server).await, "answer 7");
}

#[tokio::test]
async fn a_request_that_writes_is_not_stored_and_forgets_what_was() {
    let server = counting(&[("cache-control", "max-age=60")]).await;
    let client = local(HttpLimits::default());
    assert_eq!(get(&client, &server).await, "answer 1");
    let post = Request::new(Method::POST, &server.url("/")).unwrap();
    client.send(&unlimited(), post).await.unwrap();
    assert_eq!(
        (get(&client, &server).await, get(&client, &server).await),
        ("answer 3".into(), "answer 3".into())
    );
}

#[tokio::test]
async fn a_cache_of_no_bytes_or_no_entries_is_off() {
    let (mut no_bytes, mut no_entries) = (HttpLimits::default(), HttpLimits::default());
    (no_bytes.max_cache_bytes, no_entries.max_cache_entries) = (0, 0);
    for limits in [no_bytes, no_entries] {
        let server = counting(&[("cache-control", "max-age=60")]).await;
        let client = local(limits);
        assert_eq!(
            (get(&client, &server).await, get(&client, &server).await),
            ("answer 1".into(), "answer 2".into())
        );
    }
}
