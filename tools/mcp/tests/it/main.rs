//! Real MCP peers in both generations of the protocol.
#![allow(clippy::unwrap_used, reason = "a test that fails panics")]
#![allow(
    deprecated,
    reason = "clients of older revisions have log messages and sampling"
)]

mod client_call;
mod client_careless;
mod client_connection;
mod client_elicitation;
mod client_hostile;
mod client_http;
mod client_import;
mod client_lists;
mod client_resource;
mod client_task_input;
mod client_tasks;
mod config_file;
mod corpus;
mod scripted;
mod server_approval;
mod server_call;
mod server_client;
mod server_http;
mod server_list;
mod server_messages;
mod server_task_input;
mod server_tasks;
mod tasked;
mod trust_approvals;
mod trust_mutations;
mod trust_pins;
