//! Secrets: they go to their own origin, and nothing else shows them.

use tools_http::{
    BoundSecret, HeaderName, HeaderValue, HttpClient, HttpError, HttpOptions, Request,
};
use tools_testkit::http::{TestAuthority, TestServer};

use crate::setup::{names, unlimited};

const KEY: &str = "kX9-canary+42/==";

fn secret(origin: &str) -> BoundSecret {
    BoundSecret::new("service", origin, "x-key", "Key ", KEY).unwrap()
}

async fn fetch(options: HttpOptions, url: &str) -> Result<tools_http::Response, HttpError> {
    HttpClient::from_options(options)
        .unwrap()
        .send(&unlimited(), Request::get(url).unwrap())
        .await
}

#[tokio::test]
async fn a_secret_goes_to_its_own_scheme_host_and_port_only() {
    let authority = TestAuthority::new();
    let all = ["a.example", "b.example", "sub.a.example", "a.example.b"];
    let tls = TestServer::start_tls(&authority, &all, |_| TestServer::ok("text/plain", "")).await;
    let plain = TestServer::start(|_| TestServer::ok("text/plain", "")).await;
    let port = tls.address().port();
    let options = |server: &TestServer| HttpOptions {
        root_certificates: vec![authority.pem().into()],
        secrets: vec![secret("https://a.example")],
        ..names(all.map(|name| (name, server.address())))
    };
    for (server, url, expected) in [
        (
            &tls,
            "https://a.example/".to_owned(),
            Some(format!("Key {KEY}")),
        ),
        (
            &tls,
            "https://A.example/x?y".to_owned(),
            Some(format!("Key {KEY}")),
        ),
        (&tls, format!("https://a.example:{port}/"), None),
        (&tls, "https://b.example/".to_owned(), None),
        (&tls, "https://sub.a.example/".to_owned(), None),
        (&tls, "https://a.example.b/".to_owned(), None),
        (&plain, "http://a.example/".to_owned(), None),
    ] {
        fetch(options(server), &url).await.unwrap();
        assert_eq!(
            server
                .received()
                .last()
                .unwrap()
                .header("x-key")
                .map(str::to_owned),
            expected,
            "{url}"
        );
    }
}

#[tokio::test]
async fn a_header_of_the_tool_neither_wins_over_a_secret_nor_joins_it() {
    let server = TestServer::start(|_| TestServer::ok("text/plain", "")).await;
    let options = HttpOptions {
        secrets: vec![secret("http://a.example")],
        ..names([("a.example", server.address())])
    };
    let (name, value) = (
        HeaderName::from_static("x-key"),
        HeaderValue::from_static("forged"),
    );
    let request = Request::get("http://a.example/")
        .unwrap()
        .with_header(name, value);
    HttpClient::from_options(options)
        .unwrap()
        .send(&unlimited(), request)
        .await
        .unwrap();
    let head = &server.received()[0].head;
    assert!(
        !head.contains("forged") && head.matches("x-key").count() == 1 && head.contains(KEY),
        "{head}"
    );
}

#[tokio::test]
async fn a_redirect_away_and_back_goes_without_the_secret() {
    let server = TestServer::start(|request| match (request.header("host"), request.path()) {
        (Some("a.example"), "/") => {
            TestServer::head("302 Found", &[("location", "http://b.example/")])
        }
        (Some("b.example"), _) => {
            TestServer::head("302 Found", &[("location", "http://a.example/back")])
        }
        _ => TestServer::ok("text/plain", "end"),
    })
    .await;
    let options = names([
        ("a.example", server.address()),
        ("b.example", server.address()),
    ]);
    let answered = fetch(
        HttpOptions {
            secrets: vec![secret("http://a.example")],
            ..options
        },
        "http://a.example/",
    )
    .await
    .unwrap();
    assert_eq!(&answered.body[..], b"end");
    let sent: Vec<_> = server
        .received()
        .iter()
        .map(|received| received.header("x-key").is_some())
        .collect();
    assert_eq!(sent, [true, false, false]);
}

