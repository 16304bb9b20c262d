//! Tests of the crate.

// Clippy allows `unwrap` in tests, but not in their helper functions.
#![allow(clippy::unwrap_used)]

mod conversation;
mod editor;
mod hostile;
mod judge;
mod judge_refuses;
mod program;
mod question;
