//! The tools, the times of runs, and the server with a clock that the tests turn.

// Clippy allows `unwrap` in tests, but not in their helper functions.
#![allow(clippy::unwrap_used)]

mod check;
mod fixture;
mod gone;
mod next;
mod repeated;
mod serve;
mod service;
mod states;
mod tools_of_jobs;
mod year;
