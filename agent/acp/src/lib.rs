#![doc = include_str!("../README.md")]

mod asker;
mod board;
mod card;
mod client;
mod command;
mod content;
mod diff;
mod extension;
mod person;
mod rpc;
mod scope;
mod server;
mod turn;

pub use server::EditorServer;
