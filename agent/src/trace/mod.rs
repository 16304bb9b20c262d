//! The `tracing` spans of runs and model requests, after OpenTelemetry's conventions for generative AI.
//!
//! Both have the level `INFO` and the target `agent`. The span of a run is the parent of its requests and calls. That of a sub-agent's
//! run is a child of the call that started it.

mod chat;
mod content;
mod convention;
mod invoke_agent;
mod open_span;

use tracing::Level;

use crate::FailureKind;

pub(crate) use self::open_span::OpenSpan;
pub(crate) use chat::{end_chat, open_chat};
pub(crate) use invoke_agent::{end_agent, open_agent};

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
