//! A chunk of a streamed reply of chat completions: the provider through the driver, beside reqwest, a splitter of lines and serde_json.

use std::borrow::Cow;
use std::sync::{Arc, Mutex};

use agent::{Event, Selection, Session};
use serde::Deserialize;
use serde_json::json;
use tools::Host;

use crate::chat::{MODEL, bare_client, driver, runtime};
use crate::clock::ProcessorTime;
use crate::figure::Figure;
use crate::round::{ROUNDS, Round, SIDES, in_turn};
use crate::service::{Service, events};
use crate::table::Table;

pub(crate) const FIGURE: Figure = Figure {
    name: "streamed-chunk",
    measure,
    round,
};

/// The chunks of the measured reply, and of the one before it, which opens the connection.
const CHUNKS: usize = 10_000;
const WARM: usize = 10;

fn measure(table: &mut Table) {
    let replies = [WARM, CHUNKS].map(|count| events(reply(count)));
    let service = Service::start(move |number, _| replies[number % 2].clone());
    let [toolcrib, peer] = in_turn(ROUNDS, |side| {
        Round::start(
            "compare",
            &["round", FIGURE.name, SIDES[side], &service.url],
        )
    });
    table.compare(
        "a streamed chunk of chat completions (four words; 10,000 chunks over loopback HTTP), beside reqwest + lines + serde_json, processor time",
        "µs",
        [toolcrib[0], peer[0]],
        "≤ 3 µs",
    );
}

/// Returns the documents of a reply.
fn reply(count: usize) -> impl Iterator<Item = String> {
    const WORDS: [&str; 8] = [
        " the",
        " quick",
        " brown",
        " fox",
        " jumps",
        " over",
        " \"lazy\"",
        " dogs\n",
    ];
    let chunk = |delta: serde_json::Value, reason: Option<&str>| {
        json!({
            "id": "chatcmpl-BqZ3kR8vT1yXw5LmN7pQ2sD4fG6hJ", "object": "chat.completion.chunk", "created": 1_764_000_000,
            "model": MODEL, "service_tier": "default", "system_fingerprint": "fp_44added55e",
            "choices": [{"index": 0, "delta": delta, "logprobs": null, "finish_reason": reason}],
        })
        .to_string()
    };
    let text = move |number: usize| {
        let words: String = (0..4).map(|at| WORDS[(number * 3 + at) % 8]).collect();
        chunk(json!({"content": words}), None)
    };
    let first = chunk(json!({"role": "assistant", "content": ""}), None);
    let last = chunk(json!({}), Some("stop"));
    std::iter::once(first)
        .chain((0..count).map(text))
        .chain([last, "[DONE]".to_owned()])
}

/// The pieces of a text, as an interface shows them.
#[derive(Default)]
struct Shown {
    pieces: usize,
    text: String,
}

impl Shown {
    fn add(&mut self, piece: &str) {
        self.pieces += 1;
        self.text.push_str(piece);
    }
}

fn round(arguments: &[String]) -> Round {
    let [side, url] = arguments else {
        panic!("a round needs a side and a URL")
    };
    let shown = Arc::new(Mutex::new(Shown::default()));
    let micros = runtime().block_on(async {
        if side == SIDES[0] {
            with_driver(url, &shown).await
        } else {
            by_hand(url, &shown).await
        }
    });
    let shown = shown.lock().unwrap();
    Round {
        figures: vec![micros / CHUNKS as f64],
        result: format!(
            "{} pieces {} bytes {}",
            shown.pieces,
            shown.text.len(),
            &shown.text[..40].escape_debug()
        ),
    }
}

async fn with_driver(url: &str, shown: &Arc<Mutex<Shown>>) -> f64 {
    let events = shown.clone();
    let driver = driver(url, true).with_events(move |event: Event| {
        if let Event::Text { text } = event {
            events.lock().unwrap().add(&text);
        }
    });
    let session = || Session::new([], Selection::new(), Host::new());
    driver.run(&mut session(), "Say it.").await.unwrap();
    *shown.lock().unwrap() = Shown::default();
    let (mut session, start) = (session(), ProcessorTime::now());
    driver.run(&mut session, "Say it.").await.unwrap();
    let micros = start.micros();
    let message = session.messages().last().unwrap();
    assert_eq!(message.to_text(), shown.lock().unwrap().text);
    micros
}

/// The part of a chunk that an interface needs.
#[derive(Deserialize)]
struct Chunk<'a> {
    #[serde(borrow)]
    choices: Vec<Choice<'a>>,
}

#[derive(Deserialize)]
struct Choice<'a> {
    #[serde(borrow)]
    delta: Delta<'a>,
    finish_reason: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
struct Delta<'a> {
    #[serde(borrow)]
    content: Option<Cow<'a, str>>,
}

async fn by_hand(url: &str, shown: &Mutex<Shown>) -> f64 {
    let client = bare_client();
    request(&client, url, shown).await;
    *shown.lock().unwrap() = Shown::default();
    let start = ProcessorTime::now();
    let text = request(&client, url, shown).await;
    let micros = start.micros();
    assert_eq!(text, shown.lock().unwrap().text);
    micros
}

/// Requests a reply, shows its pieces, and returns its text for the conversation.
async fn request(client: &reqwest::Client, url: &str, shown: &Mutex<Shown>) -> String {
    let body = json!({"model": MODEL, "messages": [{"role": "user", "content": "Say it."}], "stream": true});
    let request = client.post(format!("{url}/chat/completions")).json(&body);
    let mut response = request.send().await.unwrap().error_for_status().unwrap();
    let (mut text, mut rest, mut has_ended) = (String::new(), Vec::new(), false);
    while let Some(piece) = response.chunk().await.unwrap() {
        for line in piece.split_inclusive(|byte| *byte == b'\n') {
            rest.extend_from_slice(line);
            if !line.ends_with(b"\n") {
                continue;
            }
            let data = rest.strip_prefix(b"data: ").map(<[u8]>::trim_ascii);
            if let Some(data) = data.filter(|data| *data != b"[DONE]") {
                let chunk: Chunk<'_> = serde_json::from_slice(data).unwrap();
                for choice in chunk.choices {
                    has_ended |= choice.finish_reason.is_some();
                    if let Some(words) = choice.delta.content.filter(|words| !words.is_empty()) {
                        shown.lock().unwrap().add(&words);
                        text += &words;
                    }
                }
            }
            rest.clear();
        }
    }
    assert!(has_ended);
    text
}
