//! The first request of a session that has 128 of 10,000 real tools, in the format of each service.
//!
//! A round ends when the loopback service has refused the request, so that no turn is counted.

use std::time::Instant;

use agent::{
    Disclosure, DisclosureBudget, Driver, Provider, ProviderError, ProviderOptions, Selection,
    Session,
};
use agent_models::Remote;
use serde_json::{Value, json};
use tools::{Catalog, Effects, Host, Tool, ToolContext};

use crate::chat::{MODEL, bare_client, runtime};
use crate::definitions;
use crate::figure::Figure;
use crate::heap::HEAP;
use crate::round::{ROUNDS, Round, SIDES, UNCOUNTED, can_count, in_turn};
use crate::service::{self, Service};
use crate::table::Table;

pub(crate) const FIGURE: Figure = Figure {
    name: "first-request",
    measure,
    round,
};

/// The tools of the catalog, and those that a request has.
const TOOLS: usize = 10_000;
const SENT: usize = 128;

/// The group of the tools that a request has. The names of all others begin otherwise.
const CHOSEN: &str = "chosen";

const PROMPT: &str = "Which of the tools fits?";

/// The providers, by the constructor of each.
type Create = fn(&ProviderOptions) -> Result<Remote, ProviderError>;
const PROVIDERS: [(&str, Create); 5] = [
    ("openai", Remote::openai),
    ("openai-responses", Remote::openai_responses),
    ("anthropic", Remote::anthropic),
    ("gemini", Remote::gemini),
    ("ollama", Remote::ollama),
];

fn measure(table: &mut Table) {
    if definitions::read().is_none() {
        return table.note(definitions::MISSING);
    }
    if !can_count() {
        return table.note(UNCOUNTED);
    }
    let [toolcrib, peer] = in_turn(ROUNDS, |side| run(SIDES[side], "selected", "openai"));
    let figure = format!("first request of a session with {SENT} of {TOOLS} tools");
    table.compare(
        &format!("{figure}, beside the selection and serde_json by hand"),
        "ms",
        [toolcrib[0], peer[0]],
        "≤ 50 ms",
    );
    table.compare(
        "peak of the heap in it",
        "MB",
        [toolcrib[1], peer[1]],
        "≤ 5 MB",
    );
    for (way, description) in [
        ("selected", "selected"),
        ("searched", "offered and the others searched"),
    ] {
        // The providers take turns, and each has a text of its own.
        let rounds: [Vec<f64>; 5] = in_turn(ROUNDS, |at| Round {
            result: String::new(),
            ..run(SIDES[0], way, PROVIDERS[at].0)
        });
        let list = |at: usize| {
            let figures = rounds.iter().map(|round| format!("{:.1}", round[at]));
            figures.collect::<Vec<_>>().join(" / ")
        };
        let names = PROVIDERS.map(|(name, _)| name).join(" / ");
        let figure = format!("{figure}, {SENT} {description}: {names}");
        table.tell(&figure, &format!("{} ms", list(0)), "≤ 50 ms");
        table.tell(
            "peaks of the heap in them",
            &format!("{} MB", list(1)),
            "≤ 5 MB",
        );
    }
}

/// Runs one round against a service of its own, whose result is the names and descriptions of the tools in the request. The schemas of
/// Toolcrib have another order of members, and none has `$schema`.
fn run(side: &str, way: &str, provider: &str) -> Round {
    let refusal = r#"{"error":{"message":"enough","code":400}}"#;
    let service = Service::start(move |_, _| service::json("400 Bad Request", refusal));
    let mut round = Round::start(
        "heap",
        &["round", FIGURE.name, side, way, provider, &service.url],
    );
    let (requests, body) = service.last();
    // Some providers first ask their service about the model.
    assert!(requests > 0);
    if provider == "openai" {
        let body: Value = serde_json::from_slice(&body).unwrap();
        let tools = body["tools"].as_array().unwrap().iter();
        let texts = tools.map(|tool| {
            format!(
                "{}: {}",
                tool["function"]["name"], tool["function"]["description"]
            )
        });
        round.result = texts.collect::<Vec<_>>().join("\n");
    }
    round
}

