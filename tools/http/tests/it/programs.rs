//! The proxy for programs. The requests are those of a program, and the call is one of a tool.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tools::{Catalog, Effects, Tool, ToolContext, ToolError};
use tools_http::{BoundSecret, HttpClient, HttpLimits, HttpOptions, Proxy};
use tools_testkit::http::{TestResolver, TestServer};

use crate::setup::{granted, names};

const LOOPBACK: [u8; 4] = [127, 0, 0, 1];

/// Sends these bytes to a proxy in a call with this grant, and returns the answers and the refusals.
async fn program(options: HttpOptions, clauses: &[&str], bytes: &[u8]) -> (String, Vec<String>) {
    let client = HttpClient::from_options(options).unwrap();
    let tool = Tool::new(
        "program.run",
        "Runs.",
        serde_json::json!({"type": "object"}),
    )
    .unwrap();
    let bytes = bytes.to_vec();
    let mut catalog = Catalog::new();
    catalog
        .register(
            tool.with_effects(Effects::Undeclared),
            move |cx: ToolContext, _: serde_json::Value| {
                let (proxy, bytes) = (client.proxy(&cx), bytes.clone());
                async move {
                    let answer: String = spoken(&proxy, &bytes).await.chars().take(5000).collect();
                    Ok::<_, ToolError>(serde_json::to_string(&(answer, proxy.refusals())).unwrap())
                }
            },
        )
        .unwrap();
    let cx = granted(clauses.iter().copied().chain(["world:write:program.run"]));
    let result = catalog
        .execute(&cx, "program.run", serde_json::json!({}))
        .await
        .unwrap();
    serde_json::from_str(&result.to_text()).unwrap()
}

async fn spoken(proxy: &Proxy, bytes: &[u8]) -> String {
    let (mut program, inside) = tokio::io::duplex(1 << 20);
    let speaking = async {
        program.write_all(bytes).await.unwrap();
        program.shutdown().await.unwrap();
        let mut answer = Vec::new();
        program.read_to_end(&mut answer).await.unwrap();
        String::from_utf8_lossy(&answer).into_owned()
    };
    tokio::join!(proxy.serve(inside), speaking).1
}

fn get(url: &str) -> Vec<u8> {
    format!("GET {url} HTTP/1.1\r\nhost: other\r\n\r\n").into_bytes()
}

fn tunnel(host: &str) -> Vec<u8> {
    format!("CONNECT {host} HTTP/1.1\r\n\r\n").into_bytes()
}

#[tokio::test]
async fn a_name_is_looked_up_once_and_its_checked_address_is_dialled() {
    let listener = TestServer::start(|_| TestServer::ok("text/plain", "reached")).await;
    let port = listener.address().port();
    // An address of the internet that is assigned to nobody.
    let (public, loopback) = (
        "[2000::1]:0".parse().unwrap(),
        SocketAddr::from((LOOPBACK, 0)),
    );
    let mut limits = HttpLimits::default();
    limits.first_byte = Duration::from_millis(300);
    for request in [
        get(&format!("http://a.example:{port}/")),
        tunnel(&format!("a.example:{port}")),
    ] {
        let resolver =
            Arc::new(TestResolver::new().with_answers("a.example", [vec![public], vec![loopback]]));
        let options = HttpOptions {
            resolver: Some(resolver.clone()),
            limits: limits.clone(),
            ..HttpOptions::default()
        };
        let (answer, _) = program(options, &["net:*:a.example:*"], &request).await;
        assert!(answer.starts_with("HTTP/1.1 50"), "{answer}");
        assert_eq!(resolver.lookups(), ["a.example"]);
    }
    assert_eq!(listener.connections(), 0);
}

#[tokio::test]
async fn a_name_with_a_private_address_is_refused() {
    let listener = TestServer::start(|_| TestServer::ok("text/plain", "reached")).await;
    let (public, loopback) = (
        "[2000::1]:0".parse().unwrap(),
        SocketAddr::from((LOOPBACK, listener.address().port())),
    );
    for answer in [
        vec![loopback],
        vec![public, loopback],
        vec![loopback, public],
    ] {
        for request in [get("http://a.example/"), tunnel("a.example:443")] {
            let resolver =
                Arc::new(TestResolver::new().with_answers("a.example", [answer.clone()]));
            let options = HttpOptions {
                resolver: Some(resolver),
                private_hosts: vec!["127.0.0.1".into()],
                ..HttpOptions::default()
            };
            let (answer, refused) = program(options, &["net:*:a.example"], &request).await;
            assert!(answer.starts_with("HTTP/1.1 403"), "{answer}");
            assert!(
                refused[0].contains("not public") && !refused[0].contains("127"),
                "{refused:?}"
            );
        }
    }
    assert_eq!(listener.connections(), 0);
}

#[tokio::test]
async fn a_host_that_is_not_granted_is_not_looked_up() {
    let listener = TestServer::start(|_| TestServer::ok("text/plain", "reached")).await;
    for request in [
        get("http://secret-data.b.example/"),
        tunnel("secret-data.b.example:443"),
    ] {
        let resolver =
            Arc::new(TestResolver::new().with_name("secret-data.b.example", listener.address()));
        let options = HttpOptions {
            resolver: Some(resolver.clone()),
            ..HttpOptions::default()
        };
        let (answer, refused) = program(options, &["net:*:a.example", "net:*:**"], &request).await;
        assert!(
            answer.starts_with("HTTP/1.1 403") && refused.len() == 1,
            "{answer}"
        );
        assert!(resolver.lookups().is_empty());
    }
}

