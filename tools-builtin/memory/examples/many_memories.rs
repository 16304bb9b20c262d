//! Measures the tools with many memories: `cargo run --release -p toolcrib-memory --example many_memories [MEMORIES]`
//!
//! The words of a text are as frequent as those of a language: the most frequent one is in nearly each text.

#![allow(clippy::print_stdout, reason = "the example prints its measurements")]

use std::time::Instant;

use serde_json::{Value, json};
use tools::context::Exposure;
use tools::{Catalog, Grant, Host};
use tools_memory::Memory;

/// The number of different words.
const WORDS: f64 = 20_000.0;

/// The name of a measurement, the tool, and the arguments of a call.
type Call = (&'static str, &'static str, fn(u32) -> Value);

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let count = std::env::args().nth(1).map_or(Ok(100_000), |n| n.parse())?;
    let folder = tempfile::tempdir()?;
    let memory = || {
        Memory::new(folder.path().join("memory.sqlite"))
            .with_max_entries(2 * count)
            .with_project(folder.path())
    };
    let mut random = 7_u64;
    let mut text = || {
        let word = |_| {
            random = random
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            WORDS.powf((random >> 32) as f64 / 4_294_967_296.0) as u64
        };
        let words: Vec<_> = (0..12)
            .map(word)
            .map(|word| format!("word{word}"))
            .collect();
        words.join(" ")
    };
    let texts: Vec<_> = (0..count).map(|_| text()).collect();
    for part in texts.chunks(10_000) {
        let line = |text| json!({"scope": "user", "text": text, "confirmed": true}).to_string();
        let lines: Vec<_> = part.iter().map(line).collect();
        memory().import(lines.join("\n").as_bytes(), true)?;
    }

    let mut catalog = Catalog::new();
    tools_memory::register(&mut catalog)?;
    let cx = Host::new()
        .with_grant(Grant::parse(["memory:read:user", "memory:write:user"])?)
        .with_service(memory())
        .with_service(Exposure::new());
    let calls: [Call; 6] = [
        (
            "search: 3 rare words",
            "memory.search",
            |n| json!({"query": format!("word{} word9001 word7003", 5000 + n), "scope": "user"}),
        ),
        (
            "search: 1 rare, 2 frequent words",
            "memory.search",
            |n| json!({"query": format!("word1 word{} word2", 5000 + n), "scope": "user"}),
        ),
        (
            "search: 3 frequent words",
            "memory.search",
            |n| json!({"query": format!("word1 word2 word{}", 3 + n % 3), "scope": "user"}),
        ),
        ("search: 12 words of a text", "memory.search", |n| {
            let words: Vec<_> = (0..12).map(|k| format!("word{}", 1 << k | n)).collect();
            json!({"query": words.join(" "), "scope": "user"})
        }),
        ("list", "memory.list", |_| json!({"scope": "user"})),
        (
            "save",
            "memory.save",
            |n| json!({"text": format!("fact {n}"), "scope": "user"}),
        ),
    ];
    for (name, tool, arguments) in calls {
        let mut times = Vec::new();
        for number in 0..21 {
            let since = Instant::now();
            catalog.execute(&cx, tool, arguments(number)).await?;
            times.push(since.elapsed());
        }
        times.sort();
        println!("{name:<34} {:>8.2} ms", times[10].as_secs_f64() * 1e3);
    }
    let since = Instant::now();
    memory().digest(&cx)?;
    println!(
        "{:<34} {:>8.2} ms",
        "digest",
        since.elapsed().as_secs_f64() * 1e3
    );
    Ok(())
}
