//! Waiting, while there is somebody to wait for and time left.

use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::task::Poll;

use tokio::runtime::Handle;
use tokio::time::{Instant, Sleep, sleep_until};

use crate::{ToolContext, ToolError};

/// What is wrong where there is no timer.
pub(super) const NO_CLOCK: &str = "a tool that waits needs a tokio runtime with its time driver enabled";

/// A timer. `None` where there is no runtime, or one without a clock: tokio panics then, and that is the caller's to mend, not to
/// die of.
pub(crate) fn timer(until: Instant) -> Option<Pin<Box<Sleep>>> {
    Handle::try_current().ok()?;
    catch_unwind(AssertUnwindSafe(|| Box::pin(sleep_until(until)))).ok()
}

/// What comes of a future that the call of `cx` has to wait for before its tool runs.
///
/// # Errors
/// [`ToolError::Cancelled`] when the caller or the call around it goes away, [`ToolError::Timeout`] at the deadline.
pub(super) async fn within<F: Future>(
    caller: &ToolContext,
    cx: &ToolContext,
    future: F,
) -> Result<F::Output, ToolError> {
    let tool = || cx.tool_text();
    let Some((deadline, limit)) = cx.call().map(|call| (call.deadline, call.limit)) else {
        return Ok(future.await);
    };
    let outer = caller.call().map(|call| call.token.clone()).unwrap_or_default();
    let mut future = pin!(future);
    let mut cancelled = pin!(caller.cancellation().cancelled());
    let mut outlived = pin!(outer.cancelled());
    let mut alarm = None;
    poll_fn(|task| {
        if let Poll::Ready(output) = future.as_mut().poll(task) {
            return Poll::Ready(Ok(output));
        }
        if cancelled.as_mut().poll(task).is_ready() || outlived.as_mut().poll(task).is_ready() {
            return Poll::Ready(Err(ToolError::Cancelled { tool: tool() }));
        }
        match alarm.get_or_insert_with(|| timer(deadline)) {
            Some(alarm) => alarm.as_mut().poll(task).map(|()| Err(ToolError::Timeout { tool: tool(), limit })),
            None => Poll::Ready(Err(ToolError::Internal { tool: tool(), message: NO_CLOCK.to_owned() })),
        }
    })
    .await
}
