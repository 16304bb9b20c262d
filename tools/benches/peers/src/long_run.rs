//! A run of 900 steps, each with a call of a tool that reads a target: through the driver, beside a loop that is written by hand.

use agent::{Selection, Session};
use serde::Serialize;
use serde_json::{Value, json};
use tools::protocol::wire::{Format, Strictness};
use tools::{Catalog, Grant, Host, tool};

use crate::chat::{MODEL, bare_client, driver, runtime};
use crate::clock::ProcessorTime;
use crate::figure::Figure;
use crate::heap::HEAP;
use crate::round::{ROUNDS, Round, SIDES, UNCOUNTED, can_count, in_turn};
use crate::service::{self, Service};
use crate::table::{Table, short};

pub(crate) const FIGURE: Figure = Figure {
    name: "long-run",
    measure,
    round,
};

/// The steps with a call. One more has the answer.
const STEPS: usize = 900;

/// The place of the heap of the written request among the figures.
const WRITTEN: usize = 3;

const PROMPT: &str = "Look at all files.";

/// Describes a source file in about 200 bytes.
#[tool(name = "source.describe", reads = "fs:{path}")]
pub(crate) async fn describe(
    /// The path.
    path: String,
) -> String {
    text_about(&path)
}

fn text_about(path: &str) -> String {
    let numbers = path.bytes().map(u64::from).sum::<u64>();
    format!(
        "{path}: {numbers} lines of Rust, with a module, two public types, their constructors and setters, a test of each, \
         and comments that give the reasons which the code below them cannot show to a reader."
    )
}

fn measure(table: &mut Table) {
    let [toolcrib, peer] = in_turn(ROUNDS, |side| run("compare", side));
    table.compare(
        "a step of a run of 900 (a call that reads a target, result of 200 bytes), beside a loop by hand, processor time",
        "µs",
        [toolcrib[0], peer[0]],
        "≤ 1.5 ×",
    );
    if !can_count() {
        return table.note(UNCOUNTED);
    }
    let [toolcrib, peer] = in_turn(ROUNDS, |side| run("heap", side));
    let (text, steps) = (*toolcrib.last().unwrap(), STEPS as f64);
    table.compare(
        &format!(
            "heap that the conversation of that run keeps, per step (its text in a request: {} B)",
            short(text / steps)
        ),
        "B",
        [toolcrib[2] / steps, peer[2] / steps],
        "",
    );
    table.tell(
        "heap of the written request in it, which the next one continues, per step, and its text",
        &format!(
            "{} B, {} B",
            short(toolcrib[WRITTEN] / steps),
            short(text / steps)
        ),
        "≤ its text",
    );
    table.compare(
        "peak of the heap in that run, per step: with the request",
        "B",
        [toolcrib[1] / steps, peer[1] / steps],
        "",
    );
}

/// Runs one round against a service of its own, and adds the text of the conversation to its figures and its result.
fn run(program: &str, side: usize) -> Round {
    let service = Service::start(|number, _| service::json("200 OK", &reply(number)));
    let mut round = Round::start(program, &["round", FIGURE.name, SIDES[side], &service.url]);
    let (requests, body) = service.last();
    assert_eq!(requests, STEPS + 1);
    let body: Value = serde_json::from_slice(&body).unwrap();
    let messages = body["messages"].to_string();
    round.figures.push(messages.len() as f64);
    round.result += &format!(" {} {messages}", body["tools"]);
    round
}

/// Returns the reply to the request with this number.
fn reply(number: usize) -> String {
    let (message, reason) = if number == STEPS {
        (json!({"role": "assistant", "content": "Done."}), "stop")
    } else {
        let arguments = json!({"path": format!("src/part_{number}/file.rs")}).to_string();
        let function = json!({"name": "source__describe", "arguments": arguments});
        let call =
            json!({"id": format!("call_{number:024}"), "type": "function", "function": function});
        (
            json!({"role": "assistant", "content": null, "tool_calls": [call]}),
            "tool_calls",
        )
    };
    json!({
        "id": "chatcmpl-1", "object": "chat.completion", "created": 1_764_000_000, "model": MODEL,
        "choices": [{"index": 0, "message": message, "finish_reason": reason}],
        "usage": {"prompt_tokens": 1000, "completion_tokens": 20, "total_tokens": 1020},
    })
    .to_string()
}

