//! Webhooks: the forms of the body, the grant and the address filter.

use serde_json::{Value, json};
use tools::{ErrorCode, Secret};
use tools_http::HttpOptions;
use tools_http::testing::TestServer;
use tools_message::ChannelSettings;

use crate::setup::{call, host, options, send, webhook};

async fn server() -> TestServer {
    TestServer::start(|_| TestServer::ok("text/plain", "ok")).await
}

fn body(server: &TestServer) -> Value {
    let received = server.received();
    let request = received.last().unwrap();
    assert!(request.head.starts_with("POST /hook?key=1 "), "{}", request.head);
    assert_eq!(request.header("content-type"), Some("application/json"));
    serde_json::from_slice(&request.body).unwrap()
}

#[tokio::test]
async fn the_body_has_the_form_of_the_settings() {
    let server = server().await;
    let settings = webhook(&server.url("/hook?key=1"));
    let hostile = "<!channel> & <https://evil.example|bank>\r\n\0\u{202e}";
    let arguments = json!({"channel": "out", "text": hostile, "subject": "Build"});

    call(&host("out", "webhook", &settings, options()), arguments.clone()).await.unwrap();
    assert_eq!(body(&server), json!({"channel": "out", "chat": null, "subject": "Build", "text": hostile}));

    let slack = host("out", "webhook", &settings.with_text("format", "slack"), options());
    call(&slack, arguments).await.unwrap();
    let escaped = "Build\n\n&lt;!channel&gt; &amp; &lt;https://evil.example|bank&gt;\r\n\0\u{202e}";
    assert_eq!(body(&server), json!({"text": escaped}));
}

#[tokio::test]
async fn a_request_needs_the_grant_and_a_host_that_the_user_permits() {
    let server = server().await;
    let settings = webhook(&server.url("/hook?key=1"));
    let granted = host("out", "webhook", &settings, options());
    for grant in [&["message:write:other", "net:write:127.0.0.1:*"], &["message:write:out", "net:read:127.0.0.1:*"]] {
        let refused = send(&granted.clone().with_grant(grant), "hello").await.unwrap_err();
        assert_eq!(refused.code(), ErrorCode::PermissionDenied, "{grant:?} {refused}");
    }
    let refused = send(&host("out", "webhook", &settings, HttpOptions::new()), "hello").await.unwrap_err();
    assert!(refused.to_string().contains("not public"), "{refused}");
    assert_eq!(server.received().len(), 0);
}

#[tokio::test]
async fn a_channel_is_one_of_the_users() {
    let server = server().await;
    let host = host("out", "webhook", &webhook(&server.url("/hook?key=1")), options());
    for name in ["team", "http", "127.0.0.1"] {
        let refused = call(&host, json!({"channel": name, "text": "hello"})).await.unwrap_err();
        assert!(refused.to_string().contains("use one of: out"), "{refused}");
    }
    let address = call(&host, json!({"channel": server.url("/"), "text": "hello"})).await.unwrap_err();
    assert_eq!(address.code(), ErrorCode::InvalidArguments);
    assert_eq!(server.received().len(), 0);
}

#[test]
fn settings_that_cannot_work_are_refused_without_their_secret() {
    let create = tools_message::kind("webhook").unwrap().create;
    for (settings, said) in [
        (webhook("ftp://example.org/canary"), "url does not hold"),
        (webhook("https://user:canary@example.org/"), "url does not hold"),
        (webhook("canary"), "url does not hold"),
        (
            ChannelSettings::new().with_secret("url", Secret::new("https://example.org")).with_text("format", "xml"),
            "format",
        ),
    ] {
        let error = create(&settings).err().unwrap();
        assert!(error.to_string().contains(said) && !format!("{error:?} {error}").contains("canary"), "{error}");
    }
}
