//! [`McpError`]: the reason why a server cannot be used, or why a command about servers fails.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

use agent::InvalidSelection;
use host::folders::InvalidRoot;
use host::settings::SettingsError;
use host::{CommandError, Exit, program};
use tools::protocol::wire::NameCollision;
use tools_mcp::client::{ImportError, LoginError};
use tools_mcp::config::ConfigError;
use tools_mcp::server::{HttpError, ServeError};
use tools_mcp::trust::TrustError;

/// The reason why a server cannot be used, or why a command about servers fails. Each variant maps to an [`Exit`].
#[derive(Debug, thiserror::Error)]
pub(crate) enum McpError {
    #[error(
        "there is no folder for the settings of this user, so there are no MCP servers; set HOME"
    )]
    NoHome,
    #[error(
        "there is no MCP server {0:?}; run {program} mcp list to see all",
        program = program::name()
    )]
    NoServer(String),
    #[error("the MCP server {server} cannot be used: {reason}")]
    Server { server: String, reason: String },
    #[error("the MCP server {0} cannot be asked for this prompt: {1}")]
    ServerPrompt(String, String),
    #[error("there is no program {0:?} for the MCP server {1}; install it, or change the command")]
    NoProgram(String, String),
    #[error(
        "the MCP server {0} waits for approval; run {program} mcp approve {0}",
        program = program::name()
    )]
    Unapproved(String),
    #[error(
        "a session wrote code that the MCP server {0} may run; run {program} mcp approve {0} to see it",
        program = program::name()
    )]
    Rewritten(String),
    #[error(transparent)]
    Root(#[from] InvalidRoot),
    #[error(transparent)]
    Settings(#[from] SettingsError),
    #[error(transparent)]
    File(#[from] ConfigError),
    #[error(transparent)]
    Trust(#[from] TrustError),
    #[error(transparent)]
    Import(#[from] ImportError),
    #[error(transparent)]
    Login(#[from] LoginError),
    #[error(transparent)]
    Command(#[from] CommandError),
    #[error(transparent)]
    Selection(#[from] InvalidSelection),
    #[error("cannot serve the tools: {0}; rename one of them, or leave one out with --select")]
    Names(#[from] NameCollision),
    #[error(transparent)]
    Serve(#[from] ServeError),
    #[error(transparent)]
    ServeHttp(#[from] HttpError),
    #[error("cannot listen on {address}: {source}; choose another address")]
    Listen {
        address: SocketAddr,
        source: io::Error,
    },
    #[error("cannot read the bearer token from {}: {source}; pass a file that only you can read", path.display())]
    Token { path: PathBuf, source: io::Error },
    #[error("cancelled")]
    Cancelled,
}

impl McpError {
    pub(crate) fn unusable(server: &impl ToString, reason: impl ToString) -> Self {
        Self::Server {
            server: server.to_string(),
            reason: reason.to_string(),
        }
    }

    fn exit(&self) -> Exit {
        match self {
            Self::NoServer(_) => Exit::NotFound,
            Self::Unapproved(_) | Self::Rewritten(_) => Exit::Refused,
            Self::NoProgram(..) | Self::Import(_) => Exit::Unavailable,
            Self::Login(_) => Exit::Failed,
            Self::Cancelled => Exit::Cancelled,
            Self::ServeHttp(HttpError::TokenRequired { .. } | HttpError::ShortToken { .. }) => {
                Exit::Usage
            }
            Self::Serve(_) | Self::ServeHttp(_) => Exit::Internal,
            Self::Command(error) => error.exit,
            _ => Exit::Usage,
        }
    }
}

impl From<McpError> for CommandError {
    fn from(error: McpError) -> Self {
        match error {
            McpError::Command(error) => error,
            error => Self::new(error.exit(), error),
        }
    }
}
