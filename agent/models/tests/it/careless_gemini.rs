//! Replies of Gemini that are no usual turns: blocked prompts, malformed calls, arguments in parts, and signed images.

use agent::{ProviderOptions, StopReason};
use agent_models::Remote;
use serde_json::{Value, json};

use crate::service::{Reply, Service, events, json as reply};
use crate::workshop::{answer, result, run};

fn gemini(service: &Service, streaming: bool) -> Remote {
    Remote::gemini(&ProviderOptions {
        base_url: Some(service.url.clone()),
        ..service.options("gemini-test", streaming)
    })
    .unwrap()
}

fn sent(streaming: bool, document: &Value) -> Reply {
    if streaming {
        events(format!("data: {document}\n\n"))
    } else {
        reply(200, document)
    }
}

fn candidate(parts: Value, reason: &str) -> Value {
    json!({"candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": reason}]})
}

fn ok(streaming: bool) -> Reply {
    sent(streaming, &candidate(json!([{"text": "ok"}]), "STOP"))
}

#[tokio::test]
async fn a_blocked_prompt_is_a_refusal_whatever_the_reason() {
    for reason in [
        "SAFETY",
        "OTHER",
        "BLOCKLIST",
        "PROHIBITED_CONTENT",
        "IMAGE_SAFETY",
        "MODEL_ARMOR",
        "JAILBREAK",
    ] {
        for streaming in [false, true] {
            let blocked = json!({"promptFeedback": {"blockReason": reason}, "usageMetadata": {"promptTokenCount": 3}});
            let service = Service::new([sent(streaming, &blocked)]).await;
            let (summary, ..) = run(gemini(&service, streaming), &[]).await;
            let (text, stop) = answer(&summary);
            assert!(
                text.contains(reason) && *stop == StopReason::Refusal,
                "{text} {stop:?}"
            );
            assert_eq!(service.requests(), 1);
        }
    }
}

#[tokio::test]
async fn a_malformed_call_is_asked_again_and_the_model_told() {
    let empty = json!({"candidates": [{"content": {"role": "model"}, "finishReason": "MALFORMED_FUNCTION_CALL"}]});
    let text = candidate(
        json!([{"text": "I look at it."}]),
        "MALFORMED_FUNCTION_CALL",
    );
    for (streaming, malformed) in [
        (false, &empty),
        (true, &empty),
        (false, &text),
        (true, &text),
    ] {
        let broken = || sent(streaming, malformed);
        let service = Service::new([broken(), broken(), ok(streaming)]).await;
        let (summary, ..) = run(gemini(&service, streaming), &[]).await;
        assert_eq!((answer(&summary).0, service.requests()), ("ok", 3));
        assert_eq!(service.body(0)["contents"], service.body(1)["contents"]);
        assert_ne!(service.body(1)["contents"], service.body(2)["contents"]);
    }
}

#[tokio::test]
async fn a_call_whose_arguments_arrive_in_parts_is_not_run_without_them() {
    let part = |function: Value| {
        format!(
            "data: {}\n\n",
            candidate(json!([{"functionCall": function}]), "")
        )
    };
    let stream = [
        part(json!({"name": "fs__read", "willContinue": true})),
        part(
            json!({"partialArgs": [{"jsonPath": "$.path", "stringValue": "a"}], "willContinue": true}),
        ),
        part(json!({})),
        format!("data: {}\n\n", candidate(json!([]), "STOP")),
    ];
    let whole = part(
        json!({"name": "fs__read", "partialArgs": [{"jsonPath": "$.path", "stringValue": "a"}]}),
    ) + &format!("data: {}\n\n", candidate(json!([]), "STOP"));
    let snake = whole.replace("partialArgs", "partial_args");
    for stream in [stream.concat(), whole, snake] {
        let service = Service::new([events(stream), ok(true)]).await;
        let (summary, session, ran) = run(gemini(&service, true), &["fs.read"]).await;
        assert_eq!((ran.lock().unwrap().len(), summary.failed_calls), (0, 1));
        assert!(result(&session.messages()[2].parts[0]).contains("not a JSON object"));
    }
}

#[tokio::test]
async fn a_reply_whose_members_are_spelled_with_underscores_is_read_and_its_arguments_are_kept() {
    let arguments = json!({"path": "a", "finish_reason": {"b_c": 12_345_678_901_234_567_890_u64}});
    let call = json!({"function_call": {"name": "fs__read", "args": arguments}, "thought_signature": "c2ln"});
    let blocked = json!({"prompt_feedback": {"block_reason": "SAFETY"}});
    for streaming in [false, true] {
        let first = json!({"candidates": [{"content": {"role": "model", "parts": [call]}, "finish_reason": "STOP"}],
            "usage_metadata": {"prompt_token_count": 7, "candidates_token_count": 3}, "model_version": "g"});
        let service = Service::new([sent(streaming, &first), sent(streaming, &blocked)]).await;
        let (summary, _, ran) = run(gemini(&service, streaming), &["fs.read"]).await;
        assert_eq!(
            *ran.lock().unwrap(),
            [("fs.read".to_owned(), arguments.clone())]
        );
        assert_eq!(
            (answer(&summary).1, summary.usage.unwrap().input_tokens),
            (&StopReason::Refusal, 7)
        );
        let part = &service.body(1)["contents"][1]["parts"][0];
        assert_eq!(part["thoughtSignature"], "c2ln", "{part}");
    }
}

#[tokio::test]
async fn the_signature_beside_an_image_goes_back_with_the_image() {
    let image = json!({"inlineData": {"mimeType": "image/png", "data": "aGVsbG8="}, "thoughtSignature": "c2lnbmVk"});
    let call = json!({"functionCall": {"name": "fs__read", "args": {}}});
    for streaming in [false, true] {
        let turn = candidate(json!([{"text": "Look:"}, image, call]), "STOP");
        let service = Service::new([sent(streaming, &turn), ok(streaming)]).await;
        run(gemini(&service, streaming), &["fs.read"]).await;
        let again = service.body(1)["contents"][1]["parts"]
            .as_array()
            .unwrap()
            .clone();
        assert!(again.contains(&image), "{again:?}");
    }
}
