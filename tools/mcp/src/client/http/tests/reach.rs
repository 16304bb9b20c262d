//! The hosts that a connection reaches, and where its secrets go.

use std::collections::HashMap;
use std::sync::Arc;

use rmcp::model::ClientJsonRpcMessage;
use rmcp::transport::streamable_http_client::{
    StreamableHttpClient as _, StreamableHttpPostResponse as Answer,
};
use serde_json::json;
use tools_http::{HttpError, HttpOptions};
use tools_testkit::http::{TestAuthority, TestResolver, TestServer};

use super::super::HttpServer;
use super::super::requests::Failure;

const KEY: &str = "canary-key-42";

async fn post(server: &HttpServer) -> Result<Answer, Failure> {
    let message: ClientJsonRpcMessage =
        serde_json::from_value(json!({"jsonrpc": "2.0", "id": 1, "method": "ping"})).unwrap();
    let requests = server.requests().map_err(Failure::Client)?;
    let headers: HashMap<_, _> = server
        .headers
        .iter()
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    requests
        .post_message(Arc::from(server.url.as_str()), message, None, None, headers)
        .await
}

async fn accepting() -> TestServer {
    TestServer::start(|_| TestServer::head("202 Accepted", &[])).await
}

fn resolving(names: &[&str], server: &TestServer) -> HttpOptions {
    let resolver = names.iter().fold(TestResolver::new(), |resolver, name| {
        resolver.with_name(name, server.address())
    });
    HttpOptions {
        resolver: Some(Arc::new(resolver)),
        ..HttpOptions::default()
    }
}

#[tokio::test]
async fn a_public_name_that_leads_to_a_private_address_is_refused_unless_the_user_permits_it() {
    let server = accepting().await;
    let names = ["rebinding.example", "localhost", "app.localhost"];
    let at = |name: &str| format!("http://{name}:{}/mcp", server.address().port());
    let mcp = |name: &str, options| HttpServer::new(&at(name)).unwrap().with_options(options);
    let refused = post(&mcp("rebinding.example", resolving(&names, &server))).await;
    assert!(
        matches!(refused, Err(Failure::Client(HttpError::Address { .. }))),
        "{refused:?}"
    );
    assert_eq!(server.connections(), 0);
    let permitted = HttpOptions {
        private_hosts: vec!["rebinding.example".into()],
        ..resolving(&names, &server)
    };
    assert!(matches!(
        post(&mcp("rebinding.example", permitted)).await,
        Ok(Answer::Json(..))
    ));
    for name in &names[1..] {
        assert!(
            matches!(
                post(&mcp(name, resolving(&names, &server))).await,
                Ok(Answer::Json(..))
            ),
            "{name}"
        );
    }
}

#[tokio::test]
async fn a_redirect_to_another_host_or_port_is_refused_and_one_to_another_path_followed() {
    let elsewhere = accepting().await;
    let names = ["a.example", "b.example"];
    for location in [
        elsewhere.url("/mcp"),
        format!("http://b.example:{}/", elsewhere.address().port()),
        "http://169.254.169.254/latest/meta-data".to_owned(),
    ] {
        let server = TestServer::start(move |_| {
            TestServer::head("307 Temporary Redirect", &[("location", &location)])
        })
        .await;
        let options = HttpOptions {
            private_hosts: vec!["b.example".into(), "127.0.0.1".into()],
            ..resolving(&names, &elsewhere)
        };
        let mcp = HttpServer::new(&server.url("/mcp"))
            .unwrap()
            .with_options(options);
        // A body does not cross origins, and the grant is for one host and port.
        let refused = post(&mcp).await;
        assert!(
            matches!(refused, Err(Failure::Client(HttpError::Url { .. }))),
            "{refused:?}"
        );
        let uri: Arc<str> = server.url("/mcp").into();
        let refused = mcp
            .requests()
            .unwrap()
            .get_stream(uri, None, None, None, HashMap::new())
            .await
            .map(drop);
        assert!(
            matches!(refused, Err(Failure::Client(HttpError::Refused { .. }))),
            "{refused:?}"
        );
    }
    assert_eq!(elsewhere.connections(), 0);
    let server = TestServer::start(|request| match request.path() {
        "/mcp" => TestServer::head("308 Permanent Redirect", &[("location", "/mcp/")]),
        _ => TestServer::head("202 Accepted", &[]),
    })
    .await;
    assert!(matches!(
        post(&HttpServer::new(&server.url("/mcp")).unwrap()).await,
        Ok(Answer::Json(..))
    ));
    assert!(!server.received()[1].body.is_empty());
}

#[tokio::test]
async fn a_secret_goes_to_its_server_and_is_shown_in_no_answer() {
    let echo = |request: &tools_testkit::http::Received| {
        let key = request.header("x-key").unwrap_or_default().to_owned();
        let team = request.header("x-team").unwrap_or_default();
        TestServer::ok("text/plain", format!("{key} {team}"))
    };
    let server = TestServer::start(echo).await;
    let mcp = HttpServer::new(&server.url("/mcp"))
        .unwrap()
        .with_secret("X-Key", &format!("Bearer {KEY}"))
        .unwrap();
    let mcp = mcp.with_header("X-Team", "tools").unwrap();
    let answer = post(&mcp).await;
    assert!(
        matches!(answer, Err(Failure::UnexpectedContentType(_))),
        "{answer:?}"
    );
    let received = server.received().remove(0);
    assert_eq!(received.header("x-key"), Some(&*format!("Bearer {KEY}")));
    assert_eq!(received.header("x-team"), Some("tools"));
    let refusing = TestServer::start(|request| {
        let key = request.header("x-key").unwrap_or_default().to_owned();
        let head = format!(
            "HTTP/1.1 400 Bad Request\r\ncontent-length: {}\r\n\r\n{key}",
            key.len()
        );
        head.into_bytes()
    })
    .await;
    let mcp = HttpServer::new(&refusing.url("/mcp"))
        .unwrap()
        .with_secret("X-Key", KEY)
        .unwrap();
    let Err(error) = post(&mcp).await else {
        panic!("no error")
    };
    assert!(
        error.to_string().contains("[secret:x-key]") && !format!("{error:?}").contains(KEY),
        "{error:?}"
    );
}

#[tokio::test]
async fn a_secret_needs_encryption_off_this_machine() {
    let authority = TestAuthority::new();
    let tls = TestServer::start_tls(&authority, &["a.example"], |_| {
        TestServer::head("202 Accepted", &[])
    })
    .await;
    let options = HttpOptions {
        root_certificates: vec![authority.pem().into()],
        private_hosts: vec!["a.example".into()],
        ..resolving(&["a.example"], &tls)
    };
    let with_key = |url: &str, options| {
        HttpServer::new(url)
            .unwrap()
            .with_options(options)
            .with_secret("x-key", KEY)
    };
    let mcp = with_key("https://a.example/mcp", options).unwrap();
    assert!(matches!(post(&mcp).await, Ok(Answer::Json(..))));
    assert_eq!(tls.received()[0].header("x-key"), Some(KEY));
    let refused = post(&with_key("http://a.example/mcp", HttpOptions::default()).unwrap()).await;
    assert!(
        matches!(refused, Err(Failure::Client(HttpError::Secret { .. }))),
        "{refused:?}"
    );
}
