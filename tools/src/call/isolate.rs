//! Isolation: a tool's panic goes no further than its call.

use std::any::Any;
use std::mem::forget;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::task::{Context, Poll};

use protocol::ToolResult;

use crate::{HandlerFuture, ToolError};

/// A tool's future behind a wall: whether making it, polling it or dropping it panics, the outcome is a message.
pub(super) struct Isolated<'a>(Option<HandlerFuture<'a>>);

/// The text of a panic.
pub(super) struct Panic(pub(super) String);

impl<'a> Isolated<'a> {
    /// Makes the future.
    pub(super) fn new(make: impl FnOnce() -> HandlerFuture<'a>) -> Result<Self, Panic> {
        catching(make).map(|future| Self(Some(future)))
    }

    /// Polls it. Once it is ready, or has panicked, it is gone; polling it again stays pending.
    pub(super) fn poll(&mut self, task: &mut Context<'_>) -> Poll<Result<Result<ToolResult, ToolError>, Panic>> {
        let Some(future) = &mut self.0 else { return Poll::Pending };
        let outcome = match catching(|| future.as_mut().poll(task)) {
            Ok(Poll::Pending) => return Poll::Pending,
            Ok(Poll::Ready(result)) => Ok(result),
            Err(panic) => Err(panic),
        };
        // A panic while its remains are dropped counts like one while it ran, unless that one came first.
        Poll::Ready(match (outcome, self.discard()) {
            (Ok(_), Err(panic)) => Err(panic),
            (outcome, _) => outcome,
        })
    }

    /// Drops the future.
    fn discard(&mut self) -> Result<(), Panic> {
        let future = self.0.take();
        catching(|| drop(future))
    }
}

impl Drop for Isolated<'_> {
    fn drop(&mut self) {
        // The call has its outcome already (a timeout, a cancellation), and the panic hook has reported this one.
        let _ = self.discard();
    }
}

/// What a panic said. Its payload may itself panic when it is dropped; one that does is leaked.
pub(crate) fn panic_message(payload: Box<dyn Any + Send>) -> String {
    let message = match (payload.downcast_ref::<&str>(), payload.downcast_ref::<String>()) {
        (Some(text), _) => (*text).to_owned(),
        (None, Some(text)) => text.clone(),
        (None, None) => "a panic without a message".to_owned(),
    };
    if let Err(second) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
        forget(second);
    }
    message
}

/// Unwind safety is asserted: what a panic leaves half done is the tool's own and is dropped, never used again.
fn catching<T>(run: impl FnOnce() -> T) -> Result<T, Panic> {
    catch_unwind(AssertUnwindSafe(run)).map_err(|payload| Panic(panic_message(payload)))
}
