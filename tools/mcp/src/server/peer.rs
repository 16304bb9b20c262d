//! [`Peer`]: the client of a call.

use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use rmcp::model::{
    ClientCapabilities, ElicitResult, InputRequest, LoggingLevel, ServerRequest, TASKS_EXTENSION_ID,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, from_value, json};
use tokio::sync::{mpsc, oneshot};
use tools::call::AskError;
use tools::{IgnorePoison as _, Progress, ToolContext};

use crate::same_json::same_json;
use crate::server::permit::Permit;

/// The number of messages that a call may have ready for its client. Further progress and log messages are dropped.
const MAX_MESSAGES: usize = 256;

/// The client of a call. A tool finds it among the [services](tools::ToolContext::service) of its context.
///
/// ```
/// use serde_json::json;
/// use tools::{ToolContext, ToolError};
/// use tools_mcp::server::{LogLevel, Peer, PeerRequest};
///
/// async fn roots(cx: ToolContext) -> Result<String, ToolError> {
///     let peer = cx.service::<Peer>().ok_or_else(|| ToolError::execution_failed("only an MCP client has roots"))?;
///     peer.log(LogLevel::Info, None, json!("asking for the roots"));
///     let answer = peer.request(&cx, PeerRequest::new("roots/list", json!({}))).await;
///     Ok(answer.map_err(|error| ToolError::execution_failed(error.to_string()))?.to_string())
/// }
/// ```
#[derive(Clone)]
pub struct Peer(Arc<Inner>);

struct Inner {
    /// Boxed, because a channel allocates room for many messages and most calls have none.
    messages: mpsc::Sender<Box<Message>>,
    capabilities: ClientCapabilities,
    /// The answers that came with the call, by the keys of requests.
    early: Mutex<BTreeMap<String, Value>>,
    /// True if the call may become a task.
    takes_tasks: bool,
    /// The first capability that the client lacks.
    refused: OnceLock<ClientCapabilities>,
    next_key: AtomicU64,
    permit: Permit,
}

/// A request to the client: elicitation, sampling or roots.
#[derive(Clone, Debug, PartialEq)]
pub struct PeerRequest {
    key: Option<String>,
    method: String,
    params: Value,
}

/// A message of a call to its client.
pub(super) enum Message {
    Progress(Progress),
    Log {
        level: LogLevel,
        logger: Option<String>,
        data: Value,
    },
    Ask(Box<Ask>),
    ContinueAsTask,
}

/// The answer of a client.
pub(super) type Answer = Result<Value, PeerError>;

/// A request of a call that waits for the answer of the client.
pub(super) struct Ask {
    pub(super) key: String,
    pub(super) kind: RequestKind,
    pub(super) request: InputRequest,
    pub(super) answer: oneshot::Sender<Answer>,
}

/// A request that is to be sent, unless its answer came with the call, and the receiver of its answer.
type Asked = (Option<Ask>, oneshot::Receiver<Answer>);

/// The error for a request to a client.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PeerError {
    /// The client does not take requests of this kind.
    #[error("the client has not the capability {capability}; do without it, or use another client")]
    Unsupported {
        /// The name of the capability.
        capability: &'static str,
    },
    /// The method or its parameters are not those of a request to a client.
    #[error("the request is invalid: {reason}")]
    Invalid {
        /// The reason.
        reason: String,
    },
    /// The client answered with an error, or with an answer of another kind.
    #[error("the client refused the request: {reason}")]
    Refused {
        /// The reason.
        reason: String,
    },
    /// Too many calls wait for their clients.
    #[error("too many calls wait for answers of their clients; try again later")]
    Overloaded,
    /// The time limit of the answer passed, or the call was cancelled.
    #[error(transparent)]
    Unanswered(#[from] AskError),
    /// The connection ended before the answer.
    #[error("the client is gone")]
    Gone,
}

impl PeerRequest {
    /// Creates a request with the method and the parameters of the protocol.
    pub fn new(method: impl Into<String>, params: Value) -> Self {
        Self {
            key: None,
            method: method.into(),
            params,
        }
    }

    /// Sets the key, unique within the call. From 2026-07-28 on, clients see it, and may answer it already with the call.
    #[must_use]
    pub fn with_key(mut self, key: impl Into<String>) -> Self {
        self.key = Some(key.into());
        self
    }
}

impl Peer {
    /// Creates the client of a call, and the receiver of the call's messages to it.
    pub(super) fn new(
        capabilities: ClientCapabilities,
        takes_tasks: bool,
        early: BTreeMap<String, Value>,
        permit: Permit,
    ) -> (Self, mpsc::Receiver<Box<Message>>) {
        // Boxed, because a channel allocates room for all that it may hold, for each call.
        let (messages, receiver) = mpsc::channel(MAX_MESSAGES);
        let inner = Inner {
            messages,
            capabilities,
            early: Mutex::new(early),
            takes_tasks,
            refused: OnceLock::new(),
            next_key: AtomicU64::new(1),
            permit,
        };
        (Self(Arc::new(inner)), receiver)
    }

