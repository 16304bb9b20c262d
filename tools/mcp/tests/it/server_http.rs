//! Streamable HTTP.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use rmcp::ClientServiceExt as _;
use rmcp::model::CallToolRequestParams;
use rmcp::transport::StreamableHttpClientTransport;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;
use tokio::task::JoinHandle;
use tools::{CancellationToken, Catalog, Host, ToolContext};
use tools_mcp::server::{HttpError, HttpOptions, ToolServer};

use crate::server_call::waiting;
use crate::server_client::{BOTH, Person, legacy, modern, server, text_of, tool, versions};

/// Serves on loopback. Returns the address, the end of the server and the token that shuts it down.
pub(crate) async fn listen(
    server: &ToolServer,
    options: HttpOptions,
) -> (
    SocketAddr,
    JoinHandle<Result<(), HttpError>>,
    CancellationToken,
) {
    // For the clients of rmcp.
    tools_testkit::http::install_cryptography();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (server, shutdown) = (server.clone(), CancellationToken::new());
    let token = shutdown.clone();
    (
        address,
        tokio::spawn(async move { server.serve_http(listener, &options, token).await }),
        shutdown,
    )
}

#[tokio::test]
async fn a_dropped_connection_cancels_the_call() {
    let (catalog, started, ended) = waiting();
    let (address, ..) = listen(&server(catalog, Host::new()), HttpOptions::new()).await;
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "a", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let params = json!({"name": "wait", "arguments": {}, "_meta": meta});
    let body =
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).to_string();
    let request = format!(
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n\
         MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: wait\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    started.notified().await;
    drop(stream);
    ended.notified().await;
}

#[tokio::test]
async fn a_shutdown_waits_for_calls_and_then_cancels_them() {
    let (catalog, started, ended) = waiting();
    let mut options = HttpOptions::new();
    options.shutdown_grace = Duration::from_millis(50);
    let (address, serving, shutdown) = listen(&server(catalog, Host::new()), options).await;
    let transport = StreamableHttpClientTransport::from_uri(format!("http://{address}/mcp"));
    let client = Person::silent()
        .serve_with_lifecycle(transport, versions(legacy()))
        .await
        .unwrap();
    let peer = client.peer().clone();
    tokio::spawn(async move { peer.call_tool(CallToolRequestParams::new("wait")).await });
    started.notified().await;
    shutdown.cancel();
    ended.notified().await;
    serving.await.unwrap().unwrap();
}

#[tokio::test]
async fn the_end_of_a_session_has_no_content() {
    let (catalog, ..) = waiting();
    let (address, ..) = listen(&server(catalog, Host::new()), HttpOptions::new()).await;
    let exchange = async |method: &str, headers: &str, body: &str| {
        let request = format!(
            "{method} /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\nConnection: close\r\n{headers}Content-Length: {}\r\n\r\n{body}",
            body.len()
        );
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        answer
    };
    let info = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "a", "version": "1"}});
    let body =
        json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": info}).to_string();
    let opened = exchange("POST", "", &body).await;
    let session = opened
        .lines()
        .find_map(|line| line.strip_prefix("mcp-session-id: "))
        .unwrap();
    let end = exchange("DELETE", &format!("Mcp-Session-Id: {session}\r\n"), "").await;
    assert!(
        end.starts_with("HTTP/1.1 204 No Content\r\n") && end.ends_with("\r\n\r\n"),
        "{end}"
    );
}

