//! Run: one deadline, a cancellation that reaches the tool, isolation of panics.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;

use protocol::ToolResult;
use tokio::time::Instant;

use super::clock::{Alarm, NO_CLOCK, Rung};
use super::isolate::{Isolated, Panic};
use crate::context::CallScope;
use crate::{Entry, Input, ToolContext, ToolError, layer};

/// Runs the handler. However this ends, also by being dropped, the tool's token is cancelled, which is how a blocking tool
/// learns that nobody waits for it any more. What comes after the end is dropped.
pub(super) async fn run(entry: &Entry, cx: ToolContext, arguments: Input) -> Result<ToolResult, ToolError> {
    let call = cx.running()?.clone();
    let tool = || entry.name().to_string();
    let panicked = |Panic(message)| ToolError::Panicked { tool: tool(), message };
    let timeout = || ToolError::Timeout { tool: tool(), limit: call.limit };

    let _stop = Stop(&call);
    let layers = call.caller.layers();
    let mut handler = pin!(Isolated::new(|| layer::call(layers, entry.handler(), cx, arguments)));
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
                Poll::Ready(Err(ToolError::Internal { tool: tool(), message: NO_CLOCK.to_owned() }))
            }
        }
    })
    .await
}

/// A tool that says it was cancelled when nobody did that, or that the machinery around it is broken, has failed: none of that is
/// its to say, and it would end the whole run.
fn own_failure(entry: &Entry, error: ToolError) -> ToolError {
    match error {
        ToolError::Cancelled { .. } | ToolError::Diverged { .. } | ToolError::Internal { .. } => {
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
