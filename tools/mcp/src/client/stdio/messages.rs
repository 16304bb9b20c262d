//! [`Messages`]: the messages among the lines of a server.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, ready};

use bytes::{Buf as _, Bytes};
use tokio::io::{AsyncRead, ReadBuf};

use super::super::message_limit::MAX_MESSAGE_BYTES;
use super::super::reading::read;
use super::StdioError;
use super::lines::Lines;
use super::log::Log;
use super::pipe::Source;

/// Reads the lines of a server that are messages. The others go to the log.
pub(super) struct Messages {
    source: Source,
    lines: Lines,
    ready: Bytes,
    log: Log,
    fault: Arc<OnceLock<StdioError>>,
}

impl Messages {
    /// Returns the reader, and the place of the reason for an error.
    pub(super) fn new(source: Source, log: Log) -> (Self, Arc<OnceLock<StdioError>>) {
        let fault = Arc::new(OnceLock::new());
        let lines = Lines::cut_at(MAX_MESSAGE_BYTES - 1);
        (Self { source, lines, ready: Bytes::new(), log, fault: fault.clone() }, fault)
    }

    /// Takes bytes of the server. A line that is too long is the end.
    fn take(&mut self, bytes: &[u8]) {
        let (mut ready, mut is_over) = (Vec::new(), false);
        let mut lines = std::mem::take(&mut self.lines);
        lines.push(bytes, |line, is_cut| {
            is_over |= is_cut;
            match read(line).filter(|_| !is_over) {
                Some(message) => {
                    ready.extend_from_slice(message.as_bytes());
                    ready.push(b'\n');
                }
                None => self.log.line(line),
            }
        });
        self.ready = ready.into();
        if is_over || lines.is_over() {
            self.fault.get_or_init(|| StdioError::LineTooLong { limit: MAX_MESSAGE_BYTES });
        } else {
            self.lines = lines;
        }
    }
}

impl AsyncRead for Messages {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        while self.ready.is_empty() {
            if let Some(fault) = self.fault.get() {
                return Poll::Ready(Err(io::Error::new(io::ErrorKind::InvalidData, fault.clone())));
            }
            match ready!(self.source.poll_next(cx)) {
                Some(bytes) => self.take(&bytes),
                None => {
                    // A message without an end was not finished.
                    if let Some(line) = self.lines.rest() {
                        self.log.line(&line);
                    }
                    return Poll::Ready(Ok(()));
                }
            }
        }
        let length = self.ready.len().min(buffer.remaining());
        buffer.put_slice(&self.ready[..length]);
        self.ready.advance(length);
        Poll::Ready(Ok(()))
    }
}
