//! [`TerminalApprover`]: a person at the terminal, asked about calls that nothing grants, or that the policy asks about.

mod keyboard;
mod question;

use std::collections::HashSet;
use std::sync::Arc;

use tokio::sync::Mutex;
use tools::{Approval, ApprovalFuture, Approver, Decision, Digest, Target};

use self::question::{Answer, is_for_session, question};
use crate::notice::aside;
use crate::output::Console;

/// Asks on the standard error and reads the answer from the standard input, both of which have to be terminals. Calls that
/// run side by side queue here, so that there is one question at a time.
pub(crate) struct TerminalApprover {
    console: Arc<Console>,
    /// What was allowed until the program ends: these targets, or to touch none, to the tool that was asked about. Another
    /// definition of that name is another tool.
    allowed: Mutex<HashSet<(Digest, Option<Target>)>>,
}

impl TerminalApprover {
    /// An approver that holds back the progress of other calls while it asks.
    pub(crate) fn new(console: Arc<Console>) -> Self {
        Self { console, allowed: Mutex::default() }
    }

    async fn ask(&self, approval: Approval<'_>) -> Decision {
        let mut allowed = self.allowed.lock().await;
        let wanted = wanted(&approval);
        if wanted.iter().all(|one| allowed.contains(one)) {
            return Decision::Allow;
        }
        keyboard::forget();
        let mut asked = self.console.question();
        aside(&question(&approval, false));
        loop {
            let Some(line) = keyboard::line().await else {
                return denied("the terminal was closed without an answer");
            };
            asked.is_answered = true;
            match Answer::of(&line) {
                Some(Answer::Once) => return Decision::Allow,
                Some(Answer::Session) if is_for_session(approval.targets, approval.cx.sensitive_paths()) => {
                    allowed.extend(wanted);
                    return Decision::Allow;
                }
                Some(Answer::No) => return denied("the person at the terminal said no"),
                Some(Answer::View) => aside(&question(&approval, true)),
                Some(Answer::Session) | None => aside(&question::choices(&approval)),
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

fn wanted(approval: &Approval<'_>) -> Vec<(Digest, Option<Target>)> {
    match approval.targets {
        [] => vec![(approval.tool_digest, None)],
        targets => targets.iter().map(|target| (approval.tool_digest, Some(target.clone()))).collect(),
    }
}

fn denied(reason: &str) -> Decision {
    Decision::Deny { reason: reason.to_owned() }
}
