#![doc = include_str!("../README.md")]

mod enter;
pub mod supervise;

pub use enter::enter;
