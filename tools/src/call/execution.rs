//! [`Execution`]: the future of a call.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use protocol::{ErrorCode, ToolResult};
use tracing::Span;

use super::record;
use super::span::CallSpan;
use crate::context::ToolContext;
use crate::tool_error::ToolError;

/// The future of a call. It owns its data, so it can move to another task. Dropping it cancels the call. After completion, further
/// polls stay pending.
#[must_use = "a call does nothing until it is awaited"]
pub struct Execution {
    state: ExecutionState,
    span: CallSpan,
}

enum ExecutionState {
    Refused(Option<ToolError>),
    Passing(Pin<Box<dyn Future<Output = Result<ToolResult, ToolError>> + Send>>),
    Ended,
}

impl Execution {
    pub(crate) fn new(
        call: impl Future<Output = Result<ToolResult, ToolError>> + Send + 'static,
    ) -> Self {
        Self {
            state: ExecutionState::Passing(Box::pin(call)),
            span: CallSpan::default(),
        }
    }

    pub(crate) fn refused(error: ToolError) -> Self {
        Self {
            state: ExecutionState::Refused(Some(error)),
            span: CallSpan::default(),
        }
    }

    pub(super) fn with_span(self, span: CallSpan) -> Self {
        Self { span, ..self }
    }

    /// Returns the span of the call, for a driver that may stop waiting for it.
    pub fn span(&self) -> CallSpan {
        self.span.clone()
    }

    /// Drops the call and ends with this error instead. If the context has a journal, it records the refusal first.
    pub fn refuse(&mut self, cx: &ToolContext, error: ToolError) {
        self.span.fail(error.code(), &error);
        self.state = match record::refuse(cx, error.tool_name(), error.code(), &error.to_string()) {
            None => ExecutionState::Refused(Some(error)),
            Some(written) => {
                ExecutionState::Passing(Box::pin(async { written.await.and(Err(error)) }))
            }
        };
    }
}

impl Future for Execution {
    type Output = Result<ToolResult, ToolError>;

    fn poll(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Self::Output> {
        match &mut self.state {
            ExecutionState::Passing(call) => {
                let outcome = ready!(call.as_mut().poll(task));
                self.state = ExecutionState::Ended;
                Poll::Ready(outcome)
            }
            // A driver may poll once more, and a panic here would end its task.
            ExecutionState::Ended => Poll::Pending,
            ExecutionState::Refused(error) => error
                .take()
                .map_or(Poll::Pending, |error| Poll::Ready(Err(error))),
        }
    }
}

/// Runs a call in its span, if it has one.
#[inline]
pub(super) fn in_span(open: CallSpan, call: Execution) -> Execution {
    if open.span.is_traced() {
        trace(open, call)
    } else {
        call
    }
}

#[cold]
fn trace(open: CallSpan, call: Execution) -> Execution {
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
        // The span is left before it is closed, so that its end is not recorded inside of itself.
        drop(inside);
        // This is a second handle, and a span stays open as long as one exists.
        *span = Span::none();
        open.end(&outcome);
        Poll::Ready(outcome)
    }
}

impl Drop for Traced {
    fn drop(&mut self) {
        if let Some(call) = self.call.take() {
            // Destructors of the tool may write events, which belong to the span of their call.
            self.span.in_scope(|| drop(call));
            // The caller dropped the future, which cancels the call.
            self.open.fail(ErrorCode::Cancelled, &ErrorCode::Cancelled);
        }
    }
}
