//! [`Messages`]: the messages among the lines of a server.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use bytes::{Buf as _, Bytes};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::io::{AsyncRead, ReadBuf};

use super::super::message_limit::MAX_MESSAGE_BYTES;
use super::StdioError;
use super::lines::Lines;
use super::log::Log;
use super::pipe::Source;

/// The levels of a message's JSON. The parser of the protocol refuses 128.
const MAX_DEPTH: usize = 100;

/// Reads the lines of a server that are messages. The others go to the log.
pub(super) struct Messages {
    source: Source,
    lines: Lines,
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
    /// Counts a ping. Returns true if there are too many.
    fn is_flood(&mut self) -> bool {
        if self.since.elapsed() > PERIOD {
            *self = Self { since: Instant::now(), count: 0 };
        }
        self.count += 1;
        self.count > MAX_PINGS
    }
}

/// The parts of a line that tell whether it is a message.
#[derive(Deserialize)]
struct Envelope {
    jsonrpc: String,
    id: Option<Value>,
    method: Option<Value>,
}

impl Messages {
    /// Returns the reader, and the place of the reason for an error.
    pub(super) fn new(source: Source, log: Log) -> (Self, Arc<OnceLock<StdioError>>) {
        let fault = Arc::new(OnceLock::new());
        let lines = Lines::cut_at(MAX_MESSAGE_BYTES - 1);
        let pings = Pings { since: Instant::now(), count: 0 };
        (Self { source, lines, ready: Bytes::new(), log, pings, fault: fault.clone() }, fault)
    }

    /// Takes bytes of the server. A line that is too long is the end.
    fn take(&mut self, bytes: &[u8]) {
        let (mut ready, mut is_over, mut is_flood) = (Vec::new(), false, false);
        let mut lines = std::mem::take(&mut self.lines);
        lines.push(bytes, |line, is_cut| {
            is_over |= is_cut;
            match judged(line).filter(|_| !is_over) {
                Some(Judged::Message { is_ping }) => {
                    is_flood |= is_ping && self.pings.is_flood();
                    ready.extend_from_slice(line);
                    ready.push(b'\n');
                }
                Some(Judged::Refused(answer)) => ready.extend_from_slice(answer.as_bytes()),
                None => self.log.line(line),
            }
        });
        self.ready = ready.into();
        if is_flood {
            self.fault.get_or_init(|| StdioError::Flood { most: MAX_PINGS, period: PERIOD });
        } else if is_over || lines.is_over() {
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

enum Judged {
    Message {
        is_ping: bool,
    },
    /// A line in place of one that the protocol's parser would refuse, so that its call ends.
    Refused(String),
}

/// Returns `None` if the line is no message of JSON-RPC.
fn judged(line: &[u8]) -> Option<Judged> {
    if !line.trim_ascii_start().starts_with(b"{") {
        return None;
    }
    // The parser goes over fields that it does not know without calling itself.
    let Envelope { jsonrpc, id, method } = serde_json::from_slice(line).ok()?;
    match (jsonrpc == "2.0", id) {
        (false, _) => None,
        (true, _) if depth(line) <= MAX_DEPTH => {
            Some(Judged::Message { is_ping: method.is_some_and(|method| method == "ping") })
        }
        (true, Some(id)) if method.is_none() && (id.is_number() || id.is_string()) => {
            let message = format!("the answer of the server has more than {MAX_DEPTH} levels");
            let error = json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32603, "message": message}});
            Some(Judged::Refused(format!("{error}\n")))
        }
        (true, _) => None,
    }
}

/// Returns the levels of a JSON text.
fn depth(json: &[u8]) -> usize {
    let (mut depth, mut most, mut is_string, mut is_escaped) = (0usize, 0, false, false);
    for byte in json {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if is_string => is_escaped = true,
            b'"' => is_string = !is_string,
            b'[' | b'{' if !is_string => {
                depth += 1;
                most = most.max(depth);
            }
            b']' | b'}' if !is_string => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    most
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nested(levels: usize) -> String {
        format!(r#"{{"jsonrpc":"2.0","id":7,"result":{}{}}}"#, "[".repeat(levels - 1), "]".repeat(levels - 1))
    }

    #[test]
    fn a_line_is_a_message_only_if_it_is_json_rpc() {
        for line in [
            r#"{"jsonrpc":"2.0","method":"notifications/progress"}"#,
            r#"  {"id":"a","jsonrpc":"2.0","result":{"a":"[[[{{{\"[["}}  "#,
            &nested(MAX_DEPTH),
        ] {
            assert!(matches!(judged(line.as_bytes()), Some(Judged::Message { .. })), "{line}");
        }
        for line in [
            "", "Server started", "{", "{}", r#"{"level":"info","msg":"started"}"#, r#"{"jsonrpc":"1.0","id":1}"#,
            r#"{"jsonrpc":2.0,"id":1}"#, r#"[{"jsonrpc":"2.0"}]"#, r#"{"jsonrpc":"2.0"} {}"#, "\u{1b}[2J", "null",
        ] {
            assert!(judged(line.as_bytes()).is_none(), "{line}");
        }
    }

    #[test]
    fn an_answer_that_is_nested_too_deep_becomes_an_error_of_its_call() {
        for levels in [MAX_DEPTH + 1, 5_000_000] {
            let Some(Judged::Refused(answer)) = judged(nested(levels).as_bytes()) else { panic!("{levels}") };
            let answer: Value = serde_json::from_str(&answer).unwrap();
            assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(7), &json!(-32603)));
        }
        let request = nested(5_000_000).replace("result", "method");
        assert!(judged(request.as_bytes()).is_none());
        let id = format!(r#"{{"jsonrpc":"2.0","id":{}{}}}"#, "[".repeat(5_000_000), "]".repeat(5_000_000));
        assert!(judged(id.as_bytes()).is_none());
    }
}