#[tokio::test]
async fn a_redirect_from_another_origin_has_no_secret() {
    let server = TestServer::start(|request| match (request.header("host"), request.path()) {
        (Some("b.example"), _) => {
            TestServer::head("302 Found", &[("location", "http://a.example/delete?all")])
        }
        (_, "/delete?all") => TestServer::head("302 Found", &[("location", "/next")]),
        _ => TestServer::ok("text/plain", KEY),
    })
    .await;
    let options = names([
        ("a.example", server.address()),
        ("b.example", server.address()),
    ]);
    let answered = fetch(
        HttpOptions {
            secrets: vec![secret("http://a.example")],
            ..options
        },
        "http://b.example/",
    )
    .await
    .unwrap();
    let sent: Vec<_> = server
        .received()
        .iter()
        .map(|received| received.header("x-key").is_some())
        .collect();
    assert_eq!(
        (sent, &answered.body[..]),
        (vec![false; 3], &b"[secret:service]"[..])
    );
}

#[tokio::test]
async fn only_hosts_that_may_know_a_secret_are_searched_for_it() {
    let long = format!("{}{KEY}", "-".repeat(100_000));
    let server = TestServer::start(
        move |request| match (request.header("host"), request.path()) {
            (Some("a.example"), "/") => {
                TestServer::head("302 Found", &[("location", "http://b.example/long")])
            }
            (_, "/long") => TestServer::ok("text/plain", &long),
            _ => TestServer::ok("text/plain", KEY),
        },
    )
    .await;
    let options = names([
        ("a.example", server.address()),
        ("b.example", server.address()),
    ]);
    let options = HttpOptions {
        secrets: vec![secret("http://a.example")],
        ..options
    };
    for (url, is_masked) in [
        ("http://a.example/short", true),
        ("http://a.example/long", true),
        ("http://a.example/", true),
        ("http://b.example/short", false),
        ("http://b.example/long", false),
    ] {
        let body = fetch(options.clone(), url).await.unwrap().body;
        let ends = [String::from("[secret:service]"), KEY.to_owned()]
            .map(|end| body.ends_with(end.as_bytes()));
        assert_eq!(ends, [is_masked, !is_masked], "{url}");
    }
}

#[tokio::test]
async fn a_server_that_returns_the_secret_does_not_show_it() {
    let server = TestServer::start(|request| {
        let key = request.header("x-key").unwrap_or("none").to_owned();
        let head = |status: &str, headers: &str| {
            format!(
                "HTTP/1.1 {status}\r\n{headers}content-length: {}\r\nx-echo: {key}\r\n\r\n{key}",
                key.len()
            )
            .into_bytes()
        };
        match request.path() {
            "/body" => head("200 OK", ""),
            "/status" => head(&format!("418 {key}"), ""),
            // In the location of a redirect to another host, to itself, and to a host whose name it is.
            "/away" => head(
                "302 Found",
                &format!("location: http://b.example/?{key}\r\n"),
            ),
            "/same" => head(
                "302 Found",
                &format!(
                    "location: /body?{}\r\n",
                    KEY.replace('+', "%2B")
                        .replace('/', "%2F")
                        .replace('=', "%3D")
                ),
            ),
            "/host" => head("302 Found", &format!("location: http://{KEY}/\r\n")),
            "/split" => {
                let (start, end) = key.split_at(7);
                let pieces: String = [start, end]
                    .iter()
                    .map(|piece| format!("{:x}\r\n{piece}\r\n", piece.len()))
                    .collect();
                format!("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n{pieces}0\r\n\r\n")
                    .into_bytes()
            }
            "/truncated" => {
                format!("HTTP/1.1 200 OK\r\ncontent-length: 9999\r\n\r\n{key}").into_bytes()
            }
            "/garbage" => format!("{key}\r\n\r\n").into_bytes(),
            "/header" => format!("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n{KEY}x: y\r\n\r\n")
                .replace(['/', '=', '+'], "-")
                .into_bytes(),
            _ => head("200 OK", ""),
        }
    })
    .await;
    let options = || {
        names([
            ("a.example", server.address()),
            ("b.example", server.address()),
        ])
    };
    for path in [
        "/body",
        "/status",
        "/away",
        "/same",
        "/host",
        "/split",
        "/truncated",
        "/garbage",
        "/header",
    ] {
        let options = HttpOptions {
            secrets: vec![secret("http://a.example")],
            ..options()
        };
        let answered = fetch(options, &format!("http://a.example{path}")).await;
        let shown = match &answered {
            Ok(response) => format!("{response:?} {}", String::from_utf8_lossy(&response.body)),
            Err(error) => format!(
                "{error} {error:?} {:?}",
                tools::ToolError::from(error.clone())
            ),
        };
        assert!(!shown.contains("canary"), "{path} {shown}");
        let is_whole = !["/truncated", "/garbage", "/header"].contains(&path);
        assert_eq!(
            is_whole,
            shown.contains("[secret:service]"),
            "{path} {shown}"
        );
    }
    let to_b: Vec<_> = server
        .received()
        .into_iter()
        .filter(|got| got.header("host") == Some("b.example"))
        .collect();
    assert!(
        to_b.len() == 1 && !to_b[0].head.contains("canary"),
        "{to_b:?}"
    );
    // The positive control: without the mask, the same server shows it.
    let request = Request::get("http://a.example/body").unwrap();
    let request = request.with_header(
        HeaderName::from_static("x-key"),
        HeaderValue::from_static(KEY),
    );
    let answered = HttpClient::from_options(options())
        .unwrap()
        .send(&unlimited(), request)
        .await
        .unwrap();
    assert_eq!(&answered.body[..], KEY.as_bytes());
}

