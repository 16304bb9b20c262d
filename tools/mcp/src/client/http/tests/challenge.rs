//! Logins to a server that names its authorisation server, and the scopes, only when it refuses a message.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use data_encoding::BASE64;
use rmcp::model::ClientJsonRpcMessage;
use rmcp::transport::auth::AuthClient;
use rmcp::transport::streamable_http_client::{
    StreamableHttpClient as _, StreamableHttpPostResponse as Answer,
};
use serde_json::{Value, json};
use tools::{Grant, Host, SharedCatalog};
use tools_http::{HttpClient, HttpOptions, Request, Url};
use tools_testkit::http::{Received, TestServer};

use super::super::HttpServer;
use super::super::requests::Failure;
use crate::client::{Import, OAuthClient, Servers};

const DOCUMENT: &str = "https://app.example.org/client.json";

/// The messages that need the scope `write` too.
const WRITING: [&str; 2] = ["tools/call", "notifications/roots/list_changed"];

/// Starts a server whose tokens name their scopes. All messages need the scope `read`. Access tokens expire at once.
async fn start() -> TestServer {
    let at: Arc<OnceLock<String>> = Arc::default();
    let origin = at.clone();
    let server = TestServer::start(move |request| {
        let origin = origin.get().unwrap();
        let json = |value: Value| TestServer::ok("application/json", value.to_string());
        match (request.head.starts_with("POST "), request.path()) {
            (true, "/mcp") => message(origin, request),
            (_, "/custom/metadata") => {
                json(json!({"resource": format!("{origin}/mcp"), "authorization_servers": [format!("{origin}/as")]}))
            }
            (_, "/.well-known/oauth-authorization-server/as") => json(json!({
                "issuer": format!("{origin}/as"),
                "authorization_endpoint": format!("{origin}/as/authorize"),
                "token_endpoint": format!("{origin}/as/token"),
                "response_types_supported": ["code"],
                "code_challenge_methods_supported": ["S256"],
                "client_id_metadata_document_supported": true,
            })),
            (_, "/as/token") => {
                let form = form(&request.body);
                let scopes = form.get("code").or(form.get("refresh_token")).unwrap();
                json(json!({"access_token": scopes, "refresh_token": scopes, "token_type": "Bearer", "expires_in": 0}))
            }
            _ => TestServer::head("404 Not Found", &[]),
        }
    })
    .await;
    at.set(server.url("").trim_end_matches('/').to_owned())
        .unwrap();
    server
}

/// Answers a message with a challenge, unless its token has the scopes.
fn message(origin: &str, request: &Received) -> Vec<u8> {
    let message: Value = serde_json::from_slice(&request.body).unwrap();
    let is_writing = WRITING.iter().any(|method| message["method"] == *method);
    let needed: &[&str] = if is_writing {
        &["read", "write"]
    } else {
        &["read"]
    };
    let scopes = request
        .header("authorization")
        .map(|value| value.trim_start_matches("Bearer ").replace('-', " "));
    let metadata = format!("resource_metadata=\"{origin}/custom/metadata\"");
    let (status, challenge) = match scopes {
        None => (
            "401 Unauthorized",
            format!("Bearer scope=\"read\", {metadata}"),
        ),
        Some(scopes)
            if needed
                .iter()
                .all(|needed| scopes.split(' ').any(|scope| scope == *needed)) =>
        {
            return reply(&message);
        }
        Some(_) => (
            "403 Forbidden",
            format!("Bearer error=\"insufficient_scope\", scope=\"write\", {metadata}"),
        ),
    };
    TestServer::head(status, &[("www-authenticate", &challenge)])
}

/// Answers as a server with one tool.
fn reply(message: &Value) -> Vec<u8> {
    let result = match message["method"].as_str().unwrap() {
        "initialize" => json!({
            "protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "a", "version": "1"},
        }),
        "tools/list" => json!({"tools": [{"name": "t", "inputSchema": {"type": "object"}}]}),
        "server/discover" => Value::Null,
        _ => return TestServer::head("202 Accepted", &[]),
    };
    let (key, value) = match result {
        Value::Null => ("error", json!({"code": -32601, "message": "unknown"})),
        result => ("result", result),
    };
    TestServer::ok(
        "application/json",
        json!({"jsonrpc": "2.0", "id": message["id"], key: value}).to_string(),
    )
}

fn form(query: &[u8]) -> HashMap<String, String> {
    let query = String::from_utf8(query.to_vec()).unwrap();
    Url::parse(&format!("http://a/?{query}"))
        .unwrap()
        .query_pairs()
        .into_owned()
        .collect()
}

fn program(server: &TestServer, folder: &Path) -> HttpServer {
    HttpServer::new(&server.url("/mcp"))
        .unwrap()
        .with_tokens(folder)
        .with_oauth_client(OAuthClient {
            document: Some(DOCUMENT.to_owned()),
            ..OAuthClient::default()
        })
}

