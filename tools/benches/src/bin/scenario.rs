//! Does one thing so many times, for a profiler to count: `scenario NAME COUNT`. What is measured is the difference between
//! two counts, so that starting up is not part of it.

#![allow(clippy::unwrap_used, clippy::print_stdout)] // What fails is no measurement, and printing is what a program is for.

use std::hint::black_box;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock, Mutex};
use std::time::{Duration, Instant};

use agent::{Selection, ToolSet};
use benches::session::{self, MEASURE, direct_measure, direct_records};
use benches::{ADD, ORDER, ORDER_TOOL, alike, catalog, direct_add, direct_order, later};
use tools::protocol::wire::{Definitions, Format};
use tools::{Catalog, Services, SharedCatalog, Tool, ToolContext, ToolName};

/// The arguments of `records` for a result of 1 KB, and of 100 KB.
const RECORDS_1K: &str = r#"{"count": 10}"#;
const RECORDS_100K: &str = r#"{"count": 900}"#;

const FORMAT: Format = Format::OpenAiChat;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let name = arguments.next().unwrap_or_default();
    let count = arguments.next().and_then(|count| count.parse().ok()).unwrap_or(0);
    match name.as_str() {
        "nothing" => {}
        "direct-add" => (0..count).for_each(|_| drop(black_box(direct_add(black_box(ADD))))),
        "direct-order" => (0..count).for_each(|_| drop(black_box(direct_order(black_box(ORDER))))),
        "add" => execute(&catalog(2), "add", ADD, count),
        "add-later" => execute(&later(), "add_later", ADD, count),
        "order" => execute(&catalog(2), "order", ORDER, count),
        "direct-measure" => (0..count).for_each(|_| drop(black_box(direct_measure(black_box(MEASURE))))),
        "direct-records-1k" => (0..count).for_each(|_| drop(black_box(direct_records(black_box(RECORDS_1K))))),
        "direct-records-100k" => (0..count).for_each(|_| drop(black_box(direct_records(black_box(RECORDS_100K))))),
        "measure" => execute(&session::catalog(), "measure", MEASURE, count),
        "records-1k" => execute(&session::catalog(), "records", RECORDS_1K, count),
        "records-100k" => execute(&session::catalog(), "records", RECORDS_100K, count),
        "add-journal" => execute_with(&journaled(), &catalog(2), "add", ADD, count),
        "order-journal" => execute_with(&journaled(), &catalog(2), "order", ORDER, count),
        "add-step" => runtime().block_on(session::steps("add", ADD, count, 0, false)),
        "order-step" => runtime().block_on(session::steps("order", ORDER, count, 0, false)),
        "step-after-10" => runtime().block_on(session::steps("add", ADD, count, 10, true)),
        "step-after-2000" => runtime().block_on(session::steps("add", ADD, count, 2_000, true)),
        "in-flight-10" => runtime().block_on(session::in_flight(10 * count, 10)),
        "in-flight-2000" => runtime().block_on(session::in_flight(2_000 * count, 2_000)),
        "add-of-10" => execute(&catalog(10), "add", ADD, count),
        "add-of-1000" => execute(&catalog(1_000), "add", ADD, count),
        "add-of-100000" => execute(&catalog(100_000), "add", ADD, count),
        "first" => {
            // The definition is built, and its schema not compiled.
            let catalog = Catalog::linked();
            black_box(catalog.get("add").unwrap());
            execute(&catalog, "add", ADD, count);
        }
        "define" => (0..count).for_each(|number| std::mem::forget(black_box(defined(number)))),
        "register" => register(count),
        "assembled" => assembled(count, 0),
        "assembled-of-more" => assembled(count, 1),
        "subset" => subset(count),
        "unchanged" => {
            let set = told();
            (0..count).for_each(|_| drop(black_box(set.wire_definitions(black_box(FORMAT)))));
        }
        "threads" => threads(count),
        "beside-a-writer" => beside_a_writer(Duration::from_secs(count)),
        other => panic!("there is no scenario {other:?}"),
    }
}

fn execute(catalog: &Catalog, name: &str, arguments: &str, count: u64) {
    execute_with(&session::granted(), catalog, name, arguments, count);
}

/// A context with a journal that keeps nothing.
fn journaled() -> ToolContext {
    session::granted().with_journal(Arc::new(session::Quiet::default())).with_session("measured")
}

