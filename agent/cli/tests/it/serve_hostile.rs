//! `serve` and hostile clients: hosts and origins, tokens, and huge messages.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpStream;
use tokio::process::Child;

use crate::Crib;

/// Sends one HTTP request and returns the status line.
async fn status(address: &str, head: &str, body: &[u8]) -> String {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let request = format!(
        "{head}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    // The server may refuse a large body before its end.
    let _ = stream.write_all(body).await;
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer).await;
    String::from_utf8_lossy(&answer)
        .lines()
        .next()
        .unwrap_or_default()
        .to_owned()
}

const JSON: &str = "Content-Type: application/json\r\nAccept: application/json, text/event-stream";

fn initialize() -> Vec<u8> {
    let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "a", "version": "1"}});
    json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params})
        .to_string()
        .into_bytes()
}

#[tokio::test]
async fn hostile_hosts_and_origins_are_refused() {
    let crib = Crib::new();
    let (mut child, url) = crib.serve_http(&[]).await;
    let address = url.trim_start_matches("http://").trim_end_matches("/mcp");
    let port = address.rsplit(':').next().unwrap();
    let good_hosts = [
        address.to_owned(),
        format!("localhost:{port}"),
        format!("[::1]:{port}"),
        "localhost".to_owned(),
    ];
    for host in &good_hosts {
        let head = format!(
            "POST /mcp HTTP/1.1\r\nHost: {host}\r\nOrigin: http://localhost:{port}\r\n{JSON}"
        );
        assert!(
            status(address, &head, &initialize()).await.contains("200"),
            "{host}"
        );
    }
    let hosts = [
        "evil.example",
        "127.0.0.1.evil.example",
        "localhost.evil.example",
        "evil.example:80",
        "0.0.0.0",
        "[::]",
        "127.0.0.2",
        "localhost@evil.example",
        "10.0.0.1",
        "xn--lcalhost-n6a",
        "localhost:1",
        "127.0.0.1:80",
        "[::1]:443",
        "localhost:",
    ];
    let origins = [
        "http://evil.example",
        "https://localhost",
        "http://localhost:1",
        "null",
        "file://",
        "http://127.0.0.1.evil.example",
        "http://evil.example/http://localhost",
        "chrome-extension://abc",
        "http://localhost.",
        "data:text/html,x",
    ];
    let mut refused = 0;
    for host in hosts {
        for origin in [
            "http://localhost",
            "",
            "http://evil.example",
            "null",
            "http://127.0.0.1",
        ] {
            let origin = if origin.is_empty() {
                String::new()
            } else {
                format!("Origin: {origin}\r\n")
            };
            let head = format!("POST /mcp HTTP/1.1\r\nHost: {host}\r\n{origin}{JSON}");
            let answer = status(address, &head, &initialize()).await;
            assert!(
                answer.contains("403") || answer.contains("400"),
                "{host} {origin}: {answer}"
            );
            refused += 1;
        }
    }
    for origin in origins {
        for host in good_hosts.iter().chain([&format!("127.0.0.1:{}", 1)]) {
            let head = format!("POST /mcp HTTP/1.1\r\nHost: {host}\r\nOrigin: {origin}\r\n{JSON}");
            let answer = status(address, &head, &initialize()).await;
            assert!(answer.contains("403"), "{host} {origin}: {answer}");
            refused += 1;
        }
    }
    let own = format!("http://localhost:{port}");
    for head in [
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nHost: evil.example".to_owned(),
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nHost: localhost".to_owned(),
        "POST /mcp HTTP/1.1\r\nHost: evil.example@localhost".to_owned(),
        "POST /mcp HTTP/1.1\r\nHost: localhost/evil".to_owned(),
        "POST /mcp HTTP/1.1\r\nHost:".to_owned(),
        "POST http://evil.example/mcp HTTP/1.1\r\nHost: localhost".to_owned(),
        format!(
            "POST /mcp HTTP/1.1\r\nHost: localhost\r\nOrigin: {own}\r\nOrigin: http://evil.example"
        ),
        format!(
            "POST /mcp HTTP/1.1\r\nHost: localhost\r\nOrigin: http://evil.example\r\nOrigin: {own}"
        ),
        format!(
            "POST /mcp HTTP/1.1\r\nHost: localhost\r\nOrigin: http://evil.example@localhost:{port}"
        ),
        format!("POST /mcp HTTP/1.1\r\nHost: localhost\r\nOrigin: {own}/evil"),
    ] {
        let answer = status(address, &format!("{head}\r\n{JSON}"), &initialize()).await;
        assert!(
            answer.contains("403") || answer.contains("400"),
            "{head}: {answer}"
        );
        refused += 1;
    }
    assert_eq!(refused, 130);
    assert!(
        status(address, "GET /healthz HTTP/1.1\r\nHost: localhost", b"")
            .await
            .contains("200")
    );
    child.kill().await.unwrap();
}

