//! Imports the tools of MCP servers into a catalog.

mod call;
mod calls;
mod connect;
mod connection;
mod defaults;
mod definition;
mod destination;
mod elicitation;
mod error;
mod failure;
mod form;
mod http;
mod import;
mod imported;
mod introduction;
mod listing;
mod lists;
mod loose_json;
mod matching;
mod message_limit;
mod nullable;
mod prompt;
mod read_resource;
mod reading;
mod registration;
mod resource;
mod result;
mod rounds;
mod sampling;
mod schema_repair;
mod schema_texts;
mod server;
mod server_name;
mod server_tool;
mod servers;
mod service;
mod snake_case;
mod stdio;
mod tasks;
mod transport_reason;
mod unanswered;

pub use error::ImportError;
pub use http::{HttpServer, LoginError, OAuthClient};
pub use import::{Import, Refusal, Refused, Report, Review};
pub use imported::{Imported, Items, Status};
pub use prompt::{Prompt, PromptArgument, PromptMessage};
pub(crate) use registration::unusable;
pub use resource::{Resource, ResourceTemplate};
pub use sampling::{Sample, SampleMessage, SampleRequest, Sampling};
pub use server_name::{InvalidServerName, ServerName};
pub use server_tool::ServerTool;
pub use servers::Servers;
pub use stdio::{
    Alive, BoxedRead, BoxedWrite, Launched, Remarks, StdioError, StdioServer, server_command,
};
