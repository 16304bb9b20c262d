//! Replies of a service in each of the five formats.

use agent::ProviderOptions;
use agent_models::Remote;
use serde_json::{Value, json};
use tools::protocol::wire::Format;

use super::{Reply, Service, events, json as whole};

/// The formats of the linked providers.
pub(crate) const ALL: [Format; 5] = [
    Format::OpenAiChat,
    Format::OpenAiResponses,
    Format::Anthropic,
    Format::Gemini,
    Format::Ollama,
];

/// A part of a reply.
#[derive(Clone, Debug)]
pub(crate) enum Block {
    Text(&'static str),
    /// A call with its id, its wire name and its arguments, and a field that the format puts beside calls.
    Call(&'static str, &'static str, Value),
}

/// The signature beside each call, where the format has one.
pub(crate) const SIGNATURE: &str = "c2lnbmVkLWJ5LXRoZS1zZXJ2aWNl";

/// A text and two calls of `fs.read`.
pub(crate) fn two_calls() -> [Block; 3] {
    let call = |id, path: &str| {
        Block::Call(
            id,
            "fs__read",
            json!({"path": path, "n": 12_345_678_901_234_567_u64}),
        )
    };
    [
        Block::Text("I look: é. "),
        call("c1", "a"),
        call("c2", "色"),
    ]
}

/// Creates the provider of a format.
pub(crate) fn remote(format: Format, options: &ProviderOptions) -> Remote {
    match format {
        Format::OpenAiChat => Remote::openai(options),
        Format::OpenAiResponses => Remote::openai_responses(options),
        Format::Anthropic => Remote::anthropic(options),
        Format::Gemini => Remote::gemini(options),
        _ => Remote::ollama(options),
    }
    .unwrap()
}

/// The options for a model of this service.
pub(crate) fn options(format: Format, service: &Service, streaming: bool) -> ProviderOptions {
    let model = match format {
        Format::OpenAiChat | Format::OpenAiResponses => "gpt-5.1",
        Format::Anthropic => "claude-sonnet-4-5",
        Format::Gemini => "gemini-3-flash-preview",
        _ => "qwen3",
    };
    ProviderOptions {
        base_url: Some(service.url.clone()),
        ..service.options(model, streaming)
    }
}

/// A reply of these blocks.
pub(crate) fn reply(format: Format, streaming: bool, blocks: &[Block]) -> Reply {
    match (format, streaming) {
        (Format::OpenAiChat, false) => chat(blocks),
        (Format::OpenAiChat, true) => chat_stream(blocks),
        (Format::OpenAiResponses, false) => whole(200, response(blocks)),
        (Format::OpenAiResponses, true) => response_stream(blocks),
        (Format::Anthropic, false) => whole(200, message(blocks)),
        (Format::Anthropic, true) => message_stream(blocks),
        (Format::Gemini, false) => whole(200, candidates(blocks, true)),
        (Format::Gemini, true) => {
            let (last, first) = blocks.split_last().unwrap();
            let pieces = first
                .iter()
                .map(|block| candidates(std::slice::from_ref(block), false));
            let pieces = pieces.chain([candidates(std::slice::from_ref(last), true)]);
            events(
                pieces
                    .map(|piece| format!("data: {piece}\r\n\r\n"))
                    .collect::<String>(),
            )
        }
        (_, false) => whole(200, record(blocks, true)),
        (_, true) => {
            let pieces = blocks
                .iter()
                .map(|block| record(std::slice::from_ref(block), false));
            stream(
                format,
                &pieces.chain([record(&[], true)]).collect::<Vec<_>>(),
            )
        }
    }
}

/// A stream of these documents, as the format separates them.
pub(crate) fn stream(format: Format, documents: &[Value]) -> Reply {
    let (field, end) = if format == Format::Ollama {
        ("", "\n")
    } else {
        ("data: ", "\n\n")
    };
    stream_of(
        format,
        documents
            .iter()
            .map(|document| format!("{field}{document}{end}"))
            .collect::<String>(),
    )
}

/// A stream with this body.
pub(crate) fn stream_of(format: Format, body: impl Into<String>) -> Reply {
    let kind = if format == Format::Ollama {
        "application/x-ndjson"
    } else {
        "text/event-stream"
    };
    Reply::Answer {
        status: 200,
        headers: format!("content-type: {kind}\r\n"),
        body: body.into(),
        piece: 7,
    }
}

/// Returns the body of a streamed reply, and the place where its end is stated.
pub(crate) fn body_and_end(format: Format, blocks: &[Block]) -> (String, usize) {
    let Reply::Answer { body, .. } = reply(format, true, blocks) else {
        unreachable!()
    };
    let end = body.find(match format {
        Format::OpenAiChat => "\"finish_reason\":\"",
        Format::OpenAiResponses => "response.completed",
        Format::Anthropic => "\"stop_reason\":\"",
        Format::Gemini => "\"finishReason\"",
        _ => "\"done\":true",
    });
    let end = end.unwrap();
    (body, end)
}

fn calls(blocks: &[Block]) -> bool {
    blocks.iter().any(|block| matches!(block, Block::Call(..)))
}

fn chat_call(index: usize, block: &Block) -> Option<Value> {
    let Block::Call(id, name, arguments) = block else {
        return None;
    };
    let function = json!({"name": name, "arguments": arguments.to_string()});
    let google = json!({"google": {"thought_signature": SIGNATURE}});
    Some(
        json!({"index": index, "id": id, "type": "function", "function": function, "extra_content": google}),
    )
}

fn text(blocks: &[Block]) -> String {
    blocks
        .iter()
        .filter_map(|block| {
            if let Block::Text(text) = block {
                Some(*text)
            } else {
                None
            }
        })
        .collect()
}

fn chat_usage() -> Value {
    json!({"prompt_tokens": 70, "completion_tokens": 3, "total_tokens": 73, "prompt_tokens_details": {"cached_tokens": 64}})
}

fn chat(blocks: &[Block]) -> Reply {
    let tool_calls: Vec<_> = blocks
        .iter()
        .enumerate()
        .filter_map(|(index, block)| chat_call(index, block))
        .collect();
    let mut message = json!({"role": "assistant", "content": text(blocks)});
    if calls(blocks) {
        message["tool_calls"] = tool_calls.into();
    }
    let reason = if calls(blocks) { "tool_calls" } else { "stop" };
    let choice = json!({"index": 0, "message": message, "finish_reason": reason});
    whole(
        200,
        json!({"id": "x", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], "usage": chat_usage()}),
    )
}

