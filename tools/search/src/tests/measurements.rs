//! Prints the tables of the README.

#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "prints its measurements"
)]

use std::time::Duration;

use peak_alloc::PeakAlloc;
use protocol::Tool;
use rustix::time::{ClockId, clock_gettime};

use super::corpus::{Corpus, Quality};
use crate::index::Index;
use crate::rank::Ranking;
use crate::words::Settings;

#[global_allocator]
static HEAP: PeakAlloc = PeakAlloc;

/// Parts of queries of a megabyte.
const HOSTILE: [&str; 10] = [
    "a ",
    "ab1",
    "aB",
    "\0",
    "\"",
    "🇩🇪",
    "e\u{301}",
    "a:",
    "天",
    "👩\u{200d}",
];

fn row(name: &str, quality: Quality) {
    let [one, five, ten] = quality.recall.map(part);
    println!(
        "| {name} | {one} | {five} | {ten} | {} |",
        part(quality.ndcg)
    );
}

/// Returns a number such as `.466`.
fn part(number: f64) -> String {
    format!("{number:.3}").trim_start_matches('0').to_owned()
}

/// Returns a number such as `2,721`.
fn grouped(number: usize) -> String {
    match (number / 1_000, number % 1_000) {
        (0, number) => number.to_string(),
        (thousands, rest) => format!("{thousands},{rest:03}"),
    }
}

/// Returns a time such as `186 ms`, `2.7 ms` or `0.07 ms`.
fn milliseconds(time: Duration) -> String {
    let time = time.as_secs_f64() * 1_000.0;
    let digits = if time >= 10.0 {
        0
    } else if time >= 0.1 {
        1
    } else {
        2
    };
    format!("{time:.digits$} ms")
}

#[test]
#[ignore = "prints measurements: TOOLCRIB_DATA=... cargo test --release -p toolcrib-search --lib -- --ignored --nocapture measurements"]
fn tables() {
    let bfcl = Corpus::new(|source| source == "bfcl");
    let all = Corpus::new(|_| true);
    let held = bfcl.queries.iter().filter(|question| question.held).count();
    println!("\n{held} of {} queries are held back", bfcl.queries.len());
    let [names, shared] = all.names.map(grouped);
    println!(
        "{shared} of {names} names of {} definitions have several\n",
        grouped(all.tools.len())
    );
    println!(
        "| tools, queries | recall@1 | recall@5 | recall@10 | NDCG@10 |\n|---|--:|--:|--:|--:|"
    );
    for corpus in [&bfcl, &all] {
        let (index, tools) = (Index::new(&corpus.tools), grouped(corpus.tools.len()));
        row(
            &format!("{tools}, held half"),
            corpus.quality(&index, |question| question.held),
        );
        row(
            &format!("{tools}, tuning half"),
            corpus.quality(&index, |question| !question.held),
        );
        row(&format!("{tools}, all"), corpus.quality(&index, |_| true));
    }

    println!("\n| without | recall@1 | recall@5 | recall@10 | NDCG@10 |\n|---|--:|--:|--:|--:|");
    let [name, title, description, tag, ..] = Ranking::TUNED.weights;
    let no_parameters = Ranking {
        weights: [name, title, description, tag, 0.0, 0.0],
        ..Ranking::TUNED
    };
    let variants = [
        ("nothing", Settings::ALL, Ranking::TUNED),
        (
            "splitting of identifiers",
            Settings {
                split: false,
                ..Settings::ALL
            },
            Ranking::TUNED,
        ),
        ("parameters", Settings::ALL, no_parameters),
        (
            "weights",
            Settings::ALL,
            Ranking {
                weights: [1.0; 6],
                ..Ranking::TUNED
            },
        ),
        (
            "stemming",
            Settings {
                stem: false,
                ..Settings::ALL
            },
            Ranking::TUNED,
        ),
        (
            "stop words",
            Settings {
                stop: false,
                ..Settings::ALL
            },
            Ranking::TUNED,
        ),
    ];
    for (without, settings, ranking) in variants {
        let index = Index::with_settings(&bfcl.tools, settings, ranking);
        row(without, bfcl.quality(&index, |question| question.held));
    }

    println!(
        "\n| tools | build | update of one | query p50 | p99 | hostile | heap of a tool |\n|--:|--:|--:|--:|--:|--:|--:|"
    );
    for number in [100, 1_000, 10_000] {
        let tools: Vec<Tool> = (0..number).map(|at| tool(&all.tools, at, number)).collect();
        let before = HEAP.current_usage();
        let index = Index::new(&tools);
        let heap = (HEAP.current_usage() - before) / number;
        let build = fastest(|| Index::new(&tools));
        let mut changed = tools.clone();
        changed[0].description.push_str(" Changed.");
        let update = fastest(|| index.update(&changed));
        let mut times: Vec<Duration> = all
            .queries
            .iter()
            .map(|question| fastest(|| index.search(&question.text, 10, |_| true)))
            .collect();
        times.sort();
        let (p50, p99) = (times[times.len() / 2], times[times.len() * 99 / 100]);
        let hostile = HOSTILE.map(|part| {
            fastest(|| index.search(&part.repeat(1_000_000 / part.len()), 10, |_| true))
        });
        let hostile = hostile.into_iter().max().unwrap();
        let times = [build, update, p50, p99, hostile]
            .map(milliseconds)
            .join(" | ");
        println!("| {} | {times} | {heap} B |", grouped(number));
    }
}

/// Returns one of `number` tools from all over the corpus, with a name of its own.
fn tool(tools: &[Tool], at: usize, number: usize) -> Tool {
    let from = if number < tools.len() {
        at * tools.len() / number
    } else {
        at % tools.len()
    };
    let mut tool = tools[from].clone();
    tool.name = format!("{}_copy{}", tool.name, at / tools.len())
        .parse()
        .unwrap();
    tool
}

/// Returns the least processor time of five, which other programs disturb less than the time of a clock.
fn fastest<T>(work: impl Fn() -> T) -> Duration {
    let now = || Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).unwrap();
    let once = |_| {
        let since = now();
        let done = work();
        let time = now() - since;
        drop(done);
        time
    };
    (0..5).map(once).min().unwrap_or_default()
}
