//! Real MCP peers in both generations of the protocol.

#![allow(clippy::unwrap_used)]
#![allow(deprecated, reason = "clients of older revisions have log messages and sampling")]

mod corpus;
mod server_approval;
mod server_call;
mod server_client;
mod server_http;
mod server_list;
