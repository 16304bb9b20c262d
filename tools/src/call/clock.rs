//! Waiting that ends at cancellation and at the deadline.

use std::future::{Future, pending, poll_fn};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};

use tokio::time::{Instant, Sleep};
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};

use crate::context::{CallScope, ToolContext};
use crate::handler::ConnectFuture;
use crate::isolate::{Isolated, Panic};
use crate::timer::timer;
use crate::tool_error::{ToolError, ToolErrorKind};

/// The message of calls that need a timer without a clock.
const NO_CLOCK: &str = "a tool that waits needs a tokio runtime with its time driver enabled";

/// Returns the output of a future, or `None` if the caller cancels or the outer call ends first.
pub(super) async fn until_cancelled<F: Future>(
    caller: &ToolContext,
    future: F,
) -> Option<F::Output> {
    // A nested call can have a token of its own, but still ends with the outer call.
    let outer = caller
        .call()
        .map(|call| call.token().clone())
        .unwrap_or_default();
    caller
        .cancellation()
        .run_until_cancelled(outer.run_until_cancelled(future))
        .await
        .flatten()
}

/// The reason that a person gave no answer.
pub(super) enum NoAnswer {
    /// The caller cancelled, or the outer call ended.
    Cancelled,
    /// The time limit passed.
    Late,
}

/// Waits for the answer of a person until `by`, or without a limit if there is no clock.
///
/// # Errors
/// Returns the reason if there is no answer.
pub(super) async fn until_answered<F: Future>(
    cx: &ToolContext,
    by: Instant,
    answer: F,
) -> Result<F::Output, NoAnswer> {
    let answered = by_time(by, until_cancelled(cx, answer)).await;
    answered.ok_or(NoAnswer::Late)?.ok_or(NoAnswer::Cancelled)
}

/// Awaits a future. Returns `None` if the time comes first.
pub(super) async fn by_time<F: Future>(by: Instant, future: F) -> Option<F::Output> {
    let mut future = pin!(future);
    let mut late = pin!(until(by));
    poll_fn(|task| match future.as_mut().poll(task) {
        Poll::Ready(output) => Poll::Ready(Some(output)),
        Poll::Pending => late.as_mut().poll(task).map(|()| None),
    })
    .await
}

/// Waits until `by`. Never completes if there is no clock.
async fn until(by: Instant) {
    match timer(by) {
        Some(timer) => timer.await,
        None => pending().await,
    }
}

/// Waits for a future before the tool runs. If the call has ended by then, the output is discarded, because the caller no longer
/// waits for the tool.
///
/// # Errors
/// - [`ToolErrorKind::Cancelled`] if the caller cancels or the outer call ends.
/// - [`ToolErrorKind::Timeout`] at the deadline.
pub(super) async fn before_deadline<F: Future>(
    call: &CallScope,
    future: F,
) -> Result<F::Output, ToolErrorKind> {
    let mut future = pin!(future);
    let mut alarm = None;
    poll_fn(|task| {
        if let Poll::Ready(output) = future.as_mut().poll(task) {
            // The future may have blocked beyond the deadline, before its timer could fire.
            return Poll::Ready(end_reason(call, Instant::now()).map_or(Ok(output), Err));
        }
        alarm
            .get_or_insert_with(|| Alarm::new(call))
            .poll(call, task)
            .map(Err)
    })
    .await
}

/// Returns the error of a call that was cancelled or is past its deadline, or `None` if it continues. `now` is read from the clock, because
/// a busy tool can prevent a timer from firing.
pub(super) fn end_reason(call: &CallScope, now: Instant) -> Option<ToolErrorKind> {
    if call.caller.is_cancelled() {
        return Some(ToolErrorKind::Cancelled);
    }
    (now >= call.deadline.at()).then(|| late(call))
}

/// Wakes a waiting call at cancellation or its deadline. Created when the call first waits, which most calls never do.
pub(super) struct Alarm {
    cancelled: Pin<Box<WaitForCancellationFutureOwned>>,
    /// The end of the outer call. A nested call can have a token of its own, but still ends with the outer call.
    outlived: Option<Pin<Box<WaitForCancellationFutureOwned>>>,
    /// `None` if there is no clock.
    timer: Option<Pin<Box<Sleep>>>,
}

impl Alarm {
    pub(super) fn new(call: &CallScope) -> Self {
        let outer = call.caller.call().map(Arc::as_ref).map(CallScope::token);
        Self {
            cancelled: wait_cancelled(call.caller.cancellation()),
            outlived: outer.map(wait_cancelled),
            timer: timer(call.deadline.at()),
        }
    }

    /// Completes with the call's error at cancellation or its deadline.
    pub(super) fn poll(&mut self, call: &CallScope, task: &mut Context<'_>) -> Poll<ToolErrorKind> {
        let outlived = self
            .outlived
            .as_mut()
            .is_some_and(|outlived| outlived.as_mut().poll(task).is_ready());
        if self.cancelled.as_mut().poll(task).is_ready() || outlived {
            return Poll::Ready(ToolErrorKind::Cancelled);
        }
        match &mut self.timer {
            Some(timer) => {
                // A question to a person moves the deadline.
                let deadline = call.deadline.watch(task);
                if timer.deadline() != deadline {
                    timer.as_mut().reset(deadline);
                }
                timer.as_mut().poll(task).map(|()| late(call))
            }
            None => Poll::Ready(ToolErrorKind::internal(NO_CLOCK)),
        }
    }
}

fn wait_cancelled(token: &CancellationToken) -> Pin<Box<WaitForCancellationFutureOwned>> {
    Box::pin(token.clone().cancelled_owned())
}

fn late(call: &CallScope) -> ToolErrorKind {
    ToolErrorKind::Timeout { limit: call.limit }
}

/// Waits until a call can be handed over. An intent is recorded after it, so a call without an intent has surely no effect.
///
/// Waits for the handler until the call's deadline or cancellation, and catches its panics.
pub(super) async fn connect(
    call: &CallScope,
    connecting: ConnectFuture<'_>,
) -> Result<(), ToolError> {
    match before_deadline(call, Isolated::new(|| connecting)).await? {
        Ok(connected) => connected,
        Err(Panic(message)) => Err(ToolErrorKind::Panicked { message }.into()),
    }
}
