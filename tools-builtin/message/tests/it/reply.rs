//! Messages without a channel go to the conversation's own chat.

use std::fs;

use serde_json::{Value, json};
use tools::{ErrorCode, Host};
use tools_http::{HttpClient, HttpOptions};
use tools_message::{ChannelError, ChannelSettings, Channels};
use tools_testkit::TestHost;

use crate::setup::{call, host};

fn file(path: &std::path::Path) -> ChannelSettings {
    ChannelSettings::new().with_text("path", path.to_str().unwrap())
}

fn in_chat(host: TestHost) -> TestHost {
    host.with_context(|cx: Host| cx.with_channel("out").with_chat("c-7"))
}

#[tokio::test]
async fn a_reply_goes_to_the_chat_of_the_context_and_to_no_other() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("messages.jsonl");
    let alone = host("out", "file", &file(&path), HttpOptions::default());
    let refused = call(&alone, json!({"text": "hello"})).await.unwrap_err();
    assert!(
        refused
            .to_string()
            .contains("no chat to reply in; use one of: out"),
        "{refused}"
    );

    let chat = in_chat(alone).with_grant(&["message:write:reply"]);
    call(&chat, json!({"text": "hello"})).await.unwrap();
    let line: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
    assert_eq!(
        (&line["channel"], &line["chat"], &line["text"]),
        (&json!("out"), &json!("c-7"), &json!("hello"))
    );

    // The grant of a reply is none for the whole channel.
    let whole = call(&chat, json!({"channel": "out", "text": "hello"}))
        .await
        .unwrap_err();
    assert_eq!(whole.code(), ErrorCode::PermissionDenied);
    let elsewhere = chat.with_context(|cx| cx.with_channel("other"));
    let refused = call(&elsewhere, json!({"text": "hello"}))
        .await
        .unwrap_err();
    assert!(
        refused.to_string().contains("no channel \"other\""),
        "{refused}"
    );
    assert_eq!(fs::read_to_string(&path).unwrap().lines().count(), 1);
}

#[tokio::test]
async fn a_channel_that_cannot_be_used_is_refused_before_anybody_is_asked_for_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("messages.jsonl");
    let host = host("team", "file", &file(&path), HttpOptions::default()).with_grant(&[]);
    let refused = |arguments: Value| async { call(&host, arguments).await.unwrap_err() };
    let misspelt = refused(json!({"channel": "taem", "text": "hello"})).await;
    assert_eq!(misspelt.code(), ErrorCode::ExecutionFailed);
    assert!(
        misspelt
            .to_string()
            .contains("(did you mean team?); use one of: team"),
        "{misspelt}"
    );
    assert!(
        refused(json!({"text": "hello"}))
            .await
            .to_string()
            .contains("no chat to reply in")
    );
    // The recipients of a channel are for a call that is allowed.
    let allowed =
        refused(json!({"channel": "team", "text": "hello", "to": ["eve@example.org"]})).await;
    assert_eq!(allowed.code(), ErrorCode::PermissionDenied);

    let channels = Channels::new()
        .with_absent("team", "the variable TEAM_WEBHOOK is empty; set it")
        .unwrap();
    let absent = host.with_service(channels);
    let refused = call(&absent, json!({"channel": "team", "text": "hello"}))
        .await
        .unwrap_err();
    assert_eq!(refused.code(), ErrorCode::Unavailable);
}

#[tokio::test]
async fn a_channel_that_lacks_something_says_so_when_it_is_used() {
    let folder = tempfile::tempdir().unwrap();
    let host = host(
        "out",
        "file",
        &file(&folder.path().join("out")),
        HttpOptions::default(),
    );
    let channels = Channels::new()
        .with_absent("team", "the variable TEAM_WEBHOOK is empty; set it")
        .unwrap();
    let host = host.with_service(channels);
    let refused = call(&host, json!({"channel": "team", "text": "hello"}))
        .await
        .unwrap_err();
    assert_eq!(refused.code(), ErrorCode::Unavailable);
    assert!(
        refused
            .to_string()
            .contains("TEAM_WEBHOOK is empty; set it"),
        "{refused}"
    );
}

#[test]
fn the_name_of_a_channel_is_a_plain_word() {
    let long = "x".repeat(65);
    for name in ["", "a b", "a/b", "a*", "ä", "reply", &long] {
        let refused = Channels::new().with_absent(name, "").unwrap_err();
        assert!(matches!(refused, ChannelError::Name { .. }), "{name}");
    }
    let channel =
        (tools_message::kind("terminal").unwrap().create)(&ChannelSettings::new()).unwrap();
    let channels = Channels::new()
        .with_channel("my-team.2_b", channel, HttpClient::default())
        .unwrap();
    assert_eq!(channels.names().collect::<Vec<_>>(), ["my-team.2_b"]);
}
