//! [`Endpoint`]: where clients connect.

use std::env;
use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;
use tokio::net::TcpListener;
use tools::CancellationToken;
use tools_mcp::server::{HttpOptions, ToolServer};
use tools_store::private;

use crate::error::Error;
use crate::{notice, program};

/// The key of the variable with the bearer token.
const TOKEN: &str = "mcp.token";

/// The maximum size of the file with the token, in bytes.
const MAX_TOKEN_BYTES: u64 = 64 * 1024;

/// The options of the place where clients connect.
#[derive(Args, Debug)]
pub(super) struct EndpointOptions {
    /// Serve any number of clients over streamable HTTP at this address, such as 127.0.0.1:8808, at the path /mcp. An address that
    /// other machines can reach requires a bearer token
    #[arg(long, value_name = "ADDRESS")]
    http: Option<SocketAddr>,

    /// Require the bearer token of this file, at least 16 bytes, which other users cannot read. Without it, that of the variable TOOLCRIB_MCP_TOKEN is required, if
    /// it is set
    #[arg(long, value_name = "FILE", requires = "http")]
    pub(super) token_file: Option<PathBuf>,

    /// Allow this name in the header Host, in addition to those of this machine
    #[arg(long, value_name = "HOST", requires = "http")]
    allow_host: Vec<String>,

    /// Allow web pages of this origin, such as https://app.example.com:443, in addition to those of the server's own address
    #[arg(long, value_name = "ORIGIN", requires = "http")]
    allow_origin: Vec<String>,
}

/// The place where clients connect.
pub(super) enum Endpoint {
    Streams,
    Http {
        address: SocketAddr,
        options: HttpOptions,
    },
}

impl EndpointOptions {
    /// Returns the place.
    pub(super) fn endpoint(&self) -> Result<Endpoint, Error> {
        let Some(address) = self.http else {
            return Ok(Endpoint::Streams);
        };
        let mut options = HttpOptions::new();
        if let Some(token) = self.token()? {
            options = options.with_token(token)?;
        }
        options.check_address(address).map_err(|error| {
            let hint = format!(
                "--token-file FILE or the variable {} has the token",
                program::variable(TOKEN)
            );
            Error::Unfinished {
                error: Box::new(error.into()),
                hint,
            }
        })?;
        let options = self
            .allow_host
            .iter()
            .fold(options, |options, host| options.with_host(host));
        let options = self
            .allow_origin
            .iter()
            .fold(options, |options, origin| options.with_origin(origin));
        Ok(Endpoint::Http { address, options })
    }

    fn token(&self) -> Result<Option<String>, Error> {
        match &self.token_file {
            Some(path) => {
                let read = private::read(path, MAX_TOKEN_BYTES);
                let token = read.map_err(|source| Error::Token {
                    path: path.clone(),
                    source,
                })?;
                Ok(Some(token.trim().to_owned()))
            }
            None => Ok(env::var(program::variable(TOKEN))
                .ok()
                .filter(|token| !token.is_empty())),
        }
    }
}

impl Endpoint {
    /// Serves clients until the shutdown, or until standard input ends. `tools` says what is served.
    pub(super) async fn serve(
        self,
        server: &ToolServer,
        tools: &str,
        shutdown: CancellationToken,
    ) -> Result<(), Error> {
        match self {
            Self::Streams => Ok(server.serve_stdio(shutdown).await?),
            Self::Http { address, options } => {
                let listen = TcpListener::bind(address).await;
                let listener = listen.map_err(|source| Error::Listen { address, source })?;
                let address = listener.local_addr().unwrap_or(address);
                notice::note(&format!(
                    "serving {tools} at http://{address}{}",
                    HttpOptions::PATH
                ));
                Ok(server.serve_http(listener, &options, shutdown).await?)
            }
        }
    }
}
