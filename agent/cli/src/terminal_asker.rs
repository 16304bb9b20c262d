//! [`TerminalAsker`]: asks the person at the terminal to approve calls.

mod always;
mod excerpt;
pub(crate) mod preview;
mod question;

use std::path::PathBuf;
use std::sync::Arc;

use agent::consent::{ApprovalAnswer, ApprovalAnswerFuture, ApprovalQuestion, Asker};
use terminal::Dialogue;

pub(crate) use self::always::Always;
use self::always::Proposal;
use self::question::{TypedAnswer, question};
use crate::notice;
use crate::session_view::SessionView;

/// Asks in the dialogue at the terminal.
#[derive(Debug)]
pub(crate) struct TerminalAsker {
    pub(crate) view: Arc<SessionView>,
    /// The root whose servers the session has.
    pub(crate) servers: Option<PathBuf>,
    /// The answer that permits a clause in the project. `None` if the user's file is not read.
    pub(crate) always: Option<Always>,
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

    /// Shows a clause with its examples, and writes it after a yes. Returns `None` if the person goes back to the question.
    async fn write(
        &self,
        always: &Always,
        proposal: Proposal,
        dialogue: &mut Dialogue<'_>,
    ) -> Option<ApprovalAnswer> {
        let Some(line) = dialogue.ask(&proposal.question()).await else {
            return Some(deny("the terminal closed without an answer"));
        };
        if TypedAnswer::parse(&line) != Some(TypedAnswer::Once) {
            return None;
        }
        Some(match always.write(proposal) {
            Ok(note) => {
                notice::note(&note);
                ApprovalAnswer::Session
            }
            Err(error) => {
                notice::warning(&format!(
                    "allowed once, because the clause was not written: {error}"
                ));
                ApprovalAnswer::Once
            }
        })
    }

    async fn answer(&self, asked: ApprovalQuestion<'_>) -> ApprovalAnswer {
        let may_be_kept = self.servers.is_some()
            && asked.may_be_kept()
            && host::remote_tools().may_permit(asked.approval.tool);
        let always = self.always.as_ref().filter(|_| asked.may_be_granted());
        if always.is_some_and(|always| always.answers(&asked)) {
            return ApprovalAnswer::Once;
        }
        let mut dialogue = Dialogue::open(&self.view.console).await;
        self.view.effects.note_question(asked.approval.cx);
        // The preview is made while no other question is open, because it is the effect that the call would have now.
        let mut shown = question(&asked, asked.approval.preview().await.as_ref(), false);
        let mut is_unclear = false;
        loop {
            let proposal = always.and_then(|always| Some((always, always.proposal(&asked)?)));
            let choices = question::choices(&asked, &shown, may_be_kept, proposal.is_some());
            let text = std::mem::take(&mut shown.text) + &choices;
            let Some(line) = dialogue.ask(&text).await else {
                return deny("the terminal closed without an answer");
            };
            let is_approvable = shown.is_approvable();
            let typed = TypedAnswer::parse(&line);
            if let (Some(TypedAnswer::Always), Some((always, proposal)), true) =
                (typed, proposal, is_approvable)
            {
                match self.write(always, proposal, &mut dialogue).await {
                    Some(answer) => return answer,
                    None => continue,
                }
            }
            match typed {
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
