//! Tests of the journal with real files and processes.

#![allow(clippy::unwrap_used)]

mod audit;
mod compaction;
mod counters;
mod crib;
mod deferred;
mod erase;
mod fork;
#[allow(
    clippy::print_stdout,
    reason = "prints the seed and the counts of a run"
)]
mod kill;
mod record;
mod resume;
mod secret;
#[path = "../../../../agent/tests/it/small_context.rs"]
mod small_context;
mod start;
mod unfinished;
