//! Replies of a model, in each format and each way that they are sent.

use serde_json::{Map, Value, json};

use super::{Reply, Service, events, json as whole};
use agent_models::Remote;

/// A format of a service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Api {
    Chat,
    Messages,
}

/// How a reply arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// In one piece.
    Whole,
    /// As a stream with its end marker.
    Stream,
    /// As a stream that breaks off before its end marker.
    Cut,
}

/// A piece of a reply.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Block {
    Text(&'static str),
    /// Signed, where the format signs.
    Thought(&'static str),
    /// An encrypted thought of Anthropic.
    Sealed(&'static str),
    /// A call of `fs.read` by this id, with these arguments as they are written.
    Call(&'static str, &'static str),
}

use Block::{Call, Sealed, Text, Thought};

impl Api {
    pub(crate) const ALL: [Self; 2] = [Self::Chat, Self::Messages];

    pub(crate) fn model(self, service: &Service, streaming: bool) -> Remote {
        match self {
            Self::Chat => service.openai(streaming),
            Self::Messages => service.anthropic(streaming),
        }
    }

    /// A reply of these blocks, which stops for this reason.
    pub(crate) fn reply(self, way: Way, blocks: &[Block], reason: Option<&str>) -> Reply {
        match (self, way) {
            (Self::Chat, Way::Whole) => chat(blocks, reason),
            (Self::Chat, _) => chunks(blocks, reason, way == Way::Stream),
            (Self::Messages, Way::Whole) => message(blocks, reason),
            (Self::Messages, _) => message_events(blocks, reason, way == Way::Stream),
        }
    }

    /// A reply of text that ends as it should.
    pub(crate) fn answer(self, way: Way) -> Reply {
        self.reply(way, &[Text("ok")], Some(self.stops(&[])))
    }

    /// The reason that a service gives for a reply that has ended by itself.
    pub(crate) fn stops(self, blocks: &[Block]) -> &'static str {
        match (self, blocks.iter().any(|block| matches!(block, Call(..)))) {
            (Self::Chat, false) => "stop",
            (Self::Chat, true) => "tool_calls",
            (Self::Messages, false) => "end_turn",
            (Self::Messages, true) => "tool_use",
        }
    }
}

fn chat(blocks: &[Block], reason: Option<&str>) -> Reply {
    let mut message = Map::from_iter([
        ("role".to_owned(), json!("assistant")),
        ("content".to_owned(), Value::Null),
    ]);
    let mut calls = Vec::new();
    for block in blocks {
        match block {
            Text(text) => message.insert("content".to_owned(), json!(text)),
            Thought(text) => message.insert("reasoning_content".to_owned(), json!(text)),
            Sealed(_) => None,
            Call(id, arguments) => {
                let function = json!({"name": "fs__read", "arguments": arguments});
                calls.push(json!({"id": id, "type": "function", "function": function}));
                None
            }
        };
    }
    if !calls.is_empty() {
        message.insert("tool_calls".to_owned(), calls.into());
    }
    let choice = json!({"index": 0, "message": message, "finish_reason": reason});
    completion(choice)
}

/// A reply of chat completions with this choice.
pub(crate) fn completion(choice: Value) -> Reply {
    let usage = json!({"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10});
    let body = json!({"id": "x", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], "usage": usage});
    whole(200, body)
}

fn chunks(blocks: &[Block], reason: Option<&str>, is_whole: bool) -> Reply {
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
            Text(text) => chunk(json!({"content": text}), None),
            Thought(text) => chunk(json!({"reasoning_content": text}), None),
            Sealed(_) => String::new(),
            Call(id, arguments) => {
                let start = json!({"index": index, "id": id, "type": "function", "function": {"name": "fs__read"}});
                let more = json!({"index": index, "function": {"arguments": arguments}});
                chunk(json!({"tool_calls": [start]}), None)
                    + &chunk(json!({"tool_calls": [more]}), None)
            }
        };
    }
    if reason.is_some() {
        body += &chunk(json!({}), reason);
    }
    events(if is_whole {
        body + "data: [DONE]\n\n"
    } else {
        body
    })
}

