//! [`Run`]: the loop from a prompt to an answer, as a state machine.

mod approval;
mod checkpoint;
mod compaction;
mod conversation;
mod ending;
mod outcome;
mod past_results;
mod pending_call;
mod writers;

use std::collections::BTreeSet;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use tools::context::UrlCount;
use tools::protocol::{Message, Part, Role};
use tools::{ErrorCode, ToolCall, ToolError, ToolResult};

use self::conversation::Conversation;
use crate::budget::Spending;
use crate::consent::{ApprovalKey, ApprovalRequest};
use crate::prefix::Prefix;
use crate::provider::{StopReason, Turn, Usage};

pub(crate) use self::compaction::{BYTES_PER_TOKEN, Compaction};
pub(crate) use self::ending::AnswerCheck;
pub use self::outcome::{Outcome, RunError, Summary};
pub(crate) use self::past_results::{PastResults, is_media, text_of};
pub use self::pending_call::PendingCall;
pub(crate) use self::writers::Writers;

/// The result of each call in a turn that was cut off, because its arguments may be incomplete.
const CUT_OFF: &str =
    "the turn was cut off by the length limit, so this call was not run; make it again, shorter";

/// The agent loop (prompt → model → calls → results → model …) as a state machine without I/O.
///
/// [`step`](Self::step) returns the next action. The caller performs it and reports with [`turn`](Self::turn),
/// [`result`](Self::result) or [`error`](Self::error). [`Driver`](crate::Driver) does so with a provider and tools. A run can be
/// serialised in any state.
///
/// - Every call gets exactly one result.
/// - The results of a turn are one message, in the order of the calls.
/// - The calls of a turn that was [cut off](StopReason::Length) are not run, because their arguments may be incomplete.
/// - After a turn that the service [paused](StopReason::Paused), the next one goes on with it.
///
/// A run has no limits of its own. The caller ends it with [`exhaust`](Self::exhaust), as [`Driver`](crate::Driver) does when its
/// [`Budget`](crate::Budget) is used up.
///
/// ```
/// use agent::{Outcome, Run, Step, Turn};
/// use serde_json::json;
/// use tools::protocol::{Message, Role};
/// use tools::{ToolCall, ToolResult};
///
/// let mut run = Run::new(vec![Message::text(Role::User, "What time is it?")]);
/// assert_eq!(run.step(), Step::Ask);
///
/// run.turn(Turn::calls([ToolCall::new("a", "time.now", json!({}))]))?;
/// let Step::Call(calls) = run.step() else { panic!() };
/// run.result(&calls[0].call.id, ToolResult::text("12:00"))?;
/// assert_eq!(run.step(), Step::Ask);
///
/// run.turn(Turn::answer("Noon."))?;
/// let Step::Done(summary) = run.step() else { panic!() };
/// assert!(matches!(summary.outcome, Outcome::Answer { text, .. } if text == "Noon."));
/// # Ok::<(), agent::RunError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(remote = "Self")]
pub struct Run {
    messages: Conversation,
    /// The parts of the conversation that requests leave out.
    #[serde(default, skip_serializing_if = "Compaction::is_unused")]
    pub(crate) compaction: Compaction,
    #[serde(default)]
    earlier_turns: u64,
    steps: u32,
    calls: u32,
    failed_calls: u32,
    usage: Option<Usage>,
    /// The spending of the run and its children, as its budget counted it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    spent: Option<Spending>,
    /// The beginning of the requests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) prefix: Option<Prefix>,
    /// The models that wrote the conversation.
    #[serde(default, skip_serializing_if = "Writers::is_empty")]
    pub(crate) writers: Writers,
    /// The key of the requests for approvals, if approvals can wait.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    approval_key: Option<ApprovalKey>,
    /// True if the session has read text from the open world. A run of an earlier version may have read anything.
    #[serde(default = "assume_exposed")]
    pub(crate) exposed: bool,
    /// The URLs that the session has read without a question since then.
    #[serde(default)]
    pub(crate) urls: UrlCount,
    state: RunPhase,
}

fn assume_exposed() -> bool {
    true
}

impl Serialize for Run {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Self::serialize(self, serializer)
    }
}

impl<'de> Deserialize<'de> for Run {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let stored = Self::deserialize(deserializer)?;
        stored.validate().map_err(D::Error::custom)
    }
}

