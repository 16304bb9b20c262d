//! [`Import`]: the settings of an import.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use tools::Tool;

use super::{Server, ServerName};

/// A host's decision about a definition before it is registered: the definition, perhaps with other effects, limits or tags, or the
/// reason why it must not be registered. Changes of the name and of former names have no effect.
pub type Review = dyn Fn(Tool) -> Result<Tool, String> + Send + Sync;

/// The settings of an import: a server, its name and the host's decisions about its tools.
#[derive(Clone)]
pub struct Import {
    pub(super) name: ServerName,
    pub(super) server: Server,
    pub(super) timeout: Duration,
    pub(super) review: Option<Arc<Review>>,
    pub(super) has_sampling: bool,
}

impl Import {
    /// The default of [`with_connect_timeout`](Self::with_connect_timeout).
    pub const DEFAULT_CONNECT_TIMEOUT: Duration = Duration::from_secs(30);

    /// Creates the import of a server under a name.
    pub fn new(name: ServerName, server: impl Into<Server>) -> Self {
        Self { name, server: server.into(), timeout: Self::DEFAULT_CONNECT_TIMEOUT, review: None, has_sampling: false }
    }

    /// Sets the time limit of each attempt to connect.
    #[must_use]
    pub fn with_connect_timeout(self, timeout: Duration) -> Self {
        Self { timeout, ..self }
    }

    /// Sets whether the server is told that it may ask for messages of the host's model. It gets them only in calls whose context has a
    /// [`Sampling`](super::Sampling). False by default.
    #[must_use]
    pub fn with_sampling(self, has_sampling: bool) -> Self {
        Self { has_sampling, ..self }
    }

    /// Sets a function that sees each definition before it is registered. Without one, each call of an imported tool counts as an
    /// open-world write.
    #[must_use]
    pub fn with_review(self, review: impl Fn(Tool) -> Result<Tool, String> + Send + Sync + 'static) -> Self {
        Self { review: Some(Arc::new(review)), ..self }
    }
}

impl fmt::Debug for Import {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Import").field("name", &self.name).field("server", &self.server).finish_non_exhaustive()
    }
}
