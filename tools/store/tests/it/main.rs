//! Stores in real files.
#![allow(
    clippy::unwrap_used,
    reason = "the functions that tests share unwrap too"
)]

mod migration;
mod private;
mod transaction;
