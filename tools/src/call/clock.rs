//! Waiting, while there is somebody to wait for and time left.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};

use tokio::time::{Instant, Sleep};
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};

use crate::context::CallScope;
use crate::timer::timer;
use crate::{ToolContext, ToolErrorKind};

/// What is wrong where there is no timer.
const NO_CLOCK: &str = "a tool that waits needs a tokio runtime with its time driver enabled";

/// What comes of a future, unless the caller or the call around it goes away first.
pub(super) async fn until_cancelled<F: Future>(caller: &ToolContext, future: F) -> Option<F::Output> {
    // A caller inside of a call may bring a token of its own; the end of that call ends this one all the same.
    let outer = caller.call().map(|call| call.token().clone()).unwrap_or_default();
    caller.cancellation().run_until_cancelled(outer.run_until_cancelled(future)).await.flatten()
}

/// What comes of a future that a call has to wait for before its tool runs. It comes to nothing where the call is over by then:
/// its tool would be run for nobody.
///
/// # Errors
/// [`ToolErrorKind::Cancelled`] when the caller or the call around it goes away, [`ToolErrorKind::Timeout`] at the deadline.
pub(super) async fn before_deadline<F: Future>(call: &CallScope, future: F) -> Result<F::Output, ToolErrorKind> {
    let mut future = pin!(future);
    let mut alarm = None;
    poll_fn(|task| {
        if let Poll::Ready(output) = future.as_mut().poll(task) {
            return Poll::Ready(end_reason(call).map_or(Ok(output), Err));
        }
        alarm.get_or_insert_with(|| Alarm::new(call)).poll(call, task).map(Err)
    })
    .await
}

/// Why nobody waits for a call any more, if so. The clock is read itself: what is always busy can keep a timer from being polled
/// with effect.
pub(super) fn end_reason(call: &CallScope) -> Option<ToolErrorKind> {
    if call.caller.is_cancelled() {
        return Some(ToolErrorKind::Cancelled);
    }
    (Instant::now() >= call.deadline).then(|| late(call))
}

/// What ends a call from outside. Set when it first waits, which most never do.
pub(super) struct Alarm {
    cancelled: Pin<Box<WaitForCancellationFutureOwned>>,
    /// A caller inside of a call may bring a token of its own; the end of that call ends this one all the same.
    outlived: Option<Pin<Box<WaitForCancellationFutureOwned>>>,
    /// Absent where there is no clock.
    timer: Option<Pin<Box<Sleep>>>,
}

impl Alarm {
    pub(super) fn new(call: &CallScope) -> Self {
        let wait = |token: &CancellationToken| Box::pin(token.clone().cancelled_owned());
        let outer = call.caller.call().map(Arc::as_ref).map(CallScope::token);
        Self { cancelled: wait(call.caller.cancellation()), outlived: outer.map(wait), timer: timer(call.deadline) }
    }

    /// The end of the call whose alarm it is, when that has come.
    pub(super) fn poll(&mut self, call: &CallScope, task: &mut Context<'_>) -> Poll<ToolErrorKind> {
        let outlived = self.outlived.as_mut().is_some_and(|outlived| outlived.as_mut().poll(task).is_ready());
        if self.cancelled.as_mut().poll(task).is_ready() || outlived {
            return Poll::Ready(ToolErrorKind::Cancelled);
        }
        match &mut self.timer {
            Some(timer) => timer.as_mut().poll(task).map(|()| late(call)),
            None => Poll::Ready(ToolErrorKind::Internal { message: NO_CLOCK.to_owned() }),
        }
    }
}

fn late(call: &CallScope) -> ToolErrorKind {
    ToolErrorKind::Timeout { limit: call.limit }
}
