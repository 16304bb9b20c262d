//! The tests of this crate.

mod client_call;
mod client_connection;
mod client_elicitation;
mod client_hostile;
mod client_import;
mod client_resource;
mod corpus;
mod scripted;
