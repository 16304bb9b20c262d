//! [`Options`]: the state and the options of a server.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use rmcp::model::ServerConfig;
use tokio::sync::watch;
use tools::{Entry, Host, Json, ToolError, ToolName};

use crate::server::methods::Methods;
use crate::server::peer::Peer;
use crate::server::permit::Permits;
use crate::server::served::ServedTools;

/// The state that all connections share.
pub(super) struct Shared {
    pub(super) tools: watch::Sender<Arc<ServedTools>>,
    pub(super) context: Box<dyn Fn(&CallRequest<'_>) -> Host + Send + Sync>,
}

/// The limits of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServerLimits {
    /// The number of tools on a page of `tools/list`, at least 1.
    pub page_size: usize,
    /// The number of calls of all clients that run at the same time. Further calls fail with a hint to retry.
    ///
    /// A call that waits for its client does not count. At most [`MAX_WAITING`](super::ToolServer::MAX_WAITING) wait; the questions of
    /// others are refused.
    pub max_calls: usize,
    /// The time after which a call goes on as a task, if its client takes tasks. With [`Duration::MAX`], only the calls of tools that
    /// [ask for it](Peer::continue_as_task) do.
    pub task_after: Duration,
    /// The time that a task may live, from its start on. Then it is cancelled. A result stays at least 5 minutes after the end, or this
    /// time if it is shorter.
    pub task_ttl: Duration,
    /// The number of tasks of one listener or pair of streams, ended ones included. Further calls do not become tasks.
    pub max_tasks: usize,
    /// The length of a message of a client, in bytes. Longer ones are refused. Over stdio, that is an answer only if the request has its
    /// id near its begin or its end.
    pub max_message_bytes: usize,
}

impl Default for ServerLimits {
    fn default() -> Self {
        Self {
            page_size: 1000,
            max_calls: 64,
            task_after: Duration::from_secs(5),
            task_ttl: Duration::from_secs(3600),
            max_tasks: 256,
            max_message_bytes: 4 * 1024 * 1024,
        }
    }
}

#[derive(Clone)]
pub(super) struct Options {
    pub(super) advice: Option<Arc<Advice>>,
    pub(super) name: String,
    pub(super) version: String,
    pub(super) methods: Option<Arc<dyn Methods>>,
    pub(super) limits: ServerLimits,
    /// The calls of all clients.
    pub(super) calls: Permits,
    /// The answer to the first request of a client, which is made of the others.
    pub(super) info: OnceLock<ServerConfig>,
}

/// Returns the next step of the client's person after an error of a call with these arguments.
pub(super) type Advice = dyn Fn(&Entry, &Json, &ToolError) -> Option<String> + Send + Sync;

/// One `tools/call` of a client, for which the host makes a context.
#[derive(Debug)]
#[non_exhaustive]
pub struct CallRequest<'a> {
    /// The tool.
    pub tool: &'a ToolName,
    /// The id of the JSON-RPC request, unique within its connection at any time.
    pub id: &'a str,
    /// The client. The context of the call has it as a service too.
    pub peer: &'a Peer,
    /// The host of the calls of this session of the client alone, which a first call may set. They are dropped when the client ends the session,
    /// goes away, or is idle while others need its place. `None` if the client has none, as over HTTP from 2026-07-28 on: no later call
    /// is known to be of the same client.
    pub connection: Option<&'a OnceLock<Host>>,
}
