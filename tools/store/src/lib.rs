#![doc = include_str!("../README.md")]

mod error;
mod file;
mod open;
mod schema;
mod store;

pub use error::StoreError;
pub use open::{Durability, begin, connect};
pub use rusqlite;
pub use schema::Schema;
pub use store::Store;
