//! The tests of this crate.
#![allow(clippy::unwrap_used, reason = "a test that fails panics")]

mod client_call;
mod client_connection;
mod client_elicitation;
mod client_hostile;
#[cfg(feature = "http")]
mod client_http;
mod client_import;
mod client_resource;
mod corpus;
mod scripted;