/// Logs in by a browser whose code is the scopes, and returns the query of the page.
async fn log_in(mcp: &HttpServer) -> HashMap<String, String> {
    let mut shown = HashMap::new();
    let open = |url: &str| {
        shown = Url::parse(url)
            .unwrap()
            .query_pairs()
            .into_owned()
            .collect();
        let code = format!("scopes-{}", shown["scope"].replace(' ', "-"));
        let answer = format!(
            "{}?state={}&code={code}",
            shown["redirect_uri"], shown["state"]
        );
        tokio::spawn(async move {
            let client = HttpClient::from_options(HttpOptions {
                private_hosts: vec!["127.0.0.1".into()],
                ..HttpOptions::default()
            })
            .unwrap();
            let cx = Host::new().with_grant(Grant::parse(["net:read:127.0.0.1:*"]).unwrap());
            client
                .send(&cx, Request::get(&answer).unwrap())
                .await
                .unwrap();
        });
    };
    mcp.log_in(open).await.unwrap();
    shown
}

/// Sends a notification over a new connection.
async fn post(mcp: &HttpServer, message: Value) -> Result<Answer, Failure> {
    let client = AuthClient::new(mcp.requests().unwrap(), mcp.authorisation().await.unwrap());
    let message: ClientJsonRpcMessage = serde_json::from_value(message).unwrap();
    client
        .post_message(
            Arc::from(mcp.url.as_str()),
            message,
            None,
            None,
            HashMap::new(),
        )
        .await
}

fn reading() -> Value {
    json!({"jsonrpc": "2.0", "method": "notifications/initialized"})
}

fn writing() -> Value {
    json!({"jsonrpc": "2.0", "method": "notifications/roots/list_changed"})
}

#[tokio::test]
async fn a_login_has_the_scopes_of_the_challenge_and_the_next_one_those_that_a_request_lacked() {
    let (server, folder) = (start().await, tempfile::tempdir().unwrap());
    let mcp = program(&server, folder.path());
    let shown = log_in(&mcp).await;
    assert_eq!((&*shown["scope"], &*shown["client_id"]), ("read", DOCUMENT));
    assert!(matches!(post(&mcp, reading()).await, Ok(Answer::Accepted)));
    assert!(!mcp.is_login_required());
    assert!(matches!(
        post(&mcp, writing()).await,
        Err(Failure::InsufficientScope(_))
    ));
    assert!(mcp.is_login_required());
    // Another program logs in.
    let other = program(&server, folder.path());
    assert!(other.is_login_required());
    assert_eq!(log_in(&other).await["scope"], "read write");
    assert!(!other.is_login_required());
    // The token has expired, and is refreshed where the challenge of the login said.
    assert!(matches!(
        post(&other, writing()).await,
        Ok(Answer::Accepted)
    ));
    let refreshed = server.received().into_iter().filter(|request| {
        request.path() == "/as/token"
            && form(&request.body)
                .get("refresh_token")
                .is_some_and(|token| token == "scopes-read-write")
    });
    assert_eq!(refreshed.count(), 1);
}

#[tokio::test]
async fn a_call_that_lacks_scopes_says_that_a_login_is_required() {
    let (server, folder) = (start().await, tempfile::tempdir().unwrap());
    let mcp = program(&server, folder.path());
    log_in(&mcp).await;
    let catalog = SharedCatalog::new();
    let servers = Servers::new(catalog.clone());
    let imported = servers
        .import(Import {
            login_advice: "do log in".to_owned(),
            ..Import::from_http("s".parse().unwrap(), mcp.clone())
        })
        .unwrap();
    assert_eq!(imported.ready().await.unwrap().tools, ["mcp:s/t"]);
    let cx = Host::new().with_grant(Grant::parse(["world:write:mcp:s/*"]).unwrap());
    let error = catalog
        .execute(&cx, "mcp:s/t", json!({}))
        .await
        .unwrap_err();
    assert_eq!(error.code(), tools::ErrorCode::Unavailable, "{error}");
    assert!(
        error.to_string().contains("requires a login; do log in") && mcp.is_login_required(),
        "{error}"
    );
}

#[tokio::test]
async fn a_program_that_an_authorisation_server_knows_sends_its_secret_at_each_login_and_refresh() {
    let (server, folder) = (start().await, tempfile::tempdir().unwrap());
    let known = OAuthClient {
        id: Some("known".to_owned()),
        secret: Some("its secret".to_owned()),
        document: Some(DOCUMENT.to_owned()),
        callback_port: None,
    };
    let program = || program(&server, folder.path()).with_oauth_client(known.clone());
    assert_eq!(log_in(&program()).await["client_id"], "known");
    assert!(matches!(
        post(&program(), reading()).await,
        Ok(Answer::Accepted)
    ));
    let expected = format!("Basic {}", BASE64.encode(b"known:its+secret"));
    let sent: Vec<_> = server
        .received()
        .into_iter()
        .filter(|request| request.path() == "/as/token")
        .collect();
    assert_eq!(sent.len(), 2);
    assert!(
        sent.iter()
            .all(|request| request.header("authorization") == Some(&*expected))
    );
    assert!(!format!("{:?}", program()).contains("its secret"));
}
