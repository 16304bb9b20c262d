//! A loopback server for tests.

mod server;

pub use server::{Received, TestServer};
