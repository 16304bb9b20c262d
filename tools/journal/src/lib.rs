#![doc = include_str!("../README.md")]

mod audit;
mod chain;
mod checkpoint;
mod counters;
mod entry;
mod erase;
mod error;
mod fork;
mod head;
mod ledger;
mod open;
mod option;
mod row;
mod sqlite;
mod start;
mod writer;

pub use audit::{Audit, AuditError};
pub use counters::{CounterError, CounterKey, SharedCounters};
pub use entry::AuditEntry;
pub use erase::{EraseError, erase};
pub use error::OpenError;
pub use fork::ForkError;
pub use head::{Head, InvalidHead};
pub use option::JournalOptions;
pub use sqlite::SqliteJournal;
pub use tools::journal::SessionStart;
pub use tools_store::Durability;
