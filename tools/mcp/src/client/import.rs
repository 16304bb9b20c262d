//! [`Import`]: the settings of an import.

use std::fmt;
use std::future::Future;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite};
use tools::{Tool, ToolName};

#[cfg(feature = "http")]
use crate::client::http::HttpServer;
use crate::client::review::Review;
use crate::client::server::{Opening, Server};
use crate::client::server_name::ServerName;
use crate::client::server_tool::ServerTool;
#[cfg(feature = "stdio")]
use crate::client::stdio::StdioServer;

/// The settings of an import: the way to reach a server, its name and the host's decisions about its tools.
#[derive(Clone)]
pub struct Import {
    pub(super) name: ServerName,
    pub(super) server: Server,
    pub(super) timeout: Duration,
    pub(super) review: Option<Arc<dyn Review>>,
    pub(super) has_sampling: bool,
    pub(super) known: Vec<(ToolName, ServerTool)>,
    pub(super) has_resources: bool,
    pub(super) login_advice: String,
    pub(super) call_timeout: Option<Duration>,
}

impl Import {
    /// The default of [`with_connect_timeout`](Self::with_connect_timeout).
    pub const DEFAULT_CONNECT_TIMEOUT: Duration = Duration::from_secs(30);

    /// Creates the import of a server that is reached over a pair of streams, with one JSON-RPC message a line. The
    /// function opens a pair for each connection.
    pub fn from_streams<F, Fut, R, W>(name: ServerName, open: F) -> Self
    where
        F: Fn() -> Fut + Send + Sync + 'static,
        Fut: Future<Output = io::Result<(R, W)>> + Send + 'static,
        R: AsyncRead + Send + Unpin + 'static,
        W: AsyncWrite + Send + Unpin + 'static,
    {
        let open = move || -> Opening {
            let opening = open();
            Box::pin(async move {
                let (read, write) = opening.await?;
                Ok((Box::new(read) as _, Box::new(write) as _))
            })
        };
        Self::new(name, Server::Streams(Arc::new(open)))
    }

    /// Creates the import of a server that is a child process.
    #[cfg(feature = "stdio")]
    pub fn from_stdio(name: ServerName, server: StdioServer) -> Self {
        Self::new(name, Server::Stdio(Arc::new(server)))
    }

    /// Creates the import of a server that is reached over HTTP.
    #[cfg(feature = "http")]
    pub fn from_http(name: ServerName, server: HttpServer) -> Self {
        Self::new(name, Server::Http(Arc::new(server)))
    }

    fn new(name: ServerName, server: Server) -> Self {
        Self {
            name,
            server,
            timeout: Self::DEFAULT_CONNECT_TIMEOUT,
            review: None,
            has_sampling: false,
            known: Vec::new(),
            has_resources: false,
            login_advice: "ask the user to log in to it".to_owned(),
            call_timeout: None,
        }
    }

    /// Sets the time limit of each attempt to connect.
    #[must_use]
    pub fn with_connect_timeout(self, timeout: Duration) -> Self {
        Self { timeout, ..self }
    }

    /// Sets the time limit of calls, which begins anew with each report of progress. Without one, the limit is that of other tools.
    ///
    /// A call ends at the latest 10 minutes after its start, or after twice its limit if that is longer. A time limit that the host sets
    /// for all calls does not begin anew.
    #[must_use]
    pub fn with_call_timeout(mut self, timeout: Option<Duration>) -> Self {
        self.call_timeout = timeout;
        self
    }

    /// Sets whether the server may ask for messages of the host's model, and is told so. It gets them only in calls whose context has a
    /// [`Sampling`](super::Sampling). False by default.
    #[must_use]
    pub fn with_sampling(mut self, has_sampling: bool) -> Self {
        self.has_sampling = has_sampling;
        self
    }

    /// Sets the next step after the refusal of a server that requires a login, such as "run app login".
    #[must_use]
    pub fn with_login_advice(mut self, advice: impl Into<String>) -> Self {
        self.login_advice = advice.into();
        self
    }

    /// Sets a function that reviews each definition before it is registered. Without one, each call of an imported tool counts as an
    /// open-world write.
    #[must_use]
    pub fn with_review(
        self,
        review: impl Fn(Tool) -> Result<Tool, String> + Send + Sync + 'static,
    ) -> Self {
        self.with_shared_review(Arc::new(review))
    }

    /// Sets the review of each definition, such as the [pins](crate::trust::Pins) of the server.
    #[must_use]
    pub fn with_shared_review(mut self, review: Arc<dyn Review>) -> Self {
        self.review = Some(review);
        self
    }

    /// Sets definitions of an earlier connection, with the names of their tools. They are registered at once, after the review, and the
    /// server is connected by the first call. If it then has another definition of a tool, the call does not run.
    #[must_use]
    pub fn with_known(mut self, known: impl IntoIterator<Item = (ToolName, ServerTool)>) -> Self {
        self.known = known.into_iter().collect();
        self
    }

    /// Sets whether the server had resources at an earlier connection, so that the tool `mcp.resource` is there before the next one.
    #[must_use]
    pub fn with_known_resources(mut self, has_resources: bool) -> Self {
        self.has_resources = has_resources;
        self
    }
}

impl fmt::Debug for Import {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Import")
            .field("name", &self.name)
            .field("server", &self.server)
            .finish_non_exhaustive()
    }
}
