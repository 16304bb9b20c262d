//! Does one thing so many times, for a profiler to count: `scenario NAME COUNT`. What is measured is the difference between
//! two counts, so that starting up is not part of it.

#![allow(clippy::unwrap_used)] // A measurement of what fails would be none.

use std::hint::black_box;
use std::io::Write as _;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use agent::{Selection, ToolSet};
use benches::{ADD, ORDER, catalog, direct_add, direct_order};
use tools::{Catalog, Services, SharedCatalog, Tool, ToolContext};

fn main() {
    let mut arguments = std::env::args().skip(1);
    let name = arguments.next().unwrap_or_default();
    let count = arguments.next().and_then(|count| count.parse().ok()).unwrap_or(0);
    match name.as_str() {
        "nothing" => {}
        "direct-add" => (0..count).for_each(|_| drop(black_box(direct_add(black_box(ADD))))),
        "direct-order" => (0..count).for_each(|_| drop(black_box(direct_order(black_box(ORDER))))),
        "add" => execute(&catalog(2), "add", ADD, count),
        "order" => execute(&catalog(2), "order", ORDER, count),
        "add-of-10" => execute(&catalog(10), "add", ADD, count),
        "add-of-1000" => execute(&catalog(1_000), "add", ADD, count),
        "add-of-100000" => execute(&catalog(100_000), "add", ADD, count),
        "first" => {
            // The definition is built, and its schema not compiled.
            let catalog = Catalog::linked();
            black_box(catalog.get("add").unwrap());
            execute(&catalog, "add", ADD, count);
        }
        "threads" => threads(count),
        "beside-a-writer" => beside_a_writer(Duration::from_secs(count)),
        other => panic!("there is no scenario {other:?}"),
    }
}

fn execute(catalog: &Catalog, name: &str, arguments: &str, count: u64) {
    runtime().block_on(async {
        let cx = ToolContext::new();
        for _ in 0..count {
            black_box(catalog.execute(&cx, name, black_box(arguments)).await.unwrap());
        }
    });
}

/// How many calls of `add` that many threads make in a second through one tool set, in all.
fn threads(count: u64) {
    let set = ToolSet::new(catalog(2).list(), &Selection::new(), &Services::new());
    let (over, calls) = (AtomicBool::new(false), AtomicU64::new(0));
    let time = Duration::from_secs(2);
    std::thread::scope(|scope| {
        for _ in 0..count {
            scope.spawn(|| {
                runtime().block_on(async {
                    let cx = ToolContext::new();
                    let mut own = 0;
                    while !over.load(Ordering::Relaxed) {
                        black_box(set.execute(&cx, "add", black_box(ADD)).await.unwrap());
                        own += 1;
                    }
                    calls.fetch_add(own, Ordering::Relaxed);
                });
            });
        }
        std::thread::sleep(time);
        over.store(true, Ordering::Relaxed);
    });
    say(calls.into_inner() as f64 / time.as_secs_f64());
}

/// The time that 999 of 1,000 lookups stay below while another thread registers without pause, in microseconds.
fn beside_a_writer(time: Duration) {
    let shared = SharedCatalog::from(catalog(1_000));
    let over = AtomicBool::new(false);
    let mut times = std::thread::scope(|scope| {
        scope.spawn(|| {
            let schema = serde_json::json!({"type": "object"});
            let mut number = 0u64;
            while !over.load(Ordering::Relaxed) {
                let tool = Tool::new(format!("new.t{}", number % 5_000), "A new tool.", schema.clone()).unwrap();
                shared.replace(tool, async |_: ToolContext, _: serde_json::Value| "new").unwrap();
                number += 1;
            }
        });
        let start = Instant::now();
        let mut times = Vec::new();
        while start.elapsed() < time {
            let before = Instant::now();
            black_box(shared.get(black_box("add")).unwrap());
            times.push(before.elapsed());
        }
        over.store(true, Ordering::Relaxed);
        times
    });
    times.sort_unstable();
    say(times[times.len() * 999 / 1000].as_secs_f64() * 1e6);
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap()
}

fn say(figure: f64) {
    writeln!(std::io::stdout(), "{figure}").unwrap();
}
