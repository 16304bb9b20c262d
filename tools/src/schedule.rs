//! Running a test under a scheduler that decides who goes next at each primitive of [`sync`](crate::sync). A deadlock fails it.
//!
//! `RUSTFLAGS='--cfg shuttle' cargo test --package toolcrib-tools --lib shuttle_tests`

#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use protocol::{Effects, Tool};
use serde_json::{Value, json};
use shuttle::scheduler::{PctScheduler, RandomScheduler};
use shuttle::{Config, Runner};

use crate::ToolContext;

/// How many schedules each test runs through, half of them with few and far switches between threads, where rare bugs hide.
const SCHEDULES: usize = 2_000;

/// How large the stack of each thread is, in bytes: the default of 60 KiB is too little for a build that is not optimised.
const STACK: usize = 1024 * 1024;

/// What one thread of a test does.
pub(crate) type Thread = Box<dyn FnOnce() + Send>;

/// A thread that is given what others are given as well.
pub(crate) fn thread<T: Clone + Send + 'static>(shared: &T, act: impl FnOnce(&T) + Send + 'static) -> Thread {
    let shared = shared.clone();
    Box::new(move || act(&shared))
}

/// Does nothing.
pub(crate) async fn nothing(_: ToolContext, _: Value) {}

/// A pure tool.
pub(crate) fn tool(name: &str) -> Tool {
    Tool::new(name, "A tool.", json!({"type": "object"})).unwrap().with_effects(Effects::Pure)
}

pub(crate) fn check(test: impl Fn() + Send + Sync + 'static) {
    let test = Arc::new(test);
    let same = test.clone();
    let config = || {
        let mut config = Config::new();
        config.stack_size = STACK;
        config
    };
    Runner::new(RandomScheduler::new(SCHEDULES / 2), config()).run(move || same());
    Runner::new(PctScheduler::new(3, SCHEDULES / 2), config()).run(move || test());
}

/// Runs these side by side, until all of them have ended.
pub(crate) fn all(threads: impl IntoIterator<Item = Thread>) {
    let threads: Vec<_> = threads.into_iter().map(shuttle::thread::spawn).collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}
