//! Streams made by hand: what is told on the way, and what has come of them in the end.

use std::sync::{Arc, Mutex};

use crate::service::{Reply, Service, events};
use crate::workshop::{answer, catalog, result, run};
use agent::{Driver, Event, Selection, Session, Stop};
use serde_json::{Value, json};
use tools::ToolContext;
use tools::protocol::Part;

#[tokio::test]
async fn streamed_calls_are_whole_and_text_is_told_as_it_comes() {
    for piece in [1, 7, 97] {
        let service = Service::new([streamed_calls().in_pieces(piece), events(STREAMED_ANSWER).in_pieces(piece)]).await;
        let (texts, heard) = texts();
        let driver = Driver::new(Arc::new(service.openai(true))).with_events(heard);
        let (catalog, ran) = catalog(&["fs.read", "time.now"]);
        let mut session = Session::new(catalog.list(), Selection::new(), ToolContext::new());
        let summary = driver.run(&mut session, "go").await.unwrap();
        assert_eq!(answer(&summary).0, "all done");
        assert_eq!(*texts.lock().unwrap(), ["all", " done"]);
        let mut ran = ran.lock().unwrap().clone();
        ran.sort_by(|a, b| a.0.cmp(&b.0));
        assert_eq!(
            ran,
            [("fs.read".to_owned(), json!({"path": "é"})), ("time.now".to_owned(), json!({"zone": "UTC"}))]
        );
        assert_eq!(service.body(0)["stream"], true);
    }
}

#[tokio::test]
async fn streamed_thoughts_and_their_signatures_go_back_as_they_came() {
    let thought = json!({"type": "thinking", "thinking": "Hm, é.", "signature": "c2lnbmVk"});
    let sealed = json!({"type": "redacted_thinking", "data": "c2VhbGVk"});
    for piece in [1, 7, 97] {
        let thinks = [
            block(
                0,
                &json!({"type": "thinking", "thinking": "", "signature": ""}),
                &[
                    json!({"type": "thinking_delta", "thinking": "Hm, "}),
                    json!({"type": "thinking_delta", "thinking": "é."}),
                    json!({"type": "signature_delta", "signature": "c2lnbmVk"}),
                ],
            ),
            block(1, &sealed, &[]),
            block(
                2,
                &json!({"type": "tool_use", "id": "t1", "name": "fs_read", "input": {}}),
                &[
                    json!({"type": "input_json_delta", "partial_json": "{\"path\""}),
                    json!({"type": "input_json_delta", "partial_json": ": \"a\"}"}),
                ],
            ),
        ];
        let over = [block(0, &json!({"type": "text", "text": ""}), &[json!({"type": "text_delta", "text": "ok"})])];
        let replies = [message(&thinks, "tool_use"), message(&over, "end_turn")].map(|reply| reply.in_pieces(piece));
        let service = Service::new(replies).await;
        let (summary, session, ran) = run(service.anthropic(true), &["fs.read"]).await;
        assert_eq!(answer(&summary), ("ok", &Stop::Answer));
        assert_eq!(*ran.lock().unwrap(), [("fs.read".to_owned(), json!({"path": "a"}))]);
        assert!(matches!(&session.messages()[1].parts[0], Part::Reasoning { text, .. } if text == "Hm, é."));
        let second = service.body(1);
        let again = second["messages"][1]["content"].as_array().unwrap();
        assert_eq!(again[..2], [thought.clone(), sealed.clone()]);
        assert_eq!(second["messages"][2]["content"][0]["tool_use_id"], "t1");
    }
}

#[tokio::test]
async fn streamed_calls_that_were_cut_off_are_reported_and_not_run() {
    let whole = json!({"index": 0, "id": "a", "type": "function", "function": {"name": "fs_read", "arguments": "{}"}});
    let half =
        json!({"index": 1, "id": "b", "type": "function", "function": {"name": "fs_read", "arguments": "{\"pa"}});
    let cut =
        events([delta(json!({"tool_calls": [whole, half]}), None), delta(json!({}), Some("length"))].concat() + DONE);
    let input = block(
        0,
        &json!({"type": "tool_use", "id": "b", "name": "fs_read", "input": {}}),
        &[json!({"type": "input_json_delta", "partial_json": "{\"pa"})],
    );
    let over = [block(0, &json!({"type": "text", "text": ""}), &[json!({"type": "text_delta", "text": "ok"})])];
    let openai = Service::new([cut, events(STREAMED_ANSWER)]).await;
    let anthropic = Service::new([message(&[input], "max_tokens"), message(&over, "end_turn")]).await;
    for (provider, calls) in [(openai.openai(true), 2), (anthropic.anthropic(true), 1)] {
        let (summary, session, ran) = run(provider, &["fs.read"]).await;
        assert_eq!((ran.lock().unwrap().len(), summary.calls, summary.failed_calls), (0, calls, calls));
        for told in session.messages()[2].parts.iter().map(result) {
            assert!(told.contains("cut off"), "{told}");
        }
    }
}

