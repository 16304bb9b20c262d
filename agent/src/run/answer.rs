//! Answers that are checked before a run ends.

use tools::protocol::{Message, Role};

use super::{Run, State};
use crate::{Outcome, StopReason};

impl Run {
    /// Returns the answer of the model. Returns `None` if there is none, or if the model refused to answer.
    pub(crate) fn answer(&self) -> Option<&str> {
        match &self.state {
            State::Done(Outcome::Answer { text, stop }) if *stop != StopReason::Refusal => Some(text),
            _ => None,
        }
    }

    /// Returns the text of the last turn. Its parts before pauses are messages of their own.
    pub(super) fn last_text(&self) -> String {
        let messages = self.messages().iter().rev().take_while(|message| message.role == Role::Assistant);
        let mut texts: Vec<_> = messages.map(Message::to_text).filter(|text| !text.is_empty()).collect();
        texts.reverse();
        texts.join("\n")
    }

    /// Continues an answered run with this message of the user. Other runs do not change.
    pub(crate) fn reject_answer(&mut self, message: String) {
        if self.is_answered() {
            self.messages.push(Message::text(Role::User, message));
            self.state = State::Asking;
        }
    }
}
