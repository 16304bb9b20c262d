//! Serves tools to MCP clients, in both generations of the protocol, over stdio and streamable HTTP.

#![allow(
    deprecated,
    reason = "clients of older revisions have log messages, sampling and roots"
)]

mod approval;
mod batch;
mod call;
mod calls;
mod client_message;
mod connection;
mod definitions;
mod drive;
mod generation;
mod handler;
mod host_method;
mod http;
mod json_text;
mod log_level;
mod methods;
mod names;
mod options;
mod oversized;
mod peer;
mod permit;
mod progress;
mod question;
mod request_kind;
mod requests;
mod result;
mod running;
mod served;
mod stdio;
mod streams;
mod suspended;
mod tasks;
mod unread;

use std::sync::atomic::AtomicU8;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use tokio::sync::watch;
use tools::{CancellationToken, Entry, Host, Json, ToolError};

use crate::server::calls::Calls;
use crate::server::handler::Handler;
use crate::server::options::{Options, Shared};
use crate::server::permit::Permits;
use crate::server::tasks::TaskLimits;

pub use connection::Connection;
pub use http::{HttpError, HttpOptions};
pub use log_level::LogLevel;
pub use methods::{MethodError, MethodFuture, Methods};
pub use names::ServedNames;
pub use options::CallRequest;
pub use peer::{Peer, PeerError, PeerRequest};
pub use served::ServedTools;
pub use streams::ServeError;

/// The size of all results that the ended tasks of a listener keep, in bytes.
const MAX_TASK_RESULT_BYTES: usize = 64 * 1024 * 1024;

/// Serves tools to MCP clients. Clones serve the same tools.
///
/// Every call passes the pipeline of `tools` with a context of its own, which a closure of the host makes. The host's grant, policy,
/// deadline, services and journal belong in this context. The server adds the cancellation and the progress of the request, the [`Peer`]
/// as a service, and approvals and questions by elicitation if the client has it.
///
/// ```
/// use tools::{Catalog, Host};
/// use tools_mcp::server::{ServedTools, ToolServer};
///
/// let catalog = Catalog::linked();
/// let server = ToolServer::new(ServedTools::new(catalog.list(), catalog)?, |_| Host::new());
/// # let _ = server;
/// # Ok::<(), tools::protocol::wire::NameCollision>(())
/// ```
#[derive(Clone)]
pub struct ToolServer {
    shared: Arc<Shared>,
    options: Arc<Options>,
}

impl ToolServer {
    /// The default number of tools on a page of `tools/list`.
    pub const DEFAULT_PAGE_SIZE: usize = 1000;
    /// The default number of calls that run at the same time.
    pub const DEFAULT_MAX_CALLS: usize = 64;
    /// The number of calls that wait for the answers of their clients at the same time. They do not count as running.
    pub const MAX_WAITING: usize = 256;
    /// The default time after which a call becomes a task: 5 seconds.
    pub const DEFAULT_TASK_AFTER: Duration = Duration::from_secs(5);
    /// The default time after which a task is cancelled: one hour.
    pub const DEFAULT_TASK_TTL: Duration = Duration::from_secs(3600);
    /// The default number of tasks, ended ones included.
    pub const DEFAULT_MAX_TASKS: usize = 256;
    /// The default length of a message of a client, in bytes: 4 MiB.
    pub const DEFAULT_MAX_MESSAGE_BYTES: usize = 4 * 1024 * 1024;

