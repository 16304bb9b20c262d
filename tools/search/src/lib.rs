#![doc = include_str!("../README.md")]

mod field;
mod found;
mod index;
mod reranker;

pub use field::Field;
pub use found::{Found, Match};
pub use index::Index;
pub use reranker::{RerankError, RerankFuture, Reranker};
