//! Imports the tools of MCP servers into a catalog.

mod call;
mod calls;
mod connect;
mod connection;
mod definition;
mod destination;
mod elicitation;
mod error;
mod failure;
mod form;
mod import;
mod imported;
mod link;
mod listing;
mod registration;
mod report;
mod result;
mod rounds;
mod sampling;
mod server;
mod server_name;
mod servers;
mod service;
mod status;

pub use error::ImportError;
pub use import::{Import, Review};
pub use imported::Imported;
pub use report::{Cut, Refusal, Refused, Report};
pub use sampling::{Sample, SampleFuture, SampleMessage, SampleRequest, Sampler, Sampling};
pub use server::Server;
pub use server_name::{InvalidServerName, ServerName};
pub use servers::Servers;
pub use status::Status;
