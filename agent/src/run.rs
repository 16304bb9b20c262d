//! [`Run`]: the loop from a prompt to an answer, as data.

mod checkpoint;
mod conversation;
mod outcome;
mod written;

use serde::{Deserialize, Serialize};
use tools::protocol::{Message, Part, Role};
use tools::{ErrorCode, ToolCall, ToolError, ToolErrorKind, ToolResult};

use self::conversation::Conversation;
use self::written::Written;
use crate::{Stop, Turn, Usage};

pub use self::outcome::{Outcome, Summary};

/// What a model is told of a call that its provider may have cut off in the middle.
const CUT_OFF: &str = "the turn was cut off by the length limit, so this call was not run; make it again, shorter";

/// The loop prompt → model → calls → results → model … as a state machine without I/O: [`step`](Self::step) says what is to
/// be done, [`turn`](Self::turn) and [`result`](Self::result) tell what came of it. It can be written down at any moment and
/// read back. [`Driver`](crate::Driver) drives one.
///
/// Every call of every turn gets exactly one result, whatever the model and the tools do. Results follow in the order of
/// the calls, in one message per turn. The calls of a turn that was [cut off](Stop::Length) are not run: nobody knows what
/// their arguments would have been.
///
/// ```
/// use agent::{Outcome, Run, Step, Turn};
/// use serde_json::json;
/// use tools::protocol::{Message, Role};
/// use tools::{ToolCall, ToolResult};
///
/// let mut run = Run::new(vec![Message::text(Role::User, "What time is it?")], 10);
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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Written")]
pub struct Run {
    messages: Conversation,
    max_steps: u32,
    earlier_turns: u64,
    steps: u32,
    calls: u32,
    failed_calls: u32,
    usage: Option<Usage>,
    state: State,
}

/// What is to be done next.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Step {
    /// Ask the model, with [`Run::messages`].
    Ask,
    /// Run these calls, in parallel, but for those that are [refused](PendingCall::refusal). They are those that have no
    /// result yet.
    Call(Vec<PendingCall>),
    /// Nothing: the run is over.
    Done(Summary),
}

/// A call that waits for its result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PendingCall {
    /// The call.
    pub call: ToolCall,
    /// Which call of its turn it is, from 0.
    pub index: u32,
    /// Why it may not be run, if so: an error that says this is its result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
}

impl PendingCall {
    /// The result of a call that may not be run.
    pub fn refusal(&self) -> Option<ToolResult> {
        self.refused.as_deref().map(ToolResult::error)
    }
}

