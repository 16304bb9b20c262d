//! [`Execution`]: the future of a call.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use protocol::ToolResult;

use crate::ToolError;

/// The future of a call. It owns its data, so it can move to another task. Dropping it cancels the call. After completion, further
/// polls stay pending.
#[must_use = "a call does nothing until it is awaited"]
pub struct Execution(State);

enum State {
    Refused(Option<ToolError>),
    Passing(Pin<Box<dyn Future<Output = Result<ToolResult, ToolError>> + Send>>),
    Ended,
}

impl Execution {
    pub(crate) fn new(call: impl Future<Output = Result<ToolResult, ToolError>> + Send + 'static) -> Self {
        Self(State::Passing(Box::pin(call)))
    }

    pub(crate) fn refused(error: ToolError) -> Self {
        Self(State::Refused(Some(error)))
    }
}

impl Future for Execution {
    type Output = Result<ToolResult, ToolError>;

    fn poll(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Self::Output> {
        match &mut self.0 {
            State::Passing(call) => {
                let outcome = ready!(call.as_mut().poll(task));
                self.0 = State::Ended;
                Poll::Ready(outcome)
            }
            State::Ended => Poll::Pending,
            State::Refused(error) => error.take().map_or(Poll::Pending, |error| Poll::Ready(Err(error))),
        }
    }
}

impl std::fmt::Debug for Execution {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Execution").finish_non_exhaustive()
    }
}
