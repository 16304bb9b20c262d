#![doc = include_str!("../README.md")]

mod client;
mod endpoint;
mod export;
mod exporter;
mod extension;
mod open_spans;
mod settings;