    /// Returns true if the client takes requests with this method.
    pub fn supports(&self, method: &str) -> bool {
        RequestKind::from_method(method).is_some_and(|kind| kind.is_in(&self.0.capabilities))
    }

    /// Makes a request of the client and returns its result. `cx` is the context of the call.
    ///
    /// The time that the person or the model of the client takes does not count against the deadline of the call. It has the limits of
    /// [`ToolContext::ask`].
    ///
    /// # Errors
    /// Returns [`PeerError`] if the client does not take the request, refuses it, does not answer it or is gone.
    pub async fn request(
        &self,
        cx: &ToolContext,
        request: PeerRequest,
    ) -> Result<Value, PeerError> {
        first(self.request_all(cx, [request]).await?)
    }

    /// Makes several requests of the client at once, like [`request`](Self::request), and returns the results in the same order.
    ///
    /// # Errors
    /// Returns the first [`PeerError`].
    pub async fn request_all(
        &self,
        cx: &ToolContext,
        requests: impl IntoIterator<Item = PeerRequest>,
    ) -> Result<VecDeque<Value>, PeerError> {
        let asks = requests.into_iter().map(|request| self.ask(request));
        let asks = asks.collect::<Result<Vec<_>, _>>()?;
        let mut open = asks.iter().filter_map(|(ask, _)| ask.as_ref());
        let is_program = open.all(|ask| ask.kind == RequestKind::Roots);
        let answers = self.answers(asks);
        if is_program {
            answers.await
        } else {
            cx.wait_for_answer(answers).await?
        }
    }

    /// Makes a request whose time the caller limits. It counts against the deadline of the call.
    ///
    /// # Errors
    /// Returns [`PeerError`] if the client does not take the request, refuses it or is gone.
    pub async fn request_unlimited(&self, request: PeerRequest) -> Result<Value, PeerError> {
        let ask = self.ask(request)?;
        first(self.answers(vec![ask]).await?)
    }

    async fn answers(&self, asks: Vec<Asked>) -> Result<VecDeque<Value>, PeerError> {
        let is_early = asks.iter().all(|(ask, _)| ask.is_none());
        let wait = if is_early {
            None
        } else {
            Some(self.0.permit.wait().ok_or(PeerError::Overloaded)?)
        };
        let mut receivers = Vec::new();
        for (ask, receiver) in asks {
            if let Some(ask) = ask {
                self.deliver(Message::Ask(Box::new(ask))).await?;
            }
            receivers.push(receiver);
        }
        let mut answers = VecDeque::new();
        for receiver in receivers {
            answers.push_back(receiver.await.map_err(|_| PeerError::Gone)??);
        }
        if let Some(wait) = wait {
            wait.end().await;
        }
        Ok(answers)
    }

    /// Returns true if the client takes [tasks](Self::continue_as_task).
    pub fn takes_tasks(&self) -> bool {
        self.0.takes_tasks
    }

    /// Lets the call go on as a task: the client gets a handle at once and comes back for the result. Other calls become tasks after
    /// [a time](super::ServerLimits::task_after).
    ///
    /// If the server has too many tasks, the client waits for the result as for that of any call.
    ///
    /// # Errors
    /// Returns [`PeerError::Unsupported`] if the client does not take tasks. A tool that cannot do without fails with this error, and
    /// the client learns what it lacks.
    pub async fn continue_as_task(&self) -> Result<(), PeerError> {
        if !self.0.takes_tasks {
            let tasks = ClientCapabilities::builder().enable_tasks().build();
            let _ = self.0.refused.set(tasks);
            return Err(PeerError::Unsupported {
                capability: TASKS_EXTENSION_ID,
            });
        }
        self.deliver(Message::ContinueAsTask).await
    }

    /// Waits for room, and sends a message.
    async fn deliver(&self, message: Message) -> Result<(), PeerError> {
        let sent = self.0.messages.send(Box::new(message)).await;
        sent.map_err(|_| PeerError::Gone)
    }

    /// Sends a log message, if the client wants those of this level.
    pub fn log(&self, level: LogLevel, logger: Option<&str>, data: Value) {
        self.send(Message::Log {
            level,
            logger: logger.map(str::to_owned),
            data,
        });
    }

    /// Returns the first capability that the client lacks.
    pub(super) fn refused_capability(&self) -> Option<ClientCapabilities> {
        self.0.refused.get().cloned()
    }

