//! [`Import`]: the settings of an import.

use std::future::Future;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite};
use tools::{Digest, RegisterError, Tool, ToolName};

use crate::client::http::HttpServer;
use crate::client::server::{Opening, Server};
use crate::client::server_name::ServerName;
use crate::client::server_tool::ServerTool;
use crate::client::stdio::StdioServer;

/// The settings of an import: the way to reach a server, its name and the host's decisions about its tools.
#[derive(Clone)]
pub struct Import {
    pub(super) name: ServerName,
    pub(super) server: Server,
    /// The time limit of each attempt to connect: 30 seconds by default.
    pub connect_timeout: Duration,
    /// The time limit of calls, which begins anew with each report of progress. Without one, the limit is that of other tools.
    ///
    /// A call ends at the latest 10 minutes after its start, or after twice its limit if that is longer. A time limit that the host sets
    /// for all calls does not begin anew.
    pub call_timeout: Option<Duration>,
    /// The review of each definition before it is registered, such as the [pins](crate::trust::Pins) of the server. Without one, each call
    /// of an imported tool counts as an open-world write.
    pub review: Option<Arc<dyn Review>>,
    /// True if the server may ask for messages of the host's model, and is told so. It gets them only in calls whose context has a
    /// [`Sampling`](super::Sampling). False by default.
    pub has_sampling: bool,
    /// The next step after the refusal of a server that requires a login, such as "run app login".
    pub login_advice: String,
    /// Definitions of an earlier connection, with the names of their tools. They are registered at once, after the review, and the
    /// server is connected by the first call. If it then has another definition of a tool, the call does not run.
    pub known: Vec<(ToolName, ServerTool)>,
    /// True if the server had resources at an earlier connection, so that the tool `mcp.resource` is there before the next one.
    pub has_resources: bool,
}

impl Import {
    /// Creates the import of a server that is reached over a pair of streams, with one JSON-RPC message a line. The
    /// function opens a pair for each connection.
    pub fn from_streams<F, Fut, R, W>(name: ServerName, open: F) -> Self
    where
        F: Fn() -> Fut + Send + Sync + 'static,
        Fut: Future<Output = io::Result<(R, W)>> + Send + 'static,
        R: AsyncRead + Send + Unpin + 'static,
        W: AsyncWrite + Send + Unpin + 'static,
    {
        let server = Server::Streams(Arc::new(move || -> Opening {
            let opening = open();
            Box::pin(async move {
                let (read, write) = opening.await?;
                Ok((Box::new(read) as _, Box::new(write) as _))
            })
        }));
        Self::new(name, server)
    }

    /// Creates the import of a server that is a child process.
    pub fn from_stdio(name: ServerName, server: StdioServer) -> Self {
        Self::new(name, Server::Stdio(Arc::new(server)))
    }

    /// Creates the import of a server that is reached over HTTP.
    pub fn from_http(name: ServerName, server: HttpServer) -> Self {
        Self::new(name, Server::Http(Arc::new(server)))
    }

    fn new(name: ServerName, server: Server) -> Self {
        Self {
            name,
            server,
            connect_timeout: Duration::from_secs(30),
            review: None,
            has_sampling: false,
            known: Vec::new(),
            has_resources: false,
            login_advice: "ask the user to log in to it".to_owned(),
            call_timeout: None,
        }
    }
}

tools::debug_fields!(self: Import { name });

/// A host's decisions about the definitions of a server. A function from a [`Tool`] to the tool to register, or to a reason, is one.
pub trait Review: Send + Sync {
    /// Returns the tool to register for a definition: the imported one, perhaps with other effects, limits or tags. Changes of the name and
    /// of former names have no effect.
    ///
    /// # Errors
    /// Returns the reason why the tool must not be registered.
    fn review(&self, definition: &ServerTool, tool: Tool) -> Result<Tool, String>;

    /// Called after each complete list of the server, when all its definitions were reviewed. `has_resources` tells whether the server
    /// has resources, too. Returns notes for the [report](super::Report).
    fn end_list(&self, has_resources: bool) -> Vec<String> {
        let _ = has_resources;
        Vec::new()
    }

    /// Decides whether a call may run that was made for a definition with this digest. Permits each one by default.
    ///
    /// # Errors
    /// Returns the reason why the call must not run.
    fn check(&self, name: &ToolName, digest: &Digest) -> Result<(), String> {
        let _ = (name, digest);
        Ok(())
    }
}

impl<F: Fn(Tool) -> Result<Tool, String> + Send + Sync> Review for F {
    fn review(&self, _definition: &ServerTool, tool: Tool) -> Result<Tool, String> {
        self(tool)
    }
}

/// The outcome of the latest list of a server's tools.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Report {
    /// The registered tools, in the server's order.
    pub tools: Vec<ToolName>,
    /// The definitions that are not registered, in the server's order.
    pub refused: Vec<Refused>,
    /// The reason why the list ended early, if it did, such as a limit. Tools after it are not imported.
    pub cut: Option<String>,
    /// Notes for the user, about definitions with invisible characters and of the host's [review](super::Import::review), such as a
    /// decision about a tool that the server does not have.
    pub notes: Vec<String>,
}

/// A definition that is not registered.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("the tool {tool:?} cannot be imported: {refusal}")]
#[non_exhaustive]
pub struct Refused {
    /// The name that the server gives the tool, with invisible characters escaped.
    pub tool: String,
    /// The reason.
    pub refusal: Refusal,
}

/// The reason why a definition is not registered.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// The definition is not that of an MCP tool.
    #[error("its definition is malformed: {reason}")]
    Malformed {
        /// The fault.
        reason: String,
    },
    /// The catalog refuses the tool.
    #[error(transparent)]
    Catalog(#[from] RegisterError),
    /// The host's [review](super::Import::review) refuses the tool.
    #[error("{reason}")]
    Review {
        /// The reason that the host gave.
        reason: String,
    },
    /// Two long names of the server have the same form for models.
    #[error(
        "models would call it {wire:?}, as another tool of the server; its server must rename it"
    )]
    WireName {
        /// The common form.
        wire: String,
    },
}
