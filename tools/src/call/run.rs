//! Run: calls the handler with a deadline, a cancellation token and panic isolation.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::time::Instant;

use super::clock::{Alarm, end_reason};
use crate::context::{CallScope, ToolContext};
use crate::entry::Entry;
use crate::handler::HandlerFuture;
use crate::input::Input;
use crate::isolate::{Isolated, Panic};
use crate::layer;
use crate::tool_error::{ToolError, ToolErrorKind};

/// Runs the layers and the handler. When the future completes or is dropped, it cancels the tool's token, so that a blocking tool can
/// stop. A result after the end of the call is discarded.
pub(super) fn run<'a>(
    entry: &'a Entry,
    call: &'a CallScope,
    cx: ToolContext,
    arguments: Input,
) -> Run<'a, HandlerFuture<'a>> {
    Run::new(call, Some(entry), || {
        layer::call(call.caller.layers(), entry.handler(), cx, arguments)
    })
}

/// A running handler or preview. Written by hand, because an async block would store the arguments twice.
pub(super) struct Run<'a, F> {
    call: &'a CallScope,
    alarm: Option<Alarm>,
    /// The creation of the handler's future, until the first poll, which follows at once.
    since: Option<Instant>,
    handler: Isolated<F>,
    /// The tool whose handler this is. A preview has no effects.
    entry: Option<&'a Entry>,
    /// Declared last, because it must be dropped after the handler.
    _stop: Stop<'a>,
}

impl<'a, F: Future + Unpin> Run<'a, F> {
    pub(super) fn new(
        call: &'a CallScope,
        entry: Option<&'a Entry>,
        make: impl FnOnce() -> F,
    ) -> Self {
        let stop = Stop(call);
        Self {
            call,
            alarm: None,
            since: Some(Instant::now()),
            handler: Isolated::new(make),
            entry,
            _stop: stop,
        }
    }
}

impl<T, F: Future<Output = Result<T, ToolError>> + Unpin> Future for Run<'_, F> {
    type Output = Result<T, ToolError>;

    fn poll(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        let since = this.since.take().unwrap_or_else(Instant::now);
        let polled = Pin::new(&mut this.handler).poll(task);
        // The clock is read once, because a read takes a part of a short call.
        let now = Instant::now();
        if let Some(entry) = this.entry {
            entry.note_hold(now - since);
        }
        let outcome = match polled {
            // A panic is reported even after the deadline: it is a fault of the tool, not a late result.
            Poll::Ready(Err(Panic(message))) => {
                return Poll::Ready(Err(ToolErrorKind::Panicked { message }.into()));
            }
            Poll::Ready(Ok(result)) => Some(result),
            Poll::Pending => None,
        };
        // After the end, a result is dropped even if it is here: a driver may have stopped waiting and answered the model.
        let kind = match (end_reason(this.call, now), outcome) {
            (Some(kind), _) => kind,
            (None, Some(result)) => return Poll::Ready(result.map_err(own_failure)),
            (None, None) => {
                let alarm = this.alarm.get_or_insert_with(|| Alarm::new(this.call));
                ready!(alarm.poll(this.call, task))
            }
        };
        let mut error = ToolError::from(kind);
        // A call that was stopped may have taken effect, and must then not be repeated.
        let effects = this.entry.map(|entry| &entry.tool().effects);
        if effects.is_some_and(|effects| !effects.is_idempotent()) {
            error = error.with_unclear_effects();
        }
        Poll::Ready(Err(error))
    }
}

/// Demotes `Cancelled`, `Diverged` and `Internal` returned by a tool to `ExecutionFailed`: only the pipeline may report them,
/// because they end the run.
fn own_failure(error: ToolError) -> ToolError {
    if error.is_recoverable() {
        error
    } else {
        ToolError::execution_failed(error.to_string())
    }
}

/// Ends the call when it is dropped.
struct Stop<'a>(&'a CallScope);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.end();
    }
}
