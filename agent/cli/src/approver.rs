//! [`TerminalApprover`]: a person at the terminal, asked about calls that nothing grants, or that the policy asks about.

mod keyboard;
mod question;

use std::collections::HashSet;
use std::sync::Arc;

use tokio::sync::Mutex;
use tools::{Approval, ApprovalFuture, Approver, Decision, Digest, Target};

use self::keyboard::Keyboard;
use self::question::{Answer, is_for_session, question};
use crate::output::{Console, Question};

/// Asks on the standard error and reads the answer from the standard input, both of which have to be terminals. Calls that
/// run side by side queue here, so that there is one question at a time.
pub(crate) struct TerminalApprover {
    console: Arc<Console>,
    desk: Mutex<Desk>,
}

#[derive(Default)]
struct Desk {
    keyboard: Keyboard,
    /// What was allowed until the program ends: these targets, or to touch none, to the tool that was asked about. Another
    /// definition of that name is another tool.
    allowed: HashSet<(Digest, Option<Target>)>,
}

/// A question that may be given up on before it is answered: its time runs out, or the call is taken back.
struct Asked<'a> {
    question: Question<'a>,
    is_answered: bool,
}

impl TerminalApprover {
    /// An approver that holds back the progress of other calls while it asks.
    pub(crate) fn new(console: Arc<Console>) -> Self {
        Self { console, desk: Mutex::default() }
    }

    async fn ask(&self, approval: Approval<'_>) -> Decision {
        let mut desk = self.desk.lock().await;
        let wanted = wanted(&approval);
        if wanted.iter().all(|one| desk.allowed.contains(one)) {
            return Decision::Allow;
        }
        desk.keyboard.forget();
        let mut asked = Asked { question: self.console.question(), is_answered: false };
        asked.question.say(&question(&approval, false));
        loop {
            let Some(line) = desk.keyboard.line().await else {
                return denied("the terminal was closed without an answer");
            };
            asked.is_answered = true;
            match Answer::of(&line) {
                Some(Answer::Once) => return Decision::Allow,
                Some(Answer::Session) if is_for_session(approval.targets, approval.cx.sensitive_paths()) => {
                    desk.allowed.extend(wanted);
                    return Decision::Allow;
                }
                Some(Answer::No) => return denied("the person at the terminal said no"),
                Some(Answer::View) => asked.question.say(&question(&approval, true)),
                Some(Answer::Session) | None => asked.question.say(&question::choices(&approval)),
            }
            asked.is_answered = false;
        }
    }
}

impl Approver for TerminalApprover {
    fn approve<'a>(&'a self, approval: Approval<'a>) -> ApprovalFuture<'a> {
        Box::pin(self.ask(approval))
    }
}

impl Drop for Asked<'_> {
    fn drop(&mut self) {
        // What comes next does not belong to the line of the question.
        if !self.is_answered {
            self.question.say("\n");
        }
    }
}

fn wanted(approval: &Approval<'_>) -> Vec<(Digest, Option<Target>)> {
    match approval.targets {
        [] => vec![(approval.tool_digest, None)],
        targets => targets.iter().map(|target| (approval.tool_digest, Some(target.clone()))).collect(),
    }
}

fn denied(reason: &str) -> Decision {
    Decision::Deny { reason: reason.to_owned() }
}