fn round(arguments: &[String]) -> Round {
    let [side, url] = arguments else {
        panic!("a round needs a side and a URL")
    };
    runtime().block_on(async {
        if side == SIDES[0] {
            with_driver(url).await
        } else {
            by_hand(url).await
        }
    })
}

/// Creates the catalog, whose definition both sides send.
fn catalog() -> Catalog {
    let mut catalog = Catalog::new();
    catalog.submit(&[&DESCRIBE_TOOL]).unwrap();
    catalog
}

async fn with_driver(url: &str) -> Round {
    let cx = Host::new().with_grant(Grant::parse(["fs:read:src/**"]).unwrap());
    let mut session = Session::new(catalog().list(), Selection::new(), cx);
    let (idle, driver) = (driver(url, false), driver(url, false).with_max_steps(1_000));
    // Reads the table of sensitive paths, which a process has once.
    let prepared = session.execute("source.describe", json!({"path": "src/main.rs"}));
    prepared.await.unwrap();
    let (before, start) = (HEAP.start(), ProcessorTime::now());
    let summary = driver.run(&mut session, PROMPT).await.unwrap();
    let micros = start.micros();
    assert_eq!(summary.failed_calls, 0);
    let heap = [HEAP.peak_above(before), HEAP.kept_above(before)];
    // The session lives, so that nothing is counted that both have.
    let written = HEAP.freed_with(driver) - HEAP.freed_with(idle);
    let answer = session.messages().last().unwrap().to_text();
    let mut round = outcome(micros, heap, summary.calls as usize, &answer);
    round.figures.push(written);
    round
}

/// The body of a request, which borrows the conversation.
#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    messages: &'a [Value],
    tools: &'a Value,
}

async fn by_hand(url: &str) -> Round {
    let set = agent::ToolSet::new(catalog().list(), &Selection::new(), &Default::default());
    let wire = set.wire(Format::OpenAiChat, Strictness::Relaxed);
    let tools: Value = serde_json::from_str(wire.definitions()).unwrap();
    let client = bare_client();
    let url = format!("{url}/chat/completions");
    let (before, start) = (HEAP.start(), ProcessorTime::now());
    let mut messages = vec![json!({"role": "user", "content": PROMPT})];
    let mut calls = 0;
    let text = loop {
        let body = Body {
            model: MODEL,
            messages: &messages,
            tools: &tools,
        };
        let response = client.post(&url).json(&body).send().await.unwrap();
        let mut reply: Value = response.error_for_status().unwrap().json().await.unwrap();
        let message = reply["choices"][0]["message"].take();
        let Some(made) = message["tool_calls"].as_array() else {
            break message["content"].as_str().unwrap_or_default().to_owned();
        };
        let mut results = Vec::new();
        for call in made {
            let function = &call["function"];
            assert_eq!(function["name"], "source__describe");
            let arguments: Value =
                serde_json::from_str(function["arguments"].as_str().unwrap()).unwrap();
            let content = text_about(arguments["path"].as_str().unwrap());
            results.push(json!({"role": "tool", "tool_call_id": call["id"], "content": content}));
            calls += 1;
        }
        let made = json!({"role": "assistant", "tool_calls": made});
        messages.push(made);
        messages.append(&mut results);
    };
    let micros = start.micros();
    let heap = [HEAP.peak_above(before), HEAP.kept_above(before)];
    drop(messages);
    outcome(micros, heap, calls, &text)
}

fn outcome(micros: f64, [peak, kept]: [f64; 2], calls: usize, text: &str) -> Round {
    Round {
        figures: vec![micros / STEPS as f64, peak, kept],
        result: format!("{calls} calls {text}"),
    }
}