#[tokio::test]
async fn streamed_limits_and_refusals_are_told() {
    let says = |key: &str, finish: &str| {
        events([delta(json!({key: "I cannot."}), None), delta(json!({}), Some(finish))].concat() + DONE)
    };
    let cases = [
        (says("content", "length"), Stop::Length),
        (says("content", "content_filter"), Stop::Refusal),
        (says("refusal", "stop"), Stop::Refusal),
    ];
    for (reply, stop) in cases {
        let service = Service::new([reply]).await;
        let (summary, ..) = run(service.openai(true), &[]).await;
        assert_eq!(answer(&summary), ("I cannot.", &stop));
    }
    let service = Service::new([message(&[], "refusal")]).await;
    let (summary, ..) = run(service.anthropic(true), &[]).await;
    assert_eq!(answer(&summary).1, &Stop::Refusal);
}

fn texts() -> (Arc<Mutex<Vec<String>>>, impl Fn(Event) + Send + Sync + 'static) {
    let texts = Arc::new(Mutex::new(Vec::new()));
    let kept = texts.clone();
    let hear = move |event: Event| {
        if let Event::Text { text } = event {
            kept.lock().unwrap().push(text);
        }
    };
    (texts, hear)
}

fn delta(delta: Value, finish: Option<&str>) -> String {
    let choice = json!({"index": 0, "delta": delta, "finish_reason": finish});
    format!("data: {}\n\n", json!({"id": "x", "object": "chat.completion.chunk", "choices": [choice]}))
}

const DONE: &str = "data: [DONE]\n\n";

/// A block of a message of Anthropic: how it begins, and what comes after.
fn block(index: usize, start: &Value, deltas: &[Value]) -> String {
    let mut text = event(&json!({"type": "content_block_start", "index": index, "content_block": start}));
    for delta in deltas {
        text += &event(&json!({"type": "content_block_delta", "index": index, "delta": delta}));
    }
    text + &event(&json!({"type": "content_block_stop", "index": index}))
}

fn message(blocks: &[String], stop: &str) -> Reply {
    let usage = json!({"input_tokens": 7, "output_tokens": 1});
    let begun = json!({"id": "x", "type": "message", "role": "assistant", "model": "claude-test", "content": [],
        "stop_reason": null, "stop_sequence": null, "usage": usage});
    let ended = json!({"type": "message_delta", "delta": {"stop_reason": stop}, "usage": {"output_tokens": 3}});
    let begun = event(&json!({"type": "message_start", "message": begun}));
    events(begun + &blocks.concat() + &event(&ended) + &event(&json!({"type": "message_stop"})))
}

fn event(event: &Value) -> String {
    format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap())
}

/// Two calls whose arguments arrive by turns.
fn streamed_calls() -> Reply {
    let delta = |calls: Value| {
        let choice = json!({"index": 0, "delta": {"tool_calls": calls}, "finish_reason": null});
        format!("data: {}\n\n", json!({"id": "x", "object": "chat.completion.chunk", "choices": [choice]}))
    };
    let start = |index: u32, id: &str, name: &str| {
        delta(json!([{"index": index, "id": id, "type": "function", "function": {"name": name, "arguments": ""}}]))
    };
    let more = |index: u32, text: &str| delta(json!([{"index": index, "function": {"arguments": text}}]));
    let end = json!({"id": "x", "choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]});
    events(
        [
            start(0, "a", "fs_read"),
            start(1, "b", "time_now"),
            more(0, r#"{"path":"#),
            more(1, r#"{"zone":"U"#),
            more(0, r#""é"}"#),
            more(1, r#"TC"}"#),
            format!("data: {end}\n\ndata: [DONE]\n\n"),
        ]
        .concat(),
    )
}

const STREAMED_ANSWER: &str = concat!(
    "data: {\"id\":\"y\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"all\"},\"finish_reason\":null}]}\n\n",
    "data: {\"id\":\"y\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\" done\"},\"finish_reason\":null}]}\n\n",
    "data: {\"id\":\"y\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n",
);
