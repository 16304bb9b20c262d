//! Serves tools to MCP clients, in both generations of the protocol, over stdio and streamable HTTP.

#![allow(deprecated, reason = "clients of older revisions have log messages, sampling and roots")]

mod approval;
mod call;
mod definitions;
mod drive;
mod generation;
mod handler;
#[cfg(feature = "http")]
mod http;
mod log_level;
mod methods;
mod peer;
mod progress;
mod question;
mod request_kind;
mod result;
mod running;
mod served;
mod streams;
mod suspended;

use std::sync::{Arc, OnceLock};

use rmcp::model::ServerConfig;
use tokio::sync::{Semaphore, watch};
use tokio_util::task::TaskTracker;
use tools::{ToolContext, ToolName};

use self::handler::Handler;
use self::suspended::Suspended;

#[cfg(feature = "http")]
pub use http::{HttpError, HttpOptions};
pub use log_level::LogLevel;
pub use methods::{MethodError, MethodFuture, Methods};
pub use peer::{Peer, PeerError, PeerRequest};
pub use served::ServedTools;
pub use streams::ServeError;

/// Serves tools to MCP clients. Clones serve the same tools.
///
/// Every call passes the pipeline of `tools` with a context of its own, which a closure of the host makes. The host's grant, policy,
/// deadline, services and journal belong in this context. The server adds the cancellation and the progress of the request, the [`Peer`]
/// as a service, and approvals and questions by elicitation if the client has it.
///
/// ```
/// use tools::{Catalog, ToolContext};
/// use tools_mcp::server::{ServedTools, ToolServer};
///
/// let catalog = Catalog::linked();
/// let server = ToolServer::new(ServedTools::new(catalog.list(), catalog)?, |_| ToolContext::new());
/// # let _ = server;
/// # Ok::<(), tools::protocol::wire::NameCollision>(())
/// ```
#[derive(Clone)]
pub struct ToolServer {
    shared: Arc<Shared>,
    options: Arc<Options>,
}

/// The state that all connections share.
struct Shared {
    tools: watch::Sender<Arc<ServedTools>>,
    context: Box<dyn Fn(&CallRequest<'_>) -> ToolContext + Send + Sync>,
    suspended: Suspended,
}

#[derive(Clone)]
struct Options {
    name: String,
    version: String,
    instructions: Option<String>,
    methods: Option<Arc<dyn Methods>>,
    page_size: usize,
    /// The calls of all clients.
    calls: Arc<Semaphore>,
    max_message_bytes: usize,
    /// The answer to the first request of a client, which is made of the others.
    info: OnceLock<ServerConfig>,
}

/// One `tools/call` of a client, for which the host makes a context.
#[derive(Debug)]
#[non_exhaustive]
pub struct CallRequest<'a> {
    /// The tool.
    pub tool: &'a ToolName,
    /// The id of the JSON-RPC request, unique within its connection at any time.
    pub id: &'a str,
}

impl ToolServer {
    /// The default number of tools on a page of `tools/list`.
    pub const DEFAULT_PAGE_SIZE: usize = 1000;
    /// The default number of calls that run at the same time.
    pub const DEFAULT_MAX_CALLS: usize = 64;
    /// The default length of a message of a client, in bytes: 4 MiB.
    pub const DEFAULT_MAX_MESSAGE_BYTES: usize = 4 * 1024 * 1024;

    /// Creates a server. `context` makes the context of each call.
    pub fn new(tools: ServedTools, context: impl Fn(&CallRequest<'_>) -> ToolContext + Send + Sync + 'static) -> Self {
        let options = Options {
            name: "toolcrib".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            instructions: None,
            methods: None,
            page_size: Self::DEFAULT_PAGE_SIZE,
            calls: Arc::new(Semaphore::new(Self::DEFAULT_MAX_CALLS)),
            max_message_bytes: Self::DEFAULT_MAX_MESSAGE_BYTES,
            info: OnceLock::new(),
        };
        let (tools, suspended) = (watch::Sender::new(Arc::new(tools)), Suspended::default());
        Self { shared: Arc::new(Shared { tools, context: Box::new(context), suspended }), options: Arc::new(options) }
    }

    /// Sets the name and the version that clients see.
    #[must_use]
    pub fn with_identity(mut self, name: impl Into<String>, version: impl Into<String>) -> Self {
        let options = self.options();
        (options.name, options.version) = (name.into(), version.into());
        self
    }

    /// Sets the instructions for the model of the client.
    #[must_use]
    pub fn with_instructions(mut self, instructions: impl Into<String>) -> Self {
        self.options().instructions = Some(instructions.into());
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
    #[must_use]
    pub fn with_max_calls(mut self, calls: usize) -> Self {
        self.options().calls = Arc::new(Semaphore::new(calls.min(Semaphore::MAX_PERMITS)));
        self
    }

    /// Sets the length of a message of a client, in bytes. Longer ones are discarded over stdio and refused over HTTP.
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

    /// Returns the handler of one connection, which counts its running calls.
    fn handler(&self, calls: TaskTracker) -> Handler {
        Handler::new(self.shared.clone(), self.options.clone(), calls)
    }
}

impl std::fmt::Debug for ToolServer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ToolServer")
            .field("name", &self.options.name)
            .field("tools", &self.shared.tools.borrow().len())
            .finish_non_exhaustive()
    }
}
