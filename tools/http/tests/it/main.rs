//! The tests of the HTTP client.

// Counts are printed for the record.
#![allow(clippy::print_stdout, clippy::unwrap_used)]

mod canary;
mod cancellation;
mod codings;
mod failures;
mod limits;
mod programs;
mod proxy;

mod reach;
mod redirects;
mod requests;
mod secrets;
mod server;
mod session_cache;
mod setup;
mod streams;
mod tls;
