//! Imports the tools of MCP servers into a catalog.

mod asked;
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
#[cfg(feature = "http")]
mod http;
mod import;
mod imported;
#[cfg(any(feature = "http", feature = "stdio"))]
mod introduction;
mod items;
mod listing;
mod lists;
#[cfg(any(feature = "http", feature = "stdio"))]
mod loose_json;
mod matching;
mod message_limit;
mod nullable;
mod prompt;
mod read_resource;
#[cfg(any(feature = "http", feature = "stdio"))]
mod reading;
mod registration;
mod report;
mod resource;
mod result;
mod review;
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
mod status;
#[cfg(feature = "stdio")]
mod stdio;
mod tasks;
mod transport_reason;
mod unanswered;

pub use error::ImportError;
#[cfg(feature = "http")]
pub use http::HttpServer;
#[cfg(feature = "oauth")]
pub use http::LoginError;
pub use import::Import;
pub use imported::Imported;
pub use items::Items;
pub use prompt::{Prompt, PromptArgument, PromptMessage};
pub(crate) use registration::unusable;
pub use report::{Cut, Refusal, Refused, Report};
pub use resource::{Resource, ResourceTemplate};
pub use review::Review;
pub use sampling::{Sample, SampleMessage, SampleRequest, Sampling};
pub use server_name::{InvalidServerName, ServerName};
pub use server_tool::ServerTool;
pub use servers::Servers;
pub use status::Status;
#[cfg(feature = "stdio")]
pub use stdio::{Alive, BoxedRead, BoxedWrite, Launched, StdioError, StdioServer};
