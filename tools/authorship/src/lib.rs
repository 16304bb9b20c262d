#![doc = include_str!("../README.md")]

mod approval;
mod committed;
mod content;
mod extension;
mod git;
mod history;
mod judge;
mod left_out;
mod links;
mod mark;
mod named;
mod objects;
mod process;
mod records;
mod repository;
mod running;
mod stamp;
mod trust;
mod walk;
mod watch;
mod written;
