//! [`AbsentTools`]: the reasons why a host's tools are absent.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use crate::context::ToolContext;
use crate::tool_error::{ToolError, ToolErrorKind};

type ReasonFuture = Pin<Box<dyn Future<Output = Option<String>> + Send>>;

/// A service of a context that knows tools which a session does not have, such as one that waits for approval.
///
/// A call to a name without a tool asks it for the reason, and then ends as [`Unavailable`](ToolErrorKind::Unavailable) instead of
/// [`NotFound`](ToolErrorKind::NotFound).
#[derive(Clone)]
pub struct AbsentTools(Arc<dyn Fn(&str) -> ReasonFuture + Send + Sync>);

impl AbsentTools {
    /// Creates the service from a function from a name to the reason, with the next step. It returns `None` for a name that it does not know.
    pub fn new<F>(reason: impl Fn(&str) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Option<String>> + Send + 'static,
    {
        Self(Arc::new(move |name| Box::pin(reason(name))))
    }

    /// Returns the service of a context for an error about an unknown name.
    pub(crate) fn for_error(cx: &ToolContext, error: &ToolError) -> Option<Arc<Self>> {
        // A conflict and a failed build have better reasons of their own.
        if matches!(error.kind(), ToolErrorKind::NotFound { .. }) {
            cx.services().get()
        } else {
            None
        }
    }

    /// Returns the error with the reason, if there is one.
    pub(crate) async fn explain(&self, error: ToolError) -> ToolError {
        match (self.0)(error.tool_name()).await {
            Some(reason) => {
                ToolError::new(error.tool_name(), ToolErrorKind::Unavailable { reason })
            }
            None => error,
        }
    }
}
