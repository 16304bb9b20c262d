#![doc = include_str!("../README.md")]

mod audit;
mod change;
mod command;
mod error;
mod extension;
mod folder;
mod id;
mod list;
mod lock;
mod records;
mod stored;
mod summary;
mod tasks;
mod window;
