#![doc = include_str!("../README.md")]

mod audit;
mod chain;
mod checkpoint;
mod entry;
mod error;
mod head;
mod ledger;
mod open;
mod option;
mod row;
mod sqlite;
mod writer;

pub use audit::{Audit, AuditError};
pub use entry::AuditEntry;
pub use error::OpenError;
pub use head::{Head, InvalidHead};
pub use option::{DEFAULT_MAX_RESULT_BYTES, Durability, JournalOptions};
pub use sqlite::SqliteJournal;
