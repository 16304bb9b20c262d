//! [`Server`]: the way to reach a server.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use rmcp::service::{ClientInitializeError, RunningService};
use rmcp::transport::IntoTransport;
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::{ClientHandler, ClientLifecycleMode, ClientServiceExt, RoleClient};

use crate::client::http::HttpServer;
use crate::client::matching::Matched;
use crate::client::message_limit::MAX_MESSAGE_BYTES;
use crate::client::stdio::{Alive, BoxedRead, BoxedWrite, StdioServer};
use crate::client::unanswered::Unanswered;

/// The way to reach an MCP server. It is used again for each new connection.
#[derive(Clone)]
pub(super) enum Server {
    Streams(Arc<dyn Fn() -> Opening + Send + Sync>),
    Stdio(Arc<StdioServer>),
    Http(Arc<HttpServer>),
}

pub(super) type Opening = Pin<Box<dyn Future<Output = io::Result<Streams>> + Send>>;
pub(super) type Streams = (BoxedRead, BoxedWrite);

/// A connection that speaks the protocol, and its process if it has one.
pub(super) type Connected<C> = (RunningService<RoleClient, C>, Option<Alive>);

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

impl Server {
    /// Returns a text without the secrets of the server's URL.
    pub(super) fn mask(&self, text: String) -> String {
        match self {
            Self::Http(server) => server.mask(text),
            _ => text,
        }
    }

    /// Returns the reasons that the host knows why the latest connection may fail.
    pub(super) fn remarks(&self) -> Vec<String> {
        match self {
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
                handshake(client, lines(streams, discovery), mode, None).await
            }
            Self::Stdio(server) => {
                let (read, write, alive) = server.connect().await?;
                let lines = lines((read, write), discovery);
                handshake(client, lines, mode, Some(alive)).await
            }
            Self::Http(server) => handshake(client, server.transport().await?, mode, None).await,
        }
    }
}

/// Ends the process after its streams were closed, and returns why it ended. Returns `None` if there is no process.
pub(super) async fn end(process: Option<Alive>) -> Option<String> {
    Some(process?.close().await.to_string())
}

fn lines(
    (read, write): Streams,
    discovery: Option<Duration>,
) -> impl rmcp::transport::Transport<RoleClient> {
    let transport = Unanswered {
        transport: AsyncRwTransport::new(read, write).with_max_line_length(MAX_MESSAGE_BYTES),
        count: Arc::default(),
        waits: true,
    };
    Matched {
        transport,
        open: Arc::default(),
        discovery,
    }
}

async fn handshake<C, T, E, A>(
    client: C,
    transport: T,
    mode: ClientLifecycleMode,
    process: Option<Alive>,
) -> Result<Connected<C>, Failure>
where
    C: ClientHandler,
    T: IntoTransport<RoleClient, E, A>,
    E: std::error::Error + Send + Sync + 'static,
{
    match client.serve_with_lifecycle(transport, mode).await {
        Ok(running) => Ok((running, process)),
        Err(error) => Err(Failure::Handshake(Box::new(error), end(process).await)),
    }
}
