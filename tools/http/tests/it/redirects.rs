//! Redirects: each is a request of its own, and takes along no more than it may.

use std::sync::Arc;

use tools_http::{
    HeaderName, HeaderValue, HttpClient, HttpError, HttpLimits, HttpOptions, Method, Request,
};
use tools_testkit::http::{Received, TestAuthority, TestResolver, TestServer};

use crate::setup::{get, granted, local, names, unlimited};

async fn redirecting(status: &'static str, location: impl Into<String>) -> TestServer {
    let location = location.into();
    TestServer::start(move |request| match request.path() {
        "/" => TestServer::head(status, &[("location", &location)]),
        _ => TestServer::ok("text/plain", "arrived"),
    })
    .await
}

fn line(received: &Received) -> &str {
    received.head.lines().next().unwrap_or_default()
}

#[tokio::test]
async fn a_redirect_is_followed_to_its_final_url() {
    let server = redirecting("302 Found", "/next?a#b").await;
    let response = get(&server, "/").await.unwrap();
    assert_eq!(
        (&response.body[..], response.url.as_str()),
        (&b"arrived"[..], &*server.url("/next?a#b"))
    );
    assert_eq!(
        response
            .redirects
            .iter()
            .map(|url| url.as_str())
            .collect::<Vec<_>>(),
        [server.url("/")]
    );
}

#[tokio::test]
async fn a_redirect_to_a_host_without_a_grant_is_refused_with_its_url() {
    let target = TestServer::start(|_| TestServer::ok("text/plain", "secret")).await;
    let server = redirecting("302 Found", target.url("/x")).await;
    let cx = granted([&*format!("net:read:{}", server.address())]);
    let request = Request::get(&server.url("/")).unwrap();
    let refused = local(HttpLimits::default())
        .send(&cx, request)
        .await
        .unwrap_err();
    assert!(
        matches!(&refused, HttpError::Refused { url, .. } if *url == target.url("/x")),
        "{refused}"
    );
    assert_eq!(target.connections(), 0);
}

#[tokio::test]
async fn a_redirect_that_leads_nowhere_ends() {
    let circle = redirecting("302 Found", "/").await;
    let endless = TestServer::start(|request| {
        TestServer::head(
            "307 Temporary Redirect",
            &[("location", &format!("{}x", request.path()))],
        )
    })
    .await;
    for (server, requests) in [(&circle, 1), (&endless, 11)] {
        let refused = get(server, "/").await.unwrap_err();
        assert!(
            matches!(refused, HttpError::Redirects { limit: 10, .. }),
            "{refused}"
        );
        assert_eq!(server.received().len(), requests);
    }
}

#[tokio::test]
async fn a_redirect_without_a_location_is_an_answer() {
    let server = TestServer::start(|_| TestServer::head("302 Found", &[])).await;
    assert_eq!(get(&server, "/").await.unwrap().status.as_u16(), 302);
}

#[tokio::test]
async fn an_invalid_location_is_refused() {
    for location in [
        "http://",
        "file:///etc/passwd",
        "http://u:p@a/",
        "//[",
        "javascript:alert(1)",
    ] {
        let server = redirecting("302 Found", location).await;
        let refused = get(&server, "/").await.unwrap_err();
        assert!(
            matches!(refused, HttpError::Url { .. }),
            "{location} {refused}"
        );
    }
    let two = [("location", "/a"), ("location", "/b")];
    let server = TestServer::start(move |_| TestServer::head("302 Found", &two)).await;
    assert!(matches!(
        get(&server, "/").await,
        Err(HttpError::Url { .. })
    ));
}

#[tokio::test]
async fn the_next_method_is_that_of_browsers() {
    for (status, method, next) in [
        ("301", "POST", "GET"),
        ("302", "POST", "GET"),
        ("303", "POST", "GET"),
        ("303", "PUT", "GET"),
        ("303", "HEAD", "HEAD"),
        ("301", "HEAD", "HEAD"),
        ("301", "PUT", "PUT"),
        ("302", "DELETE", "DELETE"),
        ("307", "POST", "POST"),
        ("308", "PUT", "PUT"),
        ("308", "GET", "GET"),
    ] {
        let server = TestServer::start(move |request| match request.path() {
            "/" => TestServer::head(&format!("{status} X"), &[("location", "/next")]),
            _ => TestServer::ok("text/plain", ""),
        })
        .await;
        let request = Request::new(method.parse().unwrap(), &server.url("/")).unwrap();
        let with_body = ["POST", "PUT"].contains(&method);
        let request = if with_body {
            request.with_json(&1).unwrap()
        } else {
            request
        };
        local(HttpLimits::default())
            .send(&unlimited(), request)
            .await
            .unwrap();
        let received = server.received();
        assert_eq!(
            line(&received[1]),
            format!("{next} /next HTTP/1.1"),
            "{status} {method}"
        );
        let keeps_body = with_body && next == method;
        assert_eq!(
            !received[1].body.is_empty(),
            keeps_body,
            "{status} {method}"
        );
        assert_eq!(
            received[1].header("content-type").is_some(),
            keeps_body,
            "{status} {method}"
        );
    }
}

