#![doc = include_str!("../README.md")]

mod adapter;
mod attempt;
mod key;
mod remote;

pub use agent::Patience;
pub use remote::Remote;
