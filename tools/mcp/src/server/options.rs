//! [`Options`]: the state and the options of a server.

use std::sync::{Arc, OnceLock};

use rmcp::model::ServerConfig;
use tokio::sync::watch;
use tools::{Entry, Host, Json, ToolError, ToolName};

use crate::server::connection::Connection;
use crate::server::methods::Methods;
use crate::server::peer::Peer;
use crate::server::permit::Permits;
use crate::server::served::ServedTools;
use crate::server::tasks::TaskLimits;

/// The state that all connections share.
pub(super) struct Shared {
    pub(super) tools: watch::Sender<Arc<ServedTools>>,
    pub(super) context: Box<dyn Fn(&CallRequest<'_>) -> Host + Send + Sync>,
}

#[derive(Clone)]
pub(super) struct Options {
    pub(super) advice: Option<Arc<Advice>>,
    pub(super) name: String,
    pub(super) version: String,
    pub(super) methods: Option<Arc<dyn Methods>>,
    pub(super) page_size: usize,
    /// The calls of all clients.
    pub(super) calls: Permits,
    pub(super) tasks: TaskLimits,
    pub(super) max_message_bytes: usize,
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
    /// The session of the client. `None` if the client has none, as over HTTP from 2026-07-28 on: no later call is known to be of the same
    /// client.
    pub connection: Option<&'a Connection>,
}
