//! Run: one deadline, a cancellation that reaches the tool, isolation of panics.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::task::{Context, Poll};

use protocol::ToolResult;
use serde_json::Value;
use tokio::time::{Instant, Sleep};

use super::clock::NO_CLOCK;
use super::isolate::{Isolated, Panic};
use crate::{Entry, ToolContext, ToolError, layer};

/// Runs the handler. However this ends, also by being dropped, the tool's token is cancelled, which is how a blocking tool
/// learns that nobody waits for it any more. What comes after the end is dropped.
pub(super) async fn run(
    entry: &Entry,
    caller: &ToolContext,
    cx: ToolContext,
    arguments: Value,
) -> Result<ToolResult, ToolError> {
    let Some((deadline, limit)) = cx.call().map(|call| (call.deadline, call.limit)) else {
        return Err(ToolError::internal(&cx, "the counter was entered without a call; this is a fault of Toolcrib"));
    };
    let tool = || entry.name().to_string();
    let panicked = |Panic(message)| ToolError::Panicked { tool: tool(), message };
    let timeout = || ToolError::Timeout { tool: tool(), limit };

    let _stop = cx.cancellation().clone().drop_guard();
    let mut handler = pin!(Isolated::new(|| layer::call(caller.layers(), entry.handler(), cx, arguments)));
    // A caller inside of a call may bring a token of its own; the end of that call ends this one all the same.
    let outer = caller.call().map(|call| call.token.clone()).unwrap_or_default();
    let mut cancelled = pin!(caller.cancellation().cancelled());
    let mut outlived = pin!(outer.cancelled());
    let mut timer: Option<Pin<Box<Sleep>>> = None;

    poll_fn(|task| {
        // A panic is told even when it comes late: it is news of the tool, and not a result.
        let outcome = match handler.as_mut().poll(task) {
            Poll::Ready(Err(panic)) => return Poll::Ready(Err(panicked(panic))),
            Poll::Ready(Ok(result)) => Some(result),
            Poll::Pending => None,
        };
        if cancelled.as_mut().poll(task).is_ready() || outlived.as_mut().poll(task).is_ready() {
            return Poll::Ready(Err(ToolError::Cancelled { tool: tool() }));
        }
        // The clock is read itself, too: a tool that is always busy can keep the timer from being polled with effect.
        if Instant::now() >= deadline {
            return Poll::Ready(Err(timeout()));
        }
        match outcome {
            Some(result) => Poll::Ready(result.map_err(|error| own_failure(entry, error))),
            None => rung(&mut timer, deadline, task).map(|rung| match rung {
                Ok(()) => Err(timeout()),
                Err(message) => Err(ToolError::Internal { tool: tool(), message: message.to_owned() }),
            }),
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

/// Whether the deadline has passed. The timer is armed when a tool first waits, which most never do.
fn rung(
    timer: &mut Option<Pin<Box<Sleep>>>,
    deadline: Instant,
    task: &mut Context<'_>,
) -> Poll<Result<(), &'static str>> {
    if timer.is_none() {
        match super::clock::timer(deadline) {
            Some(armed) => *timer = Some(armed),
            None => return Poll::Ready(Err(NO_CLOCK)),
        }
    }
    match timer {
        Some(timer) => timer.as_mut().poll(task).map(Ok),
        None => Poll::Pending,
    }
}