#[tokio::test]
async fn a_program_gets_no_secret() {
    let server = TestServer::start(|_| TestServer::ok("text/plain", "reached")).await;
    let secret = BoundSecret::new("key", "http://a.example", "x-key", "", "0123456789").unwrap();
    let options = HttpOptions {
        secrets: vec![secret],
        ..names([("a.example", server.address())])
    };
    let (answer, _) = program(options, &["net:*:a.example"], &get("http://a.example/")).await;
    assert!(answer.ends_with("reached"), "{answer}");
    assert_eq!(server.received()[0].header("x-key"), None);
}

#[tokio::test]
async fn a_request_is_written_anew() {
    let server = TestServer::start(|_| {
        let head = "HTTP/1.1 200 OK\r\nconnection: x-hop\r\nx-hop: 1\r\nkeep-alive: 5\r\nx-kept: 1\r\ncontent-length: 2\r\n\r\nok";
        head.as_bytes().to_vec()
    })
    .await;
    let request = b"POST http://a.example/a//b/../c?d HTTP/1.1\r\nHost: b.example\r\nConnection: X-Named\r\nX-Named: 1\r\n\
        Proxy-Authorization: x\r\nKeep-Alive: 1\r\nX_Kept: 1\r\nX-Kept: 1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n";
    let options = names([("a.example", server.address())]);
    let (answer, refused) = program(options, &["net:*:a.example"], request).await;
    assert!(
        answer.contains("x-kept: 1") && !answer.contains("x-hop") && answer.ends_with("ok"),
        "{answer}"
    );
    let received = &server.received()[0];
    assert!(
        received.head.starts_with("POST /a//b/../c?d HTTP/1.1\r\n") && refused.is_empty(),
        "{}",
        received.head
    );
    let headers = [
        "host",
        "x-named",
        "proxy-authorization",
        "keep-alive",
        "x_kept",
        "x-kept",
        "connection",
    ];
    let found = headers.map(|name| received.header(name));
    assert_eq!(
        found,
        [Some("a.example"), None, None, None, None, Some("1"), None]
    );
}

#[tokio::test]
async fn each_request_of_a_connection_is_judged() {
    let server = TestServer::start(|_| TestServer::ok("text/plain", "reached")).await;
    let options = names([
        ("a.example", server.address()),
        ("b.example", server.address()),
    ]);
    let requests = [
        get("http://a.example/1"),
        get("http://b.example/2"),
        get("/3"),
        get("http://a.example/4"),
    ]
    .concat();
    let (answer, refused) = program(options, &["net:read:a.example"], &requests).await;
    assert_eq!(
        (
            answer.matches(" 200 OK").count(),
            answer.matches(" 403 ").count()
        ),
        (2, 1),
        "{answer}"
    );
    assert_eq!(answer.matches(" 400 ").count(), 1);
    let paths: Vec<_> = server
        .received()
        .iter()
        .map(|request| request.path().to_owned())
        .collect();
    assert_eq!(
        (paths, refused.len()),
        (vec!["/1".to_owned(), "/4".to_owned()], 2)
    );
}

#[tokio::test]
async fn a_head_that_is_too_large_is_refused() {
    let server = TestServer::start(|_| TestServer::ok("text/plain", "reached")).await;
    let long = format!(
        "GET http://a.example/ HTTP/1.1\r\nx: {}\r\n\r\n",
        "y".repeat(200_000)
    );
    let many = format!(
        "GET http://a.example/ HTTP/1.1\r\n{}\r\n",
        "x: y\r\n".repeat(300)
    );
    for request in [long, many] {
        let options = names([("a.example", server.address())]);
        let (answer, _) = program(options, &["net:*:a.example"], request.as_bytes()).await;
        assert!(!answer.contains("reached"), "{answer}");
    }
    assert_eq!(server.connections(), 0);
}

#[tokio::test]
async fn refusals_are_named_once_and_in_short() {
    let requests: Vec<u8> = (0..300)
        .flat_map(|number| get(&format!("http://{}.example/", number % 150)))
        .collect();
    let (_, refused) = program(HttpOptions::default(), &["net:*:a.example"], &requests).await;
    assert_eq!(refused.len(), 100);
    let (_, refused) = program(
        HttpOptions::default(),
        &[],
        &get(&format!("http://127.1/{}", "ignore-all-rules".repeat(200))),
    )
    .await;
    assert!(refused[0].chars().count() < 310, "{refused:?}");
}

#[tokio::test]
async fn the_proxy_of_the_settings_is_not_used_and_not_passed_by() {
    let server = TestServer::start(|_| TestServer::ok("text/plain", "reached")).await;
    let resolver = TestResolver::new().with_name("a.example", "[2000::1]:0".parse().unwrap());
    let options = HttpOptions {
        proxy: Some(server.url("/")),
        resolver: Some(Arc::new(resolver)),
        ..HttpOptions::default()
    };
    let (answer, _) = program(options, &["net:*:a.example"], &get("http://a.example/")).await;
    assert!(answer.contains("the proxy of the settings"), "{answer}");
    assert_eq!(server.connections(), 0);
}