#[tokio::test]
async fn an_array_of_messages_is_answered_if_the_revision_of_its_session_has_batches() {
    let mut catalog = Catalog::new();
    catalog
        .register(tool("any"), async |_: ToolContext, _: Value| "ran")
        .unwrap();
    let (address, ..) = listen(&server(catalog, Host::new()), HttpOptions::new()).await;
    let post = async |session: &str, body: &Value| {
        let body = body.to_string();
        let request = format!(
            "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\nConnection: close\r\n{session}Content-Length: {}\r\n\r\n{body}",
            body.len()
        );
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        answer
    };
    let params = json!({"name": "any", "arguments": {}});
    let call = json!({"jsonrpc": "2.0", "id": "call", "method": "tools/call", "params": params});
    let ping = json!({"jsonrpc": "2.0", "id": "ping", "method": "ping"});
    let note = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    for revision in ["2025-03-26", "2025-06-18"] {
        let info = json!({"protocolVersion": revision, "capabilities": {}, "clientInfo": {"name": "a", "version": "1"}});
        let first = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": info});
        let opened = post("", &first).await;
        let session = opened
            .lines()
            .find(|line| line.starts_with("mcp-session-id: "))
            .unwrap();
        let session = format!("{session}\r\n");
        post(&session, &note).await;
        let answer = post(&session, &json!([call, note, ping, 7])).await;
        if revision == "2025-03-26" {
            assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
            for part in ["\"id\":\"call\"", "ran", "\"id\":\"ping\"", "\"id\":null"] {
                assert_eq!(answer.matches(part).count(), 1, "{part}: {answer}");
            }
            let accepted = post(&session, &json!([note, note])).await;
            assert!(accepted.starts_with("HTTP/1.1 202"), "{accepted}");
        } else {
            assert!(answer.starts_with("HTTP/1.1 400"), "{answer}");
        }
        let refused = post("", &json!([ping])).await;
        assert!(refused.starts_with("HTTP/1.1 400"), "{refused}");
    }
}

#[tokio::test]
async fn a_shutdown_lets_running_calls_end() {
    for mode in BOTH {
        let (started, release) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
        let (begun, end) = (started.clone(), release.clone());
        let mut catalog = Catalog::new();
        let work = move |_: ToolContext, _: Value| {
            let (begun, end) = (begun.clone(), end.clone());
            async move {
                begun.notify_one();
                end.notified().await;
                "done"
            }
        };
        catalog.register(tool("work"), work).unwrap();
        let mut options = HttpOptions::new();
        options.shutdown_grace = Duration::from_secs(600);
        let (address, serving, shutdown) = listen(&server(catalog, Host::new()), options).await;
        let transport = StreamableHttpClientTransport::from_uri(format!("http://{address}/mcp"));
        let client = Person::silent()
            .serve_with_lifecycle(transport, versions(mode))
            .await
            .unwrap();
        let peer = client.peer().clone();
        let answer =
            tokio::spawn(async move { peer.call_tool(CallToolRequestParams::new("work")).await });
        started.notified().await;
        shutdown.cancel();
        // The server takes no more connections, and has had the time to end those that it does not wait for.
        while TcpStream::connect(address).await.is_ok() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        tokio::time::sleep(Duration::from_secs(1)).await;
        release.notify_one();
        // A client whose answer was cut off would wait for ever.
        let answer = tokio::time::timeout(Duration::from_secs(20), answer)
            .await
            .unwrap();
        assert_eq!(
            text_of(&answer.unwrap().unwrap()),
            ("done".to_owned(), false)
        );
        drop(client);
        serving.await.unwrap().unwrap();
    }
}