fn message(blocks: &[Block], reason: Option<&str>) -> Reply {
    let content = blocks.iter().map(|block| match block {
        Text(text) => json!({"type": "text", "text": text}).to_string(),
        Thought(text) => {
            json!({"type": "thinking", "thinking": text, "signature": SIGNATURE}).to_string()
        }
        Sealed(data) => json!({"type": "redacted_thinking", "data": data}).to_string(),
        Call(id, arguments) => {
            // Invalid JSON is sent as a string. A `Value` would lose repeated keys and long integers.
            let is_json = serde_json::from_str::<Value>(arguments).is_ok();
            let input = if is_json {
                (*arguments).to_owned()
            } else {
                json!(arguments).to_string()
            };
            format!(r#"{{"type":"tool_use","id":"{id}","name":"fs__read","input":{input}}}"#)
        }
    });
    let content = content.collect::<Vec<_>>().join(",");
    whole(
        200,
        envelope(json!([]), reason).to_string().replacen(
            "\"content\":[]",
            &format!("\"content\":[{content}]"),
            1,
        ),
    )
}

fn message_events(blocks: &[Block], reason: Option<&str>, is_whole: bool) -> Reply {
    let event = |event: Value| {
        format!(
            "event: {}\ndata: {event}\n\n",
            event["type"].as_str().unwrap()
        )
    };
    let mut body = event(json!({"type": "message_start", "message": envelope(json!([]), None)}));
    for (index, block) in blocks.iter().enumerate() {
        let (start, deltas) = match block {
            Text(text) => (
                json!({"type": "text", "text": ""}),
                vec![json!({"type": "text_delta", "text": text})],
            ),
            Thought(text) => (
                json!({"type": "thinking", "thinking": "", "signature": ""}),
                halves(text)
                    .map(|half| json!({"type": "thinking_delta", "thinking": half}))
                    .into_iter()
                    .chain([json!({"type": "signature_delta", "signature": SIGNATURE})])
                    .collect(),
            ),
            Sealed(data) => (
                json!({"type": "redacted_thinking", "data": data}),
                Vec::new(),
            ),
            Call(id, arguments) => (
                json!({"type": "tool_use", "id": id, "name": "fs__read", "input": {}}),
                halves(arguments)
                    .map(|half| json!({"type": "input_json_delta", "partial_json": half}))
                    .to_vec(),
            ),
        };
        body +=
            &event(json!({"type": "content_block_start", "index": index, "content_block": start}));
        for delta in deltas {
            body += &event(json!({"type": "content_block_delta", "index": index, "delta": delta}));
        }
        body += &event(json!({"type": "content_block_stop", "index": index}));
    }
    if reason.is_some() || is_whole {
        let delta = json!({"stop_reason": reason, "stop_sequence": null});
        body +=
            &event(json!({"type": "message_delta", "delta": delta, "usage": {"output_tokens": 3}}));
    }
    events(if is_whole {
        body + &event(json!({"type": "message_stop"}))
    } else {
        body
    })
}

/// Splits a text, so that a stream carries it in pieces.
fn halves(text: &str) -> [&str; 2] {
    let middle = (0..=text.len() / 2)
        .rfind(|at| text.is_char_boundary(*at))
        .unwrap();
    [&text[..middle], &text[middle..]]
}

const SIGNATURE: &str = "c2lnbmVk";

fn envelope(content: Value, reason: Option<&str>) -> Value {
    json!({"id": "x", "type": "message", "role": "assistant", "model": "claude-test", "content": content,
        "stop_reason": reason, "stop_sequence": null, "usage": {"input_tokens": 7, "output_tokens": 1}})
}
