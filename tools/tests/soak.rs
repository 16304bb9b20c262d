//! A thousand concurrent calls over ten thousand tools. One call in twenty goes wrong. Asserts:
//!
//! - every call has its expected outcome, and its tool runs as often as expected;
//! - conflicting calls run one by one;
//! - no task is left, and memory does not grow.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used)]

#[path = "it/sample.rs"]
mod sample;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use sample::closed;
use serde_json::{Value, json};
use tokio::runtime::Handle;
use tools::{
    CancellationToken, Catalog, Effects, Grant, Host, SharedCatalog, ToolContext, ToolError,
    ToolResult, handler,
};

const TOOLS: u64 = 10_000;
const CALLERS: u64 = 1_000;

/// The environment variable with the duration after the warm-up, in place of [`DEFAULT_SECONDS`].
const SECONDS: &str = "TOOLCRIB_SOAK_SECONDS";
const DEFAULT_SECONDS: u64 = 20;

/// The memory growth after the warm-up that the allocator may cause. The control leaks twice as much.
const GROWTH: u64 = 24 << 20;

/// One call in this many goes wrong.
const ONE_IN: u64 = 20;

/// The kinds of calls, each with its expected error and the runs of its tool. Nearly all calls are of the first kind; the others take
/// turns.
const CALLS: [(&str, &str, Runs); 12] = [
    ("works", "none", Runs::Once),
    ("panics", "panicked", Runs::Once),
    ("fails", "execution_failed", Runs::Once),
    ("hangs", "timeout", Runs::OnceAtMost),
    ("cancelled", "cancelled", Runs::OnceAtMost),
    ("misfits", "invalid_arguments", Runs::Never),
    ("huge", "none", Runs::Once),
    ("blocks", "timeout", Runs::OnceAtMost),
    ("deaf", "timeout", Runs::OnceAtMost),
    ("panics too", "panicked", Runs::Once),
    ("unknown", "not_found", Runs::Never),
    ("recurses", "execution_failed", Runs::Once),
];

/// How often a call runs its tool. A call that ends in the queue does not run it.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Runs {
    Never,
    Once,
    OnceAtMost,
}

/// The number of shared targets. Every second tool writes one of them, and only one call at a time may.
const SHELVES: u64 = 512;

/// The counts of all calls.
struct Tally {
    begun: AtomicU64,
    /// The calls running now.
    under_way: AtomicU64,
    /// The most calls that ran at a time.
    most_under_way: AtomicU64,
    /// Finished calls, and runs of their tools, by the kind of call.
    ended: [AtomicU64; CALLS.len()],
    runs: [AtomicU64; CALLS.len()],
    by_kind: Mutex<BTreeMap<String, u64>>,
    shelves: Vec<AtomicBool>,
    /// The times that two calls held one shelf.
    crowds: AtomicU64,
}

impl Tally {
    fn new() -> Self {
        let zeros = || std::array::from_fn(|_| AtomicU64::new(0));
        Self {
            begun: AtomicU64::new(0),
            under_way: AtomicU64::new(0),
            most_under_way: AtomicU64::new(0),
            ended: zeros(),
            runs: zeros(),
            by_kind: Mutex::default(),
            shelves: (0..SHELVES).map(|_| AtomicBool::new(false)).collect(),
            crowds: AtomicU64::new(0),
        }
    }