#[tokio::test]
async fn a_request_that_arrives_slowly_is_given_up() {
    let (catalog, ..) = waiting();
    let mut options = HttpOptions::new();
    options.read_timeout = Duration::from_millis(300);
    let (address, ..) = listen(&server(catalog, Host::new()), options).await;
    let head = "POST /mcp HTTP/1.1\r\nHost: localhost\r\n";
    let body = format!("{head}Content-Type: application/json\r\nContent-Length: 1000000\r\n\r\n");
    for (begin, expected) in [
        (String::new(), ""),
        (head.to_owned(), ""),
        (body, "HTTP/1.1 408 Request Timeout\r\n"),
    ] {
        let (mut read, mut write) = TcpStream::connect(address).await.unwrap().into_split();
        let is_slow = !begin.is_empty();
        let writing = tokio::spawn(async move {
            write.write_all(begin.as_bytes()).await.unwrap();
            // A byte now and then is not enough.
            while is_slow && write.write_all(b"a").await.is_ok() {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            write
        });
        let mut answer = Vec::new();
        // A reset connection has ended too.
        let _ = read.read_to_end(&mut answer).await;
        writing.abort();
        let answer = String::from_utf8(answer).unwrap();
        assert!(
            answer.starts_with(expected) && answer.is_empty() == expected.is_empty(),
            "{answer}"
        );
    }
}

const HEALTH: &[u8] = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n";

/// Sends a request and reads the first line of the answer.
async fn first_line(stream: &mut TcpStream, request: &[u8]) -> String {
    stream.write_all(request).await.unwrap();
    let mut answer = [0; 15];
    stream.read_exact(&mut answer).await.unwrap();
    String::from_utf8_lossy(&answer).into_owned()
}

#[tokio::test]
async fn connections_beyond_the_limit_wait_for_those_with_a_request() {
    let (catalog, ..) = waiting();
    let mut options = HttpOptions::new();
    options.max_connections = 1;
    let (address, ..) = listen(&server(catalog, Host::new()), options).await;
    let mut first = TcpStream::connect(address).await.unwrap();
    let body = initialize();
    let request = format!(
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: application/json, \
         text/event-stream\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    assert_eq!(
        first_line(&mut first, request.as_bytes()).await,
        "HTTP/1.1 200 OK"
    );
    let mut second = TcpStream::connect(address).await.unwrap();
    let early =
        tokio::time::timeout(Duration::from_millis(100), first_line(&mut second, HEALTH)).await;
    assert!(early.is_err());
    drop(first);
    let mut answer = [0; 15];
    second.read_exact(&mut answer).await.unwrap();
    assert_eq!(&answer, b"HTTP/1.1 200 OK");
}

#[tokio::test]
async fn silent_connections_keep_nobody_out() {
    let (catalog, ..) = waiting();
    let token = "a token of the test";
    let mut options = HttpOptions::new().with_token(token).unwrap();
    options.max_connections = 8;
    let (address, ..) = listen(&server(catalog, Host::new()), options).await;
    let mut silent = Vec::new();
    for number in 0..200 {
        let mut stream = TcpStream::connect(address).await.unwrap();
        // No head, a part of one, an answered request without a token, and one without its body.
        let sent: &[&[u8]] = &[
            b"",
            b"POST /mcp HTTP/1.1\r\nHost: localhost\r\n",
            b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}",
            b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer a token of the test\r\nContent-Length: 20\r\n\r\n",
        ];
        let _ = stream.write_all(sent[number % sent.len()]).await;
        silent.push(stream);
    }
    for _ in 0..20 {
        let mut other = TcpStream::connect(address).await.unwrap();
        let answered =
            tokio::time::timeout(Duration::from_secs(1), first_line(&mut other, HEALTH)).await;
        assert_eq!(answered.unwrap(), "HTTP/1.1 200 OK");
    }
}

#[tokio::test]
async fn a_request_names_the_port_that_is_served() {
    let (catalog, ..) = waiting();
    let mut options = HttpOptions::new();
    options.hosts = vec!["app.example".to_owned(), "proxy.example:8443".to_owned()];
    let (address, ..) = listen(&server(catalog, Host::new()), options).await;
    let port = address.port();
    for (host, is_allowed) in [
        (format!("localhost:{port}"), true),
        ("localhost".to_owned(), true),
        ("app.example".to_owned(), true),
        (format!("app.example:{port}"), true),
        ("proxy.example:8443".to_owned(), true),
        ("localhost:1".to_owned(), false),
        ("127.0.0.1:80".to_owned(), false),
        ("[::1]:443".to_owned(), false),
        (format!("localhost:0{port}"), false),
        ("localhost:".to_owned(), false),
        ("app.example:1".to_owned(), false),
        ("proxy.example:1".to_owned(), false),
    ] {
        let answer = status(address, "/mcp", &format!("Host: {host}\r\n"), &initialize()).await;
        assert_eq!(answer == 200, is_allowed, "{host}: {answer}");
    }
}

#[tokio::test]
async fn an_address_that_others_reach_requires_a_token() {
    let (catalog, ..) = waiting();
    let server = server(catalog, Host::new());
    let serve = async |options: HttpOptions| {
        let listener = TcpListener::bind("0.0.0.0:0").await.unwrap();
        let shutdown = CancellationToken::new();
        shutdown.cancel();
        server.serve_http(listener, &options, shutdown).await
    };
    assert!(matches!(
        serve(HttpOptions::new()).await,
        Err(HttpError::TokenRequired { .. })
    ));
    for short in ["", "short", "0123456789abcde"] {
        assert!(
            matches!(
                HttpOptions::new().with_token(short),
                Err(HttpError::ShortToken { .. })
            ),
            "{short}"
        );
    }
    serve(HttpOptions::new().with_token("0123456789abcdef").unwrap())
        .await
        .unwrap();
}

/// Sends a request without a session on a connection of its own, and returns the status of the answer.
async fn status(address: SocketAddr, target: &str, headers: &str, body: &str) -> u16 {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let head = format!(
        "POST {target} HTTP/1.1\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n\
         Connection: close\r\n{headers}Content-Length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut answer = [0; 12];
    stream.read_exact(&mut answer).await.unwrap();
    String::from_utf8_lossy(&answer[9..]).parse().unwrap()
}

fn initialize() -> String {
    let client = json!({"name": "a", "version": "1"});
    let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client});
    json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}).to_string()
}

