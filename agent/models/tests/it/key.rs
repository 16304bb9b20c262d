//! Keys that occur in the words of a model, and in the errors of a service.

use agent::ProviderOptions;
use serde_json::json;
use tools::protocol::wire::Format;

use crate::service::wire::{self, ALL, Block};
use crate::service::{KEY, Service, events, file_with, json as reply};
use crate::workshop::{answer, ask, run};

#[tokio::test]
async fn a_reply_that_holds_the_key_is_unchanged() {
    for key in ["test", "x", "a-long-key-for-a-local-server"] {
        let source = file_with(&format!("word-{key}"), key);
        let command = format!("cargo {key} --all");
        let text: &'static str = format!("I run {key} now.").leak();
        for format in ALL {
            for streaming in [false, true] {
                let call = Block::Call("c1", "fs__read", json!({"command": command}));
                let replies = [vec![call], vec![Block::Text(text)]];
                let service =
                    Service::new(replies.map(|blocks| wire::reply(format, streaming, &blocks)))
                        .await;
                let options = ProviderOptions {
                    key: Some(source.clone()),
                    ..wire::options(format, &service, streaming)
                };
                let (summary, _, ran) = run(wire::remote(format, &options), &["fs.read"]).await;
                assert_eq!(answer(&summary).0, text, "{format} {streaming}");
                let expected = [("fs.read".to_owned(), json!({"command": command}))];
                assert_eq!(*ran.lock().unwrap(), expected, "{format} {streaming}");
            }
        }
    }
}

#[tokio::test]
async fn a_key_is_removed_from_every_error_and_a_short_one_only_where_it_is_a_word() {
    for (key, message, expected) in [
        (
            "sk-0123456789",
            "bad key:sk-0123456789sk-0123456789.",
            "bad key:[key][key].",
        ),
        (
            "test",
            "bad key test, \"test\"; see attest, test-1 and the_test",
            "bad key [key], \"[key]\"; see attest, test-1 and the_test",
        ),
        ("x", "x is no key of x", "[key] is no key of [key]"),
    ] {
        let source = file_with(&format!("error-{key}"), key);
        let body = json!({"error": {"message": message, "type": "authentication_error"}});
        for format in ALL {
            for streaming in [false, true] {
                let inside = wire::stream(format, std::slice::from_ref(&body));
                let service = Service::new([
                    reply(401, &body),
                    if streaming { inside } else { reply(200, &body) },
                ])
                .await;
                let model = wire::remote(
                    format,
                    &ProviderOptions {
                        key: Some(source.clone()),
                        ..wire::options(format, &service, streaming)
                    },
                );
                for _ in 0..2 {
                    let error = ask(&model).await.unwrap_err().to_string();
                    assert!(error.contains(expected), "{format} {streaming}: {error}");
                }
            }
        }
    }
}

#[tokio::test]
async fn the_key_is_removed_from_the_errors_that_only_the_responses_api_has() {
    let failed = |message: &str| {
        let error = json!({"code": "invalid_prompt", "message": message});
        json!({"type": "response.failed", "response": {"id": "r", "status": "failed", "error": error, "output": []}})
    };
    let flat = |message: &str| json!({"type": "error", "code": "invalid_prompt", "message": message, "param": null});
    let format = Format::OpenAiResponses;
    let message = format!("not with {}", KEY);
    for body in [failed(&message), flat(&message)] {
        let service = Service::new([events(format!("data: {body}\n\n"))]).await;
        let error = ask(&wire::remote(
            format,
            &wire::options(format, &service, true),
        ))
        .await
        .unwrap_err();
        assert!(error.to_string().contains("not with [key]"), "{error}");
    }
}
