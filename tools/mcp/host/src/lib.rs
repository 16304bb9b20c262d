#![doc = include_str!("../README.md")]

mod attach;
mod code;
mod command;
mod error;
mod extension;
mod follow;
mod inventory;
mod prompts;
mod sampler;
mod server;
mod standing;
