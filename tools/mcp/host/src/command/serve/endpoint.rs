//! [`Endpoint`]: where clients connect.

use std::env;
use std::net::SocketAddr;

use host::{Argument, Arguments, CommandContext, CommandError, ValueForm, ValueKind, program};
use tokio::net::TcpListener;
use tools::CancellationToken;
use tools_mcp::server::{HttpOptions, ToolServer};
use tools_store::private;

use crate::error::McpError;

/// The key of the variable with the bearer token.
const TOKEN: &str = "mcp.token";

/// The maximum size of the file with the token, in bytes.
const MAX_TOKEN_BYTES: u64 = 64 * 1024;

pub(super) const HTTP: Argument = Argument::value::<SocketAddr>(
    ValueForm::Named,
    "http",
    "ADDRESS",
    "Serve any number of clients over streamable HTTP at this address, such as 127.0.0.1:8808, at the path /mcp. An address that other \
     machines can reach requires a bearer token",
);

pub(super) const TOKEN_FILE: Argument = Argument::Value {
    name: "token-file",
    value: "FILE",
    form: ValueForm::Named,
    kind: ValueKind::Path,
    help: "Require the bearer token of this file, at least 16 bytes, which other users cannot read. Without it, that of the variable \
           TOOLCRIB_MCP_TOKEN is required, if it is set",
};

pub(super) const ALLOW_HOST: Argument = Argument::value::<String>(
    ValueForm::NamedMany,
    "allow-host",
    "HOST",
    "Allow this name in the header Host, in addition to those of this machine",
);

pub(super) const ALLOW_ORIGIN: Argument = Argument::value::<String>(
    ValueForm::NamedMany,
    "allow-origin",
    "ORIGIN",
    "Allow web pages of this origin, such as https://app.example.com:443, in addition to those of the server's own address",
);

/// The place where clients connect.
pub(super) enum Endpoint {
    Streams,
    Http {
        address: SocketAddr,
        options: HttpOptions,
    },
}

impl Endpoint {
    /// Returns the place that the arguments name.
    pub(super) fn new(arguments: &Arguments) -> Result<Self, McpError> {
        let Some(address) = arguments.value("http")? else {
            return Ok(Self::Streams);
        };
        let mut options = HttpOptions::new();
        if let Some(token) = token(arguments)? {
            options = options.with_token(token)?;
        }
        options.check_address(address).map_err(|error| {
            let mut error = CommandError::from(McpError::from(error));
            let variable = program::variable(TOKEN);
            error.hint = Some(format!(
                "--token-file FILE or the variable {variable} has the token"
            ));
            error
        })?;
        options.hosts = arguments.values("allow-host")?;
        options.origins = arguments.values("allow-origin")?;
        Ok(Self::Http { address, options })
    }

    /// Serves clients until the shutdown, or until standard input ends. `tools` says what is served.
    pub(super) async fn serve(
        self,
        server: &ToolServer,
        tools: &str,
        shutdown: CancellationToken,
        cx: &dyn CommandContext,
    ) -> Result<(), McpError> {
        match self {
            Self::Streams => Ok(server.serve_stdio(shutdown).await?),
            Self::Http { address, options } => {
                let listen = TcpListener::bind(address).await;
                let listener = listen.map_err(|source| McpError::Listen { address, source })?;
                let address = listener.local_addr().unwrap_or(address);
                cx.note(&format!(
                    "serving {tools} at http://{address}{}",
                    HttpOptions::PATH
                ));
                Ok(server.serve_http(listener, &options, shutdown).await?)
            }
        }
    }
}

fn token(arguments: &Arguments) -> Result<Option<String>, McpError> {
    let Some(path) = arguments.path("token-file") else {
        let token = env::var(program::variable(TOKEN)).ok();
        return Ok(token.filter(|token| !token.is_empty()));
    };
    let token =
        private::read(&path, MAX_TOKEN_BYTES).map_err(|source| McpError::Token { path, source })?;
    Ok(Some(token.trim().to_owned()))
}
