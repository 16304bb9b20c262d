//! The tests of this crate.

mod client_call;
mod client_connection;
mod client_elicitation;
mod client_import;
mod config_file;
mod scripted;
