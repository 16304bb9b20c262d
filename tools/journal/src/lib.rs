#![doc = include_str!("../README.md")]

mod audit;
mod chain;
mod checkpoint;
mod counters;
mod entry;
mod erase;
mod fork;
mod ledger;
mod log;
mod open;
mod row;
mod sqlite;
mod start;
mod writer;

pub use crate::chain::{Head, InvalidHead};
pub use crate::open::OpenError;
pub use audit::{Audit, AuditError};
pub use counters::{CounterError, CounterKey, SharedCounters};
pub use entry::AuditEntry;
pub use erase::{EraseError, erase};
pub use fork::ForkError;
pub use sqlite::{JournalOptions, SqliteJournal};
pub use tools::journal::SessionStart;
pub use tools_store::{Durability, StoreError};
