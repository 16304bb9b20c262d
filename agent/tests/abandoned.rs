//! The count of abandoned calls. Alone in this file, because the count is process-wide.

#![allow(clippy::unwrap_used)]

#[path = "it/workshop.rs"]
mod workshop;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use agent::abandoned_calls;
use serde_json::Value;
use tools::{Catalog, ToolContext};
use workshop::{calling, scripted, session, tool};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_of_a_dropped_run_counts_until_it_ends() {
    let (is_begun, is_released) = (
        Arc::new(AtomicBool::new(false)),
        Arc::new(AtomicBool::new(false)),
    );
    let (begun, released) = (is_begun.clone(), is_released.clone());
    let mut catalog = Catalog::new();
    let spins = move |_: ToolContext, _: Value| {
        let (begun, released) = (begun.clone(), released.clone());
        async move {
            begun.store(true, Ordering::Relaxed);
            while !released.load(Ordering::Relaxed) {
                std::thread::sleep(Duration::from_millis(1));
            }
            String::new()
        }
    };
    catalog.register(tool("spins"), spins).unwrap();
    let mut session = session(&catalog);
    let driver = scripted([calling(&["spins"])]);
    let begins = async {
        while !is_begun.load(Ordering::Relaxed) {
            tokio::task::yield_now().await;
        }
    };
    tokio::select! {
        _ = driver.run(&mut session, "go") => panic!("the run ended"),
        () = begins => {}
    }
    let counted = abandoned_calls();
    is_released.store(true, Ordering::Relaxed);
    assert_eq!(counted, 1);
    while abandoned_calls() > 0 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}