#[tokio::test]
async fn a_request_has_one_host_and_at_most_one_origin() {
    let (catalog, ..) = waiting();
    let mut options = HttpOptions::new();
    options.origins = vec!["https://app.example:443".to_owned()];
    let (address, ..) = listen(&server(catalog, Host::new()), options).await;
    let port = address.port();
    let absolute = format!("http://localhost:{port}/mcp");
    for (target, headers, expected) in [
        ("/mcp", "Host: localhost\r\n".to_owned(), 200),
        (
            "/mcp",
            format!("Host: localhost:{port}\r\nOrigin: http://localhost:{port}\r\n"),
            200,
        ),
        (
            "/mcp",
            "Host: localhost\r\nOrigin: https://app.example:443\r\n".to_owned(),
            200,
        ),
        (
            "/mcp",
            "Host: localhost\r\nOrigin: https://other.example:443\r\n".to_owned(),
            403,
        ),
        (
            "/mcp",
            "Host: localhost\r\nOrigin: http://localhost:1\r\n".to_owned(),
            403,
        ),
        ("/mcp", "Host: other.example\r\n".to_owned(), 403),
        (&absolute, format!("Host: localhost:{port}\r\n"), 200),
        (&absolute, "Host: localhost\r\n".to_owned(), 400),
        ("/mcp", String::new(), 400),
        (
            "/mcp",
            "Host: localhost\r\nHost: evil.com\r\n".to_owned(),
            400,
        ),
        (
            "/mcp",
            "Host: localhost\r\nHost: localhost\r\n".to_owned(),
            400,
        ),
        ("/mcp", "Host: evil.com@localhost\r\n".to_owned(), 400),
        ("/mcp", "Host: localhost/evil\r\n".to_owned(), 400),
        ("http://evil.com/mcp", "Host: localhost\r\n".to_owned(), 400),
        (
            "http://evil.com@localhost/mcp",
            "Host: localhost\r\n".to_owned(),
            400,
        ),
        (
            "/mcp",
            format!(
                "Host: localhost\r\nOrigin: http://localhost:{port}\r\nOrigin: http://evil.com\r\n"
            ),
            403,
        ),
        (
            "/mcp",
            format!("Host: localhost\r\nOrigin: http://evil.com@localhost:{port}\r\n"),
            403,
        ),
        (
            "/mcp",
            format!("Host: localhost\r\nOrigin: http://localhost:{port}/evil\r\n"),
            403,
        ),
        (
            "/mcp",
            format!("Host: localhost\r\nOrigin: http://localhost:{port}?evil\r\n"),
            403,
        ),
        (
            "/mcp",
            format!("Host: localhost\r\nOrigin: http://localhost:{port}#evil\r\n"),
            403,
        ),
    ] {
        assert_eq!(
            status(address, target, &headers, &initialize()).await,
            expected,
            "{target} {headers}"
        );
    }
}

