//! The scripted provider and invalid scripts.

use std::path::Path;

use agent::provider;
use agent::{ProviderError, ProviderOptions, Request, Scripted, StopReason, ToolSet, Turn};
use serde_json::json;
use tools::CancellationToken;
use tools::protocol::{Message, Role};

/// The turn that comes after these messages.
async fn next(provider: &dyn agent::Provider, messages: &[Message]) -> Result<Turn, ProviderError> {
    provider
        .complete(Request::new(
            messages,
            &ToolSet::default(),
            &CancellationToken::new(),
        ))
        .await
}

fn reason(script: &str) -> String {
    match Scripted::from_json(script) {
        Err(ProviderError::Script { reason, .. }) => reason,
        other => panic!("no refusal: {other:?}"),
    }
}

#[tokio::test]
async fn turns_are_played_in_order_and_then_no_more() {
    let script = r#"[{"calls": [{"name": "x", "arguments": {"a": 1}}, {"name": "y", "id": "own"}]}, {"text": "done"}]"#;
    let provider = Scripted::from_json(script).unwrap();
    let mut messages = vec![Message::text(Role::User, "go")];
    let first = next(&provider, &messages).await.unwrap();
    let calls: Vec<_> = first.message.calls().collect();
    assert_eq!(
        (calls[0].id.as_str(), calls[0].arguments.value()),
        ("script_1", &json!({"a": 1}))
    );
    assert_eq!(
        (calls[1].id.as_str(), calls[1].arguments.value()),
        ("own", &json!({}))
    );
    assert_eq!(first.stop, StopReason::Calls);
    messages.push(first.message);
    assert_eq!(
        next(&provider, &messages).await.unwrap(),
        Turn::answer("done")
    );
    messages.push(Message::text(Role::Assistant, "done"));
    let error = next(&provider, &messages).await.unwrap_err();
    assert!(
        matches!(error, ProviderError::OutOfTurns { turns: 2 }),
        "{error}"
    );
}

/// As after a resumption, and as when a request is repeated.
#[tokio::test]
async fn the_conversation_says_which_turn_is_next() {
    let provider = Scripted::new(["one", "", "three"].map(Turn::answer));
    let empty = |role| Message {
        role,
        parts: Vec::new(),
    };
    // Empty turns count. Messages of other roles do not.
    let messages = [
        empty(Role::System),
        empty(Role::User),
        empty(Role::Assistant),
        empty(Role::Tool),
        empty(Role::Assistant),
    ];
    for (messages, text) in [
        (&messages[..], "three"),
        (&messages[..4], ""),
        (&messages[..2], "one"),
        (&[], "one"),
    ] {
        for _ in 0..2 {
            assert_eq!(next(&provider, messages).await.unwrap(), Turn::answer(text));
        }
    }
}

#[test]
fn an_invalid_script_is_refused_with_its_position() {
    assert!(reason("[{\"text\": ").contains("line 1"));
    assert!(reason("{}").contains("sequence"));
    assert!(reason("[{}]").contains("turn 1 has neither text nor calls"));
    assert!(reason("[{\"txet\": \"x\"}]").contains("unknown field `txet`"));
    assert!(
        reason("[{\"calls\": [{\"name\": \"x\", \"args\": {}}]}]").contains("unknown field `args`")
    );
    assert!(reason("[{\"calls\": [{}]}]").contains("missing field `name`"));
    assert!(
        reason(r#"[{"calls": [{"name": "x", "arguments": {"a": 1, "a": 2}}]}]"#)
            .contains("each key of an object once")
    );
}

#[test]
fn a_script_needs_a_file_that_is_there() {
    let scripted = provider::get("scripted").unwrap();
    let error = scripted.create(&ProviderOptions::new()).err().unwrap();
    assert!(matches!(&error, ProviderError::Options { .. }), "{error}");

    let missing = Path::new(env!("CARGO_TARGET_TMPDIR")).join("no-such-script.json");
    let error = scripted
        .create(&ProviderOptions {
            script: Some(missing.clone()),
            ..ProviderOptions::default()
        })
        .err()
        .unwrap();
    assert!(
        matches!(&error, ProviderError::ScriptFile { path, .. } if *path == missing),
        "{error}"
    );

    let wrong = Path::new(env!("CARGO_TARGET_TMPDIR")).join("no-script.json");
    std::fs::write(&wrong, "[1]").unwrap();
    let error = scripted
        .create(&ProviderOptions {
            script: Some(wrong.clone()),
            ..ProviderOptions::default()
        })
        .err()
        .unwrap();
    assert!(
        error
            .to_string()
            .contains("no-script.json does not hold model turns"),
        "{error}"
    );
}
