//! [`pipe`]: the way of messages from the reader of the process to the connection.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use tools::IgnorePoison as _;
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
            Self::Messages(sink) => sink.finish(),
            Self::Log(log) => log.finish(),
        }
    }
}

/// Makes a pipe, whose sink is not ready while it is full.
pub(super) fn pipe() -> (Sink, Source) {
    let state = Arc::new(Mutex::default());
    (Sink(Arc::clone(&state)), Source(state))
}

#[derive(Debug, Default)]
struct State {
    chunks: VecDeque<Bytes>,
    bytes: usize,
    is_finished: bool,
    is_read: Option<Waker>,
    is_written: Option<Waker>,
    has_reader_gone: bool,
}

fn locked(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().ignore_poison()
}

/// The end that bytes go into.
pub(super) struct Sink(Arc<Mutex<State>>);

impl Sink {
    fn poll_ready(&self, cx: &mut Context<'_>) -> Poll<()> {
        let mut state = locked(&self.0);
        if state.bytes < FULL || state.has_reader_gone {
            return Poll::Ready(());
        }
        state.is_read = Some(cx.waker().clone());
        Poll::Pending
    }

    fn push(&self, bytes: &[u8]) {
        let mut state = locked(&self.0);
        if state.has_reader_gone {
            return;
        }
        state.chunks.push_back(Bytes::copy_from_slice(bytes));
        state.bytes += bytes.len();
        state.is_written.take().into_iter().for_each(Waker::wake);
    }

    fn finish(&self) {
        let mut state = locked(&self.0);
        state.is_finished = true;
        state.is_written.take().into_iter().for_each(Waker::wake);
    }
}

/// The end that bytes come out of.
pub(super) struct Source(Arc<Mutex<State>>);

impl Source {
    /// Returns the next bytes. Returns `None` at the end.
    pub(super) fn poll_next(&self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        let mut state = locked(&self.0);
        match state.chunks.pop_front() {
            Some(chunk) => {
                state.bytes -= chunk.len();
                if state.bytes < FULL {
                    state.is_read.take().into_iter().for_each(Waker::wake);
                }
                Poll::Ready(Some(chunk))
            }
            None if state.is_finished => Poll::Ready(None),
            None => {
                state.is_written = Some(cx.waker().clone());
                Poll::Pending
            }
        }
    }
}

/// Lets the process write on, so that it can end.
impl Drop for Source {
    fn drop(&mut self) {
        let mut state = locked(&self.0);
        state.has_reader_gone = true;
        state.chunks.clear();
        state.is_read.take().into_iter().for_each(Waker::wake);
    }
}
