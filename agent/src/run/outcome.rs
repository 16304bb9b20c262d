//! [`Outcome`] and [`Summary`]: the end of a run.

use serde::{Deserialize, Serialize};

use crate::budget::{Exhausted, Spending};
use crate::consent::ApprovalRequest;
use crate::provider::{FailureKind, StopReason, Usage};
use crate::repeat::Repeated;

/// The way in which a run ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Outcome {
    /// The model answered without further calls.
    Answer {
        /// The text of the last turn, with its parts before [pauses](StopReason::Paused).
        text: String,
        /// The reason that the last turn ended.
        stop: StopReason,
    },
    /// A budget of the run, of an ancestor or of a shared window is used up. All calls have results.
    #[serde(alias = "step_budget")]
    Budget(Exhausted),
    /// The model made the same call with the same result again and again.
    Loop(Repeated),
    /// Calls wait for approvals, see [`DeferredConsent`](crate::DeferredConsent). They have no results yet.
    WaitingForApproval {
        /// The requests, in the order of the calls.
        requests: Vec<ApprovalRequest>,
    },
    /// The run was cancelled.
    Cancelled,
    /// The provider, the pipeline or the journal failed.
    Failed {
        /// The error message.
        message: String,
        /// The kind of the failed model request; `None` if something else failed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        failure: Option<FailureKind>,
    },
}

impl Outcome {
    /// Returns the reason that the run ended.
    pub(crate) fn reason(&self) -> String {
        match self {
            Self::Answer {
                stop: StopReason::Refusal,
                ..
            } => "the model refused to answer".to_owned(),
            Self::Answer { .. } => "the model answered".to_owned(),
            Self::Budget(exhausted) => exhausted.to_string(),
            Self::Loop(Repeated { tool, times }) => {
                format!("it made the same call to {tool} {times} times")
            }
            Self::WaitingForApproval { .. } => "a call waits for an approval".to_owned(),
            Self::Cancelled => "it was cancelled".to_owned(),
            Self::Failed { message, .. } => message.clone(),
        }
    }
}

/// The outcome and the counts of a run. All counts but [`spent`](Self::spent) are of its own turns and calls.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Summary {
    /// The way in which the run ended.
    pub outcome: Outcome,
    /// The number of turns that the model took. A part of a turn before a [pause](StopReason::Paused) counts as one.
    pub steps: u32,
    /// The number of calls that the model made.
    pub calls: u32,
    /// The number of calls whose result is an error.
    pub failed_calls: u32,
    /// The tokens used by all turns and summaries, if the provider reports them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// The amounts that the run used together with its sub-agents and with other requests of its calls, such as those of `llm.generate`.
    /// The budget counts them, so failed requests and estimates are included.
    #[serde(default)]
    pub spent: Spending,
}

/// An error for input that a run does not expect.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// A turn was given, but the step is not [`Step::Ask`](crate::Step::Ask).
    #[error("the run does not expect a turn; call `step` for the next action")]
    UnexpectedTurn,
    /// The id matches no call of this turn.
    #[error("no call of this turn has the id {id:?}; use an id from the step")]
    UnknownCall {
        /// The given id.
        id: String,
    },
    /// A deserialised run has two calls of one turn with the same id.
    #[error("two calls of the turn have the id {id:?}; give each call a unique id")]
    RepeatedId {
        /// The repeated id.
        id: String,
    },
    /// The call already has a result.
    #[error("the call {id:?} already has a result; give each call one result")]
    AlreadyAnswered {
        /// The id of the call.
        id: String,
    },
}