/// The next action of a run.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Step {
    /// Request the next turn from the model, with [`Run::request_messages`].
    Ask,
    /// Run these calls in parallel: all calls of the turn without a result. Do not run [refused](PendingCall::refused) ones.
    Call(Vec<PendingCall>),
    /// The run has ended.
    Done(Summary),
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum RunPhase {
    #[default]
    Asking,
    Calling {
        /// The calls of the last turn, with the results that have arrived. The name in stored runs is `places`.
        #[serde(rename = "places")]
        slots: Vec<CallSlot>,
        /// The outcome of the run once all results have arrived, if one of them ends it.
        ending: Option<Outcome>,
        /// The requests for approvals without which the run does not go on.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        waiting: Vec<ApprovalRequest>,
    },
    Done(Outcome),
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct CallSlot {
    pending: PendingCall,
    result: Option<ToolResult>,
}

impl Run {
    /// Advances a stored run to a state with a next step. Otherwise, a turn whose calls all have results would never end.
    fn validate(mut self) -> Result<Self, RunError> {
        if let RunPhase::Calling { slots, .. } = &self.state {
            let mut ids = BTreeSet::new();
            // A checkpoint may be anyone's, and the result of a call would be given to both.
            if let Some(slot) = slots.iter().find(|slot| !ids.insert(&slot.pending.call.id)) {
                let id = slot.pending.call.id.clone();
                return Err(RunError::RepeatedId { id });
            }
            self.advance();
        }
        Ok(self)
    }

    /// Creates a run that answers the last of these messages.
    pub fn new(messages: Vec<Message>) -> Self {
        Self {
            messages: messages.into(),
            ..Self::default()
        }
    }

    /// Creates a run of an answered conversation, which asks for no turn.
    pub(crate) fn answered(messages: Vec<Message>) -> Self {
        let mut run = Self::new(messages);
        run.state = RunPhase::Done(Outcome::Answer {
            text: run.last_text(),
            stop: StopReason::Answer,
        });
        run
    }

    /// Sets the number of model turns in the session before this run, which [`turns`](Self::turns) includes.
    #[must_use]
    pub fn with_earlier_turns(mut self, turns: u64) -> Self {
        self.earlier_turns = turns;
        self
    }

    /// Continues a run that ended because a budget was used up, a call was repeated or calls wait for approvals. Other runs do not
    /// change.
    #[must_use]
    pub fn reopen(mut self) -> Self {
        match &mut self.state {
            RunPhase::Done(Outcome::Budget(_) | Outcome::Loop(_)) => self.state = RunPhase::Asking,
            RunPhase::Calling {
                ending, waiting, ..
            } => {
                waiting.clear();
                // The person who resumes the run has raised the limit or given another hint. A failure or a cancellation stays.
                ending.take_if(|ending| matches!(ending, Outcome::Budget(_) | Outcome::Loop(_)));
            }
            RunPhase::Asking | RunPhase::Done(_) => {}
        }
        self
    }

    /// Returns the next action.
    pub fn step(&self) -> Step {
        match &self.state {
            RunPhase::Asking => Step::Ask,
            RunPhase::Calling { slots, waiting, .. } if waiting.is_empty() => {
                let open = slots.iter().filter(|slot| slot.result.is_none());
                Step::Call(open.map(|slot| slot.pending.clone()).collect())
            }
            RunPhase::Calling { waiting, .. } => {
                let requests = waiting.clone();
                Step::Done(self.summary(Outcome::WaitingForApproval { requests }))
            }
            RunPhase::Done(outcome) => Step::Done(self.summary(outcome.clone())),
        }
    }

    fn summary(&self, outcome: Outcome) -> Summary {
        Summary {
            outcome,
            steps: self.steps,
            calls: self.calls,
            failed_calls: self.failed_calls,
            usage: self.usage,
            spent: self.spent(),
        }
    }

    /// Returns true if the next step is a request. Unlike [`step`](Self::step), it copies no calls.
    pub(crate) fn is_asking(&self) -> bool {
        matches!(self.state, RunPhase::Asking)
    }

    /// Returns true if the run has ended with an answer of the model.
    pub fn is_answered(&self) -> bool {
        matches!(self.state, RunPhase::Done(Outcome::Answer { .. }))
    }

    /// Returns true if the run has an outcome.
    pub(crate) fn has_ended(&self) -> bool {
        matches!(self.step(), Step::Done(_))
    }

    /// Adds the model's turn. A call without a unique id gets a new id. A call with a [fault](Turn::faults) is
    /// [refused](PendingCall::refused).
    ///
    /// # Errors
    /// Returns [`RunError::UnexpectedTurn`] if the step is not [`Step::Ask`].
    pub fn turn(&mut self, turn: Turn) -> Result<(), RunError> {
        if !self.is_asking() {
            return Err(RunError::UnexpectedTurn);
        }
        let mut message = turn.message;
        let stop = turn.stop;
        message.role = Role::Assistant;
        // Results come from tools, never from the model.
        message
            .parts
            .retain(|part| !matches!(part, Part::ToolResult { .. }));
        self.messages.rename_calls(&mut message);
        self.record_usage(turn.usage);
        self.steps = self.steps.saturating_add(1);
        // Arguments that are cut off can be valid JSON all the same.
        let cut_off = (stop == StopReason::Length).then(|| CUT_OFF.to_owned());
        let slots = (0_u32..).zip(message.calls()).map(|(index, call)| {
            let fault = turn.faults.get(&(index as usize)).or(cut_off.as_ref());
            let pending = PendingCall {
                call: call.clone(),
                index,
                refused: fault.cloned(),
            };
            CallSlot {
                pending,
                result: None,
            }
        });
        let slots: Vec<_> = slots.collect();
        let calls = u32::try_from(slots.len()).unwrap_or(u32::MAX);
        self.calls = self.calls.saturating_add(calls);
        self.messages.push(message);
        self.state = match stop {
            _ if !slots.is_empty() => RunPhase::Calling {
                slots,
                ending: None,
                waiting: Vec::new(),
            },
            StopReason::Paused => RunPhase::Asking,
            stop => RunPhase::Done(Outcome::Answer {
                text: self.last_text(),
                stop,
            }),
        };
        Ok(())
    }

    /// Adds the result of a call. The last result completes the turn. A refused call keeps its
    /// [refusal](PendingCall::refusal) as its result.
    ///
    /// # Errors
    /// The run does not change on an error.
    /// - Returns [`RunError::UnknownCall`] if no call of this turn has the id.
    /// - Returns [`RunError::AlreadyAnswered`] if the call already has a result.
    pub fn result(&mut self, id: &str, result: ToolResult) -> Result<(), RunError> {
        self.settle(id, result, None)
    }

    /// Adds an error as the result of a call. After an error that is not [recoverable](ToolError::is_recoverable), the run ends
    /// once all calls of the turn have results.
    ///
    /// # Errors
    /// Returns the errors of [`result`](Self::result).
    pub fn error(&mut self, id: &str, error: &ToolError) -> Result<(), RunError> {
        self.error_with_result(id, error, error.into())
    }

    /// Adds an error as [`error`](Self::error) does, with this result for the model.
    pub(crate) fn error_with_result(
        &mut self,
        id: &str,
        error: &ToolError,
        result: ToolResult,
    ) -> Result<(), RunError> {
        let ending = match error.code() {
            ErrorCode::Cancelled => Some(Outcome::Cancelled),
            _ if error.is_recoverable() => None,
            _ => Some(Outcome::Failed {
                message: error.to_string(),
                failure: None,
            }),
        };
        self.settle(id, result, ending)
    }

    /// Returns the conversation, with the messages of this run. Results are added when all calls of their turn have one.
    pub fn messages(&self) -> &[Message] {
        &self.messages.messages
    }

    /// Returns the conversation, with the messages of this run.
    pub fn into_messages(self) -> Vec<Message> {
        self.messages.into_messages()
    }

    /// Returns the results that the calls of the turn can read.
    pub(crate) fn past_results(&self) -> PastResults {
        PastResults::new(&self.messages.messages)
    }

    /// Returns the number of model turns in the session, including this run's. It is the number of the last turn.
    pub fn turns(&self) -> u64 {
        self.earlier_turns.saturating_add(self.steps.into())
    }

    fn settle(
        &mut self,
        id: &str,
        result: ToolResult,
        ends: Option<Outcome>,
    ) -> Result<(), RunError> {
        let unknown = || RunError::UnknownCall { id: id.to_owned() };
        let RunPhase::Calling { slots, ending, .. } = &mut self.state else {
            return Err(unknown());
        };
        let slot = slots.iter_mut().find(|slot| slot.pending.call.id == id);
        let slot = slot.ok_or_else(unknown)?;
        if slot.result.is_some() {
            return Err(RunError::AlreadyAnswered { id: id.to_owned() });
        }
        let (result, ends) = match slot.pending.refusal() {
            Some(refusal) => (refusal, None),
            None => (result, ends),
        };
        slot.result = Some(result);
        // A failure takes precedence over a cancellation, which may be its consequence, and over the end of a budget.
        let is_weaker = !matches!(ending, Some(Outcome::Failed { .. }));
        if ends.is_some() && is_weaker {
            *ending = ends;
        }
        self.advance();
        Ok(())
    }

    /// Completes the turn if all its calls have results.
    fn advance(&mut self) {
        let RunPhase::Calling { slots, ending, .. } = &mut self.state else {
            return;
        };
        if slots.iter().all(|slot| slot.result.is_some()) {
            let ending = ending.take();
            self.complete_turn(|_| ToolResult::default());
            if let Some(outcome) = ending {
                self.state = RunPhase::Done(outcome);
            }
        }
    }

    /// Appends the message of the results if calls are pending.
    fn complete_turn(&mut self, missing: impl Fn(&ToolCall) -> ToolResult) {
        let RunPhase::Calling { slots, .. } = std::mem::replace(&mut self.state, RunPhase::Asking)
        else {
            return;
        };
        let parts: Vec<_> = slots
            .into_iter()
            .map(|CallSlot { pending, result }| {
                let result = result.or_else(|| pending.refusal());
                let result = result.unwrap_or_else(|| missing(&pending.call));
                let call = pending.call;
                self.failed_calls = self.failed_calls.saturating_add(result.is_error.into());
                Part::ToolResult {
                    id: call.id,
                    name: call.name,
                    result,
                }
            })
            .collect();
        self.messages.push(Message {
            role: Role::Tool,
            parts,
        });
    }
}
