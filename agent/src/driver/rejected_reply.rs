//! Rejects replies that are no turn or no answer: empty ones, unreadable ones, and calls that are written as text. The model is told the
//! reason, and asked again a bounded number of times.

use std::sync::atomic::{AtomicBool, Ordering};

use tools::protocol::{Part, Role};

use super::metering::charge;
use super::written_call::written_call;
use super::{Driver, DriverError, RunContext};
use crate::budget::Spending;
use crate::event::Event;
use crate::provider::{FailureKind, ProviderError, ProviderInfo, StopReason, ToolChoice, Turn};
use crate::run::{Outcome, Run, Step};

/// The most requests after empty or unreadable replies, which follow one another.
const MAX_REPEATS: u32 = 2;

/// The note for a model whose reply was empty twice.
const EMPTY: &str =
    "[Your last reply had neither text nor a call. Answer in text, or make a call.]";

/// The note for a model whose reply its service cannot read.
const UNREADABLE: &str = "[Your last reply was lost, because a call in it was malformed. Make the call again with valid JSON arguments, or \
     answer in text.]";

/// The replies of a run that were rejected.
#[derive(Default)]
pub(super) struct RejectedReplies {
    /// True once the model has been told that it made no call.
    is_told: AtomicBool,
    /// True if the present request has sent text that is not withdrawn.
    pub(super) is_streamed: AtomicBool,
}

/// Returns true if a turn of a model has neither text nor calls, although the model ended it itself. Without a model, an empty result is an
/// answer.
pub(super) fn is_empty(turn: &Turn, about: &ProviderInfo) -> bool {
    let is_ended = matches!(
        turn.stop,
        StopReason::Answer | StopReason::Calls | StopReason::Other(_)
    );
    let mut parts = turn.message.parts.iter();
    let says_nothing = parts.all(|part| match part {
        Part::Content(content) => content.as_text().is_some_and(|text| text.trim().is_empty()),
        Part::Reasoning { .. } => true,
        _ => false,
    });
    is_ended && about.is_metered && says_nothing
}

impl Driver {
    /// Prepares another request after an empty or unreadable reply, of which the model is told. Returns false if the error is another one
    /// or the repeats are used up.
    pub(super) async fn asks_again(
        &self,
        error: &DriverError,
        repeats: &mut u32,
        run: &mut Run,
        run_cx: &RunContext<'_>,
    ) -> Result<bool, DriverError> {
        // A service has repeated a request whose reply it cannot read already, so the model is told at once.
        let (note, told_at) = match error {
            DriverError::Provider(ProviderError::NoAnswer { .. }) => (EMPTY, 1),
            DriverError::Provider(
                ProviderError::Status { kind, .. } | ProviderError::Reported { kind, .. },
            ) if *kind == FailureKind::MalformedReply => (UNREADABLE, 0),
            _ => return Ok(false),
        };
        if *repeats >= MAX_REPEATS {
            return Ok(false);
        }
        let withdraws_text = run_cx.rejected.is_streamed.swap(false, Ordering::Relaxed);
        run_cx.sink.send(|| Event::ReplyRejected {
            reason: error.to_string(),
            withdraws_text,
        });
        // A note changes the prompt, and an empty reply often passes with the same request.
        if *repeats == told_at && run.can_be_noted() {
            run.add_note(note);
        }
        *repeats += 1;
        if let Some(exhausted) = charge(run_cx.budget, Spending::steps(1)).await? {
            run.exhaust(exhausted);
        }
        Ok(true)
    }

    /// Rejects an answer that is a call written as text, or that comes in place of a required call. The model is told once in a run. After
    /// that, the reason that the turn ended says so.
    pub(super) fn reject_answer(&self, run: &mut Run, run_cx: &RunContext<'_>) {
        if !self.about().is_metered {
            return;
        }
        let Step::Done(summary) = run.step() else {
            return;
        };
        let Outcome::Answer {
            text,
            stop: StopReason::Answer,
        } = summary.outcome
        else {
            return;
        };
        let (reason, request) = if let Some(tool) =
            written_call(&text, run_cx.tools, self.wire_tools(run_cx.tools))
        {
            let tool = run_cx.cx.spelling(&tool);
            (
                format!("a call of {tool} is written as text and was not run"),
                format!(
                    "Your reply has a call of {tool} as text, which was not run. Make the call through the interface for tool calls, \
                     or answer without it."
                ),
            )
        } else if self.requires_call(run, run_cx) {
            let request =
                "This request requires a call of a tool, and your reply has none. Make the call now.".to_owned();
            (
                "the reply has no call, although the request requires one".to_owned(),
                request,
            )
        } else {
            return;
        };
        if run_cx.rejected.is_told.swap(true, Ordering::Relaxed) {
            run.end_answer_with(StopReason::Other(reason));
            return;
        }
        run_cx.sink.send(|| Event::ReplyRejected {
            reason,
            withdraws_text: false,
        });
        run.continue_with(request);
    }

    /// Returns true if the request of the last turn required a call: the tool choice holds for the first turn after a prompt.
    fn requires_call(&self, run: &Run, run_cx: &RunContext<'_>) -> bool {
        let position = run.messages().len().checked_sub(2);
        let prompt = position.and_then(|position| run.messages().get(position));
        let choice = &self.about().generation.tool_choice;
        matches!(choice, Some(ToolChoice::Required | ToolChoice::Tool(_)))
            && run_cx.session.context().agent().is_none()
            && prompt.is_some_and(|message| message.role == Role::User)
            && self
                .wire_tools(run_cx.tools)
                .is_some_and(|tools| tools.list().len() > 0)
    }
}
