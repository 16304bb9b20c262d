//! Repeats one operation for a profiler: `scenario NAME COUNT`. The difference between two counts excludes the start of the process.

#![allow(clippy::unwrap_used, clippy::print_stdout)] // A failure invalidates the measurement; the figures go to stdout.

use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock, Mutex};
use std::time::{Duration, Instant};

use agent::{Selection, ToolSet};
use benches::session::{self, MEASURE, direct_measure, direct_records};
use benches::{ADD, ORDER, ORDER_TOOL, alike, async_catalog, catalog, direct_add, direct_order};
use serde_json::Value;
use tools::protocol::wire::{Format, Strictness};
use tools::{
    Catalog, Entry, Grant, Host, Json, Services, SharedCatalog, Target, Tool, ToolContext, ToolName,
};
use tools_fs::Workspace;

/// The arguments of `records` for a result of 1 KB, and of 100 KB.
const RECORDS_1K: &str = r#"{"count": 10}"#;
const RECORDS_100K: &str = r#"{"count": 900}"#;

/// A format that takes any number of tools in a request.
const FORMAT: Format = Format::Anthropic;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let name = arguments.next().unwrap_or_default();
    let count = arguments
        .next()
        .and_then(|count| count.parse().ok())
        .unwrap_or(0);
    match name.as_str() {
        "nothing" => {}
        "direct-add" => (0..count).for_each(|_| drop(black_box(direct_add(black_box(ADD))))),
        "direct-order" => (0..count).for_each(|_| drop(black_box(direct_order(black_box(ORDER))))),
        "add" => execute(&catalog(2), "add", ADD, count),
        "add-later" => execute(&async_catalog(), "add_later", ADD, count),
        "order" => execute(&catalog(2), "order", ORDER, count),
        "direct-measure" => {
            (0..count).for_each(|_| drop(black_box(direct_measure(black_box(MEASURE)))))
        }
        "direct-records-1k" => {
            (0..count).for_each(|_| drop(black_box(direct_records(black_box(RECORDS_1K)))))
        }
        "direct-records-100k" => {
            (0..count).for_each(|_| drop(black_box(direct_records(black_box(RECORDS_100K)))))
        }
        "read-order" => (0..count).for_each(|_| drop(black_box(Json::parse(black_box(ORDER))))),
        "serde-read-order" => (0..count)
            .for_each(|_| drop(black_box(serde_json::from_str::<Value>(black_box(ORDER))))),
        "measure" => execute(&session::catalog(), "measure", MEASURE, count),
        "records-1k" => execute(&session::catalog(), "records", RECORDS_1K, count),
        "records-100k" => execute(&session::catalog(), "records", RECORDS_100K, count),
        "add-journal" => execute_with(&journaled(), &catalog(2), "add", ADD, count),
        "order-journal" => execute_with(&journaled(), &catalog(2), "order", ORDER, count),
        "add-step" => runtime().block_on(session::steps("add", ADD, count, 0, false)),
        "order-step" => runtime().block_on(session::steps("order", ORDER, count, 0, false)),
        "step-after-10" => runtime().block_on(session::steps("add", ADD, count, 10, true)),
        "step-after-2000" => runtime().block_on(session::steps("add", ADD, count, 2_000, true)),
        "varied-step" => runtime().block_on(session::varied_steps(count, false)),
        "varied-step-recorded" => runtime().block_on(session::varied_steps(count, true)),
        "among-10" => runtime().block_on(session::among(10, count)),
        "among-2000" => runtime().block_on(session::among(2_000, count)),
        "add-of-10" => execute(&catalog(10), "add", ADD, count),
        "add-of-1000" => execute(&catalog(1_000), "add", ADD, count),
        "add-of-100000" => execute(&catalog(100_000), "add", ADD, count),
        "decide-write" => decide_write(count),
        "first" => {
            // Builds the definition without compiling its schema.
            let catalog = Catalog::linked();
            black_box(catalog.get("add").unwrap());
            execute(&catalog, "add", ADD, count);
        }
        "define" => (0..count).for_each(|number| std::mem::forget(black_box(defined(number)))),
        "register" => register(count),
        "session" => {
            let entries = alike(1_000).list();
            session(&entries);
            (0..count).for_each(|_| drop(black_box(session(black_box(&entries)))));
        }
        "direct-session" => {
            let array = session(&alike(1_000).list())
                .wire(FORMAT, Strictness::Relaxed)
                .value()
                .clone();
            (0..count).for_each(|_| drop(black_box(black_box(&array).clone())));
        }
        "read" => reading(count, |file| file.read()),
        "direct-read" => reading(count, |file| file.read_directly()),
        "threads" => threads(count),
        "beside-a-writer" => beside_a_writer(Duration::from_secs(count)),
        other => panic!("there is no scenario {other:?}"),
    }
}

fn execute(catalog: &Catalog, name: &str, arguments: &str, count: u64) {
    execute_with(&session::granted(), catalog, name, arguments, count);
}

/// Creates a context with a journal that stores nothing.
fn journaled() -> Host {
    session::granted()
        .with_journal(Arc::new(session::NoopJournal::default()))
        .with_session("measured")
}

fn execute_with(cx: &ToolContext, catalog: &Catalog, name: &str, arguments: &str, count: u64) {
    runtime().block_on(async {
        for _ in 0..count {
            black_box(
                catalog
                    .execute(cx, name, black_box(arguments))
                    .await
                    .unwrap(),
            );
        }
    });
}

