//! The tests that listen to `tracing`. In a program of their own: the subscriber is the one of the process.

#![allow(clippy::unwrap_used)]

#[path = "../it/notebook.rs"]
mod notebook;
#[path = "../it/sample.rs"]
mod sample;

mod listener;
mod secret;
mod span;
