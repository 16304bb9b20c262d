//! Runs tests under a scheduler that decides at each primitive of [`sync`](crate::sync) which thread continues. A deadlock fails the
//! test.
//!
//! `RUSTC_WORKSPACE_WRAPPER=$PWD/.ci/shuttle cargo test --package toolcrib-tools --lib shuttle_tests`. `TOOLCRIB_SCHEDULES=20000` tries
//! more schedules than the default.

#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use protocol::{Effects, Tool};
use serde_json::{Value, json};
use shuttle::scheduler::{PctScheduler, RandomScheduler};
use shuttle::{Config, Runner};

use crate::context::ToolContext;

/// The number of schedules per test, if `TOOLCRIB_SCHEDULES` does not say another. Half of them switch threads rarely, which finds
/// other bugs.
const SCHEDULES: usize = 500;

/// The stack size of each thread in bytes: the default of 60 KiB is too small for an unoptimised build.
const STACK: usize = 1024 * 1024;

/// The code of one thread of a test.
pub(crate) type Thread = Box<dyn FnOnce() + Send>;

/// Creates a thread with its own clone of the shared state.
pub(crate) fn thread<T: Clone + Send + 'static>(
    shared: &T,
    act: impl FnOnce(&T) + Send + 'static,
) -> Thread {
    let shared = shared.clone();
    Box::new(move || act(&shared))
}

/// A handler that does nothing.
pub(crate) async fn nothing(_: ToolContext, _: Value) {}

/// Creates a pure tool.
pub(crate) fn tool(name: &str) -> Tool {
    Tool::new(name, "A tool.", json!({"type": "object"}))
        .unwrap()
        .with_effects(Effects::Pure)
}

pub(crate) fn check(test: impl Fn() + Send + Sync + 'static) {
    let test = Arc::new(test);
    let same = test.clone();
    let config = || {
        let mut config = Config::new();
        config.stack_size = STACK;
        config
    };
    let schedules = std::env::var("TOOLCRIB_SCHEDULES")
        .map_or(SCHEDULES, |schedules| schedules.parse().unwrap());
    Runner::new(RandomScheduler::new(schedules / 2), config()).run(move || same());
    Runner::new(PctScheduler::new(3, schedules / 2), config()).run(move || test());
}

/// Runs the threads concurrently and joins them.
pub(crate) fn all(threads: impl IntoIterator<Item = Thread>) {
    let threads: Vec<_> = threads.into_iter().map(shuttle::thread::spawn).collect();
    threads
        .into_iter()
        .for_each(|thread| thread.join().unwrap());
}
