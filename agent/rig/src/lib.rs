#![doc = include_str!("../README.md")]

mod adapter;
mod attempt;
mod key;
mod patience;
mod remote;

pub use patience::Patience;
pub use remote::Remote;
