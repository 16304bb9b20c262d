#![doc = include_str!("../README.md")]

mod document;
mod field;
mod found;
mod index;
mod query;
mod rank;
mod text;
mod words;

#[cfg(test)]
mod tests;

pub use field::Field;
pub use found::{Found, Match};
pub use index::Index;
