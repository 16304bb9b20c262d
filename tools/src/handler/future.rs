//! [`HandlerFuture`]: the future of a handler's result.

use std::future::{self, Future};
use std::pin::Pin;
use std::task::{Context, Poll};

use protocol::ToolResult;

use crate::ToolError;

/// The future of a handler's result, which can be ready at once without an allocation.
///
/// ```
/// use tools::{HandlerFuture, ToolResult};
///
/// let at_once = HandlerFuture::ready(Ok(ToolResult::text("done")));
/// let later = HandlerFuture::new(async { Ok(ToolResult::text("done")) });
/// ```
#[must_use = "a handler does nothing until it is awaited"]
pub struct HandlerFuture<'a>(FutureState<'a>);

enum FutureState<'a> {
    /// The result of a synchronous tool, without an allocation.
    Ready(future::Ready<Outcome>),
    Later(Pin<Box<dyn Future<Output = Outcome> + Send + 'a>>),
}

type Outcome = Result<ToolResult, ToolError>;

impl<'a> HandlerFuture<'a> {
    /// Wraps a future.
    pub fn new(future: impl Future<Output = Result<ToolResult, ToolError>> + Send + 'a) -> Self {
        Self(FutureState::Later(Box::pin(future)))
    }

    /// Wraps a result that is ready.
    pub fn ready(outcome: Result<ToolResult, ToolError>) -> Self {
        Self(FutureState::Ready(future::ready(outcome)))
    }
}

impl<'a> From<Pin<Box<dyn Future<Output = Result<ToolResult, ToolError>> + Send + 'a>>>
    for HandlerFuture<'a>
{
    fn from(
        future: Pin<Box<dyn Future<Output = Result<ToolResult, ToolError>> + Send + 'a>>,
    ) -> Self {
        Self(FutureState::Later(future))
    }
}

impl Future for HandlerFuture<'_> {
    type Output = Result<ToolResult, ToolError>;

    fn poll(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Self::Output> {
        match &mut self.0 {
            FutureState::Ready(outcome) => Pin::new(outcome).poll(task),
            FutureState::Later(future) => future.as_mut().poll(task),
        }
    }
}
