//! The standard input of a program.

use std::io;
use std::pin::Pin;
use std::sync::Arc;

use tokio::io::{AsyncWrite, AsyncWriteExt as _};
use tokio::sync::Mutex;

use super::error::StdinError;

/// A pipe to the program until it is closed.
#[derive(Clone)]
pub(super) struct Stdin(Arc<Mutex<Option<Pipe>>>);

type Pipe = Pin<Box<dyn AsyncWrite + Send>>;

impl Stdin {
    #[cfg(target_os = "linux")]
    pub(super) fn from_pipe(pipe: std::os::fd::OwnedFd) -> io::Result<Self> {
        let pipe = tokio::net::unix::pipe::Sender::from_owned_fd(pipe)?;
        Ok(Self(Arc::new(Mutex::new(Some(Box::pin(pipe))))))
    }

    pub(super) async fn write(&self, bytes: &[u8]) -> Result<(), StdinError> {
        let mut stdin = self.0.lock().await;
        let pipe = stdin.as_mut().ok_or(StdinError::Closed)?;
        let written = pipe.write_all(bytes).await;
        if written.is_err() {
            *stdin = None;
        }
        written.map_err(|error| match error.kind() {
            io::ErrorKind::BrokenPipe => StdinError::Closed,
            _ => StdinError::Io(error),
        })
    }

    pub(super) async fn close(&self) {
        *self.0.lock().await = None;
    }
}
