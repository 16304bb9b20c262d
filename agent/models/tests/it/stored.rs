//! Sessions that earlier versions stored, with the items of services in the wrappers of another library.

use agent::{Provider as _, Request};
use serde_json::{Value, json};
use tools::CancellationToken;
use tools::protocol::Message;
use tools::protocol::wire::Format;

use crate::service::Service;
use crate::service::wire::{Block, options, remote, reply};
use crate::workshop::session;

/// Returns the body of a request after a stored turn with these parts.
async fn sent_after(format: Format, origin: &Value, parts: Value) -> Value {
    let mut parts = parts;
    for part in parts.as_array_mut().unwrap() {
        if let Some(opaque) = part.pointer_mut("/reasoning/opaque") {
            opaque["origin"] = origin.clone();
        }
    }
    let stored = json!([
        {"role": "user", "parts": [{"content": {"type": "text", "text": "go"}}]},
        {"role": "assistant", "parts": parts},
        {"role": "user", "parts": [{"content": {"type": "text", "text": "on"}}]},
    ]);
    let messages: Vec<Message> = serde_json::from_value(stored).unwrap();
    let service = Service::new([reply(format, false, &[Block::Text("ok")])]).await;
    let (session, token) = (session(&["fs.read"]), CancellationToken::new());
    let model = remote(format, &options(format, &service, false));
    let request = Request::new(&messages, session.tools(), &token);
    model.complete(request).await.unwrap();
    service.body(0)
}

/// Returns a stored part of reasoning, whose item is in a block of this kind.
fn stored(kind: &str, text: &str, item: &Value) -> Value {
    let native = json!({"item": item, "fingerprint": "0123456789abcdef"});
    json!({"reasoning": {"text": text, "opaque": {"block": {"type": kind, "text": text, "native": native}}}})
}

fn text(text: &str) -> Value {
    json!({"content": {"type": "text", "text": text}})
}

fn origin(api: &str, provider: &str, model: &str) -> Value {
    json!({"api": api, "provider": provider, "model": model, "response_model": model, "response_id": "r"})
}

#[tokio::test]
async fn stored_thoughts_go_back_to_the_model_that_made_them() {
    let chat = json!({"reasoning_content": "Hm."});
    let sealed =
        json!({"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "c2Vh"});
    let thinking = json!({"type": "thinking", "thinking": "Hm.", "signature": "c2ln"});
    let thought = json!({"text": "Hm.", "thought": true, "thoughtSignature": "c2ln"});
    let message = json!({"type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
        "content": [{"type": "output_text", "annotations": []}]});
    let beside = json!({"reasoning": {"opaque": {"beside": message}}});
    for (format, origin, parts, place, item) in [
        (
            Format::OpenAiChat,
            origin("openai.chat", "openai", "gpt-5.1"),
            json!([stored("reasoning", "Hm.", &chat), text("So.")]),
            "/messages/1",
            json!({"role": "assistant", "content": "So.", "reasoning_content": "Hm."}),
        ),
        (
            Format::OpenAiResponses,
            origin("openai.responses", "openai", "gpt-5.1"),
            json!([stored("reasoning", "", &sealed), beside, text("So.")]),
            "/input/1",
            sealed.clone(),
        ),
        (
            Format::Anthropic,
            origin("anthropic.messages", "anthropic", "claude-sonnet-4-5"),
            json!([stored("reasoning", "Hm.", &thinking), text("So.")]),
            "/messages/1/content/0",
            thinking.clone(),
        ),
        (
            Format::Gemini,
            origin(
                "gemini.generate_content",
                "gcp.gemini",
                "gemini-3-flash-preview",
            ),
            json!([stored("reasoning", "Hm.", &thought), text("So.")]),
            "/contents/1/parts/0",
            thought.clone(),
        ),
        (
            Format::Ollama,
            origin("ollama.chat", "ollama", "qwen3"),
            json!([
                stored("reasoning", "Hm.", &json!({"thinking": "Hm."})),
                text("So.")
            ]),
            "/messages/1",
            json!({"role": "assistant", "content": "So.", "thinking": "Hm."}),
        ),
    ] {
        let body = sent_after(format, &origin, parts.clone()).await;
        assert_eq!(body.pointer(place), Some(&item), "{format}: {body:#}");
        for name in ["api", "provider", "model"] {
            let mut other = origin.clone();
            other[name] = "another".into();
            let body = sent_after(format, &other, parts.clone()).await;
            let text = body.to_string();
            let is_foreign = ["Hm.", "c2Vh", "msg_1"]
                .iter()
                .any(|own| text.contains(own));
            assert!(
                !is_foreign && text.contains("So."),
                "{format} {name}: {body:#}"
            );
        }
    }
}

#[tokio::test]
async fn stored_items_of_a_service_go_back_unless_they_were_not_to() {
    let origin = origin("anthropic.messages", "anthropic", "claude-sonnet-4-5");
    let call = json!({"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {}});
    let found = json!({"type": "web_search_tool_result", "tool_use_id": "s1", "content": []});
    let part = |item: &Value, replay: bool| json!({"reasoning": {"opaque": {"block": {"type": "opaque", "item": item, "replay": replay}}}});
    let parts = json!([
        part(&call, true),
        part(&found, true),
        part(&json!({"type": "odd"}), false),
        text("So.")
    ]);
    let body = sent_after(Format::Anthropic, &origin, parts).await;
    assert_eq!(
        body["messages"][1]["content"],
        json!([call, found, {"type": "text", "text": "So."}])
    );
}
