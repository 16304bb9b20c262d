#![doc = include_str!("../README.md")]

mod ceiling;
mod error;
mod extension;
mod lint;
mod lock;
mod lock_file;
mod new;
mod show;
