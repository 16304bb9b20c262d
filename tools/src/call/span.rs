//! Span: the `tracing` span of a call, from resolving the tool to the bounded result.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use protocol::{ErrorCode, ToolName, ToolResult};
use tracing::field::{Empty, display};
use tracing::{Level, Span, info_span, level_enabled};

use super::convention::{
    CONVERSATION_ID, CORRELATION_ID, ERROR, ERROR_TYPE, EXECUTE_TOOL, FUNCTION, INTERNAL, OPERATION_NAME, OTEL_KIND,
    OTEL_NAME, OTEL_STATUS_CODE, OTEL_STATUS_DESCRIPTION, TOOL_CALL_ARGUMENTS, TOOL_CALL_ID, TOOL_CALL_RESULT,
    TOOL_DESCRIPTION, TOOL_NAME, TOOL_TYPE,
};
use super::execution::Execution;
use crate::{Entry, Input, ToolContext, ToolError};

const LEVEL: Level = Level::INFO;

/// The enabled span of a call.
pub(super) struct CallSpan {
    span: Span,
    records_content: bool,
}

/// Opens the span of a call. Returns `None` if no subscriber enables it.
#[inline]
pub(super) fn open(cx: &ToolContext, name: &str, entry: Option<&Entry>) -> Option<CallSpan> {
    if level_enabled!(LEVEL) { opened(cx, name, entry) } else { None }
}

/// Runs a call in its span, if it has one.
#[inline]
pub(super) fn in_span(open: Option<CallSpan>, call: Execution) -> Execution {
    match open {
        None => call,
        Some(open) => traced(open, call),
    }
}

/// Records the arguments in the current span, if the host enabled that.
#[inline]
pub(super) fn record_arguments(cx: &ToolContext, entry: &Entry, arguments: &Input) {
    if cx.records_content() && level_enabled!(LEVEL) {
        Span::current().record(TOOL_CALL_ARGUMENTS, entry.masked(arguments.json()).to_string());
    }
}

/// Returns the current span, or a disabled one if no subscriber enables the level.
#[inline]
pub(crate) fn current() -> Span {
    if level_enabled!(LEVEL) { Span::current() } else { Span::none() }
}

#[cold]
fn traced(open: CallSpan, call: Execution) -> Execution {
    Execution::new(Traced { open, call: Some(call) })
}

#[cold]
fn opened(cx: &ToolContext, name: &str, entry: Option<&Entry>) -> Option<CallSpan> {
    // The name comes from a model and can be of any length; a valid one is at most this long.
    let name: String = name.chars().take(ToolName::MAX_LENGTH).collect();
    let make = || {
        info_span!(
            target: "tools",
            "execute_tool",
            { OTEL_NAME } = format!("{EXECUTE_TOOL} {name}"),
            { OTEL_KIND } = INTERNAL,
            { OTEL_STATUS_CODE } = Empty,
            { OTEL_STATUS_DESCRIPTION } = Empty,
            { OPERATION_NAME } = EXECUTE_TOOL,
            { TOOL_NAME } = name.as_str(),
            { TOOL_TYPE } = FUNCTION,
            { TOOL_DESCRIPTION } = entry.map(|entry| entry.tool().description.as_str()),
            { TOOL_CALL_ID } = cx.call_id(),
            { TOOL_CALL_ARGUMENTS } = Empty,
            { TOOL_CALL_RESULT } = Empty,
            { CONVERSATION_ID } = cx.session(),
            { CORRELATION_ID } = cx.correlation_id(),
            { ERROR_TYPE } = Empty,
        )
    };
    let span = match cx.call() {
        // A tool that calls from its own task or thread has left its span there.
        Some(call) if Span::current().is_none() => call.span.in_scope(make),
        _ => make(),
    };
    (!span.is_disabled()).then(|| CallSpan { span, records_content: cx.records_content() })
}

impl CallSpan {
    fn end(&self, outcome: &Result<ToolResult, ToolError>) {
        match outcome {
            Err(error) => {
                self.fail(error.code());
                if self.records_content {
                    self.span.record(OTEL_STATUS_DESCRIPTION, error.to_string());
                }
            }
            Ok(result) => {
                if let Some(code) = result.error_code() {
                    self.fail(code);
                }
                if let (true, Ok(text)) = (self.records_content, serde_json::to_string(result)) {
                    self.span.record(TOOL_CALL_RESULT, text);
                }
            }
        }
    }

    fn fail(&self, code: ErrorCode) {
        self.span.record(OTEL_STATUS_CODE, ERROR);
        self.span.record(ERROR_TYPE, display(code));
    }
}

/// A call that enters its span during each poll.
struct Traced {
    open: CallSpan,
    /// `None` after completion.
    call: Option<Execution>,
}

impl Future for Traced {
    type Output = Result<ToolResult, ToolError>;

    fn poll(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Self::Output> {
        let Self { open, call } = &mut *self;
        let Some(running) = call else { return Poll::Pending };
        let inside = open.span.enter();
        let outcome = ready!(Pin::new(running).poll(task));
        *call = None;
        drop(inside);
        open.end(&outcome);
        Poll::Ready(outcome)
    }
}

impl Drop for Traced {
    fn drop(&mut self) {
        if let Some(call) = self.call.take() {
            self.open.span.in_scope(|| drop(call));
            // The caller dropped the future, which cancels the call.
            self.open.fail(ErrorCode::Cancelled);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_without_a_subscriber_has_no_span() {
        // Another test's subscriber on its own thread may enable the level here, but not the span.
        assert!(open(&ToolContext::new(), "t", None).is_none());
        assert!(current().is_none());
    }

    #[test]
    fn the_name_of_the_span_is_that_of_the_operation() {
        // `info_span!` needs a literal, so the name is written twice.
        let listener = tracing_subscriber::registry();
        tracing::subscriber::with_default(listener, || {
            let open = open(&ToolContext::new(), "t", None).expect("a subscriber is set");
            let metadata = open.span.metadata().expect("it is enabled");
            assert_eq!(metadata.name(), EXECUTE_TOOL);
            assert_eq!(*metadata.level(), LEVEL);
        });
    }
}
