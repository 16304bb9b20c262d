//! Requests, and the responses that a tool sees.

use tools::{ErrorCode, ToolError};
use tools_http::{
    HeaderName, HeaderValue, HttpClient, HttpError, HttpLimits, HttpOptions, Method, Request,
};
use tools_testkit::http::TestServer;

use crate::setup::{get, granted, local, unlimited};

fn header(name: &'static str, value: &'static str) -> (HeaderName, HeaderValue) {
    (
        HeaderName::from_static(name),
        HeaderValue::from_static(value),
    )
}

#[tokio::test]
async fn a_granted_host_and_port_is_requested_and_another_port_is_not() {
    let server = TestServer::start(|_| TestServer::ok("text/plain; charset=utf-8", "hello")).await;
    let client = local(HttpLimits::default());
    let request = Request::get(&server.url("/a?b#c")).unwrap();
    let response = client
        .send(
            &granted([&*format!("net:read:{}", server.address())]),
            request.clone(),
        )
        .await
        .unwrap();
    assert_eq!(
        (&response.body[..], response.url.as_str()),
        (&b"hello"[..], request.url().as_str())
    );
    assert_eq!(
        (
            response.media_type().as_deref(),
            response.charset().as_deref()
        ),
        (Some("text/plain"), Some("utf-8"))
    );
    assert_eq!(server.received()[0].path(), "/a?b");

    let refused = client
        .send(&granted(["net:read:127.0.0.1"]), request)
        .await
        .unwrap_err();
    assert!(
        matches!(&refused, HttpError::Refused { url, .. } if *url == server.url("/a?b#c")),
        "{refused}"
    );
    assert_eq!(ToolError::from(refused).code(), ErrorCode::PermissionDenied);
    assert_eq!(server.received().len(), 1);
}

#[tokio::test]
async fn a_method_that_writes_requires_a_grant_to_write() {
    let server = TestServer::start(|_| TestServer::ok("text/plain", "")).await;
    let client = local(HttpLimits::default());
    for (method, access) in [
        (Method::GET, "read"),
        (Method::HEAD, "read"),
        (Method::POST, "write"),
        (Method::PUT, "write"),
        (Method::DELETE, "write"),
        (Method::PATCH, "write"),
        (Method::OPTIONS, "write"),
    ] {
        let request = Request::new(method.clone(), &server.url("/")).unwrap();
        let (other, before) = (
            if access == "read" { "write" } else { "read" },
            server.received().len(),
        );
        let refused = client
            .send(
                &granted([&*format!("net:{other}:127.0.0.1:*")]),
                request.clone(),
            )
            .await;
        assert!(
            matches!(refused, Err(HttpError::Refused { .. })),
            "{method}"
        );
        assert_eq!(server.received().len(), before);
        client
            .send(&granted([&*format!("net:{access}:127.0.0.1:*")]), request)
            .await
            .unwrap();
        assert_eq!(server.received().len(), before + 1, "{method}");
    }
    for method in [Method::CONNECT, Method::TRACE] {
        assert!(matches!(
            Request::new(method, &server.url("/")),
            Err(HttpError::Url { .. })
        ));
    }
}

#[tokio::test]
async fn a_body_is_sent_with_its_type_and_the_client_says_who_it_is() {
    let server = TestServer::start(|_| TestServer::ok("application/json", r#"{"a": 1}"#)).await;
    let request = Request::new(Method::POST, &server.url("/"))
        .unwrap()
        .with_json(&serde_json::json!({"b": 2}))
        .unwrap();
    let response = local(HttpLimits::default())
        .send(&unlimited(), request)
        .await
        .unwrap();
    assert_eq!(
        response.json::<serde_json::Value>().unwrap(),
        serde_json::json!({"a": 1})
    );
    assert!(matches!(
        response.json::<String>(),
        Err(HttpError::Json { .. })
    ));
    let received = &server.received()[0];
    assert_eq!(
        (received.header("content-type"), &received.body[..]),
        (Some("application/json"), &br#"{"b":2}"#[..])
    );
    let agent = received.header("user-agent").unwrap();
    assert!(
        agent.starts_with("toolcrib/") && agent.contains("(+https://"),
        "{agent}"
    );
}

#[tokio::test]
async fn a_tool_does_not_set_the_headers_of_the_client() {
    let server = TestServer::start(|_| TestServer::ok("text/plain", "")).await;
    for (name, value) in [
        header("host", "other.example"),
        header("user-agent", "Mozilla/5.0"),
        header("connection", "upgrade"),
        header("content-length", "0"),
        header("transfer-encoding", "chunked"),
        header("proxy-authorization", "Basic a"),
        header("accept-encoding", "zstd"),
        header("upgrade", "websocket"),
    ] {
        let request = Request::get(&server.url("/"))
            .unwrap()
            .with_header(name.clone(), value);
        let refused = local(HttpLimits::default())
            .send(&unlimited(), request)
            .await;
        assert_eq!(refused.unwrap_err(), HttpError::Header { name });
    }
    assert_eq!(server.connections(), 0);
}

#[tokio::test]
async fn a_status_is_no_error() {
    let server =
        TestServer::start(|request| TestServer::head(&format!("{} X", &request.path()[1..]), &[]))
            .await;
    for status in [204, 300, 304, 400, 404, 429, 500, 503] {
        assert_eq!(
            get(&server, &format!("/{status}"))
                .await
                .unwrap()
                .status
                .as_u16(),
            status
        );
    }
}

#[tokio::test]
async fn options_that_cannot_be_used_are_refused_when_the_client_is_made() {
    let limits = HttpLimits::default();
    let mut no_connections = limits.clone();
    no_connections.max_connections = 0;
    for (name, options) in [
        (
            "private_hosts",
            HttpOptions {
                private_hosts: vec!["*.home".into()],
                ..HttpOptions::default()
            },
        ),
        (
            "proxy",
            HttpOptions {
                proxy: Some("socks5://127.0.0.1:1080".into()),
                ..HttpOptions::default()
            },
        ),
        (
            "proxy",
            HttpOptions {
                proxy: Some("proxy".into()),
                ..HttpOptions::default()
            },
        ),
        (
            "root_certificates",
            HttpOptions {
                root_certificates: vec!["no certificate".into()],
                ..HttpOptions::default()
            },
        ),
        (
            "limits",
            HttpOptions {
                limits: no_connections,
                ..HttpOptions::default()
            },
        ),
    ] {
        let refused = HttpClient::from_options(options).unwrap_err();
        assert!(
            matches!(&refused, HttpError::Option { option, .. } if *option == name),
            "{name} {refused}"
        );
    }
}