/// Decides about a write of an ordinary file, as the stage *authorize* does.
fn decide_write(count: u64) {
    let cx = Host::new().with_grant(Grant::parse(["fs:write:**"]).unwrap());
    let tool = ToolName::new("fs.write").unwrap();
    let targets: [Target; 1] = ["fs:write:crates/web/src/page.rs".parse().unwrap()];
    for _ in 0..count {
        black_box(
            cx.rulings(black_box(&tool), black_box(&targets[..]))
                .next()
                .unwrap()
                .verdict,
        );
    }
}

/// Returns a definition with the schema of `order`, which is 1.8 KB long.
fn defined(number: u64) -> Tool {
    static ORDER: LazyLock<Tool> = LazyLock::new(|| (ORDER_TOOL.definition)().unwrap());
    Tool {
        name: ToolName::new(format!("like.t{number}")).unwrap(),
        ..ORDER.clone()
    }
}

/// Registers `count` definitions and keeps them until the end of the program.
fn register(count: u64) {
    let mut catalog = Catalog::new();
    for number in 0..count {
        catalog
            .register(
                defined(number),
                async |_: ToolContext, _: serde_json::Value| "alike",
            )
            .unwrap();
    }
    std::mem::forget(catalog);
}

/// Starts a session: selects the tools and builds the array of their definitions, as an adapter sends it.
fn session(entries: &[Arc<Entry>]) -> ToolSet {
    let set = ToolSet::new(entries.iter().cloned(), &Selection::new(), &Services::new());
    black_box(set.wire(black_box(FORMAT), Strictness::Relaxed).value());
    set
}

/// A file of 1 KiB in a workspace.
struct ReadFile {
    runtime: tokio::runtime::Runtime,
    catalog: Catalog,
    cx: Host,
    arguments: serde_json::Value,
    directory: PathBuf,
}

impl ReadFile {
    fn new() -> Self {
        let directory =
            std::env::temp_dir().join(format!("toolcrib-benches-{}", std::process::id()));
        std::fs::create_dir(&directory).unwrap();
        std::fs::write(
            directory.join("file.txt"),
            "thirty-one characters in a line\n".repeat(32),
        )
        .unwrap();
        let mut catalog = Catalog::new();
        tools_fs::register(&mut catalog).unwrap();
        let cx = Host::new()
            .with_grant(Grant::parse(["fs:read:**"]).unwrap())
            .with_service(Workspace::open(&directory).unwrap());
        Self {
            runtime: runtime(),
            catalog,
            cx,
            arguments: serde_json::json!({"path": "file.txt"}),
            directory,
        }
    }

    fn read(&self) {
        let call = self
            .catalog
            .execute(&self.cx, "fs.read", self.arguments.clone());
        black_box(self.runtime.block_on(call).unwrap());
    }

    fn read_directly(&self) {
        black_box(std::fs::read_to_string(black_box(&self.directory.join("file.txt"))).unwrap());
    }
}

impl Drop for ReadFile {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.directory).unwrap();
    }
}

/// Reads a file `count` times and prints the processor time of one read on all threads, in microseconds.
fn reading(count: u64, read: impl Fn(&ReadFile)) {
    let file = ReadFile::new();
    read(&file);
    let before = process_time();
    (0..count).for_each(|_| read(&file));
    say((process_time() - before).as_secs_f64() * 1e6 / count as f64);
}

/// Prints the calls of `add` per second that `count` threads make through one tool set in total. Counts only the time for which a
/// thread runs.
fn threads(count: u64) {
    let set = ToolSet::new(catalog(2).list(), &Selection::new(), &Services::new());
    let (over, rate) = (AtomicBool::new(false), Mutex::new(0.0));
    std::thread::scope(|scope| {
        for _ in 0..count {
            scope.spawn(|| {
                runtime().block_on(async {
                    let cx = Host::new();
                    let (mut own, before) = (0u32, thread_time());
                    while !over.load(Ordering::Relaxed) {
                        black_box(set.execute(&cx, "add", black_box(ADD)).await.unwrap());
                        own += 1;
                    }
                    *rate.lock().unwrap() +=
                        f64::from(own) / (thread_time() - before).as_secs_f64();
                });
            });
        }
        std::thread::sleep(Duration::from_secs(2));
        over.store(true, Ordering::Relaxed);
    });
    say(rate.into_inner().unwrap());
}

/// Returns the processor time of this thread, as Linux counts it.
fn thread_time() -> Duration {
    scheduled(Path::new("/proc/thread-self"))
}

/// Returns the processor time of all running threads.
fn process_time() -> Duration {
    let threads = std::fs::read_dir("/proc/self/task").unwrap();
    threads
        .map(|thread| scheduled(&thread.unwrap().path()))
        .sum()
}

fn scheduled(thread: &Path) -> Duration {
    let counted = std::fs::read_to_string(thread.join("schedstat")).unwrap();
    Duration::from_nanos(counted.split_whitespace().next().unwrap().parse().unwrap())
}

/// Prints the 99.9th percentile of lookup times while another thread registers tools without pause, in microseconds.
fn beside_a_writer(time: Duration) {
    let shared = SharedCatalog::from(catalog(1_000));
    let over = AtomicBool::new(false);
    let mut times = std::thread::scope(|scope| {
        scope.spawn(|| {
            let schema = serde_json::json!({"type": "object"});
            let mut number = 0u64;
            while !over.load(Ordering::Relaxed) {
                let tool = Tool::new(
                    format!("new.t{}", number % 5_000),
                    "A new tool.",
                    schema.clone(),
                )
                .unwrap();
                shared
                    .replace(tool, async |_: ToolContext, _: serde_json::Value| "new")
                    .unwrap();
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
    tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .unwrap()
}

fn say(figure: f64) {
    println!("{figure}");
}
