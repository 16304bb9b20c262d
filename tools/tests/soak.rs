//! A thousand calls at a time, over ten thousand tools, of which one in twenty goes wrong: every call has the one outcome that
//! fits, no task is left, and memory stays where it was.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used)]

mod sample;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use sample::closed;
use serde_json::{Value, json};
use tokio::runtime::Handle;
use tools::{CancellationToken, Catalog, SharedCatalog, ToolContext, ToolError, ToolResult, handler};

const TOOLS: u64 = 10_000;
const CALLERS: u64 = 1_000;

/// How many seconds it takes after the warm-up, where [`DEFAULT_SECONDS`] are not what is wanted.
const SECONDS: &str = "TOOLCRIB_SOAK_SECONDS";
const DEFAULT_SECONDS: u64 = 20;

/// By how much memory may grow after the warm-up: what the allocator moves about. The control leaks twice as much.
const GROWTH: u64 = 24 << 20;

/// What goes wrong, in turn, with the kind of error that it has to end with.
const FAULTS: [(&str, &str); 10] = [
    ("panics", "panicked"),
    ("fails", "execution_failed"),
    ("hangs", "timeout"),
    ("cancelled", "cancelled"),
    ("misfits", "invalid_arguments"),
    ("huge", "none"),
    ("blocks", "timeout"),
    ("panics too", "panicked"),
    ("unknown", "not_found"),
    ("recurses", "execution_failed"),
];

/// What came of it all.
#[derive(Debug, Default)]
struct Tally {
    begun: AtomicU64,
    ended: AtomicU64,
    /// Calls in their tools right now, and the most there were at a time.
    inside: AtomicU64,
    most_inside: AtomicU64,
    by_kind: Mutex<BTreeMap<String, u64>>,
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
    let tally = Arc::new(Tally::default());
    let catalog = catalog(&tally);

    // Every tool is built at its first use, and the first faults bring the threads of the blocking pool.
    for tool in 0..TOOLS {
        catalog.validate(&name(tool), json!({"text": "works"})).unwrap();
    }
    soak(&catalog, &tally, Duration::from_secs(5), false).await;
    let before = resident();
    soak(&catalog, &tally, Duration::from_secs(seconds), false).await;
    let after = resident();

    let (begun, ended) = (tally.begun.load(Ordering::Relaxed), tally.ended.load(Ordering::Relaxed));
    let most = tally.most_inside.load(Ordering::Relaxed);
    let kinds = tally.by_kind.lock().unwrap().clone();
    eprintln!("{ended} calls in {} s, at most {most} at a time: {kinds:?}", seconds + 5);
    eprintln!("memory: {} MiB before and {} MiB after", before >> 20, after >> 20);
    assert_eq!(begun, ended);
    assert_eq!(kinds.values().sum::<u64>(), ended);
    assert!(most > CALLERS / 2, "no more than {most} calls were in their tools at a time");
    assert!(FAULTS.iter().all(|(_, kind)| kinds.contains_key(*kind)));
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
                // One in twenty, and all faults in turn.
                let fault = (number % 20 == 0).then(|| FAULTS[usize::try_from(number / 20 % 10).unwrap()]);
                let kind = call(&catalog, number, fault.map_or("works", |(fault, _)| fault)).await;
                assert_eq!(kind, fault.map_or("none", |(_, kind)| kind), "{fault:?}");
                tally.ended.fetch_add(1, Ordering::Relaxed);
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
}

/// The kind of outcome that one call has.
async fn call(catalog: &SharedCatalog, number: u64, what: &str) -> String {
    let token = CancellationToken::new();
    let cx = ToolContext::new().with_cancellation(token.clone());
    let (cx, tool) = match what {
        "hangs" | "blocks" => (cx.with_timeout(Duration::from_millis(50)), name(number * 7919 % TOOLS)),
        "unknown" => (cx, format!("t.unknown{number}")),
        _ => (cx, name(number * 7919 % TOOLS)),
    };
    let tool = match what {
        "blocks" | "panics too" => "t.blocking".to_owned(),
        _ => tool,
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
            assert!(if what == "huge" { length > 60_000 && length < 70_000 } else { length < 100 }, "{length}");
            "none".to_owned()
        }
        Err(error) => error.kind().to_owned(),
    }
}

fn name(tool: u64) -> String {
    format!("t.n{tool}")
}

fn catalog(tally: &Arc<Tally>) -> SharedCatalog {
    let mut catalog = Catalog::new();
    for tool in 0..TOOLS {
        let tally = tally.clone();
        let run = move |cx: ToolContext, arguments: Value| misbehave(cx, arguments, tally.clone());
        catalog.register(closed(&name(tool)), run).unwrap();
    }
    let blocking = handler::blocking(|cx: &ToolContext, arguments: Value| -> String {
        if arguments["text"] == "panics too" {
            panic!("on purpose");
        }
        while cx.check_cancelled().is_ok() {
            std::thread::sleep(Duration::from_millis(1));
        }
        "late".to_owned()
    });
    catalog.register(closed("t.blocking"), blocking).unwrap();
    catalog.into()
}

async fn misbehave(cx: ToolContext, arguments: Value, tally: Arc<Tally>) -> Result<ToolResult, ToolError> {
    let inside = tally.inside.fetch_add(1, Ordering::Relaxed) + 1;
    tally.most_inside.fetch_max(inside, Ordering::Relaxed);
    let _outside = Outside(&tally.inside);
    // Long enough for calls to be many at a time.
    tokio::time::sleep(Duration::from_millis(2)).await;
    match arguments["text"].as_str().unwrap() {
        "panics" => panic!("on purpose"),
        "fails" => Err(ToolError::execution_failed(&cx, "no luck")),
        "hangs" | "cancelled" => std::future::pending().await,
        "huge" => Ok(ToolResult::text("x".repeat(1 << 20))),
        "recurses" => cx.execute(cx.tool().unwrap().as_str(), arguments).await,
        _ => Ok(ToolResult::text("done")),
    }
}

/// Counts a call out however it ends.
struct Outside<'a>(&'a AtomicU64);

impl Drop for Outside<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// How much memory the process has, in bytes.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim_end_matches("kB").trim().parse::<u64>().unwrap() * 1024
}
