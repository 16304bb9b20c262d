//! [`StreamLine`]: the lines of `--output stream-json`, and the document of `--output json`.
//!
//! The README documents them. A change that breaks a reader raises [`VERSION`].

use std::time::Duration;

use agent::{
    ApprovalRequest, BudgetScope, Event, Exhausted, Outcome, Resource, Spending, StopReason,
    Summary, Usage,
};
use serde::Serialize;
use serde_json::{Value, json};
use tools::protocol::Content;
use tools::{ErrorCode, Json};

/// The version of the format.
pub(crate) const VERSION: u32 = 1;

/// A line of a stream.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum StreamLine<'a> {
    Session(SessionLine<'a>),
    Result(ResultLine<'a>),
    SubAgent {
        agent: &'a str,
        call: &'a str,
        event: Box<StreamLine<'a>>,
    },
    Outcome(OutcomeLine<'a>),
    /// An event whose own form is its line.
    #[serde(untagged)]
    Event(&'a Event),
}

/// The first line of a run.
#[derive(Debug, Serialize)]
pub(crate) struct SessionLine<'a> {
    pub(crate) version: u32,
    pub(crate) program: &'a str,
    pub(crate) program_version: &'a str,
    pub(crate) provider: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) model: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) session: Option<&'a str>,
    pub(crate) tools: Vec<&'a str>,
}

#[derive(Debug, Serialize)]
pub(crate) struct ResultLine<'a> {
    id: &'a str,
    name: &'a str,
    is_error: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<ErrorCode>,
    duration_ms: u64,
    content: &'a [Content],
    #[serde(skip_serializing_if = "Option::is_none")]
    structured: Option<&'a Json>,
    #[serde(skip_serializing_if = "Option::is_none")]
    task: Option<&'a str>,
}

/// The last line of a run, also of one of a sub-agent.
#[derive(Debug, Serialize)]
pub(crate) struct OutcomeLine<'a> {
    version: u32,
    outcome: &'static str,
    /// The fields of this kind of outcome.
    #[serde(flatten)]
    details: Value,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    approvals: &'a [ApprovalRequest],
    steps: u32,
    calls: u32,
    failed_calls: u32,
    #[serde(flatten)]
    usage: Option<Usage>,
    spent: Spending,
    #[serde(skip_serializing_if = "Option::is_none")]
    duration_ms: Option<u64>,
}

impl<'a> StreamLine<'a> {
    /// Returns the line of an event. `duration` is the time of the run so far.
    pub(crate) fn from_event(event: &'a Event, duration: Duration) -> Self {
        match event {
            Event::Result {
                id,
                name,
                result,
                error,
                duration_ms,
            } => Self::Result(ResultLine {
                id,
                name,
                is_error: result.is_error,
                error: *error,
                duration_ms: *duration_ms,
                content: &result.content,
                structured: result.structured.as_ref(),
                task: result.task.as_deref(),
            }),
            Event::SubAgent { agent, call, event } => {
                let event = match &**event {
                    // The duration of a sub-agent is that of the call that started it.
                    Event::Done(summary) => Self::Outcome(OutcomeLine::new(summary, None)),
                    event => Self::from_event(event, duration),
                };
                Self::SubAgent {
                    agent,
                    call,
                    event: Box::new(event),
                }
            }
            Event::Done(summary) => Self::Outcome(OutcomeLine::new(summary, Some(duration))),
            event => Self::Event(event),
        }
    }
}

impl<'a> OutcomeLine<'a> {
    fn new(summary: &'a Summary, duration: Option<Duration>) -> Self {
        let mut approvals = &[][..];
        let (outcome, details) = match &summary.outcome {
            Outcome::Answer { text, stop } => {
                ("answer", json!({"text": text, "stop": stop_text(stop)}))
            }
            Outcome::Budget(exhausted) => describe_budget(exhausted),
            Outcome::Loop(repeated) => ("loop", json!({"tool": repeated.tool})),
            Outcome::WaitingForApproval { requests } => {
                approvals = requests;
                ("waiting_for_approval", json!({}))
            }
            Outcome::Cancelled => ("cancelled", json!({})),
            Outcome::Failed { message, failure } => {
                let kind = failure.map(|kind| ("kind", json!(kind)));
                let fields = [("message", json!(message))].into_iter().chain(kind);
                ("failed", fields.collect())
            }
            _ => ("failed", json!({"message": "unknown outcome"})),
        };
        Self {
            version: VERSION,
            outcome,
            details,
            approvals,
            steps: summary.steps,
            calls: summary.calls,
            failed_calls: summary.failed_calls,
            usage: summary.usage,
            spent: summary.spent,
            duration_ms: duration
                .map(|duration| u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)),
        }
    }
}

fn describe_budget(exhausted: &Exhausted) -> (&'static str, Value) {
    let mut details = json!({"limit": exhausted.limit});
    let outcome = match exhausted.resource {
        Resource::Steps => {
            details["max_steps"] = exhausted.limit.into();
            "step_budget"
        }
        Resource::Calls => "call_budget",
        Resource::Tokens => "token_budget",
        Resource::Cost => "cost_budget",
        Resource::Time => "time_budget",
        _ => "budget",
    };
    if let BudgetScope::Window(name) = &exhausted.scope {
        details["window"] = name.as_str().into();
    }
    (outcome, details)
}

fn stop_text(stop: &StopReason) -> &str {
    match stop {
        StopReason::Length => "length",
        StopReason::Refusal => "refusal",
        StopReason::Other(reason) => reason,
        _ => "answer",
    }
}
