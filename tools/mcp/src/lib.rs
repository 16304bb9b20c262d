#![doc = include_str!("../README.md")]

pub mod client;
pub mod config;
mod nesting;
mod private_file;
mod same_json;
pub mod server;
pub mod trust;
