//! Imports the tools of MCP servers into a catalog.

#[cfg(feature = "http")]
#[allow(dead_code, reason = "the importer uses it")]
mod http;
#[cfg(feature = "stdio")]
mod stdio;

#[cfg(feature = "http")]
pub use http::HttpServer;
#[cfg(feature = "oauth")]
pub use http::LoginError;
#[cfg(feature = "stdio")]
pub use stdio::{Alive, BoxedRead, BoxedWrite, Launched, StdioError, StdioServer};
