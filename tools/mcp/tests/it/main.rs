//! The tests of this crate.
#![allow(clippy::unwrap_used, reason = "a test that fails panics")]

mod client_call;
mod client_connection;
mod client_elicitation;
mod client_hostile;
mod client_import;
mod client_resource;
mod config_file;
mod corpus;
mod scripted;
mod trust_approvals;
mod trust_mutations;
mod trust_pins;
