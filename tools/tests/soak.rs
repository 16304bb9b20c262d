//! A thousand calls at a time, over ten thousand tools, of which one in twenty goes wrong: every call has the one outcome that
//! fits, its tool is run as often as it says, those that conflict run one by one, no task is left, and memory stays where it was.
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
    BoundedText, CancellationToken, Catalog, Effects, Grant, SharedCatalog, ToolContext, ToolError, ToolResult, handler,
};

const TOOLS: u64 = 10_000;
const CALLERS: u64 = 1_000;

/// How many seconds it takes after the warm-up, where [`DEFAULT_SECONDS`] are not what is wanted.
const SECONDS: &str = "TOOLCRIB_SOAK_SECONDS";
const DEFAULT_SECONDS: u64 = 20;

/// By how much memory may grow after the warm-up: what the allocator moves about. The control leaks twice as much.
const GROWTH: u64 = 24 << 20;

/// One call in this many goes wrong.
const ONE_IN: u64 = 20;

/// What calls do, with the kind of error that each has to end with, and how often its tool is run. The first is what nearly all do;
/// the others go wrong, in turn.
const CALLS: [(&str, &str, Runs); 13] = [
    ("works", "none", Runs::Once),
    ("panics", "panicked", Runs::Once),
    ("fails", "execution_failed", Runs::Once),
    ("hangs", "timeout", Runs::OnceAtMost),
    ("cancelled", "cancelled", Runs::OnceAtMost),
    ("misfits", "invalid_arguments", Runs::Never),
    ("huge", "none", Runs::Once),
    ("streams", "none", Runs::Once),
    ("blocks", "timeout", Runs::OnceAtMost),
    ("deaf", "timeout", Runs::OnceAtMost),
    ("panics too", "panicked", Runs::Once),
    ("unknown", "not_found", Runs::Never),
    ("recurses", "execution_failed", Runs::Once),
];

/// How often a call runs its tool. One that ends while it waits for its turn does not.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Runs {
    Never,
    Once,
    OnceAtMost,
}

/// One tool in two writes one of these, which only one call does at a time.
const SHELVES: u64 = 512;

/// What came of it all.
struct Tally {
    begun: AtomicU64,
    /// Calls under way right now, and the most there were at a time.
    under_way: AtomicU64,
    most_under_way: AtomicU64,
    /// Calls that have ended, and calls that their tools were run for, by what they do.
    ended: [AtomicU64; CALLS.len()],
    runs: [AtomicU64; CALLS.len()],
    by_kind: Mutex<BTreeMap<String, u64>>,
    shelves: Vec<AtomicBool>,
    /// How often two calls were at one shelf at a time.
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

