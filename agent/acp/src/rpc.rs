//! [`Incoming`]: the messages of JSON-RPC, as lines.

use serde_json::{Map, Value, json};
use tokio::io::{self, AsyncBufReadExt as _, AsyncRead, BufReader};

/// The longest line of a client that is read, in bytes.
const MAX_LINE: usize = 32 * 1024 * 1024;

/// A message of the client.
#[derive(Debug)]
pub(crate) enum Incoming {
    Request {
        id: Value,
        method: String,
        params: Value,
    },
    Notification {
        method: String,
        params: Value,
    },
    Reply {
        id: Value,
        result: Result<Value, RpcError>,
    },
    /// A line that is no message.
    Invalid(RpcError),
}

/// An error of JSON-RPC.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RpcError {
    pub(crate) code: i64,
    pub(crate) message: String,
}

impl RpcError {
    pub(crate) const PARSE: i64 = -32700;
    pub(crate) const REQUEST: i64 = -32600;
    pub(crate) const METHOD: i64 = -32601;
    pub(crate) const PARAMS: i64 = -32602;
    pub(crate) const INTERNAL: i64 = -32603;
    pub(crate) const AUTHENTICATION: i64 = -32000;
    pub(crate) const NOT_FOUND: i64 = -32002;

    pub(crate) fn new(code: i64, message: impl Into<String>) -> Self {
        let message = message.into();
        Self { code, message }
    }

    pub(crate) fn to_value(&self) -> Value {
        json!({"code": self.code, "message": self.message})
    }
}

impl Incoming {
    /// Reads a line.
    pub(crate) fn parse(line: &[u8]) -> Self {
        let invalid = |code, message: String| Self::Invalid(RpcError::new(code, message));
        let message = match serde_json::from_slice::<Value>(line) {
            Ok(Value::Object(message)) => message,
            Ok(_) => {
                let reason = "a message is an object; send one in each line";
                return invalid(RpcError::REQUEST, reason.to_owned());
            }
            Err(error) => return invalid(RpcError::PARSE, format!("the line is no JSON: {error}")),
        };
        Self::from_object(message).unwrap_or_else(|| {
            let reason = "a message has a method, or the id of a request with a result or an error";
            invalid(RpcError::REQUEST, reason.to_owned())
        })
    }

    fn from_object(mut message: Map<String, Value>) -> Option<Self> {
        let id = message.remove("id").filter(|id| !id.is_null());
        if let Some(method) = message.remove("method") {
            let method = method.as_str()?.to_owned();
            let params = message.remove("params").unwrap_or_default();
            return Some(match id {
                Some(id) if id.is_string() || id.is_number() => {
                    Self::Request { id, method, params }
                }
                Some(_) => return None,
                None => Self::Notification { method, params },
            });
        }
        let result = match (message.remove("result"), message.remove("error")) {
            (_, Some(error)) => Err(RpcError::new(
                error["code"].as_i64().unwrap_or_default(),
                error["message"].as_str().unwrap_or_default(),
            )),
            (Some(result), None) => Ok(result),
            (None, None) => return None,
        };
        Some(Self::Reply { id: id?, result })
    }
}

/// A reader of lines, which keeps no line over the limit.
pub(crate) struct Lines<R> {
    read: BufReader<R>,
    line: Vec<u8>,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    pub(crate) fn new(read: R) -> Self {
        Self {
            read: BufReader::new(read),
            line: Vec::new(),
        }
    }

    /// Returns the next message. Returns `None` at the end of the input.
    pub(crate) async fn next(&mut self) -> io::Result<Option<Incoming>> {
        loop {
            self.line.clear();
            let mut is_long = false;
            loop {
                let part = self.read.fill_buf().await?;
                let end = part.iter().position(|byte| *byte == b'\n');
                let length = end.map_or(part.len(), |end| end + 1);
                is_long |= self.line.len() + length > MAX_LINE;
                if !is_long {
                    self.line.extend_from_slice(&part[..length]);
                }
                let is_end = part.is_empty();
                self.read.consume(length);
                if is_end && self.line.is_empty() && !is_long {
                    return Ok(None);
                }
                if end.is_some() || is_end {
                    break;
                }
            }
            if is_long {
                let reason = format!("a line is longer than {MAX_LINE} bytes; send less at once");
                let error = RpcError::new(RpcError::REQUEST, reason);
                return Ok(Some(Incoming::Invalid(error)));
            }
            if !self.line.trim_ascii().is_empty() {
                return Ok(Some(Incoming::parse(&self.line)));
            }
        }
    }
}
