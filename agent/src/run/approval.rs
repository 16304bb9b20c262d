//! Waits of a run for approvals.

use std::io;

use tools::protocol::Message;
use tools::{ToolCall, ToolResult};

use super::{Run, RunPhase};
use crate::consent::{ApprovalKey, ApprovalRequest};
use crate::run::Outcome;

impl Run {
    /// Returns the requests that wait for an answer. Empty unless the run ended with [`Outcome::WaitingForApproval`].
    pub fn waiting_requests(&self) -> &[ApprovalRequest] {
        match &self.state {
            RunPhase::Calling { waiting, .. } => waiting,
            RunPhase::Asking | RunPhase::Done(_) => &[],
        }
    }

    /// Returns the key of the run's requests. Creates it if there is none.
    pub(crate) fn approval_key(&mut self) -> io::Result<ApprovalKey> {
        let key = self.approval_key.map_or_else(ApprovalKey::new, Ok)?;
        Ok(*self.approval_key.insert(key))
    }

    /// Ends the run until these requests for approvals are answered. A run that is cancelled or failed meanwhile ends for good.
    pub(crate) fn wait_for_approval(&mut self, requests: Vec<ApprovalRequest>) {
        let RunPhase::Calling {
            ending, waiting, ..
        } = &mut self.state
        else {
            return;
        };
        match ending {
            Some(Outcome::Cancelled | Outcome::Failed { .. }) => {
                let outcome = ending.take().unwrap_or(Outcome::Cancelled);
                self.end(outcome, refuse_unapproved);
            }
            _ => *waiting = requests,
        }
    }

    /// Returns the messages of a run that is not continued. Calls that wait for an approval have an error as their result.
    pub(crate) fn into_settled_messages(mut self) -> Vec<Message> {
        if !self.waiting_requests().is_empty() {
            self.end(Outcome::Cancelled, refuse_unapproved);
        }
        self.into_messages()
    }
}

/// Returns the result of a call whose approval is no longer awaited.
fn refuse_unapproved(_: &ToolCall) -> ToolResult {
    ToolResult::error(
        "this call needed an approval, and the conversation went on without one, so it was not run",
    )
}
