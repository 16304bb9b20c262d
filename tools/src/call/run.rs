//! Run: one deadline, a cancellation that reaches the tool, isolation of panics.

use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};

use protocol::ToolResult;
use tokio::time::{Instant, Sleep, sleep_until};
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};

use super::isolate::{Isolated, Panic};
use crate::context::CallScope;
use crate::{Entry, Input, ToolContext, ToolError};

/// Runs the handler. However this ends, also by being dropped, the tool's token is cancelled, which is how a blocking tool
/// learns that nobody waits for it any more. What comes after the end is dropped.
pub(super) async fn run(entry: &Entry, cx: ToolContext, arguments: Input) -> Result<ToolResult, ToolError> {
    let Some(call) = cx.call().cloned() else {
        return Err(ToolError::internal(&cx, "the counter was entered without a call; this is a fault of Toolcrib"));
    };
    let tool = || entry.name().to_string();
    let panicked = |Panic(message)| ToolError::Panicked { tool: tool(), message };
    let timeout = || ToolError::Timeout { tool: tool(), limit: call.limit };

    let _stop = Stop(&call);
    let mut handler = pin!(Isolated::new(|| entry.handler().call(cx, arguments)));
    let mut alarm: Option<Alarm> = None;

    poll_fn(|task| {
        // A panic is told even when it comes late: it is news of the tool, and not a result.
        let outcome = match handler.as_mut().poll(task) {
            Poll::Ready(Err(panic)) => return Poll::Ready(Err(panicked(panic))),
            Poll::Ready(Ok(result)) => Some(result),
            Poll::Pending => None,
        };
        if call.caller.is_cancelled() {
            return Poll::Ready(Err(ToolError::Cancelled { tool: tool() }));
        }
        // The clock is read itself, too: a tool that is always busy can keep the timer from being polled with effect.
        if Instant::now() >= call.deadline {
            return Poll::Ready(Err(timeout()));
        }
        if let Some(result) = outcome {
            return Poll::Ready(result.map_err(|error| own_failure(entry, error)));
        }
        match alarm.get_or_insert_with(|| Alarm::new(&call)).poll(task) {
            Poll::Pending => Poll::Pending,
            Poll::Ready(Rung::Cancelled) => Poll::Ready(Err(ToolError::Cancelled { tool: tool() })),
            Poll::Ready(Rung::Late) => Poll::Ready(Err(timeout())),
            Poll::Ready(Rung::Clockless) => {
                let message = "a tool that waits needs a tokio runtime with its time driver enabled".to_owned();
                Poll::Ready(Err(ToolError::Internal { tool: tool(), message }))
            }
        }
    })
    .await
}

/// A tool that says it was cancelled when nobody did that, or that the machinery around it is broken, has failed: neither is
/// its to say, and both would end the whole run.
fn own_failure(entry: &Entry, error: ToolError) -> ToolError {
    match error {
        ToolError::Cancelled { .. } | ToolError::Internal { .. } => {
            ToolError::ExecutionFailed { tool: entry.name().to_string(), message: error.to_string() }
        }
        error => error,
    }
}

/// Ends the call when it is dropped.
struct Stop<'a>(&'a CallScope);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.end();
    }
}

/// What ends a call from outside. Set when a tool first waits, which most never do.
struct Alarm {
    cancelled: Pin<Box<WaitForCancellationFutureOwned>>,
    /// A caller inside of a call may bring a token of its own; the end of that call ends this one all the same.
    outlived: Option<Pin<Box<WaitForCancellationFutureOwned>>>,
    /// Absent where there is no clock.
    timer: Option<Pin<Box<Sleep>>>,
}

enum Rung {
    Cancelled,
    Late,
    Clockless,
}

impl Alarm {
    fn new(call: &CallScope) -> Self {
        let wait = |token: &CancellationToken| Box::pin(token.clone().cancelled_owned());
        // tokio panics where there is no runtime, or one without a clock; that is the caller's to mend, not to die of.
        let timer = tokio::runtime::Handle::try_current()
            .ok()
            .and_then(|_| catch_unwind(AssertUnwindSafe(|| Box::pin(sleep_until(call.deadline)))).ok());
        let outer = call.caller.call().map(Arc::as_ref).map(CallScope::token);
        Self { cancelled: wait(call.caller.cancellation()), outlived: outer.map(wait), timer }
    }

    fn poll(&mut self, task: &mut Context<'_>) -> Poll<Rung> {
        let outlived = self.outlived.as_mut().is_some_and(|outlived| outlived.as_mut().poll(task).is_ready());
        if self.cancelled.as_mut().poll(task).is_ready() || outlived {
            return Poll::Ready(Rung::Cancelled);
        }
        match &mut self.timer {
            Some(timer) => timer.as_mut().poll(task).map(|()| Rung::Late),
            None => Poll::Ready(Rung::Clockless),
        }
    }
}
