//! Webhooks: the forms of the body, the grant and the address filter.

use serde_json::{Value, json};
use tools::{ErrorCode, Secret};
use tools_http::HttpOptions;
use tools_message::ChannelSettings;
use tools_testkit::http::TestServer;

use crate::setup::{call, host, options, send, webhook};

async fn server() -> TestServer {
    TestServer::start(|_| TestServer::ok("text/plain", "ok")).await
}

fn body(server: &TestServer) -> Value {
    let received = server.received();
    let request = received.last().unwrap();
    assert!(
        request.head.starts_with("POST /hook?key=1 "),
        "{}",
        request.head
    );
    assert_eq!(request.header("content-type"), Some("application/json"));
    serde_json::from_slice(&request.body).unwrap()
}

#[tokio::test]
async fn the_body_has_the_form_of_the_settings() {
    let server = server().await;
    let settings = webhook(&server.url("/hook?key=1"));
    let hostile = "<!channel> & <https://evil.example|bank>\r\n\0\u{202e}";
    let arguments = json!({"channel": "out", "text": hostile, "subject": "Build"});

    call(
        &host("out", "webhook", &settings, options()),
        arguments.clone(),
    )
    .await
    .unwrap();
    assert_eq!(
        body(&server),
        json!({"channel": "out", "chat": null, "subject": "Build", "text": hostile})
    );

    let slack = host(
        "out",
        "webhook",
        &settings.with_text("format", "slack"),
        options(),
    );
    call(&slack, arguments).await.unwrap();
    let escaped = "Build\n\n&lt;!channel&gt; &amp; &lt;https://evil.example|bank&gt;\r\n\0\u{202e}";
    assert_eq!(body(&server), json!({"text": escaped}));
}

#[tokio::test]
async fn a_request_needs_the_grant_and_a_host_that_the_user_permits() {
    let server = server().await;
    let settings = webhook(&server.url("/hook?key=1"));
    let granted = host("out", "webhook", &settings, options());
    for grant in [
        &["message:write:other", "net:write:127.0.0.1:*"],
        &["message:write:out", "net:read:127.0.0.1:*"],
    ] {
        let refused = send(&granted.clone().with_grant(grant), "hello")
            .await
            .unwrap_err();
        assert_eq!(
            refused.code(),
            ErrorCode::PermissionDenied,
            "{grant:?} {refused}"
        );
    }
    let refused = send(
        &host("out", "webhook", &settings, HttpOptions::default()),
        "hello",
    )
    .await
    .unwrap_err();
    assert!(refused.to_string().contains("not public"), "{refused}");
    assert_eq!(server.received().len(), 0);
}

#[tokio::test]
async fn a_channel_is_one_of_the_users() {
    let server = server().await;
    let host = host(
        "out",
        "webhook",
        &webhook(&server.url("/hook?key=1")),
        options(),
    );
    for name in ["team", "http", "127.0.0.1"] {
        let refused = call(&host, json!({"channel": name, "text": "hello"}))
            .await
            .unwrap_err();
        assert!(refused.to_string().contains("use one of: out"), "{refused}");
    }
    let address = call(&host, json!({"channel": server.url("/"), "text": "hello"}))
        .await
        .unwrap_err();
    assert_eq!(address.code(), ErrorCode::InvalidArguments);
    assert_eq!(server.received().len(), 0);
}

#[test]
fn settings_that_cannot_work_are_refused_without_their_secret() {
    let create = tools_message::kind("webhook").unwrap().create;
    for (settings, said) in [
        (webhook("ftp://example.org/canary"), "url does not hold"),
        (
            webhook("https://user:canary@example.org/"),
            "url does not hold",
        ),
        (webhook("canary"), "url does not hold"),
        (
            webhook("http://hooks.example/canary"),
            "url would be sent without encryption; write https",
        ),
        (
            webhook("http://10.0.0.1/canary"),
            "url would be sent without encryption",
        ),
        (
            webhook("http://127.0.0.1.example/canary"),
            "url would be sent without encryption",
        ),
        (ChannelSettings::new(), "url is missing"),
        (
            webhook("https://example.org/canary").with_text("chat", "C1"),
            "chat is for the format slack",
        ),
        (
            ChannelSettings::new()
                .with_secret("url", Secret::new("https://example.org"))
                .with_text("format", "xml"),
            "format",
        ),
    ] {
        let error = create(&settings).err().unwrap();
        assert!(
            error.to_string().contains(said) && !format!("{error:?} {error}").contains("canary"),
            "{error}"
        );
    }
}

#[test]
fn a_url_of_this_machine_needs_no_encryption() {
    let create = tools_message::kind("webhook").unwrap().create;
    for url in [
        "http://127.0.0.1:1/",
        "http://127.8.9.1/",
        "http://[::1]:80/",
        "http://localhost/",
        "http://a.localhost/",
    ] {
        create(&webhook(url)).unwrap();
    }
}

#[tokio::test]
async fn an_answer_in_slack_goes_to_its_chat_or_nowhere() {
    let server = server().await;
    let settings = webhook(&server.url("/hook?key=1")).with_text("format", "slack");
    let in_chat = |settings: &ChannelSettings, chat: &str| {
        let chat = chat.to_owned();
        host("out", "webhook", settings, options())
            .with_context(|cx| cx.with_channel("out").with_chat(chat))
    };
    let of_c1 = settings.clone().with_text("chat", "C1");
    for (settings, chat) in [(&settings, "C1"), (&of_c1, "C2"), (&of_c1, "C2:17.5")] {
        let refused = call(&in_chat(settings, chat), json!({"text": "hello"}))
            .await
            .unwrap_err();
        assert!(
            refused
                .to_string()
                .contains("was not sent: the URL of the channel posts to one"),
            "{refused}"
        );
    }
    assert_eq!(server.received().len(), 0);
    call(&in_chat(&of_c1, "C1"), json!({"text": "hello"}))
        .await
        .unwrap();
    assert_eq!(body(&server), json!({"text": "hello"}));
    call(&in_chat(&of_c1, "C1:17.5"), json!({"text": "hello"}))
        .await
        .unwrap();
    assert_eq!(body(&server), json!({"text": "hello", "thread_ts": "17.5"}));
}