fn round(arguments: &[String]) -> Round {
    let [side, way, provider, url] = arguments else {
        panic!("a round needs a side, a way, a provider and a URL")
    };
    let [micros, peak] = if side == SIDES[0] {
        with_driver(way, provider, url)
    } else {
        by_hand(url)
    };
    Round {
        figures: vec![micros / 1e3, peak / 1e6],
        result: String::new(),
    }
}

/// Returns the microseconds of a new session and its first request, and the bytes at the peak of the heap in both.
fn with_driver(way: &str, provider: &str, url: &str) -> [f64; 2] {
    let catalog = catalog();
    let (_, create) = PROVIDERS
        .iter()
        .find(|(name, _)| *name == provider)
        .unwrap();
    let remote = create(&ProviderOptions {
        model: Some(MODEL.to_owned()),
        base_url: Some(url.to_owned()),
        ..ProviderOptions::default()
    });
    let driver = Driver::new(std::sync::Arc::new(remote.unwrap()) as std::sync::Arc<dyn Provider>);
    let chosen = Selection::parse([format!("{CHOSEN}.*").as_str()]).unwrap();
    let (runtime, entries) = (runtime(), catalog.list());
    let (before, start) = (HEAP.start(), Instant::now());
    let mut session = if way == "selected" {
        // More than 64 tools would be searched.
        Session::new(entries, chosen, Host::new()).with_disclosure(Disclosure::All)
    } else {
        let disclosure = Disclosure::Search {
            always: chosen,
            budget: DisclosureBudget::default(),
        };
        Session::new(entries, Selection::new(), Host::new()).with_disclosure(disclosure)
    };
    let error = runtime
        .block_on(driver.run(&mut session, PROMPT))
        .unwrap_err();
    let micros = start.elapsed().as_secs_f64() * 1e6;
    assert!(error.to_string().contains("enough"), "{error}");
    [micros, HEAP.peak_above(before)]
}

/// Makes the same request from definitions that are kept as values.
fn by_hand(url: &str) -> [f64; 2] {
    let catalog = catalog();
    let definitions: Vec<_> = catalog
        .list()
        .iter()
        .map(|entry| entry.tool().clone())
        .collect();
    let (client, runtime) = (bare_client(), runtime());
    let (before, start) = (HEAP.start(), Instant::now());
    let tools: Vec<_> = definitions
        .iter()
        .filter(|tool| tool.name.as_str().starts_with("chosen."))
        .map(|tool| {
            let function = json!({
                "name": tool.name.as_str().replace('.', "__"), "description": tool.description, "parameters": tool.parameters,
            });
            json!({"type": "function", "function": function})
        })
        .collect();
    let messages = json!([{"role": "user", "content": PROMPT}]);
    let body = json!({"model": MODEL, "messages": messages, "tools": tools});
    runtime.block_on(async {
        let request = client.post(format!("{url}/chat/completions")).json(&body);
        let response = request.send().await.unwrap();
        assert!(response.text().await.unwrap().contains("enough"));
    });
    let micros = start.elapsed().as_secs_f64() * 1e6;
    [micros, HEAP.peak_above(before)]
}

/// Creates the catalog. Repeats the real definitions under other names, and adds the tools of a search.
fn catalog() -> Catalog {
    let rows = definitions::read().unwrap();
    let mut catalog = Catalog::new();
    agent::tool::register(&mut catalog).unwrap();
    let mut number = 0;
    // A few of the definitions are refused.
    for row in rows.iter().cycle() {
        // The chosen tools are of each part of the file.
        let is_chosen = number % (TOOLS / SENT) == 0 && number / (TOOLS / SENT) < SENT;
        let group = if is_chosen { CHOSEN } else { "other" };
        let tool = Tool::new(
            format!("{group}.t{number}"),
            row["description"].as_str().unwrap_or_default(),
            row["parameters"].clone(),
        );
        let handler = async |_: ToolContext, _: Value| "";
        let Ok(tool) = tool else { continue };
        if catalog
            .register(tool.with_effects(Effects::Pure), handler)
            .is_ok()
        {
            number += 1;
        }
        if number == TOOLS {
            return catalog;
        }
    }
    catalog
}
