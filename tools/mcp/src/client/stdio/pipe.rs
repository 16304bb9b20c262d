//! [`pipe`]: the way of messages from the reader of the process to the connection.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use futures_util::task::AtomicWaker;
use tokio::sync::mpsc;
use tools_exec::supervise::Collect;

use crate::client::stdio::log::Log;

/// The bytes from which on the process waits until some were read.
const FULL: usize = 256 * 1024;

/// The collector of an output stream.
pub(super) enum Output {
    Messages(Sink),
    Log(Log),
}

impl Collect for Output {
    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        match self {
            Self::Messages(sink) => sink.poll_ready(cx),
            Self::Log(_) => Poll::Ready(()),
        }
    }

    fn push(&mut self, bytes: &[u8]) {
        match self {
            Self::Messages(sink) => sink.push(bytes),
            Self::Log(log) => log.push(bytes),
        }
    }

    fn finish(&mut self) {
        match self {
            Self::Messages(sink) => sink.chunks = None,
            Self::Log(log) => log.finish(),
        }
    }
}

/// Makes a pipe, whose sink is not ready while it is full.
pub(super) fn pipe() -> (Sink, Source) {
    // `FULL` is its bound, from which on the sink is not ready.
    let (sender, chunks) = mpsc::unbounded_channel();
    let unread = Arc::new(Unread::default());
    let sink = Sink {
        chunks: Some(sender),
        unread: unread.clone(),
    };
    (sink, Source { chunks, unread })
}

/// The bytes in a pipe, and the waker of a sink that waits for fewer.
#[derive(Default)]
struct Unread {
    bytes: AtomicUsize,
    waker: AtomicWaker,
}

/// The end that bytes go into.
pub(super) struct Sink {
    chunks: Option<mpsc::UnboundedSender<Bytes>>,
    unread: Arc<Unread>,
}

impl Sink {
    fn poll_ready(&self, cx: &mut Context<'_>) -> Poll<()> {
        // Before the look, so that no read in between is missed.
        self.unread.waker.register(cx.waker());
        let chunks = self.chunks.as_ref();
        let has_reader = chunks.is_some_and(|chunks| !chunks.is_closed());
        if has_reader && self.unread.bytes.load(Ordering::SeqCst) >= FULL {
            return Poll::Pending;
        }
        Poll::Ready(())
    }

    fn push(&self, bytes: &[u8]) {
        if let Some(chunks) = &self.chunks {
            self.unread.bytes.fetch_add(bytes.len(), Ordering::SeqCst);
            // Without a reader, the bytes are dropped.
            let _ = chunks.send(Bytes::copy_from_slice(bytes));
        }
    }
}

/// The end that bytes come out of.
pub(super) struct Source {
    chunks: mpsc::UnboundedReceiver<Bytes>,
    unread: Arc<Unread>,
}

impl Source {
    /// Returns the next bytes. Returns `None` at the end.
    pub(super) fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        let chunk = ready!(self.chunks.poll_recv(cx));
        if let Some(chunk) = &chunk {
            self.unread.bytes.fetch_sub(chunk.len(), Ordering::SeqCst);
            self.unread.waker.wake();
        }
        Poll::Ready(chunk)
    }
}

/// Lets the process write on, so that it can end.
impl Drop for Source {
    fn drop(&mut self) {
        self.chunks.close();
        self.unread.waker.wake();
    }
}
