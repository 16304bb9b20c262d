//! [`TerminalApprover`]: a person at the terminal, asked about calls that nothing grants.

mod keyboard;
mod question;

use std::collections::HashSet;
use std::sync::Arc;

use tokio::sync::Mutex;
use tools::{Approval, ApprovalFuture, Approver, Decision, Target, ToolName};

use self::keyboard::Keyboard;
use self::question::{Answer, is_for_session, question};
use crate::output::Console;

/// Asks on the standard error and reads the answer from the standard input, both of which have to be terminals. Calls that
/// run side by side queue here, so that there is one question at a time.
pub(crate) struct TerminalApprover {
    console: Arc<Console>,
    desk: Mutex<Desk>,
}

#[derive(Default)]
struct Desk {
    keyboard: Keyboard,
    /// What was allowed until the program ends: these targets, to that tool.
    allowed: HashSet<(ToolName, Target)>,
}

impl TerminalApprover {
    /// An approver that holds back the progress of other calls while it asks.
    pub(crate) fn new(console: Arc<Console>) -> Self {
        Self { console, desk: Mutex::default() }
    }

    async fn ask(&self, approval: Approval<'_>) -> Decision {
        let mut desk = self.desk.lock().await;
        let pairs = || approval.targets.iter().map(|target| (approval.tool.clone(), target.clone()));
        if pairs().all(|pair| desk.allowed.contains(&pair)) {
            return Decision::Allow;
        }
        desk.keyboard.forget();
        let open = self.console.question();
        open.say(&question(&approval, false));
        loop {
            let Some(line) = desk.keyboard.line().await else {
                open.say("\n");
                return denied("the terminal was closed without an answer");
            };
            match Answer::of(&line) {
                Some(Answer::Once) => return Decision::Allow,
                Some(Answer::Session) if is_for_session(approval.targets) => {
                    desk.allowed.extend(pairs());
                    return Decision::Allow;
                }
                Some(Answer::No) => return denied("the person at the terminal said no"),
                Some(Answer::View) => open.say(&question(&approval, true)),
                Some(Answer::Session) | None => open.say(&question::choices(approval.targets)),
            }
        }
    }
}

impl Approver for TerminalApprover {
    fn approve<'a>(&'a self, approval: Approval<'a>) -> ApprovalFuture<'a> {
        Box::pin(self.ask(approval))
    }
}

fn denied(reason: &str) -> Decision {
    Decision::Deny { reason: reason.to_owned() }
}
