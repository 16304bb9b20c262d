//! The tests of the providers, against services that the tests play.

#![allow(clippy::unwrap_used)]

mod agent_tool;
mod aimock;
mod empty;
mod ending;
mod exchange;
mod failure;
mod service;
mod services;
mod stream;
mod traffic;
mod workshop;
