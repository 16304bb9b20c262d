//! The `tracing` spans of runs and model requests, after OpenTelemetry's conventions for generative AI.
//!
//! Both have the level `INFO` and the target `agent`. The span of a run is the parent of its requests and calls. That of a sub-agent's
//! run is a child of the call that started it.

mod chat;
mod content;
mod convention;
mod open_span;

use tools::call::convention::{
    CONVERSATION_ID, CORRELATION_ID, ERROR_TYPE, INTERNAL, OPERATION_NAME, OTEL_KIND, OTEL_NAME,
    OTEL_STATUS_CODE,
};
use tools::{ErrorCode, ToolContext};
use tracing::field::Empty;
use tracing::{Level, Span, info_span, level_enabled};

use self::convention::{
    AGENT_NAME, CACHE_WRITE_TOKENS, CACHED_INPUT_TOKENS, FINISH_REASONS, INPUT_TOKENS,
    INVOKE_AGENT, OUTPUT_TOKENS, PROVIDER_NAME, REQUEST_MODEL,
};
use crate::provider::{FailureKind, ProviderInfo};
use crate::run::{Outcome, Summary};
use crate::run_options::RunOptions;

pub(crate) use self::open_span::OpenSpan;
pub(crate) use chat::{end_chat, open_chat};

/// The level of the spans.
const LEVEL: Level = Level::INFO;

/// The error type of a failure without a kind, as the conventions spell it.
const OTHER: &str = "_OTHER";

/// Returns the type of an error of this kind.
pub(crate) fn error_type(kind: Option<FailureKind>) -> String {
    // The name of a kind is the one in outcomes.
    let name = kind.and_then(|kind| serde_json::to_value(kind).ok());
    name.as_ref()
        .and_then(|name| name.as_str())
        .unwrap_or(OTHER)
        .to_owned()
}

/// Opens the span of a run with this context.
pub(crate) fn open_agent(about: &ProviderInfo, options: &RunOptions, cx: &ToolContext) -> OpenSpan {
    if !level_enabled!(LEVEL) {
        return OpenSpan::new(Span::none());
    }
    let agent = cx.agent().or(options.agent_name.as_deref());
    let correlation_id = options.correlation_id.as_deref().or(cx.correlation_id());
    OpenSpan::new(info_span!(
        target: "agent",
        "invoke_agent",
        { OTEL_NAME } = agent.map_or_else(|| INVOKE_AGENT.to_owned(), |agent| format!("{INVOKE_AGENT} {agent}")),
        { OTEL_KIND } = INTERNAL,
        { OTEL_STATUS_CODE } = Empty,
        { OPERATION_NAME } = INVOKE_AGENT,
        { AGENT_NAME } = agent,
        { PROVIDER_NAME } = &*about.service_name,
        { REQUEST_MODEL } = about.model,
        { FINISH_REASONS } = Empty,
        { INPUT_TOKENS } = Empty,
        { CACHED_INPUT_TOKENS } = Empty,
        { CACHE_WRITE_TOKENS } = Empty,
        { OUTPUT_TOKENS } = Empty,
        { CONVERSATION_ID } = cx.session(),
        { CORRELATION_ID } = correlation_id,
        { ERROR_TYPE } = Empty,
    ))
}

/// Records the end of a run, or the type of its error. A run without an answer has failed, unless it waits for approvals.
pub(crate) fn end_agent(span: OpenSpan, ended: Result<&Summary, String>) {
    let failure = match ended {
        Ok(summary) => {
            span.record_usage(summary.usage);
            match &summary.outcome {
                Outcome::Answer { stop, .. } => {
                    span.record_stop(stop);
                    None
                }
                Outcome::WaitingForApproval { .. } => None,
                Outcome::Failed { failure, .. } => Some(error_type(*failure)),
                Outcome::Budget(_) => Some("budget".to_owned()),
                Outcome::Loop(_) => Some("loop".to_owned()),
                Outcome::Cancelled => Some(ErrorCode::Cancelled.to_string()),
            }
        }
        Err(error_type) => Some(error_type),
    };
    span.end(failure);
}
