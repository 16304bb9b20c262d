//! [`SessionConsent`]: an approver that asks a person and remembers approvals for the session.

use std::fmt;

use tokio::sync::Mutex;
use tools::context::ApprovalFuture;
use tools::{Approval, Approver, Basis, Decision};

use super::remembered::{Memory, Remembered};
use super::{ApprovalAnswer, ApprovalQuestion, Asker};

/// An [`Approver`] that asks a person through an [`Asker`].
///
/// - Parallel calls queue, so that one question is open at a time.
/// - An approval for the session holds for one tool and its targets, in one session, principal and
///   [domain](tools::Host::with_domain), and at one depth of calls. One for the session's own calls does not hold for those of a
///   [sub-agent](tools::ToolContext::agent), and one for a sub-agent only for those of the same path.
/// - An approval of a granted target does not hold if a smaller grant excludes the target.
/// - A tool whose definition has changed is asked about again.
/// - Only approvals that [may last](ApprovalQuestion::may_last), or [may be kept](ApprovalQuestion::may_be_kept) by a rule, are remembered.
/// - An approval covers the effect that was shown: the person is asked again if the call's preview has changed by the answer.
/// - An approval for the session holds while the [content](Basis) that the call depends on is the same: a script that has changed since is
///   asked about again.
/// - An approval of a call that asks only about hosts which no grant [names](ApprovalQuestion::holds_for_hosts) always holds for the
///   session, as far as the points above say. Another tool asks about the same host again, because it sends other data; so does a
///   sub-agent, and a call at another depth.
/// - This value remembers approvals, and no file does: a session that another process resumes asks again.
///
/// ```
/// use std::sync::Arc;
///
/// use agent::consent::{ApprovalAnswer, ApprovalAnswerFuture, Asker, ApprovalQuestion, SessionConsent};
/// use tools::{Host, Policy};
///
/// struct Log;
///
/// impl Asker for Log {
///     fn ask<'a>(&'a self, question: ApprovalQuestion<'a>) -> ApprovalAnswerFuture<'a> {
///         eprintln!("{question}");
///         Box::pin(async { ApprovalAnswer::No { reason: "no person reads the log".to_owned() } })
///     }
/// }
///
/// let cx = Host::new()
///     .with_policy(Policy::by_effects())
///     .with_approver(Arc::new(SessionConsent::new(Log)));
/// # let _ = cx;
/// ```
pub struct SessionConsent<A> {
    asker: A,
    /// Held while a question is open.
    queue: Mutex<()>,
    allowed: Remembered,
}

impl<A: Asker> SessionConsent<A> {
    /// Creates an approver without remembered approvals.
    pub fn new(asker: A) -> Self {
        Self {
            asker,
            queue: Mutex::default(),
            allowed: Remembered::default(),
        }
    }

    async fn decide(&self, approval: Approval<'_>) -> Decision {
        if self.recall(&approval).await == Memory::Holds {
            return Decision::Allow;
        }
        // A lock of tokio, because it is held over the wait for a person; one of std would block a worker.
        let _turn = self.queue.lock().await;
        // An earlier question of the queue may have answered this one.
        let memory = self.recall(&approval).await;
        if memory == Memory::Holds {
            return Decision::Allow;
        }
        let mut question = ApprovalQuestion::new(approval);
        // The host alone counts for a question about it.
        if question.may_last() && !question.holds_for_hosts() {
            question.basis = basis(&approval).await;
        }
        question.has_changed |= memory == Memory::Bound;
        let is_lasting = match self.asker.ask(question).await {
            // An asker may offer an answer that it should not, and a client over a wire may send one.
            ApprovalAnswer::Session => question.may_last(),
            ApprovalAnswer::Always => question.may_be_kept(),
            ApprovalAnswer::Once => question.holds_for_hosts(),
            ApprovalAnswer::No { reason } => return Decision::Deny { reason },
        };
        if is_lasting {
            self.allowed.add(&approval, None, question.basis);
        }
        Decision::Allow
    }

    /// Returns [`Memory::Holds`] if earlier approvals cover the call with the content that it depends on now.
    async fn recall(&self, approval: &Approval<'_>) -> Memory {
        match self.allowed.recall(approval, None) {
            Memory::Bound if self.allowed.covers(approval, None, basis(approval).await) => {
                Memory::Holds
            }
            memory => memory,
        }
    }
}

/// Returns the content that the call depends on now. It is unknown if the preview fails, so that no failure widens an approval.
async fn basis(approval: &Approval<'_>) -> Basis {
    match approval.preview().await {
        None => Basis::Arguments,
        Some(preview) => preview.map_or(Basis::Unknown, |preview| preview.basis),
    }
}

impl<A: Asker> Approver for SessionConsent<A> {
    fn approve<'a>(&'a self, approval: Approval<'a>) -> ApprovalFuture<'a> {
        Box::pin(self.decide(approval))
    }
}

impl<A: fmt::Debug> fmt::Debug for SessionConsent<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SessionConsent")
            .field("asker", &self.asker)
            .finish_non_exhaustive()
    }
}
