//! Ends of a run that its caller decides.

use tools::{ToolCall, ToolError, ToolErrorKind, ToolResult};

use super::{Run, RunPhase};
use crate::{Exhausted, FailureKind, Outcome, Repeated};

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
}
