#![doc = include_str!("../README.md")]

mod adapter;
mod key;
mod remote;
mod retry;

pub use adapter::tools;
pub use agent::{RetryPolicy, Timeouts};
pub use remote::Remote;
