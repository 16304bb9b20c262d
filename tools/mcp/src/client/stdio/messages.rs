//! [`Messages`]: the messages among the lines of a server.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use bytes::{Buf as _, Bytes};
use serde::Deserialize;
use serde::de::IgnoredAny;
use tokio::io::{AsyncRead, ReadBuf};

use crate::client::message_limit::MAX_MESSAGE_BYTES;
use crate::client::stdio::error::StdioError;
use crate::client::stdio::lines::Lines;
use crate::client::stdio::log::Log;
use crate::client::stdio::pipe::Source;
use crate::client::stdio::spread::Spread;

/// Reads the lines of a server that are messages. The others go to the log.
pub(super) struct Messages {
    source: Source,
    lines: Lines,
    spread: Spread,
    ready: Bytes,
    log: Log,
    pings: Pings,
    fault: Arc<OnceLock<StdioError>>,
}

/// The pings of a server in the running period.
struct Pings {
    since: Instant,
    count: usize,
}

/// The period in which pings are counted.
const PERIOD: Duration = Duration::from_secs(10);

/// The most pings in a period. Each is answered, so more of them keep other requests from leaving.
const MAX_PINGS: usize = 100;

impl Pings {
    /// Counts a message if it is a ping. Returns true if there are too many.
    fn is_flood(&mut self, message: &str) -> bool {
        if !message.contains("\"ping\"")
            || !serde_json::from_str(message).is_ok_and(|Named { method }| method == "ping")
        {
            return false;
        }
        if self.since.elapsed() > PERIOD {
            *self = Self {
                since: Instant::now(),
                count: 0,
            };
        }
        self.count += 1;
        self.count > MAX_PINGS
    }
}

/// The method of a message.
#[derive(Deserialize)]
struct Named {
    method: String,
}

impl Messages {
    /// Returns the reader, and the place of the reason for an error.
    pub(super) fn new(source: Source, log: Log) -> (Self, Arc<OnceLock<StdioError>>) {
        let fault = Arc::new(OnceLock::new());
        let lines = Lines::cut_at(MAX_MESSAGE_BYTES - 1);
        let pings = Pings {
            since: Instant::now(),
            count: 0,
        };
        let (spread, ready) = Default::default();
        (
            Self {
                source,
                lines,
                spread,
                ready,
                log,
                pings,
                fault: fault.clone(),
            },
            fault,
        )
    }

    /// Takes bytes of the server. A line that is too long is the end.
    fn take(&mut self, bytes: &[u8]) {
        let (mut ready, mut is_over, mut is_flood) = (Vec::new(), false, false);
        let mut lines = std::mem::take(&mut self.lines);
        lines.push(bytes, |line, is_cut| {
            is_over |= is_cut;
            if is_over {
                return self.log.line(line);
            }
            for message in self.spread.read(line, |line| self.log.line(line)) {
                is_flood |= self.pings.is_flood(&message);
                ready.extend_from_slice(message.as_bytes());
                ready.push(b'\n');
            }
        });
        self.ready = ready.into();
        if is_flood {
            self.fault.get_or_init(|| StdioError::Flood {
                most: MAX_PINGS,
                period: PERIOD,
            });
        } else if is_over || lines.is_over() {
            self.fault.get_or_init(|| StdioError::LineTooLong {
                limit: MAX_MESSAGE_BYTES,
            });
        } else {
            self.lines = lines;
        }
    }
}

impl AsyncRead for Messages {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        while self.ready.is_empty() {
            if let Some(fault) = self.fault.get() {
                return Poll::Ready(Err(io::Error::new(
                    io::ErrorKind::InvalidData,
                    fault.clone(),
                )));
            }
            match ready!(self.source.poll_next(cx)) {
                Some(bytes) => self.take(&bytes),
                None => {
                    let Some(line) = self.lines.rest() else {
                        return Poll::Ready(Ok(()));
                    };
                    // The last message may lack the end of its line. One that is cut was not finished.
                    if serde_json::from_slice::<IgnoredAny>(&line).is_err() {
                        self.log.line(&line);
                        return Poll::Ready(Ok(()));
                    }
                    self.take(&[&line[..], b"\n"].concat());
                }
            }
        }
        let length = self.ready.len().min(buffer.remaining());
        buffer.put_slice(&self.ready[..length]);
        self.ready.advance(length);
        Poll::Ready(Ok(()))
    }
}
