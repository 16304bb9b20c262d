//! Tools that misbehave in different ways, called concurrently in separate tasks. Every call ends by its deadline with an error that
//! names the fault. Tools that never yield are tested in `agent`, faults that end the process in `process.rs`.

use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::sample::{hang, holding, pure};
use serde_json::{Value, json};
use tools::{Host, SharedCatalog, ToolContext, ToolError, ToolResult, handler};

// The tests rely on it.
const _: () = assert!(tools::call::ISOLATES_PANICS);

const LIMIT: Duration = Duration::from_millis(200);

/// A test that hangs fails after this time.
const HANG_LIMIT: Duration = Duration::from_secs(20);

/// Runs the tool in its own task.
async fn outcome(
    catalog: &SharedCatalog,
    name: &str,
    limit: Duration,
) -> Result<ToolResult, ToolError> {
    let call = catalog.execute(&Host::new().with_timeout(limit), name, json!({}));
    tokio::time::timeout(HANG_LIMIT, tokio::spawn(call))
        .await
        .expect(name)
        .unwrap()
}

/// Releases the deaf tools on drop, even after a failure, because the runtime waits for them.
struct Release(Arc<AtomicBool>);

impl Drop for Release {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Each tool with the kind of error that it must end with.
const ROWS: &[(&str, &str)] = &[
    ("pends", "timeout"),
    ("blocks", "timeout"),
    ("blocks_deaf", "timeout"),
    ("yields_deaf", "timeout"),
    ("panics", "panicked"),
    ("panics_blocking", "panicked"),
    ("panics_late", "panicked"),
    ("recurses", "execution_failed"),
    ("recurses_blocking", "execution_failed"),
    ("recurses_waiting", "timeout"),
    ("fans_out", "timeout"),
    ("spawns", "timeout"),
];

fn catalog(is_released: &Arc<AtomicBool>) -> SharedCatalog {
    let mut catalog = holding(pure("pends"), hang);
    let blocks = handler::blocking(|cx: &ToolContext, _: Value| {
        while cx.check_cancelled().is_ok() {
            std::thread::sleep(Duration::from_millis(1));
        }
        "stopped"
    });
    catalog.register(pure("blocks"), blocks).unwrap();
    let released = is_released.clone();
    let deaf = handler::blocking(move |_: &ToolContext, _: Value| {
        while !released.load(Ordering::Relaxed) {
            std::thread::sleep(Duration::from_millis(1));
        }
        "late"
    });
    catalog.register(pure("blocks_deaf"), deaf).unwrap();
    let yields = async |_: ToolContext, _: Value| -> Result<(), String> {
        loop {
            tokio::task::yield_now().await;
        }
    };
    catalog.register(pure("yields_deaf"), yields).unwrap();
    catalog
        .register(pure("panics"), async |_: ToolContext, _: Value| -> String {
            panic!("on purpose")
        })
        .unwrap();
    let panics = handler::blocking(|_: &ToolContext, _: Value| -> String { panic!("on purpose") });
    catalog.register(pure("panics_blocking"), panics).unwrap();
    let panics_late = async |_: ToolContext, _: Value| -> String {
        tokio::time::sleep(Duration::from_millis(5)).await;
        panic!("on purpose")
    };
    catalog.register(pure("panics_late"), panics_late).unwrap();
    let recurses = async |cx: ToolContext, _: Value| cx.execute("recurses", json!({})).await;
    catalog.register(pure("recurses"), recurses).unwrap();
    let recurses = handler::blocking(|cx: &ToolContext, _: Value| {
        tokio::runtime::Handle::current().block_on(cx.execute("recurses_blocking", json!({})))
    });
    catalog
        .register(pure("recurses_blocking"), recurses)
        .unwrap();
    let waiting = async |cx: ToolContext, _: Value| {
        tokio::time::sleep(LIMIT / 8).await;
        cx.execute("recurses_waiting", json!({})).await
    };
    catalog.register(pure("recurses_waiting"), waiting).unwrap();
    // 64 to the power of 16 calls.
    let fans_out = async |cx: ToolContext, _: Value| {
        for _ in 0..64 {
            let _ = cx.execute("fans_out", json!({})).await;
            tokio::task::yield_now().await;
        }
        "done"
    };
    catalog.register(pure("fans_out"), fans_out).unwrap();
    // A task that it starts ends with the call once it makes calls.
    let spawns = async |cx: ToolContext, _: Value| -> Result<(), String> {
        tokio::spawn(cx.execute("pends", json!({})));
        pending().await
    };
    catalog.register(pure("spawns"), spawns).unwrap();
    catalog.into()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_misbehaving_tool_ends_with_the_error_that_fits_and_leaves_no_task() {
    let is_released = Arc::new(AtomicBool::new(false));
    let release = Release(is_released.clone());
    let catalog = catalog(&is_released);
    let calls = ROWS.iter().map(|(name, kind)| {
        // A tool that ends by itself may take long on a busy machine.
        let limit = if *kind == "timeout" {
            LIMIT
        } else {
            HANG_LIMIT
        };
        let (catalog, name) = (catalog.clone(), *name);
        tokio::spawn(async move { outcome(&catalog, name, limit).await })
    });
    let calls: Vec<_> = calls.collect();
    for ((name, kind), call) in ROWS.iter().zip(calls) {
        let error = call.await.unwrap().expect_err(name);
        assert_eq!(error.code().to_string(), *kind, "{name}: {error}");
        assert!(error.is_recoverable(), "{name}: the model may go on");
    }
    drop(release);
    let by = Instant::now() + HANG_LIMIT;
    while tokio::runtime::Handle::current()
        .metrics()
        .num_alive_tasks()
        > 0
    {
        assert!(Instant::now() < by, "a task is left");
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}
