//! [`OpenSpan`]: a span that records the end of its work, also if the work is dropped.

use serde_json::json;
use tools::ErrorCode;
use tools::call::convention::{ERROR, ERROR_TYPE, OTEL_STATUS_CODE};
use tracing::Span;
use tracing::field::display;

use super::convention::{
    CACHE_WRITE_TOKENS, CACHED_INPUT_TOKENS, FINISH_REASONS, INPUT_TOKENS, OUTPUT_TOKENS,
};
use crate::provider::{StopReason, Usage};

/// The span of a run or of a model request. It may be disabled.
pub(crate) struct OpenSpan {
    pub(crate) span: Span,
    is_ended: bool,
}

impl OpenSpan {
    pub(super) fn new(span: Span) -> Self {
        Self {
            span,
            is_ended: false,
        }
    }

    /// Records the end of the work, and the kind of its failure if it failed.
    pub(super) fn end(mut self, failure: Option<impl AsRef<str>>) {
        self.is_ended = true;
        if let Some(failure) = failure {
            self.fail(failure.as_ref());
        }
    }

    pub(super) fn record_usage(&self, usage: Option<Usage>) {
        let Some(usage) = usage else { return };
        let counts = [
            (INPUT_TOKENS, usage.input_tokens),
            (CACHED_INPUT_TOKENS, usage.cached_input_tokens),
            (CACHE_WRITE_TOKENS, usage.cache_write_tokens),
            (OUTPUT_TOKENS, usage.output_tokens),
        ];
        for (field, count) in counts {
            // OpenTelemetry has only signed integers.
            self.span
                .record(field, i64::try_from(count).unwrap_or(i64::MAX));
        }
    }

    pub(super) fn record_stop(&self, stop: &StopReason) {
        if !self.span.is_disabled() {
            self.span
                .record(FINISH_REASONS, display(json!([finish_reason(stop)])));
        }
    }

    fn fail(&self, kind: &str) {
        self.span.record(OTEL_STATUS_CODE, ERROR);
        self.span.record(ERROR_TYPE, kind);
    }
}

impl Drop for OpenSpan {
    fn drop(&mut self) {
        if !self.is_ended {
            // The caller dropped the future, which cancels the work.
            self.fail(&ErrorCode::Cancelled.to_string());
        }
    }
}

/// Returns the reason in the words of the conventions.
pub(super) fn finish_reason(stop: &StopReason) -> &str {
    match stop {
        StopReason::Answer => "stop",
        StopReason::Calls => "tool_call",
        StopReason::Length => "length",
        StopReason::Refusal => "content_filter",
        StopReason::Paused => "pause",
        StopReason::Other(reason) => reason,
    }
}
