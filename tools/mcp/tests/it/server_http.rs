//! Streamable HTTP.

use std::net::SocketAddr;
use std::time::Duration;

use rmcp::ClientServiceExt as _;
use rmcp::model::CallToolRequestParams;
use rmcp::transport::StreamableHttpClientTransport;
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;
use tools::{CancellationToken, ToolContext};
use tools_mcp::server::{HttpError, HttpOptions, ToolServer};

use crate::server_call::waiting;
use crate::server_client::{Person, legacy, server, versions};

/// Serves on loopback. Returns the address, the end of the server and the token that shuts it down.
pub(crate) async fn listen(
    server: &ToolServer,
    options: HttpOptions,
) -> (SocketAddr, JoinHandle<Result<(), HttpError>>, CancellationToken) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (server, shutdown) = (server.clone(), CancellationToken::new());
    let token = shutdown.clone();
    (address, tokio::spawn(async move { server.serve_http(listener, &options, token).await }), shutdown)
}

#[tokio::test]
async fn a_dropped_connection_cancels_the_call() {
    let (catalog, started, ended) = waiting();
    let (address, ..) = listen(&server(catalog, ToolContext::new()), HttpOptions::new()).await;
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "a", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let params = json!({"name": "wait", "arguments": {}, "_meta": meta});
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).to_string();
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
    let options = HttpOptions::new().with_shutdown_grace(Duration::from_millis(50));
    let (address, serving, shutdown) = listen(&server(catalog, ToolContext::new()), options).await;
    let transport = StreamableHttpClientTransport::from_uri(format!("http://{address}/mcp"));
    let client = Person::silent().serve_with_lifecycle(transport, versions(legacy())).await.unwrap();
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
    let (address, ..) = listen(&server(catalog, ToolContext::new()), HttpOptions::new()).await;
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
    let info =
        json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "a", "version": "1"}});
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": info}).to_string();
    let opened = exchange("POST", "", &body).await;
    let session = opened.lines().find_map(|line| line.strip_prefix("mcp-session-id: ")).unwrap();
    let end = exchange("DELETE", &format!("Mcp-Session-Id: {session}\r\n"), "").await;
    assert!(end.starts_with("HTTP/1.1 204 No Content\r\n") && end.ends_with("\r\n\r\n"), "{end}");
}

#[tokio::test]
async fn connections_beyond_the_limit_wait() {
    let (catalog, ..) = waiting();
    let options = HttpOptions::new().with_max_connections(1);
    let (address, ..) = listen(&server(catalog, ToolContext::new()), options).await;
    let request = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n";
    let mut first = TcpStream::connect(address).await.unwrap();
    first.write_all(request).await.unwrap();
    let mut answer = [0; 15];
    first.read_exact(&mut answer).await.unwrap();
    assert_eq!(&answer, b"HTTP/1.1 200 OK");
    let mut second = TcpStream::connect(address).await.unwrap();
    second.write_all(request).await.unwrap();
    let early = tokio::time::timeout(Duration::from_millis(100), second.read_exact(&mut answer)).await;
    assert!(early.is_err());
    drop(first);
    second.read_exact(&mut answer).await.unwrap();
    assert_eq!(&answer, b"HTTP/1.1 200 OK");
}

#[tokio::test]
async fn an_address_that_others_reach_requires_a_token() {
    let (catalog, ..) = waiting();
    let server = server(catalog, ToolContext::new());
    let serve = async |options: HttpOptions| {
        let listener = TcpListener::bind("0.0.0.0:0").await.unwrap();
        let shutdown = CancellationToken::new();
        shutdown.cancel();
        server.serve_http(listener, &options, shutdown).await
    };
    assert!(matches!(serve(HttpOptions::new()).await, Err(HttpError::TokenRequired { .. })));
    assert!(matches!(HttpOptions::new().with_token("short"), Err(HttpError::ShortToken { length: 5 })));
    serve(HttpOptions::new().with_token("0123456789abcdef").unwrap()).await.unwrap();
}