fn chat_stream(blocks: &[Block]) -> Reply {
    let chunk = |delta: Value, reason: Option<&str>| {
        let choice = json!({"index": 0, "delta": delta, "finish_reason": reason});
        format!(
            "data: {}\n\n",
            json!({"id": "x", "object": "chat.completion.chunk", "choices": [choice]})
        )
    };
    let mut body = chunk(json!({"role": "assistant", "content": ""}), None);
    for (index, block) in blocks.iter().enumerate() {
        body += &match block {
            Block::Text(text) => chunk(json!({"content": text}), None),
            Block::Call(_, _, arguments) => {
                let mut start = chat_call(index, block).unwrap();
                start["function"]["arguments"] = "".into();
                let more =
                    json!({"index": index, "function": {"arguments": arguments.to_string()}});
                chunk(json!({"tool_calls": [start]}), None)
                    + &chunk(json!({"tool_calls": [more]}), None)
            }
        };
    }
    body += &chunk(
        json!({}),
        Some(if calls(blocks) { "tool_calls" } else { "stop" }),
    );
    body += &format!(
        "data: {}\n\n",
        json!({"id": "x", "choices": [], "usage": chat_usage()})
    );
    events(body + "data: [DONE]\n\n")
}

fn items(blocks: &[Block]) -> Vec<Value> {
    let mut items = vec![
        json!({"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": SIGNATURE, "status": "completed"}),
    ];
    items.extend(blocks.iter().map(|block| match block {
        Block::Text(text) => {
            let part = json!({"type": "output_text", "text": text, "annotations": [], "logprobs": []});
            json!({"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": [part]})
        }
        Block::Call(id, name, arguments) => {
            json!({"type": "function_call", "id": format!("fc_{id}"), "call_id": id, "name": name,
            "arguments": arguments.to_string(), "status": "completed"})
        }
    }));
    items
}

fn response(blocks: &[Block]) -> Value {
    let usage = json!({"input_tokens": 70, "output_tokens": 3, "total_tokens": 73,
        "input_tokens_details": {"cached_tokens": 64}, "output_tokens_details": {"reasoning_tokens": 0}});
    json!({"id": "resp_1", "object": "response", "created_at": 1, "status": "completed", "error": null,
        "incomplete_details": null, "model": "gpt-5.1", "output": items(blocks), "usage": usage})
}

fn response_stream(blocks: &[Block]) -> Reply {
    let mut number = 0;
    let mut body = String::new();
    let mut event = |mut event: Value| {
        event["sequence_number"] = number.into();
        number += 1;
        body += &format!(
            "event: {}\ndata: {event}\n\n",
            event["type"].as_str().unwrap()
        );
    };
    let mut begun = response(&[]);
    (begun["status"], begun["output"], begun["usage"]) =
        ("in_progress".into(), json!([]), Value::Null);
    event(json!({"type": "response.created", "response": begun}));
    for (index, item) in items(blocks).into_iter().enumerate() {
        let mut added = item.clone();
        added["status"] = "in_progress".into();
        let id = item["id"].clone();
        match item["type"].as_str().unwrap() {
            "message" => {
                added["content"] = json!([]);
                let delta = item["content"][0]["text"].clone();
                event(
                    json!({"type": "response.output_item.added", "output_index": index, "item": added}),
                );
                event(
                    json!({"type": "response.content_part.added", "item_id": id, "output_index": index, "content_index": 0,
                    "part": {"type": "output_text", "text": "", "annotations": []}}),
                );
                event(
                    json!({"type": "response.output_text.delta", "item_id": id, "output_index": index, "content_index": 0,
                    "delta": delta}),
                );
                event(
                    json!({"type": "response.output_text.done", "item_id": id, "output_index": index, "content_index": 0,
                    "text": delta}),
                );
            }
            "function_call" => {
                let arguments = added["arguments"].take();
                added["arguments"] = "".into();
                event(
                    json!({"type": "response.output_item.added", "output_index": index, "item": added}),
                );
                event(
                    json!({"type": "response.function_call_arguments.delta", "item_id": id, "output_index": index,
                    "delta": arguments}),
                );
                event(
                    json!({"type": "response.function_call_arguments.done", "item_id": id, "output_index": index,
                    "arguments": arguments}),
                );
            }
            _ => event(
                json!({"type": "response.output_item.added", "output_index": index, "item": added}),
            ),
        }
        event(json!({"type": "response.output_item.done", "output_index": index, "item": item}));
    }
    event(json!({"type": "response.completed", "response": response(blocks)}));
    events(body)
}

