//! [`Client`]: the sender of messages to the client, in the order of sending.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tokio::io::{AsyncWrite, AsyncWriteExt as _};
use tokio::sync::{mpsc, oneshot};
use tools::{CancellationToken, IgnorePoison as _};

use crate::rpc::RpcError;

/// The bytes that wait for a client before the connection ends. A client that reads nothing must not fill the memory.
const MAX_WAITING: usize = 256 * 1024 * 1024;

/// Sends messages to the client. Clones send to the same client.
#[derive(Clone)]
pub(crate) struct Client(Arc<Link>);

struct Link {
    lines: mpsc::UnboundedSender<String>,
    waiting: Arc<AtomicUsize>,
    /// The requests without an answer.
    asked: Mutex<HashMap<u64, Asked>>,
    next: AtomicU64,
    /// Cancelled when the client is gone.
    gone: CancellationToken,
}

/// A request without an answer.
struct Asked {
    session: String,
    /// The id of the call that asks. It is empty if none is known.
    call: String,
    answer: oneshot::Sender<Result<Value, RpcError>>,
}

/// The lines that wait for the client.
pub(crate) struct Queue {
    lines: mpsc::UnboundedReceiver<String>,
    waiting: Arc<AtomicUsize>,
    gone: CancellationToken,
}

/// A request that is withdrawn when it is dropped without an answer.
struct OpenRequest<'a> {
    client: &'a Client,
    id: u64,
}

impl Client {
    /// Creates the sender and the lines that it sends.
    pub(crate) fn new() -> (Self, Queue) {
        let (sender, lines) = mpsc::unbounded_channel();
        let (waiting, gone) = (Arc::default(), CancellationToken::new());
        let queue = Queue {
            lines,
            waiting: Arc::clone(&waiting),
            gone: gone.clone(),
        };
        let link = Link {
            lines: sender,
            waiting,
            asked: Mutex::default(),
            next: AtomicU64::new(1),
            gone,
        };
        (Self(Arc::new(link)), queue)
    }

    /// Returns the token that is cancelled when the client is gone.
    pub(crate) fn gone(&self) -> &CancellationToken {
        &self.0.gone
    }

    /// Sends a notification.
    pub(crate) fn notify(&self, method: &str, params: Value) {
        self.send(json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }

    /// Answers a request.
    pub(crate) fn answer(&self, id: &Value, result: Result<Value, RpcError>) {
        self.send(match result {
            Ok(result) => json!({"jsonrpc": "2.0", "id": id, "result": result}),
            Err(error) => json!({"jsonrpc": "2.0", "id": id, "error": error.to_value()}),
        });
    }

    /// Sends a request, and waits for the answer. A dropped future withdraws the request. Returns `None` if the client is gone, or the
    /// request is [withdrawn](Self::withdraw).
    pub(crate) async fn request(
        &self,
        method: &str,
        params: Value,
    ) -> Option<Result<Value, RpcError>> {
        let id = self.0.next.fetch_add(1, Ordering::Relaxed);
        let (answer, receiver) = oneshot::channel();
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let call = &params["toolCall"]["toolCallId"];
        let asked = Asked {
            session: text(&params["sessionId"]),
            call: text(call.as_str().map_or(&params["toolCallId"], |_| call)),
            answer,
        };
        self.0.asked.lock().ignore_poison().insert(id, asked);
        let _open = OpenRequest { client: self, id };
        self.send(json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        self.0.gone.run_until_cancelled(receiver).await?.ok()
    }

    /// Takes the answer to a request. One that is late, or answered before, is ignored.
    pub(crate) fn take_reply(&self, id: &Value, result: Result<Value, RpcError>) {
        let id = id.as_u64();
        let asked = id.and_then(|id| self.0.asked.lock().ignore_poison().remove(&id));
        if let Some(asked) = asked {
            // The asker may have gone meanwhile.
            let _ = asked.answer.send(result);
        }
    }

    /// Withdraws the requests of a session, or only those of a call and of the sub-agents that it started. A call that is cancelled may
    /// end later than its result comes.
    pub(crate) fn withdraw(&self, session: &str, call: Option<&str>) {
        let mut asked = self.0.asked.lock().ignore_poison();
        let is_of = |asked: &str, call: &str| {
            let rest = asked.strip_prefix(call);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        let withdrawn = asked.extract_if(|_, asked| {
            asked.session == session && call.is_none_or(|call| is_of(&asked.call, call))
        });
        for (id, _) in withdrawn {
            self.notify("$/cancel_request", json!({"requestId": id}));
        }
    }

    fn send(&self, message: Value) {
        let mut line = message.to_string();
        line.push('\n');
        let waiting = self.0.waiting.fetch_add(line.len(), Ordering::Relaxed);
        if waiting > MAX_WAITING || self.0.lines.send(line).is_err() {
            self.0.gone.cancel();
        }
    }
}

impl Drop for OpenRequest<'_> {
    fn drop(&mut self) {
        let link = &self.client.0;
        if link.asked.lock().ignore_poison().remove(&self.id).is_some() && !link.gone.is_cancelled()
        {
            let params = json!({"requestId": self.id});
            self.client.notify("$/cancel_request", params);
        }
    }
}

impl Queue {
    /// Writes the lines until all senders are gone, or the client is.
    pub(crate) async fn write(mut self, mut write: impl AsyncWrite + Unpin) {
        let gone = self.gone.clone();
        let written = async {
            while let Some(line) = self.lines.recv().await {
                write.write_all(line.as_bytes()).await?;
                self.waiting.fetch_sub(line.len(), Ordering::Relaxed);
                if self.lines.is_empty() {
                    write.flush().await?;
                }
            }
            write.shutdown().await
        };
        if let Some(Err(_)) = gone.run_until_cancelled(written).await {
            gone.cancel();
        }
    }
}
