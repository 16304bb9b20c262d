//! Answers that are checked before a run ends.

use tools::protocol::{Message, Role};

use super::{Run, RunPhase};
use crate::{Outcome, StopReason};

/// Returns the message that asks for another answer. Returns `None` if it accepts the answer.
pub(crate) type AnswerCheck<'a> = dyn FnMut(&str, &StopReason) -> Option<String> + Send + 'a;

impl Run {
    /// Returns the text of the last turn. Its parts before pauses are messages of their own.
    pub(super) fn last_text(&self) -> String {
        let messages = self
            .messages()
            .iter()
            .rev()
            .take_while(|message| message.role == Role::Assistant);
        let mut texts: Vec<_> = messages
            .map(Message::to_text)
            .filter(|text| !text.is_empty())
            .collect();
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

    /// Continues an answered run with this message.
    pub(crate) fn continue_with(&mut self, message: String) {
        self.messages.push(Message::text(Role::User, message));
        self.state = RunPhase::Asking;
    }

    /// Sets the reason that the last turn of an answered run ended.
    pub(crate) fn end_answer_with(&mut self, reason: StopReason) {
        if let RunPhase::Done(Outcome::Answer { stop, .. }) = &mut self.state {
            *stop = reason;
        }
    }
}