#[tokio::test]
async fn a_write_that_becomes_a_read_needs_a_grant_to_read() {
    let server = redirecting("303 See Other", "/next").await;
    let request = Request::new(Method::POST, &server.url("/")).unwrap();
    let cx = granted([&*format!("net:write:{}", server.address())]);
    let refused = local(HttpLimits::default())
        .send(&cx, request)
        .await
        .unwrap_err();
    assert!(
        matches!(&refused, HttpError::Refused { url, .. } if *url == server.url("/next")),
        "{refused}"
    );
    assert_eq!(server.received().len(), 1);
}

#[tokio::test]
async fn a_body_does_not_cross_origins() {
    let target = TestServer::start(|_| TestServer::ok("text/plain", "")).await;
    let server = redirecting("307 Temporary Redirect", target.url("/")).await;
    let request = Request::new(Method::POST, &server.url("/")).unwrap();
    let client = local(HttpLimits::default());
    let refused = client
        .send(&unlimited(), request.clone().with_body("data"))
        .await
        .unwrap_err();
    assert!(
        matches!(&refused, HttpError::Url { url, .. } if *url == target.url("/")),
        "{refused}"
    );
    assert_eq!(target.connections(), 0);
    client.send(&unlimited(), request).await.unwrap();
    assert_eq!(line(&target.received()[0]), "POST / HTTP/1.1");
}

#[tokio::test]
async fn headers_of_the_tool_do_not_cross_origins_and_do_not_come_back() {
    let home = "http://home.example";
    let server = TestServer::start(
        move |request| match (request.header("host"), request.path()) {
            (Some("home.example"), "/") => {
                TestServer::head("302 Found", &[("location", "/inside")])
            }
            (Some("home.example"), "/inside") => {
                TestServer::head("302 Found", &[("location", "http://other.example/")])
            }
            (Some("other.example"), _) => {
                TestServer::head("302 Found", &[("location", &format!("{home}/back"))])
            }
            _ => TestServer::ok("text/plain", ""),
        },
    )
    .await;
    let options = names([
        ("home.example", server.address()),
        ("other.example", server.address()),
    ]);
    let mut request = Request::get(home).unwrap();
    for (name, value) in [
        ("authorization", "a"),
        ("cookie", "b"),
        ("x-key", "c"),
        ("accept", "d"),
        ("accept-language", "e"),
    ] {
        request = request.with_header(
            HeaderName::from_static(name),
            HeaderValue::from_static(value),
        );
    }
    HttpClient::from_options(options)
        .unwrap()
        .send(&unlimited(), request)
        .await
        .unwrap();
    let sent = server
        .received()
        .iter()
        .map(|received| {
            [
                "authorization",
                "cookie",
                "x-key",
                "accept",
                "accept-language",
                "referer",
            ]
            .map(|name| received.header(name).unwrap_or("-").to_owned())
            .concat()
        })
        .collect::<Vec<_>>();
    assert_eq!(sent, ["abcde-", "abcde-", "---de-", "---de-"]);
}

#[tokio::test]
async fn an_encrypted_request_is_not_continued_in_plain() {
    let plain = TestServer::start(|_| TestServer::ok("text/plain", "")).await;
    let authority = TestAuthority::new();
    let server = TestServer::start_tls(&authority, &["a.example"], |_| {
        TestServer::head("302 Found", &[("location", "http://a.example/")])
    })
    .await;
    let answers = [vec![server.address()], vec![plain.address()]];
    let options = HttpOptions {
        private_hosts: vec!["a.example".into()],
        root_certificates: vec![authority.pem().into()],
        resolver: Some(Arc::new(
            TestResolver::new().with_answers("a.example", answers),
        )),
        ..HttpOptions::default()
    };
    let request = Request::get("https://a.example/").unwrap();
    let refused = HttpClient::from_options(options)
        .unwrap()
        .send(&unlimited(), request)
        .await
        .unwrap_err();
    assert!(
        matches!(&refused, HttpError::Url { url, .. } if url == "http://a.example/"),
        "{refused}"
    );
    assert_eq!((server.received().len(), plain.connections()), (1, 0));
}
