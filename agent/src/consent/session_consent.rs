//! [`SessionConsent`]: an approver that asks a person and remembers approvals for the session.

use std::collections::HashSet;
use std::fmt;
use std::sync::{Mutex as SyncMutex, MutexGuard, PoisonError};

use tokio::sync::Mutex;
use tools::{Approval, ApprovalFuture, Approver, Decision, Digest, Target};

use super::{ApprovalAnswer, ApprovalQuestion, Asker};

/// An [`Approver`] that asks a person through an [`Asker`].
///
/// - Parallel calls queue, so that one question is open at a time.
/// - An approval for the session holds for one tool and its targets, in one session, principal and
///   [domain](tools::ToolContext::with_domain), and at one depth of calls. One for the session's own calls does not hold for those of a
///   [sub-agent](tools::ToolContext::agent), and one for a sub-agent only for those of the same path.
/// - An approval of a granted target does not hold if a smaller grant excludes the target.
/// - A tool whose definition has changed is asked about again.
/// - Only approvals that [may last](ApprovalQuestion::may_last) are remembered.
///
/// ```
/// use std::sync::Arc;
///
/// use agent::consent::{ApprovalAnswer, ApprovalAnswerFuture, Asker, ApprovalQuestion, SessionConsent};
/// use tools::{Policy, ToolContext};
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
/// let cx = ToolContext::new()
///     .with_policy(Policy::by_effects())
///     .with_approver(Arc::new(SessionConsent::new(Log)));
/// # let _ = cx;
/// ```
pub struct SessionConsent<A> {
    asker: A,
    /// Held while a question is open.
    queue: Mutex<()>,
    allowed: SyncMutex<HashSet<ConsentKey>>,
}

/// A remembered approval: of one tool definition, on one target (`None` for a call without targets).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct ConsentKey {
    session: Option<String>,
    principal: Option<String>,
    domain: String,
    depth: u32,
    /// The path of the sub-agent that makes the call, or `None` for the session itself.
    agent: Option<String>,
    tool_digest: Digest,
    target: Option<Target>,
    /// True if the grant covers the target, or if there is none. The question shows it.
    is_granted: bool,
}

impl<A: Asker> SessionConsent<A> {
    /// Creates an approver without remembered approvals.
    pub fn new(asker: A) -> Self {
        Self { asker, queue: Mutex::default(), allowed: SyncMutex::default() }
    }

    async fn decide(&self, approval: Approval<'_>) -> Decision {
        let keys = keys(&approval);
        if self.is_allowed(&keys) {
            return Decision::Allow;
        }
        let _turn = self.queue.lock().await;
        // An earlier question of the queue may have answered this one.
        if self.is_allowed(&keys) {
            return Decision::Allow;
        }
        let question = ApprovalQuestion { approval };
        match self.asker.ask(question).await {
            ApprovalAnswer::Session if question.may_last() => {
                self.allowed().extend(keys);
                Decision::Allow
            }
            ApprovalAnswer::Once | ApprovalAnswer::Session => Decision::Allow,
            ApprovalAnswer::No { reason } => Decision::Deny { reason },
        }
    }

    fn is_allowed(&self, keys: &[ConsentKey]) -> bool {
        let allowed = self.allowed();
        keys.iter().all(|key| allowed.contains(key))
    }

    fn allowed(&self) -> MutexGuard<'_, HashSet<ConsentKey>> {
        self.allowed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<A: Asker> Approver for SessionConsent<A> {
    fn approve<'a>(&'a self, approval: Approval<'a>) -> ApprovalFuture<'a> {
        Box::pin(self.decide(approval))
    }
}

impl<A: fmt::Debug> fmt::Debug for SessionConsent<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SessionConsent").field("asker", &self.asker).finish_non_exhaustive()
    }
}

/// Returns the approvals that a call needs, at least one.
fn keys(approval: &Approval<'_>) -> Vec<ConsentKey> {
    let cx = approval.cx;
    let key = |target: Option<&Target>| ConsentKey {
        session: cx.session().map(str::to_owned),
        principal: cx.principal().map(str::to_owned),
        domain: target.map(|target| cx.domain(target.scheme()).to_owned()).unwrap_or_default(),
        depth: cx.depth(),
        agent: cx.agent().map(str::to_owned),
        tool_digest: approval.tool_digest,
        target: target.cloned(),
        is_granted: target.is_none_or(|target| cx.grant().permits(target)),
    };
    match approval.targets {
        [] => vec![key(None)],
        targets => targets.iter().map(|target| key(Some(target))).collect(),
    }
}
