//! Ends of a run that its caller decides.

use tools::protocol::{Message, Role};
use tools::{ToolCall, ToolError, ToolErrorKind, ToolResult};

use super::{Run, RunPhase};
use crate::budget::Exhausted;
use crate::prompt::Prompt;
use crate::provider::{FailureKind, StopReason};
use crate::repeat::Repeated;
use crate::run::Outcome;

impl Run {
    /// Cancels the run. Calls without a result get an error that says so. A run that has ended does not change.
    pub fn cancel(&mut self) {
        self.end(Outcome::Cancelled, |call| {
            ToolError::new(call.name.as_str(), ToolErrorKind::Cancelled).into()
        });
    }

    /// Ends the run after a failure that the model cannot repair. Calls without a result get an error with the message. A run
    /// that has ended does not change.
    pub fn fail(&mut self, message: impl Into<String>) {
        self.fail_with(message.into(), None);
    }

    /// Ends the run as [`fail`](Self::fail) does, after a failure of this kind.
    pub(crate) fn fail_with(&mut self, message: String, failure: Option<FailureKind>) {
        let result = format!("the run ended before this call had a result: {message}");
        self.end(Outcome::Failed { message, failure }, |_| {
            ToolResult::error(result.clone())
        });
    }

    /// Ends the run because a budget is used up. If calls wait for their results, the run ends once all of them have one. A run that
    /// has ended does not change.
    pub fn exhaust(&mut self, exhausted: Exhausted) {
        self.end_after_results(Outcome::Budget(exhausted));
    }

    /// Ends the run because a call is repeated. If calls wait for their results, the run ends once all of them have one. A run that
    /// has ended does not change.
    pub fn end_loop(&mut self, repeated: Repeated) {
        self.end_after_results(Outcome::Loop(repeated));
    }

    fn end_after_results(&mut self, outcome: Outcome) {
        match &mut self.state {
            RunPhase::Asking => self.state = RunPhase::Done(outcome),
            RunPhase::Calling { ending, .. } => {
                ending.get_or_insert(outcome);
            }
            RunPhase::Done(_) => {}
        }
    }

    pub(super) fn end(&mut self, outcome: Outcome, missing: impl Fn(&ToolCall) -> ToolResult) {
        if let RunPhase::Done(_) = self.state {
            return;
        }
        self.complete_turn(missing);
        self.state = RunPhase::Done(outcome);
    }

    /// Returns the text of the last turn. Its parts before pauses are messages of their own.
    pub(super) fn last_text(&self) -> String {
        let messages = self
            .messages()
            .iter()
            .rev()
            .take_while(|message| message.role == Role::Assistant);
        let texts = messages.map(Message::to_text);
        let mut texts: Vec<_> = texts.filter(|text| !text.is_empty()).collect();
        texts.reverse();
        texts.join("\n")
    }

    /// Continues an answered run if the check asks for another answer. A refusal of the model is not checked.
    pub(crate) fn check_answer(&mut self, check: &mut AnswerCheck<'_>) {
        let RunPhase::Done(Outcome::Answer { text, stop }) = &self.state else {
            return;
        };
        if *stop == StopReason::Refusal {
            return;
        }
        if let Some(message) = check(text, stop) {
            self.continue_with(message);
        }
    }

    /// Continues a run without pending calls, also an answered one, with this message.
    pub(crate) fn continue_with(&mut self, message: impl Into<Prompt>) {
        self.messages.push(message.into().into_message());
        self.state = RunPhase::Asking;
    }

    /// Sets the reason that the last turn of an answered run ended.
    pub(crate) fn end_answer_with(&mut self, reason: StopReason) {
        if let RunPhase::Done(Outcome::Answer { stop, .. }) = &mut self.state {
            *stop = reason;
        }
    }
}

/// Returns the message that asks for another answer. Returns `None` if it accepts the answer.
pub(crate) type AnswerCheck<'a> = dyn FnMut(&str, &StopReason) -> Option<String> + Send + 'a;
