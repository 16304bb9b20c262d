#![doc = include_str!("../README.md")]

mod document;
mod field;
mod index;
mod query;
mod rank;
mod text;
mod words;

#[cfg(test)]
mod tests;

pub use field::Field;
pub use index::{Found, Index, Match};
