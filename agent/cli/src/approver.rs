//! [`TerminalAsker`]: asks the person at the terminal to approve calls.

mod keyboard;
mod preview;
mod question;

use std::sync::Arc;

use agent::consent::{Answer, AnswerFuture, Asker, Question};

use self::question::{TypedAnswer, question};
use crate::console::Console;
use crate::notice;

/// Asks on standard error and reads the answer from standard input, which must both be terminals.
#[derive(Debug)]
pub(crate) struct TerminalAsker {
    console: Arc<Console>,
}

impl TerminalAsker {
    /// Returns an asker that holds back progress lines while a question is open.
    pub(crate) fn new(console: Arc<Console>) -> Self {
        Self { console }
    }

    async fn answer(&self, asked: Question<'_>) -> Answer {
        let preview = asked.approval.preview().await;
        keyboard::discard_typed_ahead();
        let mut open = self.console.question();
        notice::write(&question(&asked, preview.as_ref(), false));
        loop {
            let Some(line) = keyboard::line().await else {
                return denied("the terminal closed without an answer");
            };
            open.is_answered = true;
            match TypedAnswer::parse(&line) {
                Some(TypedAnswer::Once) => return Answer::Once,
                Some(TypedAnswer::Session) if asked.may_last() => return Answer::Session,
                Some(TypedAnswer::No) => return denied("the person at the terminal denied it"),
                Some(TypedAnswer::View) => notice::write(&question(&asked, preview.as_ref(), true)),
                Some(TypedAnswer::Session) | None => notice::write(&question::choices(&asked)),
            }
            open.is_answered = false;
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