/// Opens connections that send nothing, and returns the time until `/healthz` answers beside them.
async fn health_beside_silent_connections(number: usize) -> Duration {
    let crib = Crib::new();
    let (mut child, url) = crib.serve_http(&[]).await;
    let address = url.trim_start_matches("http://").trim_end_matches("/mcp");
    let mut silent = Vec::new();
    for _ in 0..number {
        silent.push(TcpStream::connect(address).await.unwrap());
    }
    let started = Instant::now();
    assert!(
        status(address, "GET /healthz HTTP/1.1\r\nHost: localhost", b"")
            .await
            .contains("200")
    );
    let took = started.elapsed();
    child.kill().await.unwrap();
    took
}

#[tokio::test]
async fn silent_connections_keep_nobody_out() {
    let took = health_beside_silent_connections(400).await;
    assert!(took < Duration::from_secs(1), "{took:?}");
}

#[tokio::test]
#[ignore = "opens 10,000 connections; raise `ulimit -n` and run with -- --ignored ten_thousand"]
async fn ten_thousand_silent_connections_keep_nobody_out() {
    let took = health_beside_silent_connections(10_000).await;
    assert!(took < Duration::from_secs(1), "{took:?}");
}

#[tokio::test]
async fn an_address_that_others_reach_requires_a_token() {
    let crib = Crib::new();
    let ended = crib.serve(&["--http", "0.0.0.0:0"]).output().await.unwrap();
    assert_eq!(ended.status.code(), Some(2));
    let error = String::from_utf8_lossy(&ended.stderr);
    for part in [
        "a bearer token is required",
        "--token-file",
        "TOOLCRIB_MCP_TOKEN",
    ] {
        assert!(error.contains(part), "{part:?} is not in {error}");
    }

    let short = crib.write_private("short", "0123456789abcde\n");
    let ended = crib
        .serve(&["--http", "127.0.0.1:0", "--token-file", &short])
        .output()
        .await
        .unwrap();
    assert_eq!(ended.status.code(), Some(2));

    {
        let readable = crib.write("readable", "0123456789abcdef\n");
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o640);
        std::fs::set_permissions(&readable, mode).unwrap();
        let ended = crib
            .serve(&["--http", "127.0.0.1:0", "--token-file", &readable])
            .output()
            .await
            .unwrap();
        let error = String::from_utf8_lossy(&ended.stderr);
        assert!(
            ended.status.code() == Some(2) && error.contains("other users have access to it"),
            "{error}"
        );
    }

    let token = crib.write_private("token", "0123456789abcdef\n");
    let (mut child, url) = crib.serve_http(&["--token-file", &token]).await;
    let address = url.trim_start_matches("http://").trim_end_matches("/mcp");
    for (authorization, expected) in [
        ("", "401"),
        ("Authorization: Bearer 0123456789abcdeg\r\n", "401"),
        ("Authorization: Bearer 0123456789abcdef0\r\n", "401"),
        ("Authorization: Basic 0123456789abcdef\r\n", "401"),
        (
            "Authorization: Bearer 0123456789abcdef\r\nAuthorization: Bearer 0123456789abcdef\r\n",
            "401",
        ),
        ("Authorization: Bearer 0123456789abcdef\r\n", "200"),
    ] {
        let head = format!("POST /mcp HTTP/1.1\r\nHost: localhost\r\n{authorization}{JSON}");
        assert!(
            status(address, &head, &initialize())
                .await
                .contains(expected),
            "{authorization}"
        );
    }
    assert!(
        status(address, "GET /healthz HTTP/1.1\r\nHost: localhost", b"")
            .await
            .contains("200")
    );
    child.kill().await.unwrap();
}

