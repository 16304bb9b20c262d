//! Serves one client over a pair of streams, such as stdin and stdout.

use std::io;

use rmcp::service::{QuitReason, ServerInitializeError, serve_server_with_ct};
use tokio::io::{AsyncRead, AsyncWrite};
use tools::CancellationToken;

use crate::server::ToolServer;
use crate::server::calls::Calls;
use crate::server::oversized::Oversized;

/// The error of a connection.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// The client did not begin as the protocol asks.
    #[error("the client did not begin an MCP session: {reason}")]
    Handshake {
        /// The reason.
        reason: String,
    },
    /// Standard output cannot be used for messages alone.
    #[error("standard output cannot be used for MCP messages: {source}")]
    Output {
        /// The reason.
        source: io::Error,
    },
    /// The server failed.
    #[error("the MCP server failed: {reason}")]
    Failed {
        /// The reason.
        reason: String,
    },
}

impl ToolServer {
    /// Serves one client, message by line, until it closes the stream or `shutdown` is cancelled.
    ///
    /// Calls that run when the client closes its stream have five seconds to end before they are cancelled. Its tasks
    /// are cancelled at once.
    ///
    /// # Errors
    /// Returns an error if the client begins with a message that the protocol does not have there.
    pub async fn serve_streams(
        &self,
        read: impl AsyncRead + Send + Unpin + 'static,
        write: impl AsyncWrite + Send + Unpin + 'static,
        shutdown: CancellationToken,
    ) -> Result<(), ServeError> {
        let transport = Oversized::new(read, write, self.options.limits.max_message_bytes);
        let calls = Calls::new(self.options.limits);
        let handler = self.handler(calls.clone(), false);
        let running = match serve_server_with_ct(handler, transport, shutdown.child_token()).await {
            Ok(running) => running,
            Err(ServerInitializeError::ConnectionClosed(_) | ServerInitializeError::Cancelled) => {
                return Ok(());
            }
            Err(error) => {
                return Err(ServeError::Handshake {
                    reason: error.to_string(),
                });
            }
        };
        let ended = running.waiting().await;
        calls.end().await;
        match ended {
            Ok(QuitReason::JoinError(error)) | Err(error) => Err(ServeError::Failed {
                reason: error.to_string(),
            }),
            Ok(_) => Ok(()),
        }
    }
}
