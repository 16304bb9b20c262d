//! [`ImportError`]: the reasons why the tools of a server are not imported.

use std::time::Duration;

use crate::client::server_name::ServerName;

/// The reason why the tools of a server are not imported.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ImportError {
    /// Another server has the name.
    #[error(
        "there is an MCP server {name} already; remove it first, or give one of them another name"
    )]
    NameTaken {
        /// The name.
        name: ServerName,
    },
    /// The connection cannot be opened.
    #[error("the MCP server {name} cannot be reached: {reason}")]
    Open {
        /// The server.
        name: ServerName,
        /// The fault.
        reason: String,
    },
    /// The server does not speak MCP, or no common revision of it.
    #[error("the MCP server {name} does not speak the Model Context Protocol: {reason}")]
    Handshake {
        /// The server.
        name: ServerName,
        /// The fault.
        reason: String,
    },
    /// The server gives access only after a login, or no longer accepts an earlier one.
    #[error("the MCP server {name} requires a login; {advice}")]
    LoginRequired {
        /// The server.
        name: ServerName,
        /// The next step: that of [`Import::login_advice`](super::Import::login_advice).
        advice: String,
    },
    /// The connection was not ready in time.
    #[error("the MCP server {name} has not answered within {limit:?}; {advice}")]
    Timeout {
        /// The server.
        name: ServerName,
        /// The time limit.
        limit: Duration,
        /// The next step, or the reasons that the host knows.
        advice: String,
    },
    /// A list cannot be read.
    #[error("the MCP server {name} does not list its {what}: {reason}")]
    List {
        /// The server.
        name: ServerName,
        /// The list: `tools`, `resources`, `resourceTemplates` or `prompts`.
        what: &'static str,
        /// The fault.
        reason: String,
    },
    /// The server was removed.
    #[error("the MCP server {name} was removed; import it again")]
    Removed {
        /// The server.
        name: ServerName,
    },
}
