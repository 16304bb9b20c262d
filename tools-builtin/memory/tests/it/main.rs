//! Memories in real files.
#![allow(
    clippy::unwrap_used,
    reason = "the functions that tests share unwrap too"
)]

mod desk;
mod digest;
mod exposure;
mod hostile;
mod limits;
mod migration;
mod processes;
mod scopes;
mod tools_of_memory;
mod transfer;
