#![doc = include_str!("../README.md")]

mod enter;
pub mod walls;

pub use enter::enter;