fn execute_with(cx: &ToolContext, catalog: &Catalog, name: &str, arguments: &str, count: u64) {
    runtime().block_on(async {
        for _ in 0..count {
            black_box(catalog.execute(cx, name, black_box(arguments)).await.unwrap());
        }
    });
}

/// A definition with the schema of `order`, 1.8 KB of it.
fn defined(number: u64) -> Tool {
    static ORDER: LazyLock<Tool> = LazyLock::new(|| (ORDER_TOOL.definition)().unwrap());
    Tool { name: ToolName::new(format!("like.t{number}")).unwrap(), ..ORDER.clone() }
}

/// Registers so many definitions, and keeps them to the end of the program.
fn register(count: u64) {
    let mut catalog = Catalog::new();
    for number in 0..count {
        catalog.register(defined(number), async |_: ToolContext, _: serde_json::Value| "alike").unwrap();
    }
    std::mem::forget(catalog);
}

/// A set of 1,000 tools whose definitions are made.
fn told() -> ToolSet {
    let set = ToolSet::new(alike(1_000).list(), &Selection::new(), &Services::new());
    black_box(set.wire_definitions(FORMAT));
    set
}

/// The time to put the definitions of 1,000 tools together, that of copying their bytes = 1, for a set that was never asked: of all
/// that were told together, or of all but so many. These are the first ones, so that the rest is one copy as well: two of half the
/// length are faster than one with some C libraries.
fn assembled(rounds: u64, but: usize) {
    let set = ToolSet::new(alike(1_000 + but).list(), &Selection::new(), &Services::new());
    black_box(set.wire_definitions(FORMAT));
    let (mut entries, names) = (set.list().to_vec(), set.wire_names());
    entries.drain(..but);
    let entries = &entries[..];
    // As the set does it, but for its names.
    let assemble = |format| {
        Definitions::new(
            entries.iter().map(move |entry| (entry.definition_among(entries, format), names.respelt(entry.name()))),
        )
    };
    beside_a_copy(rounds, || assemble(black_box(FORMAT)));
}

/// The time to make the definitions of half of 1,000 tools, every other pair of neighbours, out of those of all, that of copying
/// their bytes = 1.
fn subset(rounds: u64) {
    let all = told().wire_definitions(FORMAT);
    beside_a_copy(rounds, || all.subset((0..all.len()).filter(|position| position % 4 == 0 || position % 4 == 3)));
}

/// The shortest time of so many rounds, over that of a copy of the bytes in the same rounds.
fn beside_a_copy(rounds: u64, make: impl Fn() -> Definitions) {
    let made = make();
    let (mut own, mut copy) = (Duration::MAX, Duration::MAX);
    for _ in 0..rounds {
        own = own.min(timed(&make));
        copy = copy.min(timed(|| black_box(made.as_str()).to_owned()));
    }
    say(own.as_secs_f64() / copy.as_secs_f64());
}

fn timed<T>(make: impl FnOnce() -> T) -> Duration {
    let before = Instant::now();
    let made = black_box(make());
    let time = before.elapsed();
    drop(made);
    time
}

/// How many calls of `add` that many threads make in a second through one tool set, in all. A second is one in which the thread
/// runs: what else the machine does is not counted.
fn threads(count: u64) {
    let set = ToolSet::new(catalog(2).list(), &Selection::new(), &Services::new());
    let (over, rate) = (AtomicBool::new(false), Mutex::new(0.0));
    std::thread::scope(|scope| {
        for _ in 0..count {
            scope.spawn(|| {
                runtime().block_on(async {
                    let cx = ToolContext::new();
                    let (mut own, before) = (0u32, running());
                    while !over.load(Ordering::Relaxed) {
                        black_box(set.execute(&cx, "add", black_box(ADD)).await.unwrap());
                        own += 1;
                    }
                    *rate.lock().unwrap() += f64::from(own) / (running() - before).as_secs_f64();
                });
            });
        }
        std::thread::sleep(Duration::from_secs(2));
        over.store(true, Ordering::Relaxed);
    });
    say(rate.into_inner().unwrap());
}

/// How long this thread has run, as Linux counts it.
fn running() -> Duration {
    let counted = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    Duration::from_nanos(counted.split_whitespace().next().unwrap().parse().unwrap())
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
    println!("{figure}");
}