fn message(blocks: &[Block]) -> Value {
    let content: Vec<_> = blocks
        .iter()
        .map(|block| match block {
            Block::Text(text) => json!({"type": "text", "text": text}),
            Block::Call(id, name, arguments) => {
                json!({"type": "tool_use", "id": id, "name": name, "input": arguments, "caller": {"type": "direct"}})
            }
        })
        .collect();
    let reason = if calls(blocks) {
        "tool_use"
    } else {
        "end_turn"
    };
    let usage = json!({"input_tokens": 6, "cache_read_input_tokens": 64, "cache_creation_input_tokens": 0, "output_tokens": 3});
    json!({"id": "msg_1", "type": "message", "role": "assistant", "model": "claude-sonnet-4-5", "content": content,
        "stop_reason": reason, "stop_sequence": null, "usage": usage})
}

fn message_stream(blocks: &[Block]) -> Reply {
    let event = |event: Value| {
        format!(
            "event: {}\ndata: {event}\n\n",
            event["type"].as_str().unwrap()
        )
    };
    let mut whole = message(blocks);
    let (content, reason) = (whole["content"].take(), whole["stop_reason"].take());
    whole["content"] = json!([]);
    let mut body = event(json!({"type": "message_start", "message": whole}));
    for (index, block) in content.as_array().unwrap().iter().enumerate() {
        let mut start = block.clone();
        let delta = match block["type"].as_str().unwrap() {
            "text" => {
                start["text"] = "".into();
                json!({"type": "text_delta", "text": block["text"]})
            }
            _ => {
                start["input"] = json!({});
                json!({"type": "input_json_delta", "partial_json": block["input"].to_string()})
            }
        };
        body +=
            &event(json!({"type": "content_block_start", "index": index, "content_block": start}));
        body += &event(json!({"type": "content_block_delta", "index": index, "delta": delta}));
        body += &event(json!({"type": "content_block_stop", "index": index}));
    }
    let delta = json!({"stop_reason": reason, "stop_sequence": null});
    body += &event(json!({"type": "message_delta", "delta": delta, "usage": {"output_tokens": 3}}));
    events(body + &event(json!({"type": "message_stop"})))
}

fn candidates(blocks: &[Block], is_last: bool) -> Value {
    let parts: Vec<_> = blocks
        .iter()
        .map(|block| match block {
            Block::Text(text) => json!({"text": text}),
            Block::Call(id, name, arguments) => {
                json!({"functionCall": {"name": name, "args": arguments, "id": id}, "thoughtSignature": SIGNATURE})
            }
        })
        .collect();
    let mut candidate = json!({"content": {"role": "model", "parts": parts}, "index": 0});
    if is_last {
        candidate["finishReason"] = "STOP".into();
    }
    let usage = json!({"promptTokenCount": 70, "candidatesTokenCount": 3, "totalTokenCount": 73, "cachedContentTokenCount": 64});
    json!({"candidates": [candidate], "usageMetadata": usage, "modelVersion": "gemini-3-flash-preview", "responseId": "r1"})
}

fn record(blocks: &[Block], is_done: bool) -> Value {
    let mut message = json!({"role": "assistant", "content": text(blocks)});
    let tool_calls: Vec<_> = blocks
        .iter()
        .filter_map(|block| {
            let Block::Call(id, name, arguments) = block else {
                return None;
            };
            Some(json!({"id": id, "function": {"index": 0, "name": name, "arguments": arguments}}))
        })
        .collect();
    if !tool_calls.is_empty() {
        message["tool_calls"] = tool_calls.into();
    }
    let mut record = json!({"model": "qwen3", "created_at": "2026-01-01T00:00:00Z", "message": message, "done": is_done});
    if is_done {
        record["done_reason"] = "stop".into();
        (record["prompt_eval_count"], record["eval_count"]) = (70.into(), 3.into());
        record["prompt_eval_cached_count"] = 64.into();
    }
    record
}
