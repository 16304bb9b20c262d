//! [`Server`]: the way to reach a server.

use std::fmt;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use rmcp::service::{ClientInitializeError, RunningService};
use rmcp::transport::IntoTransport;
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::{ClientHandler, ClientLifecycleMode, ClientServiceExt, RoleClient};
use tokio::io::{AsyncRead, AsyncWrite};

#[cfg(feature = "http")]
use crate::client::http::HttpServer;
use crate::client::matching::Matched;
use crate::client::message_limit::MAX_MESSAGE_BYTES;
#[cfg(feature = "stdio")]
use crate::client::stdio::{Alive, StdioServer};
use crate::client::unanswered::Unanswered;

/// The way to reach an MCP server. It is used again for each new connection.
#[derive(Clone)]
pub(super) enum Server {
    Streams(Arc<dyn Fn() -> Opening + Send + Sync>),
    #[cfg(feature = "stdio")]
    Stdio(Arc<StdioServer>),
    #[cfg(feature = "http")]
    Http(Arc<HttpServer>),
}

pub(super) type Opening = Pin<Box<dyn Future<Output = io::Result<Streams>> + Send>>;
pub(super) type Streams = (
    Box<dyn AsyncRead + Send + Unpin>,
    Box<dyn AsyncWrite + Send + Unpin>,
);

/// A connection that speaks the protocol.
pub(super) type Connected<C> = (RunningService<RoleClient, C>, Guard);

/// The reason why there is no connection.
pub(super) enum Failure {
    /// The server cannot be reached.
    Open(String),
    /// The server does not take part in the handshake. The text is the end of its log, if it has ended.
    Handshake(Box<ClientInitializeError>, Option<String>),
}

impl<E: std::error::Error> From<E> for Failure {
    fn from(error: E) -> Self {
        Self::Open(error.to_string())
    }
}

/// The process of a connection, if it has one.
pub(super) enum Guard {
    Nothing,
    #[cfg(feature = "stdio")]
    Process(Alive),
}

impl Server {
    /// Returns a text without the secrets of the server's URL.
    pub(super) fn masked(&self, text: String) -> String {
        match self {
            #[cfg(feature = "http")]
            Self::Http(server) => server.masked(text),
            _ => text,
        }
    }

    /// Returns the reasons that the host knows why the latest connection may fail.
    pub(super) fn remarks(&self) -> Vec<String> {
        match self {
            #[cfg(feature = "stdio")]
            Self::Stdio(server) => server.remarks(),
            _ => Vec::new(),
        }
    }

    /// Opens a connection in a mode. A server that is no URL has `discovery` as the time limit of `server/discover`.
    pub(super) async fn connect<C: ClientHandler>(
        &self,
        client: C,
        mode: ClientLifecycleMode,
        discovery: Option<Duration>,
    ) -> Result<Connected<C>, Failure> {
        match self {
            Self::Streams(open) => {
                let streams = open().await?;
                handshake(client, lines(streams, discovery), mode, Guard::Nothing).await
            }
            #[cfg(feature = "stdio")]
            Self::Stdio(server) => {
                let (read, write, alive) = server.connect().await?;
                let lines = lines((read, write), discovery);
                handshake(client, lines, mode, Guard::Process(alive)).await
            }
            #[cfg(feature = "http")]
            Self::Http(server) => {
                let transport = server.transport().await?;
                handshake(client, transport, mode, Guard::Nothing).await
            }
        }
    }
}

impl Guard {
    /// Ends the process after its streams were closed, and returns why it ended. Returns `None` if there is no process.
    pub(super) async fn close(self) -> Option<String> {
        match self {
            Self::Nothing => None,
            #[cfg(feature = "stdio")]
            Self::Process(alive) => Some(alive.close().await.to_string()),
        }
    }
}

fn lines(
    (read, write): Streams,
    discovery: Option<Duration>,
) -> impl rmcp::transport::Transport<RoleClient> {
    let messages = Unanswered {
        transport: AsyncRwTransport::new(read, write).with_max_line_length(MAX_MESSAGE_BYTES),
        count: Arc::default(),
        waits: true,
    };
    Matched::new(messages, discovery)
}

async fn handshake<C, T, E, A>(
    client: C,
    transport: T,
    mode: ClientLifecycleMode,
    guard: Guard,
) -> Result<Connected<C>, Failure>
where
    C: ClientHandler,
    T: IntoTransport<RoleClient, E, A>,
    E: std::error::Error + Send + Sync + 'static,
{
    match client.serve_with_lifecycle(transport, mode).await {
        Ok(running) => Ok((running, guard)),
        Err(error) => Err(Failure::Handshake(Box::new(error), guard.close().await)),
    }
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Streams(_) => f.write_str("Streams"),
            #[cfg(feature = "stdio")]
            Self::Stdio(server) => server.fmt(f),
            #[cfg(feature = "http")]
            Self::Http(server) => server.fmt(f),
        }
    }
}
