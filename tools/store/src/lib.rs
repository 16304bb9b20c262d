#![cfg_attr(feature = "sqlite", doc = include_str!("../README.md"))]
#![cfg_attr(
    not(feature = "sqlite"),
    doc = "Private files. With the feature `sqlite`, files of SQLite too."
)]

#[cfg(feature = "sqlite")]
mod error;
#[cfg(feature = "sqlite")]
mod file;
#[cfg(feature = "sqlite")]
mod open;
pub mod private;
#[cfg(feature = "sqlite")]
mod store;

#[cfg(feature = "sqlite")]
pub use self::{
    error::StoreError,
    open::{Durability, Schema, begin, connect},
    store::Store,
};
#[cfg(feature = "sqlite")]
pub use rusqlite;