#[tokio::test]
async fn a_session_beyond_the_limit_ends_the_one_that_was_idle_for_longest() {
    let (catalog, entered, _) = waiting();
    let (address, ..) = listen(&server(catalog, Host::new()), HttpOptions::new()).await;
    let connect = async |lifecycle| {
        let transport = StreamableHttpClientTransport::from_uri(format!("http://{address}/mcp"));
        Person::silent()
            .serve_with_lifecycle(transport, versions(lifecycle))
            .await
            .unwrap()
    };
    let busy = connect(legacy()).await;
    let call = busy.call_tool(CallToolRequestParams::new("wait"));
    let mut call = std::pin::pin!(call);
    tokio::select! {
        _ = &mut call => unreachable!(),
        () = entered.notified() => {}
    }
    let used = connect(legacy()).await;
    assert_eq!(used.list_all_tools().await.unwrap().len(), 1);
    // All but the two that are used give up their places.
    for _ in 0..2 * HttpOptions::MAX_SESSIONS {
        assert_eq!(
            status(address, "/mcp", "Host: localhost\r\n", &initialize()).await,
            200
        );
    }
    assert_eq!(used.list_all_tools().await.unwrap().len(), 1);
    tokio::select! {
        _ = &mut call => unreachable!(),
        () = tokio::time::sleep(Duration::from_millis(50)) => {}
    }
    assert_eq!(
        connect(modern())
            .await
            .list_all_tools()
            .await
            .unwrap()
            .len(),
        1
    );
}

#[tokio::test]
async fn a_session_that_was_never_used_is_ended_before_one_that_was() {
    let (catalog, ..) = waiting();
    let (address, ..) = listen(&server(catalog, Host::new()), HttpOptions::new()).await;
    let begin = async || begin_session(&mut TcpStream::connect(address).await.unwrap()).await;
    let ping = async |id: &str| {
        let headers = format!("Host: localhost\r\nMcp-Session-Id: {id}\r\n");
        status(
            address,
            "/mcp",
            &headers,
            r#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#,
        )
        .await
    };
    let used = begin().await;
    assert_eq!(ping(&used).await, 200);
    let first = begin().await;
    for _ in 2..HttpOptions::MAX_SESSIONS {
        begin().await;
    }
    begin().await;
    assert_eq!((ping(&used).await, ping(&first).await), (200, 404));
}

#[tokio::test]
async fn the_address_that_is_served_is_a_name_of_the_server() {
    let (catalog, ..) = waiting();
    let Ok(listener) = TcpListener::bind("127.0.0.2:0").await else {
        return;
    };
    let (address, server) = (listener.local_addr().unwrap(), server(catalog, Host::new()));
    tokio::spawn(async move {
        server
            .serve_http(listener, &HttpOptions::new(), CancellationToken::new())
            .await
    });
    for (host, expected) in [("127.0.0.2", 200), ("127.0.0.3", 403)] {
        assert_eq!(
            status(address, "/mcp", &format!("Host: {host}\r\n"), &initialize()).await,
            expected,
            "{host}"
        );
    }
}

#[tokio::test]
async fn streams_of_messages_that_are_held_keep_no_request_out() {
    let (catalog, ..) = waiting();
    let mut options = HttpOptions::new();
    options.max_connections = 4;
    let (address, ..) = listen(&server(catalog, Host::new()), options).await;
    let mut held = Vec::new();
    for _ in 0..8 {
        let mut begun = TcpStream::connect(address).await.unwrap();
        let begin = begin_session(&mut begun);
        let id = tokio::time::timeout(Duration::from_secs(5), begin)
            .await
            .unwrap();
        let get = format!(
            "GET /mcp HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\nMcp-Session-Id: {id}\r\n\r\n"
        );
        assert_eq!(
            first_line(&mut begun, get.as_bytes()).await,
            "HTTP/1.1 200 OK"
        );
        held.push(begun);
    }
    let body = initialize();
    let next = status(address, "/mcp", "Host: localhost\r\n", &body);
    assert_eq!(
        tokio::time::timeout(Duration::from_secs(5), next)
            .await
            .unwrap(),
        200
    );
}

/// Begins a session on a connection that stays open. Returns its name.
async fn begin_session(stream: &mut TcpStream) -> String {
    let body = initialize();
    let head = format!(
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: application/json, \
         text/event-stream\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut answer = String::new();
    while !answer.contains("serverInfo") {
        let mut part = [0; 4096];
        let length = stream.read(&mut part).await.unwrap();
        assert_ne!(length, 0, "{answer}");
        answer.push_str(&String::from_utf8_lossy(&part[..length]));
    }
    let lower = answer.to_ascii_lowercase();
    let (_, id) = lower.split_once("mcp-session-id: ").unwrap();
    id.split("\r\n").next().unwrap().to_owned()
}
