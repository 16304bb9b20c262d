//! Serves the client that started this process, over its standard streams.

use std::io;

use rmcp::service::{QuitReason, ServerInitializeError, serve_server_with_ct};
use tokio::io::{AsyncRead, AsyncWrite};
use tools::CancellationToken;

use crate::server::ToolServer;
use crate::server::handler::Calls;
use crate::server::oversized::Oversized;

type Input = Box<dyn AsyncRead + Send + Unpin>;
type Output = Box<dyn AsyncWrite + Send + Unpin>;

impl ToolServer {
    /// Serves the client that started this process, over standard input and output, until the input ends or `shutdown` is cancelled.
    ///
    /// - On Unix, later prints to standard output go to standard error: a tool that prints would break the protocol.
    /// - On Linux, pipes are read and written by the runtime itself. It must have I/O enabled. Other streams take threads.
    ///
    /// # Errors
    /// Returns an error if standard output cannot be redirected, or as [`serve_streams`](Self::serve_streams) does.
    pub async fn serve_stdio(&self, shutdown: CancellationToken) -> Result<(), ServeError> {
        let streams = standard_streams();
        let (input, output) = streams.map_err(|source| ServeError::Output { source })?;
        self.serve_streams(input, output, shutdown).await
    }
}

/// Returns standard input and output for messages alone, as [`ToolServer::serve_stdio`] uses them.
///
/// # Errors
/// Returns an error if later prints cannot be redirected to standard error.
pub fn standard_streams() -> io::Result<(
    impl AsyncRead + Send + Unpin + 'static,
    impl AsyncWrite + Send + Unpin + 'static,
)> {
    Ok((input(), output()?))
}

#[cfg(target_os = "linux")]
fn input() -> Input {
    use std::os::fd::AsFd as _;

    use tokio::net::unix::pipe::OpenOptions;

    match pipe_path(io::stdin().as_fd()).map(|path| OpenOptions::new().open_receiver(path)) {
        Some(Ok(pipe)) => Box::new(pipe),
        _ => Box::new(tokio::io::stdin()),
    }
}

#[cfg(not(target_os = "linux"))]
fn input() -> Input {
    Box::new(tokio::io::stdin())
}

fn output() -> io::Result<Output> {
    use std::os::fd::AsFd as _;

    let own = io::stdout().as_fd().try_clone_to_owned()?;
    rustix::stdio::dup2_stdout(io::stderr().as_fd())?;
    #[cfg(target_os = "linux")]
    if let Some(path) = pipe_path(own.as_fd())
        && let Ok(pipe) = tokio::net::unix::pipe::OpenOptions::new().open_sender(path)
    {
        return Ok(Box::new(pipe));
    }
    Ok(Box::new(tokio::fs::File::from_std(own.into())))
}

/// Returns a path that opens a pipe once more, so that other processes that share the descriptor do not get its non-blocking mode. Returns
/// `None` for other streams.
#[cfg(target_os = "linux")]
fn pipe_path(stream: std::os::fd::BorrowedFd<'_>) -> Option<std::path::PathBuf> {
    use std::os::fd::AsRawFd as _;
    use std::os::unix::fs::FileTypeExt as _;

    let path = std::path::PathBuf::from(format!("/proc/self/fd/{}", stream.as_raw_fd()));
    path.metadata()
        .is_ok_and(|metadata| metadata.file_type().is_fifo())
        .then_some(path)
}

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
