//! [`Batches`]: arrays of messages, which clients of revision 2025-03-26 may send, and the arrays of their answers.

use std::collections::VecDeque;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, ready};

use rmcp::model::{CancelledNotificationParam, ProtocolVersion, RequestId};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;
use tokio::io::AsyncWrite;
use tools::IgnorePoison as _;

use crate::nesting::Nesting;

/// The only revision that has batches.
pub(super) const REVISION: ProtocolVersion = ProtocolVersion::V_2025_03_26;

/// Returns the elements of an array. Returns `None` if the text is no array, or an empty one.
pub(super) fn elements(text: &[u8]) -> Option<Vec<&[u8]>> {
    let inner = text.trim_ascii().strip_prefix(b"[")?.strip_suffix(b"]")?;
    let mut nesting = Nesting::default();
    let elements = inner.split(|byte| {
        nesting.push(*byte) && *byte == b',' && nesting.depth == 0 && !nesting.is_string
    });
    (is_json(text) && !inner.trim_ascii().is_empty()).then(|| elements.collect())
}

/// The batches of one client that are not answered yet.
#[derive(Default)]
pub(super) struct Batches(Vec<Batch>);

#[derive(Default)]
pub(super) struct Batch {
    /// The ids of requests without an answer. `None` is that of an element that is no message.
    pub(super) awaited: Vec<Option<RequestId>>,
    answers: Vec<Vec<u8>>,
}

/// An answer, or a request of the server, which has a method.
#[derive(Deserialize)]
struct Answer {
    id: Option<RequestId>,
    method: Option<IgnoredAny>,
}

#[derive(Deserialize)]
struct Cancelled {
    params: CancelledNotificationParam,
}

impl Batches {
    pub(super) fn open(&mut self, batch: Batch) {
        if !batch.awaited.is_empty() {
            self.0.push(batch);
        }
    }

    /// Returns the id of a request in a batch that a notification cancels. The server answers no cancelled request.
    pub(super) fn find_cancelled(&self, notification: &[u8]) -> Option<RequestId> {
        if self.0.is_empty() {
            return None;
        }
        let cancelled: Cancelled = serde_json::from_slice(notification).ok()?;
        let id = Some(cancelled.params.request_id?);
        let mut awaited = self.0.iter().flat_map(|batch| &batch.awaited);
        awaited.find(|awaited| **awaited == id)?.clone()
    }

    /// Takes a message for the client. Returns the text to send, which is empty if the message waits for other answers of its batch.
    fn take(&mut self, message: &[u8]) -> Vec<u8> {
        if self.0.is_empty() {
            return message.to_vec();
        }
        let answer = serde_json::from_slice::<Answer>(message).ok();
        let found = answer
            .filter(|answer| answer.method.is_none())
            .and_then(|answer| {
                let mut places = self.0.iter().enumerate().map(|(index, batch)| {
                    Some((index, batch.awaited.iter().position(|id| *id == answer.id)?))
                });
                places.find_map(|place| place)
            });
        let Some((index, place)) = found else {
            return message.to_vec();
        };
        let batch = &mut self.0[index];
        batch.awaited.swap_remove(place);
        batch.answers.push(message.to_vec());
        if !batch.awaited.is_empty() {
            return Vec::new();
        }
        let answers = self.0.swap_remove(index).answers;
        [b"[", &*answers.join(&b","[..]), b"]"].concat()
    }
}

/// A stream of messages to a client, one in each line, which joins the answers of a batch.
pub(super) struct Joined<W> {
    write: W,
    /// The line so far.
    line: Vec<u8>,
    /// The lines that were not written yet.
    ready: VecDeque<u8>,
    batches: Arc<Mutex<Batches>>,
}

impl<W: AsyncWrite + Unpin> Joined<W> {
    pub(super) fn new(write: W, batches: Arc<Mutex<Batches>>) -> Self {
        Self {
            write,
            line: Vec::new(),
            ready: VecDeque::new(),
            batches,
        }
    }

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        while !self.ready.is_empty() {
            let (ready, _) = self.ready.as_slices();
            let written = ready!(Pin::new(&mut self.write).poll_write(cx, ready))?;
            if written == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            self.ready.drain(..written);
        }
        Poll::Ready(Ok(()))
    }
}

impl<W: AsyncWrite + Unpin> AsyncWrite for Joined<W> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        ready!(self.poll_ready(cx))?;
        let this = &mut *self;
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            let text = part.strip_suffix(b"\n").unwrap_or(part);
            this.line.extend_from_slice(text);
            if text.len() < part.len() {
                let line = this.batches.lock().ignore_poison().take(&this.line);
                if !line.is_empty() {
                    this.ready.extend(line.iter().chain(b"\n"));
                }
                this.line.clear();
            }
        }
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_ready(cx))?;
        Pin::new(&mut self.write).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_ready(cx))?;
        Pin::new(&mut self.write).poll_shutdown(cx)
    }
}

/// Returns true if a text is one JSON value in UTF-8.
pub(super) fn is_json(text: &[u8]) -> bool {
    let Ok(read) = std::str::from_utf8(text) else {
        return false;
    };
    let mut triples = text.windows(3);
    // Only a value that is built shows halves of surrogate pairs.
    if triples.any(|bytes| bytes.eq_ignore_ascii_case(b"\\ud")) {
        serde_json::from_str::<Value>(read).is_ok()
    } else {
        serde_json::from_str::<IgnoredAny>(read).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_json_if_the_parser_reads_all_of_it() {
        for text in [&b"{}"[..], b" [1] ", br#"{"a":"\ud83d\ude00"}"#] {
            assert!(is_json(text));
        }
        for text in [
            &b"{bad"[..],
            b"",
            b"{} {}",
            b"{\"a\":\"\xe9\"}",
            br#"{"a":"\ud83d"}"#,
            b"{\"a\":NaN}",
        ] {
            assert!(!is_json(text));
        }
    }
}
