//! Waiting, while there is somebody to wait for and time left.

use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};

use tokio::runtime::Handle;
use tokio::time::{Instant, Sleep, sleep_until};
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};

use crate::context::CallScope;
use crate::{ToolContext, ToolError};

/// What is wrong where there is no timer.
pub(super) const NO_CLOCK: &str = "a tool that waits needs a tokio runtime with its time driver enabled";

/// A timer. `None` where there is no runtime, or one without a clock: tokio panics then, and that is the caller's to mend, not to
/// die of.
pub(crate) fn timer(until: Instant) -> Option<Pin<Box<Sleep>>> {
    Handle::try_current().ok()?;
    catch_unwind(AssertUnwindSafe(|| Box::pin(sleep_until(until)))).ok()
}

/// What comes of a future, unless the caller or the call around it goes away first.
pub(super) async fn while_wanted<F: Future>(caller: &ToolContext, future: F) -> Option<F::Output> {
    // A caller inside of a call may bring a token of its own; the end of that call ends this one all the same.
    let outer = caller.call().map(|call| call.token().clone()).unwrap_or_default();
    caller.cancellation().run_until_cancelled(outer.run_until_cancelled(future)).await.flatten()
}

/// What comes of a future that a call has to wait for before its tool runs. It comes to nothing where the call is over by then:
/// its tool would be run for nobody.
///
/// # Errors
/// [`ToolError::Cancelled`] when the caller or the call around it goes away, [`ToolError::Timeout`] at the deadline.
pub(super) async fn within<F: Future>(call: &CallScope, future: F) -> Result<F::Output, ToolError> {
    let tool = || call.entry.name().to_string();
    let late = || ToolError::Timeout { tool: tool(), limit: call.limit };
    let mut future = pin!(future);
    let mut alarm = None;
    poll_fn(|task| {
        if let Poll::Ready(output) = future.as_mut().poll(task) {
            return Poll::Ready(match () {
                () if call.caller.is_cancelled() => Err(ToolError::Cancelled { tool: tool() }),
                () if Instant::now() >= call.deadline => Err(late()),
                () => Ok(output),
            });
        }
        alarm.get_or_insert_with(|| Alarm::new(call)).poll(task).map(|rung| {
            Err(match rung {
                Rung::Cancelled => ToolError::Cancelled { tool: tool() },
                Rung::Late => late(),
                Rung::Clockless => ToolError::Internal { tool: tool(), message: NO_CLOCK.to_owned() },
            })
        })
    })
    .await
}

/// What ends a call from outside. Set when it first waits, which most never do.
pub(super) struct Alarm {
    cancelled: Pin<Box<WaitForCancellationFutureOwned>>,
    /// A caller inside of a call may bring a token of its own; the end of that call ends this one all the same.
    outlived: Option<Pin<Box<WaitForCancellationFutureOwned>>>,
    /// Absent where there is no clock.
    timer: Option<Pin<Box<Sleep>>>,
}

/// Why it rings.
pub(super) enum Rung {
    Cancelled,
    Late,
    Clockless,
}

impl Alarm {
    pub(super) fn new(call: &CallScope) -> Self {
        let wait = |token: &CancellationToken| Box::pin(token.clone().cancelled_owned());
        let outer = call.caller.call().map(Arc::as_ref).map(CallScope::token);
        Self { cancelled: wait(call.caller.cancellation()), outlived: outer.map(wait), timer: timer(call.deadline) }
    }

    pub(super) fn poll(&mut self, task: &mut Context<'_>) -> Poll<Rung> {
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
