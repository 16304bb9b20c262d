//! [`Execution`]: a call under way.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use protocol::ToolResult;

use super::compute::Computed;
use crate::ToolError;

/// The future of a call. It owns everything that it needs, so it can be moved to another task; dropping it takes the call
/// back. Once it was ready it stays pending.
#[must_use = "a call does nothing until it is awaited"]
pub struct Execution(State);

enum State {
    /// A call that never waits, which needs no room of its own. `None` once it has ended.
    Computed(Option<Computed>),
    Refused(Option<ToolError>),
    Passing(Passing),
    Ended,
}

pub(super) type Outcome = Result<ToolResult, ToolError>;

/// A call that may wait.
pub(super) type Passing = Pin<Box<dyn Future<Output = Outcome> + Send>>;

impl Execution {
    pub(super) fn computed(call: Computed) -> Self {
        Self(State::Computed(Some(call)))
    }

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
            State::Computed(call) => {
                let Some(call) = call.take() else { return Poll::Pending };
                match call.run() {
                    Ok(outcome) => Poll::Ready(outcome),
                    Err(passing) => {
                        self.0 = State::Passing(passing);
                        self.poll(task)
                    }
                }
            }
        }
    }
}

impl std::fmt::Debug for Execution {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Execution").finish_non_exhaustive()
    }
}
