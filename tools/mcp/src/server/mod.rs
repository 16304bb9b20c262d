//! Serves tools to MCP clients, in both generations of the protocol, over stdio and streamable HTTP.

#![allow(
    deprecated,
    reason = "clients of older revisions have log messages, sampling and roots"
)]

mod batch;
mod call;
mod client_message;
mod drive;
mod handler;
mod host_method;
mod http;
mod methods;
mod names;
mod options;
mod oversized;
mod peer;
mod permit;
mod person;
mod progress;
mod requests;
mod result;
mod running;
mod served;
mod stdio;
mod suspended;
mod tasks;
mod unread;

use std::sync::atomic::AtomicU8;
use std::sync::{Arc, OnceLock};

use tokio::sync::watch;
use tools::{CancellationToken, Entry, Host, Json, ToolError};

use crate::server::handler::{Calls, Handler};
use crate::server::options::{Options, Shared};
use crate::server::permit::Permits;

pub use http::{HttpError, HttpOptions};
pub use methods::{MethodError, MethodFuture, Methods};
pub use names::ServedNames;
pub use options::{CallRequest, ServerLimits};
pub use peer::{LogLevel, Peer, PeerError, PeerRequest};
pub use served::ServedTools;
pub use stdio::{ServeError, standard_streams};

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
#[must_use]
pub struct ToolServer {
    shared: Arc<Shared>,
    options: Arc<Options>,
}

impl ToolServer {
    /// The number of calls that wait for the answers of their clients at the same time. They do not count as running.
    pub const MAX_WAITING: usize = 256;

    /// Creates a server. `context` makes the context of each call.
    pub fn new(
        tools: ServedTools,
        context: impl Fn(&CallRequest<'_>) -> Host + Send + Sync + 'static,
    ) -> Self {
        let limits = ServerLimits::default();
        let options = Options {
            advice: None,
            name: "toolcrib".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            methods: None,
            calls: Permits::new(limits.max_calls, Self::MAX_WAITING),
            limits,
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
    pub fn with_identity(mut self, name: impl Into<String>, version: impl Into<String>) -> Self {
        let options = self.options();
        (options.name, options.version) = (name.into(), version.into());
        self
    }

    /// Sets a function that returns the next step after an error of a call, such as the words in the client's configuration that permit it.
    pub fn with_advice(
        mut self,
        advice: impl Fn(&Entry, &Json, &ToolError) -> Option<String> + Send + Sync + 'static,
    ) -> Self {
        self.options().advice = Some(Arc::new(advice));
        self
    }

    /// Sets the answers to other methods than those of tools.
    pub fn with_methods(mut self, methods: impl Methods + 'static) -> Self {
        self.options().methods = Some(Arc::new(methods));
        self
    }

    /// Sets the limits.
    pub fn with_limits(mut self, limits: ServerLimits) -> Self {
        let options = self.options();
        options.calls = Permits::new(limits.max_calls, Self::MAX_WAITING);
        options.limits = limits;
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
            connection: OnceLock::new(),
            is_of_request,
            ended: CancellationToken::new(),
        }
    }
}

tools::debug_fields!(self: ToolServer { name = self.options.name, tools = self.shared.tools.borrow() });
