//! [`TerminalAsker`]: asks the person at the terminal to approve calls.

mod preview;
mod question;

use std::sync::Arc;

use agent::consent::{Answer, AnswerFuture, Asker, Question};

use self::question::{TypedAnswer, question};
use crate::dialogue::Dialogue;

/// Asks in the dialogue at the terminal.
#[derive(Debug)]
pub(crate) struct TerminalAsker {
    dialogue: Arc<Dialogue>,
}

impl TerminalAsker {
    /// Returns an asker for this dialogue.
    pub(crate) fn new(dialogue: Arc<Dialogue>) -> Self {
        Self { dialogue }
    }

    async fn answer(&self, asked: Question<'_>) -> Answer {
        let preview = asked.approval.preview().await;
        let mut dialogue = self.dialogue.open().await;
        let mut text = question(&asked, preview.as_ref(), false);
        loop {
            let Some(line) = dialogue.ask(&text).await else {
                return denied("the terminal closed without an answer");
            };
            match TypedAnswer::parse(&line) {
                Some(TypedAnswer::Once) => return Answer::Once,
                Some(TypedAnswer::Session) if asked.may_last() => return Answer::Session,
                Some(TypedAnswer::No) => return denied("the person at the terminal denied it"),
                Some(TypedAnswer::View) => text = question(&asked, preview.as_ref(), true),
                Some(TypedAnswer::Session) | None => text = question::choices(&asked),
            }
        }
    }
}

impl Asker for TerminalAsker {
    fn ask<'a>(&'a self, question: Question<'a>) -> AnswerFuture<'a> {
        Box::pin(self.answer(question))
    }
}

fn denied(reason: &str) -> Answer {
    Answer::No { reason: reason.to_owned() }
}
