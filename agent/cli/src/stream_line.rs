//! [`StreamLine`]: the lines of `--output stream-json`, and the document of `--output json`.
//!
//! The README documents them. A change that breaks a reader raises [`VERSION`].

use std::time::Duration;

use agent::{
    ApprovalRequest, BudgetScope, Event, Exhausted, FailureKind, Outcome, Resource, Spending,
    StopReason, Summary,
};
use serde::Serialize;
use tools::protocol::Content;
use tools::{ErrorCode, Json};

/// The version of the format.
const VERSION: u32 = 1;

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
    version: u32,
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
#[derive(Debug, Default, Serialize)]
pub(crate) struct OutcomeLine<'a> {
    version: u32,
    outcome: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stop: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_steps: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    limit: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    window: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<FailureKind>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    approvals: &'a [ApprovalRequest],
    steps: u32,
    calls: u32,
    failed_calls: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    input_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cached_input_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output_tokens: Option<u64>,
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

impl<'a> SessionLine<'a> {
    /// Returns the line of this version.
    pub(crate) fn new(program: &'a str, program_version: &'a str, provider: &'a str) -> Self {
        let (model, session, tools) = (None, None, Vec::new());
        Self {
            version: VERSION,
            program,
            program_version,
            provider,
            model,
            session,
            tools,
        }
    }
}

impl<'a> OutcomeLine<'a> {
    fn new(summary: &'a Summary, duration: Option<Duration>) -> Self {
        let line = Self {
            version: VERSION,
            steps: summary.steps,
            calls: summary.calls,
            failed_calls: summary.failed_calls,
            input_tokens: summary.usage.map(|usage| usage.input_tokens),
            cached_input_tokens: summary
                .usage
                .map(|usage| usage.cached_input_tokens)
                .filter(|cached| *cached > 0),
            output_tokens: summary.usage.map(|usage| usage.output_tokens),
            spent: summary.spent,
            duration_ms: duration
                .map(|duration| u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)),
            ..Self::default()
        };
        match &summary.outcome {
            Outcome::Answer { text, stop } => Self {
                outcome: "answer",
                text: Some(text),
                stop: Some(stop_text(stop)),
                ..line
            },
            Outcome::Budget(Exhausted {
                resource,
                limit,
                scope,
            }) => {
                let (outcome, max_steps) = match resource {
                    Resource::Steps => ("step_budget", Some(*limit)),
                    Resource::Calls => ("call_budget", None),
                    Resource::Tokens => ("token_budget", None),
                    Resource::Cost => ("cost_budget", None),
                    Resource::Time => ("time_budget", None),
                    _ => ("budget", None),
                };
                let window = if let BudgetScope::Window(name) = scope {
                    Some(name.as_str())
                } else {
                    None
                };
                Self {
                    outcome,
                    max_steps,
                    limit: Some(*limit),
                    window,
                    ..line
                }
            }
            Outcome::Loop(repeated) => Self {
                outcome: "loop",
                tool: Some(&repeated.tool),
                ..line
            },
            Outcome::WaitingForApproval { requests } => Self {
                outcome: "waiting_for_approval",
                approvals: requests,
                ..line
            },
            Outcome::Cancelled => Self {
                outcome: "cancelled",
                ..line
            },
            Outcome::Failed { message, failure } => Self {
                outcome: "failed",
                message: Some(message),
                kind: *failure,
                ..line
            },
            _ => Self {
                outcome: "failed",
                message: Some("unknown outcome"),
                ..line
            },
        }
    }
}

fn stop_text(stop: &StopReason) -> &str {
    match stop {
        StopReason::Length => "length",
        StopReason::Refusal => "refusal",
        StopReason::Other(reason) => reason,
        _ => "answer",
    }
}
