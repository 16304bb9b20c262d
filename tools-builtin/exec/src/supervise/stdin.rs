//! The standard input of a program.

use std::io;
use std::pin::Pin;
use std::sync::Arc;

use tokio::io::{AsyncWrite, AsyncWriteExt as _};
use tokio::sync::Mutex;

use super::error::StdinError;

/// Ends the input of a terminal, at the beginning of a line.
const END_OF_INPUT: &[u8] = b"\x04";

/// The host's end of the standard input until it is closed.
#[derive(Clone)]
pub(super) struct Stdin {
    stream: Arc<Mutex<Option<Stream>>>,
    is_terminal: bool,
}

pub(super) type Stream = Pin<Box<dyn AsyncWrite + Send>>;

impl Stdin {
    #[cfg(target_os = "linux")]
    pub(super) fn from_pipe(pipe: tokio::net::unix::pipe::Sender) -> Self {
        Self {
            stream: Arc::new(Mutex::new(Some(Box::pin(pipe)))),
            is_terminal: false,
        }
    }

    #[cfg(target_os = "linux")]
    pub(super) fn from_terminal(terminal: tokio::net::unix::pipe::Sender) -> Self {
        Self {
            is_terminal: true,
            ..Self::from_pipe(terminal)
        }
    }

    pub(super) async fn write(&self, bytes: &[u8]) -> Result<(), StdinError> {
        let mut stdin = self.stream.lock().await;
        let stream = stdin.as_mut().ok_or(StdinError::Closed)?;
        let written = stream.write_all(bytes).await;
        if written.is_err() {
            *stdin = None;
        }
        written.map_err(|error| match error.kind() {
            io::ErrorKind::BrokenPipe => StdinError::Closed,
            _ => StdinError::Io(error),
        })
    }

    /// Hands the stream to the caller. Returns `None` if it is closed or in use.
    pub(super) fn take(&self) -> Option<Stream> {
        self.stream.try_lock().ok()?.take()
    }

    /// Closes a pipe. A terminal stays open, because its reader may go on after the end of input.
    pub(super) async fn end(&self) -> Result<(), StdinError> {
        if self.is_terminal {
            return self.write(END_OF_INPUT).await;
        }
        *self.stream.lock().await = None;
        Ok(())
    }
}
