//! Prints the time and memory of the first request of a session that has 128 of 10,000 tools:
//! `cargo run --release -p toolcrib-benches --features models --bin first_request`
//!
//! The definitions are real ones from the folder that `TOOLCRIB_DATA` names. Each round is a process of its own, because a tool keeps its
//! rendered definition. A round ends when the loopback service has refused the request, so that no turn is counted.

#![allow(clippy::unwrap_used, clippy::print_stdout)] // A failure invalidates the measurement; the figures go to stdout.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use agent::{
    Disclosure, DisclosureBudget, Driver, Provider, ProviderError, ProviderOptions, Selection,
    Session, ToolSet,
};
use agent_models::Remote;
use flate2::read::GzDecoder;
use peak_alloc::PeakAlloc;
use serde_json::Value;
use tools::protocol::wire::{Format, Strictness};
use tools::{Catalog, Effects, Host, Services, Tool, ToolContext};

#[global_allocator]
static HEAP: PeakAlloc = PeakAlloc;

/// The tools of the catalog, and those that a request has. The program for OpenAI's own service may send no more.
const TOOLS: usize = 10_000;
const SENT: usize = 128;

/// The selection of the tools that a request has. The names of all others begin otherwise.
const CHOSEN: &str = "chosen.*";

/// The rounds of each measurement.
const ROUNDS: usize = 5;

/// The providers, by the constructor of each.
type Create = fn(&ProviderOptions) -> Result<Remote, ProviderError>;
const PROVIDERS: [(&str, Create); 5] = [
    ("openai", Remote::openai),
    ("openai-responses", Remote::openai_responses),
    ("anthropic", Remote::anthropic),
    ("gemini", Remote::gemini),
    ("ollama", Remote::ollama),
];

/// The ways to offer 128 tools of the catalog.
const WAYS: [(&str, &str); 3] = [
    ("selected", "128 selected"),
    (
        "searched",
        "all selected, 128 offered and the others searched",
    ),
    ("limited", "all selected, no search, OpenAI's limit"),
];

/// The bytes of the bodies of all requests.
static RECEIVED: AtomicUsize = AtomicUsize::new(0);

fn main() {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    match &arguments[..] {
        [way, provider] => round(way, provider),
        _ => table(),
    }
}

fn table() {
    println!(
        "| tools of the session | provider | session, ms | first request, ms | peak of the heap, MB | request, KB |"
    );
    println!("| --- | --- | --: | --: | --: | --: |");
    for (way, description) in WAYS {
        for (provider, _) in PROVIDERS {
            // The other services have no such limit, and a service at another URL neither.
            if way == "limited" && provider != "openai" {
                continue;
            }
            let rounds = (0..ROUNDS).map(|_| {
                let program = std::env::current_exe().unwrap();
                let output = Command::new(program)
                    .args([way, provider])
                    .output()
                    .unwrap();
                let output = String::from_utf8(output.stdout).unwrap();
                let figures = output.split_whitespace().map(|word| word.parse().unwrap());
                figures.collect::<Vec<f64>>()
            });
            let rounds: Vec<_> = rounds.collect();
            let median = |at: usize| {
                let mut figures: Vec<_> = rounds.iter().map(|round| round[at]).collect();
                figures.sort_by(f64::total_cmp);
                figures[ROUNDS / 2]
            };
            let [session, request, peak, sent] = [0, 1, 2, 3].map(median);
            println!(
                "| {description} | {provider} | {session:.1} | {request:.1} | {peak:.2} | {sent:.0} |"
            );
        }
    }
}

