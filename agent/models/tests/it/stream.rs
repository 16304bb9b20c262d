//! Handmade streams: the streamed text and the final turns.

use std::sync::{Arc, Mutex};

use crate::service::reply::{Api, Block, Way};
use crate::service::{Reply, Service, events};
use crate::workshop::{answer, catalog, run};
use agent::{Driver, Event, Selection, Session, StopReason};
use serde_json::{Value, json};
use tools::Host;

#[tokio::test]
async fn streamed_calls_are_whole_and_text_is_sent_as_it_comes() {
    for piece in [1, 7, 97] {
        let last = Api::Chat.reply(
            Way::Stream,
            &[Block::Text("all"), Block::Text(" done")],
            Some("stop"),
        );
        let service =
            Service::new([streamed_calls(), last].map(|reply| reply.in_pieces(piece))).await;
        let (texts, heard) = texts();
        let driver = Driver::new(Arc::new(service.openai(true))).with_events(heard);
        let (catalog, ran) = catalog(&["fs.read", "time.now"]);
        let mut session = Session::new(catalog.list(), Selection::new(), Host::new());
        let summary = driver.run(&mut session, "go").await.unwrap();
        assert_eq!(answer(&summary).0, "all done");
        assert_eq!(*texts.lock().unwrap(), ["all", " done"]);
        let mut ran = ran.lock().unwrap().clone();
        ran.sort_by(|a, b| a.0.cmp(&b.0));
        assert_eq!(
            ran,
            [
                ("fs.read".to_owned(), json!({"path": "é"})),
                ("time.now".to_owned(), json!({"zone": "UTC"}))
            ]
        );
        assert_eq!(service.body(0)["stream"], true);
    }
}

#[tokio::test]
async fn a_streamed_refusal_in_a_field_of_its_own_is_one() {
    let refused = json!({"index": 0, "delta": {"refusal": "I cannot."}, "finish_reason": "stop"});
    let chunk = json!({"id": "x", "object": "chat.completion.chunk", "choices": [refused]});
    let service = Service::new([events(format!("data: {chunk}\n\ndata: [DONE]\n\n"))]).await;
    let (summary, ..) = run(service.openai(true), &[]).await;
    assert_eq!(answer(&summary), ("I cannot.", &StopReason::Refusal));
}

fn texts() -> (
    Arc<Mutex<Vec<String>>>,
    impl Fn(Event) + Send + Sync + 'static,
) {
    let texts = Arc::new(Mutex::new(Vec::new()));
    let kept = texts.clone();
    let hear = move |event: Event| {
        if let Event::Text { text } = event {
            kept.lock().unwrap().push(text);
        }
    };
    (texts, hear)
}

/// Two calls whose arguments arrive by turns.
fn streamed_calls() -> Reply {
    let delta = |calls: Value| {
        let choice = json!({"index": 0, "delta": {"tool_calls": calls}, "finish_reason": null});
        format!(
            "data: {}\n\n",
            json!({"id": "x", "object": "chat.completion.chunk", "choices": [choice]})
        )
    };
    let start = |index: u32, id: &str, name: &str| {
        delta(
            json!([{"index": index, "id": id, "type": "function", "function": {"name": name, "arguments": ""}}]),
        )
    };
    let more =
        |index: u32, text: &str| delta(json!([{"index": index, "function": {"arguments": text}}]));
    let end =
        json!({"id": "x", "choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]});
    events(
        [
            start(0, "a", "fs__read"),
            start(1, "b", "time__now"),
            more(0, r#"{"path":"#),
            more(1, r#"{"zone":"U"#),
            more(0, r#""é"}"#),
            more(1, r#"TC"}"#),
            format!("data: {end}\n\ndata: [DONE]\n\n"),
        ]
        .concat(),
    )
}