    /// Returns the request to send, or `None` if its answer came with the call, and the receiver of its answer.
    fn ask(&self, request: PeerRequest) -> Result<Asked, PeerError> {
        let key = request.key;
        let method = &*request.method;
        let Some(kind) = RequestKind::from_method(method) else {
            let reason = format!("a client has no method {method}");
            return Err(PeerError::Invalid { reason });
        };
        if !kind.is_in(&self.0.capabilities) {
            let _ = self.0.refused.set(kind.required_capabilities());
            return Err(PeerError::Unsupported {
                capability: kind.capability(),
            });
        }
        let request = kind.request(method, request.params);
        let request = request.map_err(|error| PeerError::Invalid {
            reason: error.to_string(),
        })?;
        let (answer, receiver) = oneshot::channel();
        let early = key.as_ref().and_then(|key| {
            let mut early = self.0.early.lock().ignore_poison();
            early.remove(key).filter(|value| kind.accepts(value))
        });
        if let Some(early) = early {
            let _ = answer.send(Ok(early));
            return Ok((None, receiver));
        }
        let key = key.unwrap_or_else(|| {
            let number = self.0.next_key.fetch_add(1, Ordering::Relaxed);
            format!("request-{number}")
        });
        let ask = Ask {
            key,
            kind,
            request,
            answer,
        };
        Ok((Some(ask), receiver))
    }

    /// Sends a message that may be lost.
    pub(super) fn send(&self, message: Message) {
        let _ = self.0.messages.try_send(Box::new(message));
    }
}

fn first(mut answers: VecDeque<Value>) -> Result<Value, PeerError> {
    answers.pop_front().ok_or(PeerError::Gone)
}

tools::debug_fields!(self: Peer { capabilities = self.0.capabilities });

/// A kind of request of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RequestKind {
    Elicitation,
    Sampling,
    Roots,
}

impl RequestKind {
    /// Returns the kind of a method. Returns `None` if a server may not call it.
    pub(super) fn from_method(method: &str) -> Option<Self> {
        match method {
            "elicitation/create" => Some(Self::Elicitation),
            "sampling/createMessage" => Some(Self::Sampling),
            "roots/list" => Some(Self::Roots),
            _ => None,
        }
    }

    /// Returns the name of the client's capability.
    pub(super) fn capability(self) -> &'static str {
        match self {
            Self::Elicitation => "elicitation",
            Self::Sampling => "sampling",
            Self::Roots => "roots",
        }
    }

    /// Returns the capabilities of a client that takes only this kind.
    pub(super) fn required_capabilities(self) -> ClientCapabilities {
        from_value(json!({self.capability(): {}})).unwrap_or_default()
    }

    /// Returns true if a client with these capabilities takes the request. A client may take elicitation by URL only.
    pub(super) fn is_in(self, capabilities: &ClientCapabilities) -> bool {
        match self {
            Self::Elicitation => capabilities
                .elicitation
                .as_ref()
                .is_some_and(|modes| modes.form.is_some() || modes.url.is_none()),
            Self::Sampling => capabilities.sampling.is_some(),
            Self::Roots => capabilities.roots.is_some(),
        }
    }

    /// Returns the request with these parameters. Returns the reason if the parameters do not fit.
    fn request(self, method: &str, params: Value) -> serde_json::Result<InputRequest> {
        let request = json!({"method": method, "params": params});
        match self {
            Self::Elicitation => from_value(request).map(InputRequest::Elicitation),
            Self::Sampling => from_value(request).map(InputRequest::CreateMessage),
            Self::Roots => from_value(request).map(InputRequest::ListRoots),
        }
    }

    /// Returns true if a client's answer has the form of this kind's result.
    pub(super) fn accepts(self, answer: &Value) -> bool {
        match self {
            Self::Elicitation => ElicitResult::deserialize(answer).is_ok(),
            Self::Sampling => answer.get("content").is_some() && answer["model"].is_string(),
            Self::Roots => answer["roots"].is_array(),
        }
    }
}

/// Returns the request as a message of its own.
pub(super) fn server_request(request: InputRequest) -> Option<ServerRequest> {
    match request {
        InputRequest::Elicitation(request) => Some(ServerRequest::ElicitRequest(request)),
        InputRequest::CreateMessage(request) => Some(ServerRequest::CreateMessageRequest(request)),
        InputRequest::ListRoots(request) => Some(ServerRequest::ListRootsRequest(request)),
        _ => None,
    }
}

/// The severity of a log message, from the lowest to the highest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[repr(u8)]
#[allow(missing_docs, reason = "the names of syslog, RFC 5424")]
pub enum LogLevel {
    Debug,
    Info,
    Notice,
    Warning,
    Error,
    Critical,
    Alert,
    Emergency,
}

impl LogLevel {
    /// Returns the level of a message of `rmcp`.
    pub(super) fn from_rmcp(level: LoggingLevel) -> Self {
        same_json(&level).unwrap_or(Self::Emergency)
    }
}
