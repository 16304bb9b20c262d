//! Tests with a `tracing` subscriber. They are a separate program because the subscriber is global.

#![allow(clippy::unwrap_used)]

#[path = "../it/notebook.rs"]
mod notebook;
#[path = "../it/sample.rs"]
mod sample;

mod listener;
mod secret;
mod span;
mod vault;
