#![doc = include_str!("../README.md")]

mod enter;
mod entered;
pub mod supervise;

pub use enter::enter;
