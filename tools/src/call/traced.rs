//! Runs a call in its span.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use protocol::{ErrorCode, ToolResult};
use tracing::Span;

use super::execution::Execution;
use super::span::CallSpan;
use crate::ToolError;

/// Runs a call in its span, if it has one.
#[inline]
pub(super) fn in_span(open: CallSpan, call: Execution) -> Execution {
    if open.span.is_traced() {
        traced(open, call)
    } else {
        call
    }
}

#[cold]
fn traced(open: CallSpan, call: Execution) -> Execution {
    let span = if open.is_own {
        open.span.get()
    } else {
        Span::none()
    };
    Execution::new(Traced {
        span,
        open: open.clone(),
        call: Some(call),
    })
    .with_span(open)
}

/// A call that enters its span during each poll.
struct Traced {
    span: Span,
    open: CallSpan,
    /// `None` after completion.
    call: Option<Execution>,
}

impl Future for Traced {
    type Output = Result<ToolResult, ToolError>;

    fn poll(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Self::Output> {
        let Self { span, open, call } = &mut *self;
        let Some(running) = call else {
            return Poll::Pending;
        };
        let inside = span.enter();
        let outcome = ready!(Pin::new(running).poll(task));
        *call = None;
        drop(inside);
        *span = Span::none();
        open.end(&outcome);
        Poll::Ready(outcome)
    }
}

impl Drop for Traced {
    fn drop(&mut self) {
        if let Some(call) = self.call.take() {
            self.span.in_scope(|| drop(call));
            // The caller dropped the future, which cancels the call.
            self.open.fail(ErrorCode::Cancelled, &ErrorCode::Cancelled);
        }
    }
}
