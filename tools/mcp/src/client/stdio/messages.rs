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
use tokio::time::{Sleep, sleep};

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
    /// The end of the time for the rest of an answer that spreads over lines, or of a line.
    rest: Option<Pin<Box<Sleep>>>,
}

/// The time for the next bytes of an answer that has the end of a line in a string, or of a line that may be whole.
const REST: Duration = Duration::from_millis(300);

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
        // Cheaper than to parse each message once more.
        if !message.contains("\"ping\"")
            || !serde_json::from_str(message).is_ok_and(|Named { method }| method == "ping")
        {
            return false;
        }
        if self.since.elapsed() > PERIOD {
            self.since = Instant::now();
            self.count = 0;
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
    /// Returns the reader. `fault` gets the reason for an error.
    pub(super) fn new(source: Source, log: Log, fault: Arc<OnceLock<StdioError>>) -> Self {
        Self {
            source,
            lines: Lines::cut_at(MAX_MESSAGE_BYTES - 1),
            spread: Spread::default(),
            ready: Bytes::new(),
            log,
            pings: Pings {
                since: Instant::now(),
                count: 0,
            },
            fault,
            rest: None,
        }
    }

    /// Takes the error in place of an answer whose rest does not arrive.
    fn give_up(&mut self) {
        let messages = self.spread.give_up(|line| self.log.line(line));
        let lines = messages.into_iter().map(|message| message + "\n");
        self.ready = lines.collect::<String>().into();
    }

    /// Takes bytes of the server. A line that is too long is the end.
    fn take(&mut self, bytes: &[u8]) {
        let mut ready = Vec::new();
        let mut is_over = false;
        let mut is_flood = false;
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
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        while this.ready.is_empty() {
            if let Some(fault) = this.fault.get() {
                let error = io::Error::new(io::ErrorKind::InvalidData, fault.clone());
                return Poll::Ready(Err(error));
            }
            let has_error = this.spread.has_error();
            match this.source.poll_next(cx) {
                Poll::Ready(Some(bytes)) => {
                    this.rest = None;
                    this.take(&bytes);
                }
                Poll::Pending if has_error || !this.lines.line.is_empty() => {
                    let rest = this.rest.get_or_insert_with(|| Box::pin(sleep(REST)));
                    ready!(rest.as_mut().poll(cx));
                    this.rest = None;
                    if has_error {
                        this.give_up();
                    } else if serde_json::from_slice::<IgnoredAny>(&this.lines.line).is_ok() {
                        // The message is whole, and its server writes no end of a line.
                        this.take(b"\n");
                    } else {
                        return Poll::Pending;
                    }
                }
                Poll::Pending => return Poll::Pending,
                Poll::Ready(None) => {
                    let Some(line) = this.lines.rest() else {
                        if has_error {
                            this.give_up();
                            continue;
                        }
                        return Poll::Ready(Ok(()));
                    };
                    // The last message may lack the end of its line. One that is cut was not finished.
                    if !has_error && serde_json::from_slice::<IgnoredAny>(&line).is_err() {
                        this.log.line(&line);
                        return Poll::Ready(Ok(()));
                    }
                    this.take(&[&line[..], b"\n"].concat());
                }
            }
        }
        let length = this.ready.len().min(buffer.remaining());
        buffer.put_slice(&this.ready[..length]);
        this.ready.advance(length);
        Poll::Ready(Ok(()))
    }
}
