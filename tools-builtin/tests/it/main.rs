//! Tests of the built-in tools that do not depend on link-time registration; for that see `linked.rs`.

#![allow(clippy::unwrap_used)]

mod arguments;
mod registered;