    /// Calls that one of the tools was run for, but for those that it makes itself.
    fn note_run(&self, cx: &ToolContext, what: &str) {
        if cx.depth() == 1 {
            self.runs[index(what)].fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Looks whether all that was counted fits together.
    fn check(&self) {
        let read = |counts: &[AtomicU64]| counts.iter().map(|count| count.load(Ordering::Relaxed)).collect::<Vec<_>>();
        let (begun, ended, runs) = (self.begun.load(Ordering::Relaxed), read(&self.ended), read(&self.runs));
        let kinds = self.by_kind.lock().unwrap().clone();
        let faults: u64 = ended[1..].iter().sum();
        let (most, crowds) = (self.most_under_way.load(Ordering::Relaxed), self.crowds.load(Ordering::Relaxed));
        eprintln!("{begun} calls, {faults} of them with faults, at most {most} at a time: {kinds:?}");
        assert_eq!(
            (ended.iter().sum::<u64>(), kinds.values().sum::<u64>()),
            (begun, begun),
            "one outcome for each call"
        );
        assert_eq!(faults, begun.div_ceil(ONE_IN), "one call in twenty goes wrong");
        for (index, (what, kind, expected)) in CALLS.into_iter().enumerate() {
            assert!(ended[index] > faults / CALLS.len() as u64, "{what}: {}, of {faults} faults", ended[index]);
            assert!(kinds[kind] >= ended[index], "{what}");
            let fits = match expected {
                Runs::Never => runs[index] == 0,
                Runs::Once => runs[index] == ended[index],
                Runs::OnceAtMost => 0 < runs[index] && runs[index] <= ended[index],
            };
            assert!(fits, "{what}: {} calls, of which {} were run", ended[index], runs[index]);
        }
        assert_eq!(most, CALLERS, "as many at a time as there are callers");
        assert_eq!(crowds, 0, "calls that conflict ran side by side");
    }
}

fn index(what: &str) -> usize {
    CALLS.iter().position(|(other, ..)| *other == what).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "takes its time: cargo test --release -p toolcrib-tools --test soak -- --ignored --nocapture"]
async fn a_thousand_calls_at_a_time_with_faults_have_one_outcome_each_and_leave_nothing() {
    // Tens of thousands of panics are on purpose; those of the test itself are told by the harness.
    std::panic::set_hook(Box::new(|info| {
        if !info.to_string().contains("on purpose") {
            eprintln!("{info}");
        }
    }));
    let seconds = std::env::var(SECONDS).map_or(DEFAULT_SECONDS, |seconds| seconds.parse().unwrap());
    let tally = Arc::new(Tally::new());
    let catalog = catalog(&tally);

    // Every tool is built at its first use, and the first faults bring the threads of the blocking pool.
    for tool in 0..TOOLS {
        catalog.validate(&name(tool), json!({"text": "works"})).unwrap();
    }
    soak(&catalog, &tally, Duration::from_secs(5), false).await;
    let before = resident();
    soak(&catalog, &tally, Duration::from_secs(seconds), false).await;
    let after = resident();

    eprintln!("memory: {} MiB before {seconds} s and {} MiB after", before >> 20, after >> 20);
    tally.check();
    assert!(after.saturating_sub(before) < GROWTH, "memory grew from {before} to {after} bytes");

    // The control: were something left of each call, it would show.
    soak(&catalog, &tally, Duration::from_secs(5), true).await;
    assert!(resident().saturating_sub(before) > GROWTH, "a leak was not seen, so the figures above show nothing");
}

/// Calls for some time. When it returns, no task is left of it.
async fn soak(catalog: &SharedCatalog, tally: &Arc<Tally>, time: Duration, is_leaking: bool) {
    let until = Instant::now() + time;
    let left = Arc::new(AtomicU64::new(if is_leaking { 2 * GROWTH } else { 0 }));
    let callers = (0..CALLERS).map(|_| {
        let (catalog, tally, left) = (catalog.clone(), tally.clone(), left.clone());
        tokio::spawn(async move {
            while Instant::now() < until || left.load(Ordering::Relaxed) > 0 {
                let number = tally.begun.fetch_add(1, Ordering::Relaxed);
                let fault = (number % ONE_IN == 0).then(|| 1 + number / ONE_IN % (CALLS.len() as u64 - 1));
                let what = usize::try_from(fault.unwrap_or(0)).unwrap();
                let under_way = tally.under_way.fetch_add(1, Ordering::Relaxed) + 1;
                tally.most_under_way.fetch_max(under_way, Ordering::Relaxed);
                let kind = call(&catalog, number, CALLS[what].0).await;
                tally.under_way.fetch_sub(1, Ordering::Relaxed);
                assert_eq!(kind, CALLS[what].1, "{}", CALLS[what].0);
                tally.ended[what].fetch_add(1, Ordering::Relaxed);
                *tally.by_kind.lock().unwrap().entry(kind).or_default() += 1;
                const PIECE: u64 = 4096;
                if left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(PIECE)).is_ok() {
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
        assert!(Instant::now() < by, "{} tasks are left", Handle::current().metrics().num_alive_tasks());
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    let admission = catalog.snapshot().admission().clone();
    assert_eq!((admission.running(), admission.waiting()), (0, 0), "all that was taken is given back");
}

/// The kind of outcome that one call has.
async fn call(catalog: &SharedCatalog, number: u64, what: &str) -> String {
    let token = CancellationToken::new();
    let cx = ToolContext::new().with_grant(Grant::all()).with_cancellation(token.clone());
    let cx = match what {
        "hangs" | "blocks" | "deaf" => cx.with_timeout(Duration::from_millis(50)),
        _ => cx,
    };
    let tool = match what {
        "blocks" | "deaf" | "panics too" => "t.blocking".to_owned(),
        "unknown" => format!("t.unknown{number}"),
        _ => name((number * 7919 + number / ONE_IN) % TOOLS),
    };
    let arguments = if what == "misfits" { json!({"text": 1, "other": null}) } else { json!({"text": what}) };
    let call = catalog.execute(&cx, &tool, arguments);
    let outcome = if what == "cancelled" {
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
            let is_cut = what == "huge" || what == "streams";
            assert!(if is_cut { length > 60_000 && length < 70_000 } else { length < 100 }, "{length}");
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
        let run = move |cx: ToolContext, arguments: Value| misbehave(cx, arguments, tally.clone(), shelf);
        catalog.register(closed(&name(tool)).with_effects(effects), run).unwrap();
    }
    let tally = tally.clone();
    let blocking = handler::blocking(move |cx: &ToolContext, arguments: Value| -> String {
        let what = arguments["text"].as_str().unwrap();
        tally.note_run(cx, what);
        match what {
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
    let what = arguments["text"].as_str().unwrap();
    tally.note_run(&cx, what);
    // What it calls in turn is at its shelf with it.
    let _at_shelf = shelf.filter(|_| cx.depth() == 1).map(|shelf| AtShelf::new(&tally, shelf));
    // Long enough for calls to be many at a time.
    tokio::time::sleep(Duration::from_millis(2)).await;
    match what {
        "panics" => panic!("on purpose"),
        "fails" => Err(ToolError::execution_failed("no luck")),
        "hangs" | "cancelled" => std::future::pending().await,
        "huge" => Ok(ToolResult::text("x".repeat(1 << 20))),
        "streams" => {
            let (mut text, piece) = (BoundedText::for_call(&cx), "x".repeat(1 << 16));
            for _ in 0..32 {
                text.push(&piece);
                tokio::task::yield_now().await;
            }
            Ok(ToolResult::text(text.into_text()))
        }
        "recurses" => cx.execute(cx.tool().unwrap().as_str(), arguments).await,
        _ => Ok(ToolResult::text("done")),
    }
}

/// Counts a call out of its shelf however it ends.
struct AtShelf<'a>(&'a AtomicBool);

impl<'a> AtShelf<'a> {
    fn new(tally: &'a Tally, shelf: u64) -> Self {
        let shelf = &tally.shelves[usize::try_from(shelf).unwrap()];
        tally.crowds.fetch_add(shelf.swap(true, Ordering::SeqCst).into(), Ordering::Relaxed);
        Self(shelf)
    }
}

impl Drop for AtShelf<'_> {
    fn drop(&mut self) {
        self.0.store(false, Ordering::SeqCst);
    }
}

/// How much memory the process has, in bytes.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim_end_matches("kB").trim().parse::<u64>().unwrap() * 1024
}
