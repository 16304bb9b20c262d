//! [`TerminalApprover`]: asks the person at the terminal to approve calls.

mod keyboard;
mod question;

use std::collections::HashSet;
use std::sync::Arc;

use tokio::sync::Mutex;
use tools::{Approval, ApprovalFuture, Approver, Decision, Digest, Target};

use self::question::{Answer, may_last_for_session, question};
use crate::notice;
use crate::output::Console;

/// Asks on standard error and reads the answer from standard input, which must both be terminals. Parallel calls queue, so
/// that one question is open at a time.
pub(crate) struct TerminalApprover {
    console: Arc<Console>,
    /// Approvals for the session, keyed by tool digest and target (`None` for a call without targets). A changed definition has
    /// another digest and asks again.
    allowed: Mutex<HashSet<(Digest, Option<Target>)>>,
}

impl TerminalApprover {
    /// Returns an approver that holds back progress lines while a question is open.
    pub(crate) fn new(console: Arc<Console>) -> Self {
        Self { console, allowed: Mutex::default() }
    }

    async fn ask(&self, approval: Approval<'_>) -> Decision {
        let mut allowed = self.allowed.lock().await;
        let keys = approval_keys(&approval);
        if keys.iter().all(|key| allowed.contains(key)) {
            return Decision::Allow;
        }
        keyboard::discard_typed_ahead();
        let mut open = self.console.question();
        notice::write(&question(&approval, false));
        loop {
            let Some(line) = keyboard::line().await else {
                return denied("the terminal closed without an answer");
            };
            open.is_answered = true;
            match Answer::parse(&line) {
                Some(Answer::Once) => return Decision::Allow,
                Some(Answer::Session) if may_last_for_session(approval.targets, approval.cx.sensitive_paths()) => {
                    allowed.extend(keys);
                    return Decision::Allow;
                }
                Some(Answer::No) => return denied("the person at the terminal denied it"),
                Some(Answer::View) => notice::write(&question(&approval, true)),
                Some(Answer::Session) | None => notice::write(&question::choices(&approval)),
            }
            open.is_answered = false;
        }
    }
}

impl Approver for TerminalApprover {
    fn approve<'a>(&'a self, approval: Approval<'a>) -> ApprovalFuture<'a> {
        Box::pin(self.ask(approval))
    }
}

fn approval_keys(approval: &Approval<'_>) -> Vec<(Digest, Option<Target>)> {
    match approval.targets {
        [] => vec![(approval.tool_digest, None)],
        targets => targets.iter().map(|target| (approval.tool_digest, Some(target.clone()))).collect(),
    }
}

fn denied(reason: &str) -> Decision {
    Decision::Deny { reason: reason.to_owned() }
}
