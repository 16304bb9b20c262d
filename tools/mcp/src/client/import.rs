//! [`Import`]: the settings of an import.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use tools::{Tool, ToolName};

use crate::client::review::Review;
use crate::client::server::Server;
use crate::client::server_name::ServerName;
use crate::client::server_tool::ServerTool;

/// The settings of an import: a server, its name and the host's decisions about its tools.
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

    /// Creates the import of a server under a name.
    pub fn new(name: ServerName, server: impl Into<Server>) -> Self {
        Self {
            name,
            server: server.into(),
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
    pub fn with_call_timeout(self, timeout: Option<Duration>) -> Self {
        Self {
            call_timeout: timeout,
            ..self
        }
    }

    /// Sets whether the server may ask for messages of the host's model, and is told so. It gets them only in calls whose context has a
    /// [`Sampling`](super::Sampling). False by default.
    #[must_use]
    pub fn with_sampling(self, has_sampling: bool) -> Self {
        Self {
            has_sampling,
            ..self
        }
    }

    /// Sets the next step after the refusal of a server that requires a login, such as "run app login".
    #[must_use]
    pub fn with_login_advice(self, advice: impl Into<String>) -> Self {
        Self {
            login_advice: advice.into(),
            ..self
        }
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
    pub fn with_shared_review(self, review: Arc<dyn Review>) -> Self {
        Self {
            review: Some(review),
            ..self
        }
    }

    /// Sets definitions of an earlier connection, with the names of their tools. They are registered at once, after the review, and the
    /// server is connected by the first call. If it then has another definition of a tool, the call does not run.
    #[must_use]
    pub fn with_known(self, known: impl IntoIterator<Item = (ToolName, ServerTool)>) -> Self {
        Self {
            known: known.into_iter().collect(),
            ..self
        }
    }

    /// Sets whether the server had resources at an earlier connection, so that the tool `mcp.resource` is there before the next one.
    #[must_use]
    pub fn with_known_resources(self, has_resources: bool) -> Self {
        Self {
            has_resources,
            ..self
        }
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