    /// Counts a run of a tool unless it is a nested call.
    fn note_run(&self, cx: &ToolContext, name: &str) {
        if cx.depth() == 1 {
            self.runs[index(name)].fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Asserts that the counts are consistent.
    fn check(&self) {
        let read = |counts: &[AtomicU64]| {
            counts
                .iter()
                .map(|count| count.load(Ordering::Relaxed))
                .collect::<Vec<_>>()
        };
        let (begun, ended, runs) = (
            self.begun.load(Ordering::Relaxed),
            read(&self.ended),
            read(&self.runs),
        );
        let kinds = self.by_kind.lock().unwrap().clone();
        let faults: u64 = ended[1..].iter().sum();
        let (most, crowds) = (
            self.most_under_way.load(Ordering::Relaxed),
            self.crowds.load(Ordering::Relaxed),
        );
        eprintln!(
            "{begun} calls, {faults} of them with faults, at most {most} at a time: {kinds:?}"
        );
        assert_eq!(
            (ended.iter().sum::<u64>(), kinds.values().sum::<u64>()),
            (begun, begun),
            "one outcome for each call"
        );
        assert_eq!(
            faults,
            begun.div_ceil(ONE_IN),
            "one call in twenty goes wrong"
        );
        for (index, (name, kind, expected)) in CALLS.into_iter().enumerate() {
            assert!(
                ended[index] > faults / CALLS.len() as u64,
                "{name}: {}, of {faults} faults",
                ended[index]
            );
            assert!(kinds[kind] >= ended[index], "{name}");
            let fits = match expected {
                Runs::Never => runs[index] == 0,
                Runs::Once => runs[index] == ended[index],
                Runs::OnceAtMost => 0 < runs[index] && runs[index] <= ended[index],
            };
            assert!(
                fits,
                "{name}: {} calls, of which {} were run",
                ended[index], runs[index]
            );
        }
        assert_eq!(most, CALLERS, "as many at a time as there are callers");
        assert_eq!(crowds, 0, "calls that conflict ran side by side");
    }
}

fn index(name: &str) -> usize {
    CALLS.iter().position(|(other, ..)| *other == name).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "takes its time: cargo test --release -p toolcrib-tools --test soak -- --ignored --nocapture"]
async fn a_thousand_calls_at_a_time_with_faults_have_one_outcome_each_and_leave_nothing() {
    // Silences tens of thousands of intended panics. The harness reports those of the test itself.
    std::panic::set_hook(Box::new(|info| {
        if !info.to_string().contains("on purpose") {
            eprintln!("{info}");
        }
    }));
    let seconds =
        std::env::var(SECONDS).map_or(DEFAULT_SECONDS, |seconds| seconds.parse().unwrap());
    let tally = Arc::new(Tally::new());
    let catalog = catalog(&tally);

    // The first use builds a tool, and the first faults start the threads of the blocking pool.
    for tool in 0..TOOLS {
        catalog
            .validate(&name(tool), json!({"text": "works"}))
            .unwrap();
    }
    soak(&catalog, &tally, Duration::from_secs(5), false).await;
    let before = resident();
    soak(&catalog, &tally, Duration::from_secs(seconds), false).await;
    let after = resident();

    eprintln!(
        "memory: {} MiB before {seconds} s and {} MiB after",
        before >> 20,
        after >> 20
    );
    tally.check();
    assert!(
        after.saturating_sub(before) < GROWTH,
        "memory grew from {before} to {after} bytes"
    );

    // The control: a leak in each call would be noticed.
    soak(&catalog, &tally, Duration::from_secs(5), true).await;
    assert!(
        resident().saturating_sub(before) > GROWTH,
        "a leak was not seen, so the figures above show nothing"
    );
}

/// Makes calls for some time. Returns after all of their tasks have ended.
async fn soak(catalog: &SharedCatalog, tally: &Arc<Tally>, time: Duration, is_leaking: bool) {
    let until = Instant::now() + time;
    let left = Arc::new(AtomicU64::new(if is_leaking { 2 * GROWTH } else { 0 }));
    let callers = (0..CALLERS).map(|_| {
        let (catalog, tally, left) = (catalog.clone(), tally.clone(), left.clone());
        tokio::spawn(async move {
            while Instant::now() < until || left.load(Ordering::Relaxed) > 0 {
                let number = tally.begun.fetch_add(1, Ordering::Relaxed);
                let fault =
                    (number % ONE_IN == 0).then(|| 1 + number / ONE_IN % (CALLS.len() as u64 - 1));
                let row = usize::try_from(fault.unwrap_or(0)).unwrap();
                let under_way = tally.under_way.fetch_add(1, Ordering::Relaxed) + 1;
                tally.most_under_way.fetch_max(under_way, Ordering::Relaxed);
                let kind = call(&catalog, number, CALLS[row].0).await;
                tally.under_way.fetch_sub(1, Ordering::Relaxed);
                assert_eq!(kind, CALLS[row].1, "{}", CALLS[row].0);
                tally.ended[row].fetch_add(1, Ordering::Relaxed);
                *tally.by_kind.lock().unwrap().entry(kind).or_default() += 1;
                const PIECE: u64 = 4096;
                if left
                    .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| {
                        left.checked_sub(PIECE)
                    })
                    .is_ok()
                {
                    std::mem::forget(std::hint::black_box(vec![1_u8; PIECE as usize]));
                }
            }
        })
    });
    for caller in callers.collect::<Vec<_>>() {
        caller.await.unwrap();
    }
    let by = Instant::now() + Duration::from_secs(20);
    while Handle::current().metrics().num_alive_tasks() > 0 {
        assert!(
            Instant::now() < by,
            "{} tasks are left",
            Handle::current().metrics().num_alive_tasks()
        );
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    let admission = catalog.snapshot().admission().clone();
    assert_eq!(
        (admission.running(), admission.waiting()),
        (0, 0),
        "all that was taken is given back"
    );
}

/// Returns the kind of outcome of one call.
async fn call(catalog: &SharedCatalog, number: u64, behaviour: &str) -> String {
    let token = CancellationToken::new();
    let cx = Host::new()
        .with_grant(Grant::all())
        .with_cancellation(token.clone());
    let cx = match behaviour {
        "hangs" | "blocks" | "deaf" => cx.with_timeout(Duration::from_millis(50)),
        _ => cx,
    };
    let tool = match behaviour {
        "blocks" | "deaf" | "panics too" => "t.blocking".to_owned(),
        "unknown" => format!("t.unknown{number}"),
        _ => name((number * 7919 + number / ONE_IN) % TOOLS),
    };
    let arguments = if behaviour == "misfits" {
        json!({"text": 1, "other": null})
    } else {
        json!({"text": behaviour})
    };
    let call = catalog.execute(&cx, &tool, arguments);
    let outcome = if behaviour == "cancelled" {
        let cancels = async {
            tokio::time::sleep(Duration::from_millis(1)).await;
            token.cancel();
        };
        tokio::join!(call, cancels).0
    } else {
        call.await
    };
    match outcome {
        Ok(result) => {
            let length = result.to_text().len();
            let is_cut = behaviour == "huge";
            assert!(
                if is_cut {
                    length > 60_000 && length < 70_000
                } else {
                    length < 100
                },
                "{length}"
            );
            "none".to_owned()
        }
        Err(error) => error.code().to_string(),
    }
}

fn name(tool: u64) -> String {
    format!("t.n{tool}")
}

fn catalog(tally: &Arc<Tally>) -> SharedCatalog {
    let mut catalog = Catalog::new();
    for tool in 0..TOOLS {
        let (tally, shelf) = (tally.clone(), (tool % 2 == 0).then_some(tool / 2 % SHELVES));
        let effects = shelf.map_or(Effects::Pure, |shelf| {
            serde_json::from_value(json!({"writes": [format!("store:{shelf}")]})).unwrap()
        });
        let run =
            move |cx: ToolContext, arguments: Value| misbehave(cx, arguments, tally.clone(), shelf);
        catalog
            .register(closed(&name(tool)).with_effects(effects), run)
            .unwrap();
    }
    let tally = tally.clone();
    let blocking = handler::blocking(move |cx: &ToolContext, arguments: Value| -> String {
        let behaviour = arguments["text"].as_str().unwrap();
        tally.note_run(cx, behaviour);
        match behaviour {
            "panics too" => panic!("on purpose"),
            "deaf" => std::thread::sleep(Duration::from_millis(60)),
            _ => {
                while cx.check_cancelled().is_ok() {
                    std::thread::sleep(Duration::from_millis(1));
                }
            }
        }
        "late".to_owned()
    });
    catalog.register(closed("t.blocking"), blocking).unwrap();
    catalog.into()
}

async fn misbehave(
    cx: ToolContext,
    arguments: Value,
    tally: Arc<Tally>,
    shelf: Option<u64>,
) -> Result<ToolResult, ToolError> {
    let behaviour = arguments["text"].as_str().unwrap();
    tally.note_run(&cx, behaviour);
    // Its nested calls share its shelf.
    let _at_shelf = shelf
        .filter(|_| cx.depth() == 1)
        .map(|shelf| AtShelf::new(&tally, shelf));
    // Long enough for many calls to run at a time.
    tokio::time::sleep(Duration::from_millis(2)).await;
    match behaviour {
        "panics" => panic!("on purpose"),
        "fails" => Err(ToolError::execution_failed("no luck")),
        "hangs" | "cancelled" => std::future::pending().await,
        "huge" => Ok(ToolResult::text("x".repeat(1 << 20))),
        "recurses" => cx.execute(cx.tool().unwrap().as_str(), arguments).await,
        _ => Ok(ToolResult::text("done")),
    }
}

/// Releases a call's shelf on drop.
struct AtShelf<'a>(&'a AtomicBool);

impl<'a> AtShelf<'a> {
    fn new(tally: &'a Tally, shelf: u64) -> Self {
        let shelf = &tally.shelves[usize::try_from(shelf).unwrap()];
        tally
            .crowds
            .fetch_add(shelf.swap(true, Ordering::SeqCst).into(), Ordering::Relaxed);
        Self(shelf)
    }
}

impl Drop for AtShelf<'_> {
    fn drop(&mut self) {
        self.0.store(false, Ordering::SeqCst);
    }
}

/// Returns the resident memory of the process, in bytes.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))
        .unwrap();
    line.trim_end_matches("kB").trim().parse::<u64>().unwrap() * 1024
}
