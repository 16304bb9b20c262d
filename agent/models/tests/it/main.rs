//! The tests of the providers, against services that the tests play.

#![allow(clippy::unwrap_used)]

mod aimock;
mod arguments;
mod careless;
mod careless_calls;
mod careless_gemini;
mod careless_stream;
mod compaction;
mod empty;
mod ending;
mod endpoint;
mod exchange;
mod failure;
mod fallback;
mod generation;
mod history;
/// The judge of the formats' own tests.
#[allow(dead_code, reason = "its own tests use more of it")]
#[path = "../../../../protocol/tests/it/wire/judge.rs"]
mod judge;
mod key;
mod known_services;
mod lost_reply;
mod pause;
mod prefix;
mod prompt;
mod repeated;
mod reported;
mod retries;
mod service;
mod services;
mod small_service;
mod stored;
mod stream;
mod traffic;
mod unknown_models;
mod workshop;