/// What a run cannot take in.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// A turn, when none was asked for.
    #[error("the run has not asked for a turn; do what its step says")]
    UnexpectedTurn,
    /// A result that belongs to no call of this turn.
    #[error("no call of this turn has the id {id:?}; use the ids that the step gives")]
    UnknownCall {
        /// The id as given.
        id: String,
    },
    /// Two calls of one turn that results could not tell apart, in a run that was read back.
    #[error("two calls of the turn have the id {id:?}; give each one of its own")]
    RepeatedId {
        /// The id.
        id: String,
    },
    /// A second result.
    #[error("the call {id:?} has its result already; give each call one")]
    AlreadyAnswered {
        /// The call.
        id: String,
    },
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum State {
    Asking,
    Calling {
        /// The calls of the last turn, and the results as far as they are there.
        places: Vec<Place>,
        /// How the run ends once all are there, because of one of them.
        ending: Option<Outcome>,
    },
    Done(Outcome),
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Place {
    pending: PendingCall,
    result: Option<ToolResult>,
}

impl Run {
    /// A run that goes on from these messages, the last of which is what to answer, and asks the model at most `max_steps`
    /// times.
    pub fn new(messages: Vec<Message>, max_steps: u32) -> Self {
        let messages = messages.into();
        let (earlier_turns, steps, calls, failed_calls, usage) = (0, 0, 0, 0, None);
        let state = State::Asking;
        let mut run = Self { messages, max_steps, earlier_turns, steps, calls, failed_calls, usage, state };
        run.ask();
        run
    }

    /// Says how many turns of the model there were in its session before this run, so that [`turns`](Self::turns) counts on.
    #[must_use]
    pub fn with_earlier_turns(mut self, turns: u64) -> Self {
        self.earlier_turns = turns;
        self
    }

    /// Says anew how often the model may be asked, what was asked before included: a run whose budget was used up goes on when
    /// there is more.
    #[must_use]
    pub fn with_max_steps(mut self, max_steps: u32) -> Self {
        self.max_steps = max_steps;
        if let State::Asking | State::Done(Outcome::StepBudget { .. }) = self.state {
            self.ask();
        }
        self
    }

    /// What is to be done next.
    pub fn step(&self) -> Step {
        match &self.state {
            State::Asking => Step::Ask,
            State::Calling { places, .. } => {
                let open = places.iter().filter(|place| place.result.is_none());
                Step::Call(open.map(|place| place.pending.clone()).collect())
            }
            State::Done(outcome) => Step::Done(Summary {
                outcome: outcome.clone(),
                steps: self.steps,
                calls: self.calls,
                failed_calls: self.failed_calls,
                usage: self.usage,
            }),
        }
    }

    /// Takes the model's turn in. A call without an id of its own gets a new one; one with a [fault](Turn::faults)
    /// is [refused](PendingCall::refused) with it.
    ///
    /// # Errors
    /// [`RunError::UnexpectedTurn`] when the step is not to ask.
    pub fn turn(&mut self, turn: Turn) -> Result<(), RunError> {
        if self.state != State::Asking {
            return Err(RunError::UnexpectedTurn);
        }
        let Turn { mut message, stop, usage, faults } = turn;
        message.role = Role::Assistant;
        // A model does not answer its own calls.
        message.parts.retain(|part| !matches!(part, Part::ToolResult { .. }));
        self.messages.rename_calls(&mut message);
        if let Some(usage) = usage {
            *self.usage.get_or_insert_default() += usage;
        }
        self.steps = self.steps.saturating_add(1);
        let place = |(position, call): (usize, &ToolCall)| {
            let cut_off = || (stop == Stop::Length).then(|| CUT_OFF.to_owned());
            let refused = faults.get(&position).cloned().or_else(cut_off);
            let index = u32::try_from(position).unwrap_or(u32::MAX);
            Place { pending: PendingCall { call: call.clone(), index, refused }, result: None }
        };
        let places: Vec<_> = message.calls().enumerate().map(place).collect();
        self.calls = self.calls.saturating_add(u32::try_from(places.len()).unwrap_or(u32::MAX));
        self.state = if places.is_empty() {
            State::Done(Outcome::Answer { text: message.to_text(), stop })
        } else {
            State::Calling { places, ending: None }
        };
        self.messages.push(message);
        Ok(())
    }

    /// Takes the result of a call in. With the last one the turn is complete. A call that is refused has its
    /// [refusal](PendingCall::refusal) for a result, whatever is given.
    ///
    /// # Errors
    /// [`RunError::UnknownCall`] and [`RunError::AlreadyAnswered`]; the run is then as it was.
    pub fn result(&mut self, id: &str, result: ToolResult) -> Result<(), RunError> {
        self.settle(id, result, None)
    }

    /// Takes in that a call failed. The model is told; after an error that is not
    /// [recoverable](ToolError::is_recoverable) the run ends as soon as all calls of the turn have their results.
    ///
    /// # Errors
    /// As [`result`](Self::result).
    pub fn error(&mut self, id: &str, error: &ToolError) -> Result<(), RunError> {
        let ending = match error.code() {
            ErrorCode::Cancelled => Some(Outcome::Cancelled),
            _ if error.is_recoverable() => None,
            _ => Some(Outcome::Failed { message: error.to_string() }),
        };
        self.settle(id, error.into(), ending)
    }

    /// Ends the run, because somebody took it back. Calls without a result get one that says so. A run that is over stays as
    /// it is.
    pub fn cancel(&mut self) {
        self.end(Outcome::Cancelled, |call| ToolError::new(call.name.as_str(), ToolErrorKind::Cancelled).into());
    }

    /// Ends the run, because something failed that no model can mend. Calls without a result get one that says so. A run that
    /// is over stays as it is.
    pub fn fail(&mut self, message: impl Into<String>) {
        let message = message.into();
        let result = format!("the run ended before this call had a result: {message}");
        self.end(Outcome::Failed { message }, |_| ToolResult::error(result.clone()));
    }

    /// The conversation, with what the run has added to it. While calls are under way, their results are not in it yet.
    pub fn messages(&self) -> &[Message] {
        self.messages.messages()
    }

    /// The conversation, with what the run has added to it.
    pub fn into_messages(self) -> Vec<Message> {
        self.messages.into_messages()
    }

    /// How many turns of the model there were in the session, this run's included: the number of the last one.
    pub fn turns(&self) -> u64 {
        self.earlier_turns.saturating_add(self.steps.into())
    }

    fn settle(&mut self, id: &str, result: ToolResult, ends: Option<Outcome>) -> Result<(), RunError> {
        let unknown = || RunError::UnknownCall { id: id.to_owned() };
        let State::Calling { places, ending } = &mut self.state else { return Err(unknown()) };
        let place = places.iter_mut().find(|place| place.pending.call.id == id).ok_or_else(unknown)?;
        if place.result.is_some() {
            return Err(RunError::AlreadyAnswered { id: id.to_owned() });
        }
        let (result, ends) = match place.pending.refusal() {
            Some(refusal) => (refusal, None),
            None => (result, ends),
        };
        place.result = Some(result);
        // A failure weighs more than a cancellation, which may be what it led to.
        if ends.is_some() && matches!(ending, None | Some(Outcome::Cancelled)) {
            *ending = ends;
        }
        self.go_on();
        Ok(())
    }

    /// Goes on to what comes after the calls, if all of them have their results.
    fn go_on(&mut self) {
        let State::Calling { places, ending } = &mut self.state else { return };
        if places.iter().all(|place| place.result.is_some()) {
            let ending = ending.take();
            self.complete_turn(|_| ToolResult::default());
            match ending {
                Some(outcome) => self.state = State::Done(outcome),
                None => self.ask(),
            }
        }
    }

    /// Goes on to the model, if the budget allows.
    fn ask(&mut self) {
        self.state = if self.steps < self.max_steps {
            State::Asking
        } else {
            State::Done(Outcome::StepBudget { max_steps: self.max_steps })
        };
    }

    fn end(&mut self, outcome: Outcome, missing: impl Fn(&ToolCall) -> ToolResult) {
        if let State::Done(_) = self.state {
            return;
        }
        self.complete_turn(missing);
        self.state = State::Done(outcome);
    }

    /// Adds the message of the results, where calls are under way.
    fn complete_turn(&mut self, missing: impl Fn(&ToolCall) -> ToolResult) {
        let State::Calling { places, .. } = std::mem::replace(&mut self.state, State::Asking) else { return };
        let parts: Vec<_> = places
            .into_iter()
            .map(|Place { pending, result }| {
                let result = result.or_else(|| pending.refusal()).unwrap_or_else(|| missing(&pending.call));
                let call = pending.call;
                self.failed_calls = self.failed_calls.saturating_add(result.is_error.into());
                Part::ToolResult { id: call.id, name: call.name, result }
            })
            .collect();
        self.messages.push(Message { role: Role::Tool, parts });
    }
}