    /// Creates a server. `context` makes the context of each call.
    pub fn new(
        tools: ServedTools,
        context: impl Fn(&CallRequest<'_>) -> Host + Send + Sync + 'static,
    ) -> Self {
        let options = Options {
            advice: None,
            name: "toolcrib".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            methods: None,
            page_size: Self::DEFAULT_PAGE_SIZE,
            calls: Permits::new(Self::DEFAULT_MAX_CALLS, Self::MAX_WAITING),
            tasks: TaskLimits {
                after: Self::DEFAULT_TASK_AFTER,
                ttl: Self::DEFAULT_TASK_TTL,
                max: Self::DEFAULT_MAX_TASKS,
                result_bytes: MAX_TASK_RESULT_BYTES,
            },
            max_message_bytes: Self::DEFAULT_MAX_MESSAGE_BYTES,
            info: OnceLock::new(),
        };
        let tools = watch::Sender::new(Arc::new(tools));
        Self {
            shared: Arc::new(Shared {
                tools,
                context: Box::new(context),
            }),
            options: Arc::new(options),
        }
    }

    /// Sets the name and the version that clients see.
    #[must_use]
    pub fn with_identity(mut self, name: impl Into<String>, version: impl Into<String>) -> Self {
        let options = self.options();
        (options.name, options.version) = (name.into(), version.into());
        self
    }

    /// Sets a function that returns the next step after an error of a call, such as the words in the client's configuration that permit it.
    #[must_use]
    pub fn with_advice(
        mut self,
        advice: impl Fn(&Entry, &Json, &ToolError) -> Option<String> + Send + Sync + 'static,
    ) -> Self {
        self.options().advice = Some(Arc::new(advice));
        self
    }

    /// Sets the answers to other methods than those of tools.
    #[must_use]
    pub fn with_methods(mut self, methods: impl Methods + 'static) -> Self {
        self.options().methods = Some(Arc::new(methods));
        self
    }

    /// Sets the number of tools on a page of `tools/list`, at least 1.
    #[must_use]
    pub fn with_page_size(mut self, tools: usize) -> Self {
        self.options().page_size = tools.max(1);
        self
    }

    /// Sets the number of calls of all clients that run at the same time. Further calls fail with a hint to retry.
    ///
    /// A call that waits for its client does not count. At most [`MAX_WAITING`](Self::MAX_WAITING) wait; the questions of others are
    /// refused.
    #[must_use]
    pub fn with_max_calls(mut self, calls: usize) -> Self {
        self.options().calls = Permits::new(calls, Self::MAX_WAITING);
        self
    }

    /// Sets the time after which a call goes on as a task, if its client takes tasks. With [`Duration::MAX`], only the calls of tools
    /// that [ask for it](Peer::continue_as_task) do.
    #[must_use]
    pub fn with_task_after(mut self, time: Duration) -> Self {
        self.options().tasks.after = time;
        self
    }

    /// Sets the time that a task may live, from its start on. Then it is cancelled. A result stays at least 5 minutes after the end, or
    /// this time if it is shorter.
    #[must_use]
    pub fn with_task_ttl(mut self, time: Duration) -> Self {
        self.options().tasks.ttl = time;
        self
    }

    /// Sets the number of tasks of one listener or pair of streams, ended ones included. Further calls do not become tasks.
    #[must_use]
    pub fn with_max_tasks(mut self, tasks: usize) -> Self {
        self.options().tasks.max = tasks;
        self
    }

    /// Sets the length of a message of a client, in bytes. Longer ones are refused. Over stdio, that is an
    /// answer only if the request has its id near its begin or its end.
    #[must_use]
    pub fn with_max_message_bytes(mut self, bytes: usize) -> Self {
        self.options().max_message_bytes = bytes;
        self
    }

    /// Replaces the tools. Clients are notified; running calls keep the tools that they started with.
    pub fn replace_tools(&self, tools: ServedTools) {
        self.shared.tools.send_replace(Arc::new(tools));
    }

    fn options(&mut self) -> &mut Options {
        let options = Arc::make_mut(&mut self.options);
        options.info.take();
        options
    }

    /// Returns the handler of one connection, which counts its running calls. With `is_of_request`, it is that of one request if the client
    /// has no session.
    fn handler(&self, calls: Calls, is_of_request: bool) -> Handler {
        Handler {
            shared: self.shared.clone(),
            options: self.options.clone(),
            calls,
            log_level: AtomicU8::new(LogLevel::Info as u8),
            connection: Connection::default(),
            is_of_request,
            ended: CancellationToken::new(),
        }
    }
}

impl std::fmt::Debug for ToolServer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ToolServer")
            .field("name", &self.options.name)
            .field("tools", &self.shared.tools.borrow())
            .finish_non_exhaustive()
    }
}