/// Prints the time of a new session and of its first request, in milliseconds, the peak of the heap of both, in MB, and the length of
/// the request, in KB.
fn round(way: &str, provider: &str) {
    let catalog = catalog();
    let (_, create) = PROVIDERS
        .iter()
        .find(|(name, _)| *name == provider)
        .unwrap();
    let remote = create(&ProviderOptions {
        model: Some("m".to_owned()),
        base_url: Some(format!("http://127.0.0.1:{}", serve())),
        ..ProviderOptions::default()
    });
    let driver = Driver::new(Arc::new(remote.unwrap()) as Arc<dyn Provider>);
    let chosen = Selection::parse([CHOSEN]).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let entries = catalog.list();
    HEAP.reset_peak_usage();
    let (before, start) = (HEAP.current_usage(), Instant::now());
    let millis = |start: Instant| start.elapsed().as_secs_f64() * 1e3;
    let (session, request, sent) = if way == "limited" {
        let set = ToolSet::new(entries, &Selection::new(), &Services::new());
        let session = millis(start);
        let start = Instant::now();
        let wire = set.wire(Format::OpenAiChat, Strictness::Relaxed);
        let sent = wire.definitions().len();
        assert_eq!(wire.list().len(), SENT);
        (session, millis(start), sent)
    } else {
        let mut session = if way == "selected" {
            // More than 64 tools would be searched.
            Session::new(entries, chosen, Host::new()).with_disclosure(Disclosure::All)
        } else {
            let budget = DisclosureBudget::default();
            let disclosure = Disclosure::Search {
                always: chosen,
                budget,
            };
            Session::new(entries, Selection::new(), Host::new()).with_disclosure(disclosure)
        };
        let created = millis(start);
        let start = Instant::now();
        let run = runtime.block_on(driver.run(&mut session, "Which of the tools fits?"));
        let error = run.unwrap_err().to_string();
        assert!(error.contains("enough"), "{error}");
        (created, millis(start), RECEIVED.load(Ordering::Relaxed))
    };
    let peak = HEAP.peak_usage().saturating_sub(before);
    println!(
        "{session} {request} {} {}",
        peak as f64 / 1e6,
        sent as f64 / 1e3
    );
}

/// Creates the catalog. Repeats the real definitions under other names, and adds the tools of a search.
fn catalog() -> Catalog {
    let folder = std::env::var_os("TOOLCRIB_DATA").expect("TOOLCRIB_DATA names no folder");
    let file = std::path::Path::new(&folder).join("tools_livemcp_bfcl_ref.jsonl.gz");
    let lines = BufReader::new(GzDecoder::new(std::fs::File::open(file).unwrap())).lines();
    let rows = lines.map(|line| serde_json::from_str::<Value>(&line.unwrap()).unwrap());
    let rows: Vec<_> = rows.collect();
    let mut catalog = Catalog::new();
    agent::tool::register(&mut catalog).unwrap();
    let mut number = 0;
    // A few of the definitions are refused.
    for row in rows.iter().cycle() {
        // The chosen tools are of each part of the file.
        let group = if number % (TOOLS / SENT) == 0 && number / (TOOLS / SENT) < SENT {
            "chosen"
        } else {
            "other"
        };
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
            break;
        }
    }
    catalog
}

/// Refuses requests on a loopback port, which it returns. It counts their bytes and keeps none, because the heap is that of the session.
fn serve() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            while refuse(&mut stream).is_some() {}
        }
    });
    port
}

/// Reads and refuses a request. Returns `None` at the end of the connection.
fn refuse(stream: &mut TcpStream) -> Option<()> {
    let mut buffer = [0; 1 << 16];
    let mut filled = 0;
    let end = loop {
        let count = stream
            .read(&mut buffer[filled..])
            .ok()
            .filter(|count| *count > 0)?;
        filled += count;
        let head = buffer[..filled]
            .windows(4)
            .position(|end| end == b"\r\n\r\n");
        if let Some(end) = head {
            break end + 4;
        }
    };
    let head = std::str::from_utf8(&buffer[..end]).ok()?;
    let length = head.lines().find_map(|line| {
        let (name, value) = line.split_once(": ")?;
        name.eq_ignore_ascii_case("content-length")
            .then(|| value.parse::<usize>().unwrap())
    });
    let length = length.unwrap_or(0);
    let mut left = length.saturating_sub(filled - end);
    while left > 0 {
        left = left.saturating_sub(stream.read(&mut buffer).ok().filter(|count| *count > 0)?);
    }
    RECEIVED.fetch_add(length, Ordering::Relaxed);
    let body = r#"{"error":{"message":"enough","code":400}}"#;
    let response = format!(
        "HTTP/1.1 400 Bad Request\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(response.as_bytes()).ok()
}
