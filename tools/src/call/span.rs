//! Span: the `tracing` span of a call, from resolving the tool to the bounded result.

use std::fmt::Display;

use protocol::{ErrorCode, ToolName, ToolResult};
use tracing::field::{Empty, display};
use tracing::{Level, Span, info_span, level_enabled};

use super::content;
use super::convention::{
    CONVERSATION_ID, CORRELATION_ID, ERROR, ERROR_TYPE, EXECUTE_TOOL, FUNCTION, INTERNAL,
    OPERATION_NAME, OTEL_KIND, OTEL_NAME, OTEL_STATUS_CODE, OTEL_STATUS_DESCRIPTION,
    TOOL_CALL_ARGUMENTS, TOOL_CALL_ID, TOOL_CALL_RESULT, TOOL_DESCRIPTION, TOOL_NAME, TOOL_TYPE,
};
use crate::context::{ScopeSpan, ToolContext};
use crate::entry::Entry;
use crate::input::Input;
use crate::resolve::{Resolve as _, Scope};
use crate::tool_error::ToolError;

const LEVEL: Level = Level::INFO;

/// The span of a call until the call ends. It is empty without a subscriber.
///
/// A context that a tool keeps after its call does not keep the span open. Neither does a clone of this.
#[derive(Clone, Default)]
pub struct CallSpan {
    /// The span of the call, or else the caller's current span if no subscriber enables that of the call.
    pub(super) span: ScopeSpan,
    pub(super) is_own: bool,
    records_content: bool,
}

/// Opens the span of a call, which is empty if no subscriber enables the level.
#[inline]
pub(super) fn open(cx: &ToolContext, name: &str, entry: Option<&Entry>) -> CallSpan {
    if level_enabled!(LEVEL) {
        open_span(cx, name, entry)
    } else {
        CallSpan::default()
    }
}

/// Records the arguments in the current span, if the host enabled that.
#[inline]
pub(super) fn record_arguments(cx: &ToolContext, entry: &Entry, scope: &Scope, arguments: &Input) {
    if cx.records_content() && level_enabled!(LEVEL) {
        let masked = entry.masked_in(arguments.json(), &|name| scope.resolve(name).ok());
        let text = masked.to_string();
        let text = match text.len() {
            ..=content::MOST_BYTES => text,
            _ => content::json_text(masked.value().clone(), content::MOST_BYTES),
        };
        Span::current().record(TOOL_CALL_ARGUMENTS, text);
    }
}

#[cold]
fn open_span(cx: &ToolContext, name: &str, entry: Option<&Entry>) -> CallSpan {
    // The name comes from a model and can be of any length; a valid one is at most this long.
    let name: String = name.chars().take(ToolName::MAX_LENGTH).collect();
    // A tool that calls from its own task or thread has left its span there.
    let outer = cx.call().filter(|_| Span::current().is_none());
    let outer = outer.map_or_else(Span::none, |call| call.span.get());
    let span = outer.in_scope(|| {
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
    });
    let is_own = !span.is_disabled();
    // Spans of nested calls would lose their ancestors if this one, which is filtered out, were their parent.
    let span = ScopeSpan::new(if is_own { span } else { Span::current() });
    CallSpan {
        span,
        is_own,
        records_content: cx.records_content(),
    }
}

impl CallSpan {
    /// Returns the span for the scope of the call.
    pub(super) fn scope(&self) -> ScopeSpan {
        self.span.clone()
    }

    /// Records that the call failed, and leaves the span. A driver does so when it stops waiting for a call. The outcome of the call is
    /// not recorded any more.
    pub fn fail(&self, code: ErrorCode, reason: &dyn Display) {
        self.close(|span, records_content| fail(span, code, records_content.then_some(reason)));
    }

    pub(super) fn end(&self, outcome: &Result<ToolResult, ToolError>) {
        match outcome {
            Err(error) => self.fail(error.code(), error),
            Ok(result) => self.close(|span, records_content| {
                if let Some(code) = result.error_code() {
                    fail(span, code, None);
                }
                if records_content {
                    span.record(
                        TOOL_CALL_RESULT,
                        content::json_text(content::result(result), content::MOST_BYTES),
                    );
                }
            }),
        }
    }

    /// Drops the span after `record`, unless it was dropped before.
    fn close(&self, record: impl FnOnce(&Span, bool)) {
        if let Some(span) = self.span.take().filter(|_| self.is_own) {
            record(&span, self.records_content);
        }
    }
}

fn fail(span: &Span, code: ErrorCode, reason: Option<&dyn Display>) {
    span.record(OTEL_STATUS_CODE, ERROR);
    span.record(ERROR_TYPE, display(code));
    if let Some(reason) = reason {
        span.record(OTEL_STATUS_DESCRIPTION, content::text(reason.to_string()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::Host;

    #[test]
    fn a_call_without_a_subscriber_has_no_span() {
        // Another test's subscriber on its own thread may enable the level here, but not the span.
        assert!(open(&Host::new(), "t", None).span.get().is_disabled());
    }

    #[test]
    fn the_name_of_the_span_is_that_of_the_operation() {
        // `info_span!` needs a literal, so the name is written twice.
        let listener = tracing_subscriber::registry();
        tracing::subscriber::with_default(listener, || {
            let span = open(&Host::new(), "t", None).span.get();
            let metadata = span.metadata().expect("a subscriber is set");
            assert_eq!(metadata.name(), EXECUTE_TOOL);
            assert_eq!(*metadata.level(), LEVEL);
        });
    }
}
