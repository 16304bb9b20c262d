//! Run: one deadline, a cancellation that reaches the tool, isolation of panics.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use protocol::ToolResult;
use tokio::time::Instant;

use super::clock::{Alarm, NO_CLOCK, Rung};
use super::isolate::{Isolated, Panic};
use crate::context::CallScope;
use crate::{Entry, HandlerFuture, Input, ToolContext, ToolError, layer};

/// Runs the handler. However this ends, also by being dropped, the tool's token is cancelled, which is how a blocking tool
/// learns that nobody waits for it any more. What comes after the end is dropped.
pub(super) fn run<'a>(entry: &'a Entry, call: &'a CallScope, cx: ToolContext, arguments: Input) -> Run<'a> {
    let stop = Stop(call);
    let handler = Isolated::new(|| layer::call(call.caller.layers(), entry.handler(), cx, arguments));
    Run { entry, call, alarm: None, handler, _stop: stop }
}

/// A handler that runs. Written out, and not by the compiler: that would keep the arguments twice.
pub(super) struct Run<'a> {
    entry: &'a Entry,
    call: &'a CallScope,
    alarm: Option<Alarm>,
    handler: Isolated<HandlerFuture<'a>>,
    /// The last to be dropped.
    _stop: Stop<'a>,
}

impl Future for Run<'_> {
    type Output = Result<ToolResult, ToolError>;

    fn poll(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Self::Output> {
        let Self { entry, call, alarm, handler, .. } = &mut *self;
        let (entry, call) = (*entry, *call);
        let tool = || entry.name().to_string();
        let timeout = || ToolError::Timeout { tool: tool(), limit: call.limit };

        // A panic is told even when it comes late: it is news of the tool, and not a result.
        let outcome = match Pin::new(handler).poll(task) {
            Poll::Ready(Err(Panic(message))) => return Poll::Ready(Err(ToolError::Panicked { tool: tool(), message })),
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
        alarm.get_or_insert_with(|| Alarm::new(call)).poll(task).map(|rung| {
            Err(match rung {
                Rung::Cancelled => ToolError::Cancelled { tool: tool() },
                Rung::Late => timeout(),
                Rung::Clockless => ToolError::Internal { tool: tool(), message: NO_CLOCK.to_owned() },
            })
        })
    }
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
