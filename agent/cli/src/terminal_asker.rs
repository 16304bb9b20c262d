//! [`TerminalAsker`]: asks the person at the terminal to approve calls.

mod excerpt;
pub(crate) mod preview;
mod question;

use std::path::PathBuf;
use std::sync::Arc;

use agent::consent::{ApprovalAnswer, ApprovalAnswerFuture, ApprovalQuestion, Asker};

use self::question::{TypedAnswer, question};
use crate::console::Console;
use crate::dialogue::Dialogue;
use crate::notice;

/// Asks in the dialogue at the terminal.
#[derive(Debug)]
pub(crate) struct TerminalAsker {
    pub(crate) console: Arc<Console>,
    /// The root whose servers the session has.
    pub(crate) servers: Option<PathBuf>,
}

impl TerminalAsker {
    /// Writes a rule that permits the tool.
    fn keep(&self, asked: &ApprovalQuestion<'_>) -> ApprovalAnswer {
        let Some(root) = &self.servers else {
            return ApprovalAnswer::Once;
        };
        match host::remote_tools().permit(root, asked.approval.tool) {
            Ok(path) => {
                notice::note(&format!(
                    "{} permits {} from now on",
                    path.display(),
                    asked.caller()
                ));
                ApprovalAnswer::Always
            }
            Err(error) => {
                notice::warning(&format!(
                    "allowed once, because the rule was not written: {error}"
                ));
                ApprovalAnswer::Once
            }
        }
    }

    async fn answer(&self, asked: ApprovalQuestion<'_>) -> ApprovalAnswer {
        let may_be_kept = self.servers.is_some()
            && asked.may_be_kept()
            && host::remote_tools().may_permit(asked.approval.tool);
        let mut dialogue = Dialogue::open(&self.console).await;
        self.console.effects.note_question(asked.approval.cx);
        // The preview is made while no other question is open, because it is the effect that the call would have now.
        let mut shown = question(&asked, asked.approval.preview().await.as_ref(), false);
        let mut is_unclear = false;
        loop {
            let choices = question::choices(&asked, &shown, may_be_kept);
            let text = std::mem::take(&mut shown.text) + &choices;
            let Some(line) = dialogue.ask(&text).await else {
                return deny("the terminal closed without an answer");
            };
            let is_approvable = shown.is_approvable();
            match TypedAnswer::parse(&line) {
                Some(TypedAnswer::Once) if is_approvable => return ApprovalAnswer::Once,
                Some(TypedAnswer::Session) if is_approvable && asked.may_last() => {
                    return ApprovalAnswer::Session;
                }
                Some(TypedAnswer::Always) if is_approvable && may_be_kept => {
                    return self.keep(&asked);
                }
                Some(TypedAnswer::No) => return deny("the person at the terminal denied it"),
                Some(TypedAnswer::View) => {
                    shown = question(&asked, asked.approval.preview().await.as_ref(), true);
                }
                // An answer that was not offered is unclear. One retry: one of many lines, such as those of a pasted text, could be
                // a yes.
                _ if is_unclear => return deny("the person at the terminal gave no clear answer"),
                _ => is_unclear = true,
            }
        }
    }
}

impl Asker for TerminalAsker {
    fn ask<'a>(&'a self, question: ApprovalQuestion<'a>) -> ApprovalAnswerFuture<'a> {
        Box::pin(self.answer(question))
    }
}

fn deny(reason: &str) -> ApprovalAnswer {
    ApprovalAnswer::No {
        reason: reason.to_owned(),
    }
}
