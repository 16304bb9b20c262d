//! Words of the model that have more than text, and go back as they came.

use serde_json::{Value, json};
use tools::protocol::wire::Format;

use crate::service::{Reply, Service, json as body, wire};
use crate::workshop::run;

/// Returns the list at `place` of the second request, after a reply and the result of its call.
async fn again(format: Format, streaming: bool, reply: Reply, place: &str) -> Vec<Value> {
    let service = Service::new([
        reply,
        wire::reply(format, streaming, &[wire::Block::Text("ok")]),
    ])
    .await;
    run(
        wire::remote(format, &wire::options(format, &service, streaming)),
        &["fs.read"],
    )
    .await;
    service
        .body(1)
        .pointer(place)
        .unwrap()
        .as_array()
        .unwrap()
        .clone()
}

#[tokio::test]
async fn quotations_and_the_tools_of_the_service_go_back_as_they_came() {
    let found = json!({"type": "web_search_result", "url": "https://a.example", "title": "A", "encrypted_content": "c2Vh"});
    let cited = json!({"type": "web_search_result_location", "url": "https://a.example", "cited_text": "a", "encrypted_index": "aQ"});
    let content = json!([
        {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"},
        {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "a"}},
        {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": [found]},
        {"type": "text", "text": "I found:"},
        {"type": "text", "text": "A.", "citations": [cited]},
        {"type": "tool_use", "id": "a", "name": "fs__read", "input": {}},
    ]);
    let message = json!({
        "id": "m", "type": "message", "role": "assistant", "model": "claude-sonnet-4-5", "content": content,
        "stop_reason": "tool_use", "stop_sequence": null, "usage": {"input_tokens": 1, "output_tokens": 1},
    });
    let mut begun = message.clone();
    (begun["content"], begun["stop_reason"]) = (json!([]), Value::Null);
    let mut events = vec![json!({"type": "message_start", "message": begun})];
    for (index, block) in content.as_array().unwrap().iter().enumerate() {
        let mut start = block.clone();
        let citations = start
            .get_mut("citations")
            .map(|citations| std::mem::replace(citations, json!([])));
        events.push(json!({"type": "content_block_start", "index": index, "content_block": start}));
        events.extend(
            citations
                .iter()
                .flat_map(|citations| citations.as_array().unwrap())
                .map(|citation| {
                    let delta = json!({"type": "citations_delta", "citation": citation});
                    json!({"type": "content_block_delta", "index": index, "delta": delta})
                }),
        );
        events.push(json!({"type": "content_block_stop", "index": index}));
    }
    let end = json!({"stop_reason": "tool_use", "stop_sequence": null});
    events.push(json!({"type": "message_delta", "delta": end, "usage": {"output_tokens": 3}}));
    events.push(json!({"type": "message_stop"}));
    let replies = [
        (false, body(200, message)),
        (true, wire::stream(Format::Anthropic, &events)),
    ];
    for (streaming, reply) in replies {
        let sent = again(Format::Anthropic, streaming, reply, "/messages/1/content").await;
        assert_eq!(json!(sent), content, "streaming {streaming}");
    }
}

#[tokio::test]
async fn the_annotations_of_a_text_go_back_with_it() {
    let annotation = json!({"type": "url_citation", "url": "https://a.example", "title": "A", "start_index": 0, "end_index": 1});
    let part =
        json!({"type": "output_text", "text": "A.", "annotations": [annotation], "logprobs": []});
    let output = json!([
        {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": [part]},
        {"type": "function_call", "id": "fc_a", "call_id": "a", "name": "fs__read", "arguments": "{}", "status": "completed"},
    ]);
    let reply = body(
        200,
        json!({"id": "r", "object": "response", "status": "completed", "model": "m", "output": output}),
    );
    let sent = again(Format::OpenAiResponses, false, reply, "/input").await;
    assert_eq!(json!(sent[1..3]), output);
}

#[tokio::test]
async fn the_signature_of_a_part_without_text_stays_with_it() {
    let signature = wire::SIGNATURE;
    let parts = json!([
        {"text": "Hm.", "thought": true},
        {"text": "", "thoughtSignature": signature},
        {"functionCall": {"name": "fs__read", "args": {}, "id": "a"}},
    ]);
    let candidate =
        json!({"content": {"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0});
    let reply = body(
        200,
        json!({"candidates": [candidate], "modelVersion": "gemini-3-flash-preview"}),
    );
    let sent = again(Format::Gemini, false, reply, "/contents/1/parts").await;
    assert_eq!(json!(sent[..2]), json!(parts.as_array().unwrap()[..2]));
    assert_ne!(sent[2]["thoughtSignature"], signature);
}

#[tokio::test]
async fn a_thought_that_the_service_cannot_read_again_stays_out() {
    let message = json!({"type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
        "content": [{"type": "output_text", "text": "So.", "annotations": [], "logprobs": []}]});
    let output = json!([
        {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "Hm."}]},
        message,
        {"type": "function_call", "id": "fc_a", "call_id": "a", "name": "fs__read", "arguments": "{}", "status": "completed"},
    ]);
    let reply = body(
        200,
        json!({"id": "r", "object": "response", "status": "completed", "model": "m", "output": output}),
    );
    let sent = again(Format::OpenAiResponses, false, reply, "/input").await;
    let text = json!(sent).to_string();
    // The id of the message belongs to the thought.
    let is_without = ["rs_1", "Hm.", "msg_1"]
        .iter()
        .all(|own| !text.contains(own));
    assert!(
        is_without && text.contains("So.") && text.contains("fc_a"),
        "{text}"
    );

    let content = json!([
        {"type": "thinking", "thinking": "Hm.", "signature": ""},
        {"type": "tool_use", "id": "a", "name": "fs__read", "input": {}},
    ]);
    let message = json!({"id": "m", "type": "message", "role": "assistant", "model": "m", "content": content,
        "stop_reason": "tool_use", "usage": {}});
    let sent = again(
        Format::Anthropic,
        false,
        body(200, message),
        "/messages/1/content",
    )
    .await;
    assert_eq!(json!(sent), json!([content[1]]));
}
