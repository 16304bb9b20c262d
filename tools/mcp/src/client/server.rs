//! [`Server`]: the way to reach a server.

use std::any::Any;
use std::fmt;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;

use tokio::io::{AsyncRead, AsyncWrite};

/// The way to reach an MCP server. It is used again for each new connection.
#[derive(Clone, Debug)]
pub struct Server(Kind);

#[derive(Clone)]
enum Kind {
    Streams(Arc<dyn Fn() -> Opening + Send + Sync>),
}

type Opening = Pin<Box<dyn Future<Output = io::Result<Opened>> + Send>>;

/// An open connection to a server: one JSON-RPC message a line.
pub(crate) struct Opened {
    pub(crate) read: Box<dyn AsyncRead + Send + Unpin>,
    pub(crate) write: Box<dyn AsyncWrite + Send + Unpin>,
    /// Dropped after the connection has ended, such as the guard of a process.
    pub(crate) alive: Box<dyn Any + Send>,
}

impl Server {
    /// Creates a server that is reached over a pair of streams, with one JSON-RPC message a line. The function opens a pair for each
    /// connection.
    pub fn from_streams<F, Fut, R, W>(open: F) -> Self
    where
        F: Fn() -> Fut + Send + Sync + 'static,
        Fut: Future<Output = io::Result<(R, W)>> + Send + 'static,
        R: AsyncRead + Send + Unpin + 'static,
        W: AsyncWrite + Send + Unpin + 'static,
    {
        Self(Kind::Streams(Arc::new(move || {
            let opening = open();
            Box::pin(async move {
                let (read, write) = opening.await?;
                Ok(Opened { read: Box::new(read), write: Box::new(write), alive: Box::new(()) })
            })
        })))
    }

    /// Opens a connection.
    pub(super) async fn open(&self) -> io::Result<Opened> {
        match &self.0 {
            Kind::Streams(open) => open().await,
        }
    }
}

impl fmt::Debug for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Streams(_) => f.write_str("Streams"),
        }
    }
}