#[tokio::test]
async fn debugging_shows_no_secret() {
    let secret = secret("https://a.example");
    let options = HttpOptions {
        secrets: vec![secret.clone()],
        proxy: Some("http://user:canary@proxy.example".into()),
        ..HttpOptions::default()
    };
    let shown = format!(
        "{secret:?} {options:?} {:?}",
        HttpClient::from_options(options.clone()).unwrap()
    );
    assert!(
        shown.contains("service") && !shown.contains("canary"),
        "{shown}"
    );
}

#[test]
fn a_secret_that_cannot_be_kept_is_refused() {
    let new = BoundSecret::new;
    for refused in [
        new("", "https://a", "x-key", "", KEY),
        new("a b", "https://a", "x-key", "", KEY),
        new("a", "a.example", "x-key", "", KEY),
        new("a", "https://a/path", "x-key", "", KEY),
        new("a", "https://a/?q", "x-key", "", KEY),
        new("a", "https://u@a/", "x-key", "", KEY),
        new("a", "ftp://a/", "x-key", "", KEY),
        new("a", "https://a", "x key", "", KEY),
        new("a", "https://a", "host", "", KEY),
        new("a", "https://a", "x-key", "", "1234567"),
        new("a", "https://a", "x-key", "", "12345678\n"),
        new("a", "https://a", "x-key", "", "1234\r\n5678"),
        new("a", "https://a", "x-key", "", "zwölf Zeichen"),
    ] {
        let refused = refused.unwrap_err();
        assert!(matches!(refused, HttpError::Secret { .. }), "{refused:?}");
        assert!(
            !refused.to_string().contains(KEY) && !refused.to_string().contains("1234"),
            "{refused}"
        );
    }
    let options = HttpOptions {
        secrets: vec![secret("http://a.example")],
        ..HttpOptions::default()
    };
    assert!(matches!(
        HttpClient::from_options(options.clone()),
        Err(HttpError::Secret { .. })
    ));
    let permitted = HttpOptions {
        private_hosts: vec!["a.example".into()],
        ..options
    };
    assert!(HttpClient::from_options(permitted).is_ok());
    let twice = HttpOptions {
        secrets: vec![secret("https://a"), secret("https://a")],
        ..HttpOptions::default()
    };
    assert!(matches!(
        HttpClient::from_options(twice),
        Err(HttpError::Secret { .. })
    ));
}
