//! [`Execution`]: a call under way.

use std::future::{self, Future};
use std::pin::Pin;
use std::task::{Context, Poll};

use protocol::ToolResult;

use crate::ToolError;

/// The future of a call. It owns everything that it needs, so it can be moved to another task; dropping it takes the call
/// back.
#[must_use = "a call does nothing until it is awaited"]
pub struct Execution(Pin<Box<dyn Future<Output = Result<ToolResult, ToolError>> + Send>>);

impl Execution {
    pub(crate) fn new(call: impl Future<Output = Result<ToolResult, ToolError>> + Send + 'static) -> Self {
        Self(Box::pin(call))
    }

    pub(crate) fn refused(error: ToolError) -> Self {
        Self(Box::pin(future::ready(Err(error))))
    }
}

impl Future for Execution {
    type Output = Result<ToolResult, ToolError>;

    fn poll(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Self::Output> {
        self.0.as_mut().poll(task)
    }
}

impl std::fmt::Debug for Execution {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Execution").finish_non_exhaustive()
    }
}
