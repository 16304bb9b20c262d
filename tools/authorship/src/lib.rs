#![doc = include_str!("../README.md")]

mod approval;
mod committed;
mod content;
mod extension;
mod git;
mod history;
mod judge;
mod links;
mod mark;
mod named;
mod objects;
mod records;
mod repository;
mod running;
mod stamp;
mod trust;
mod walk;
mod watch;
mod written;