/// Returns the peak of the resident memory, in KiB.
#[cfg(target_os = "linux")]
fn peak_memory(child: &Child) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id().unwrap())).unwrap();
    let line = status
        .lines()
        .find(|line| line.starts_with("VmHWM:"))
        .unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn huge_messages_are_refused_without_memory() {
    const MOST: u64 = 48 * 1024;
    let crib = Crib::new();
    let deep = ["[".repeat(5_000_000), "]".repeat(5_000_000)].concat();
    let nested = |deep: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{{"name":"fs.read","arguments":{{"path":{deep}}}}}}}"#
        )
    };
    let huge = nested(&format!("\"{}\"", "a".repeat(64 * 1024 * 1024)));
    // Deep, and short enough to be read.
    let shallow = nested(&["[".repeat(1_000_000), "]".repeat(1_000_000)].concat());

    let (mut child, url) = crib.serve_http(&[]).await;
    let address = url.trim_start_matches("http://").trim_end_matches("/mcp");
    let head = format!("POST /mcp HTTP/1.1\r\nHost: localhost\r\n{JSON}");
    assert!(status(address, &head, &initialize()).await.contains("200"));
    let before = peak_memory(&child);
    for body in [&huge, &nested(&deep), &shallow] {
        let answer = status(address, &head, body.as_bytes()).await;
        // A connection that ends before the whole body was sent may lose the answer.
        assert!(answer.is_empty() || answer.contains(" 4"), "{answer}");
    }
    assert!(status(address, &head, &initialize()).await.contains("200"));
    assert!(
        peak_memory(&child) - before < MOST,
        "{} KiB",
        peak_memory(&child) - before
    );
    child.kill().await.unwrap();

    let mut child = crib.serve(&[]).spawn().unwrap();
    let (mut input, mut lines) = (
        child.stdin.take().unwrap(),
        BufReader::new(child.stdout.take().unwrap()).lines(),
    );
    input.write_all(&initialize()).await.unwrap();
    input.write_all(b"\n").await.unwrap();
    assert!(
        lines
            .next_line()
            .await
            .unwrap()
            .unwrap()
            .contains("\"result\"")
    );
    let before = peak_memory(&child);
    for line in [&huge, &nested(&deep), &shallow] {
        input.write_all(line.as_bytes()).await.unwrap();
        input.write_all(b"\n").await.unwrap();
    }
    for _ in 0..2 {
        let answer: Value =
            serde_json::from_str(&lines.next_line().await.unwrap().unwrap()).unwrap();
        assert_eq!(
            (&answer["id"], &answer["error"]["code"]),
            (&json!(7), &json!(-32600)),
            "{answer}"
        );
    }
    let shallow: Value = serde_json::from_str(&lines.next_line().await.unwrap().unwrap()).unwrap();
    assert!(shallow["error"].is_object(), "{shallow}");
    input
        .write_all(b"{\"jsonrpc\":\"2.0\",\"id\":8,\"method\":\"ping\"}\n")
        .await
        .unwrap();
    assert!(
        lines
            .next_line()
            .await
            .unwrap()
            .unwrap()
            .contains("\"id\":8")
    );
    assert!(
        peak_memory(&child) - before < MOST,
        "{} KiB",
        peak_memory(&child) - before
    );
    drop(input);
    assert!(child.wait().await.unwrap().success());
}
