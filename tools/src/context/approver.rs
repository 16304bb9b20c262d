//! [`Approver`]: decides about single calls that the grant or the policy does not allow.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use protocol::{Digest, Json, Target, ToolName, ToolNames};

use crate::concern::Concern;
use crate::context::ToolContext;
use crate::policy::{Ruling, SensitivePath};
use crate::preview::{Preview, PreviewSource};
use crate::question::{Answer, Question};
use crate::tool_error::ToolError;

/// The future of an [`Approver`]'s decision.
pub type ApprovalFuture<'a> = Pin<Box<dyn Future<Output = Decision> + Send + 'a>>;

/// Decides about calls with targets outside of the session's grant, and about calls that its policy asks about. The call's timeout
/// starts after the decision.
pub trait Approver: Send + Sync {
    /// Decides about one call. Concurrent calls ask concurrently, so an approver that asks a person must queue them.
    fn approve<'a>(&'a self, approval: Approval<'a>) -> ApprovalFuture<'a>;
}

/// A request for a decision about one call of one tool.
///
/// An approver that remembers decisions must key them by the tool's digest, and by the targets or the arguments' digest.
#[derive(Clone, Copy, Debug)]
pub struct Approval<'a> {
    /// The tool.
    pub tool: &'a ToolName,
    /// The arguments, validated, with [secrets masked](crate::Entry::masked_in).
    pub arguments: &'a Json,
    /// The targets that need an approval: targets outside of the grant, targets that the policy asks about, sensitive paths, and
    /// [unnamed hosts](crate::policy::Reason::UnnamedHost). Empty if the policy asks about a call without targets.
    pub targets: &'a [Target],
    /// The reasons to ask about this call that its targets do not show. An approver does not remember the decision if there are any.
    pub concerns: &'a [Concern],
    /// The digest of the tool's definition. A tool that is replaced before the decision is not run.
    pub tool_digest: Digest,
    /// The [digest](Digest::hash_json) of the masked arguments. Calls that differ only in secrets have the same one, because a secret
    /// could be guessed from its digest. See [`hash_arguments`](Self::hash_arguments).
    pub arguments_digest: Digest,
    /// True if the approver has allowed this call, and its preview has changed meanwhile.
    pub has_changed: bool,
    /// The context of the call: session, principal, call id, depth, grant.
    pub cx: &'a ToolContext,
    /// The names of the tool.
    pub(crate) names: ToolNames<'a>,
    /// The arguments, with secrets.
    pub(crate) unmasked: &'a Json,
    pub(crate) preview: &'a dyn PreviewSource,
}

impl<'a> Approval<'a> {
    /// The default time limit of a decision: 5 minutes.
    pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(300);

    /// Returns a digest of the whole arguments, secrets included, [with a key](Digest::hash_json_with_key). An approver that keeps a decision
    /// for one call binds it to the call with this digest. Keep the key from readers of the digest, who could guess a secret with it.
    pub fn hash_arguments(&self, key: &[u8; 32]) -> Digest {
        Digest::hash_json_with_key(key, self.unmasked)
    }

    /// Returns the tool's preview of the call: the effect that it would have now. Takes at most two seconds. Returns `None` if the tool
    /// declares none.
    ///
    /// One question has one preview, which is made at the first call. If [`Decision::Allow`] follows and the effect is another one by
    /// then, the approver is asked again. Call it once a person is really to be asked, not for a remembered decision. Show its text with the question, but do not let
    /// the model read it: it can contain more than the call would return. [`Handler::preview`](crate::Handler::preview) lists the
    /// limits of a preview.
    ///
    /// # Errors
    /// Returns the error of the preview: the tool's own, [`Timeout`](crate::ToolErrorKind::Timeout),
    /// [`Panicked`](crate::ToolErrorKind::Panicked), or a refusal of the grant. It is no reason against the call; show it instead of
    /// the preview.
    pub async fn preview(&self) -> Option<Result<Preview, ToolError>> {
        self.preview.run_preview().await
    }

    /// Returns the sensitive path that a target matches, to be shown with the question. Returns `None` if the target is not sensitive.
    pub fn sensitive(&self, target: &Target) -> Option<&'a SensitivePath> {
        self.cx.sensitive_paths().find_target(target)
    }

    /// Returns the rulings about the [targets](Self::targets), whose reasons say why the call needs an approval.
    pub fn rulings(&self) -> impl Iterator<Item = Ruling<'a>> {
        self.cx.rulings(self.names, self.targets)
    }
}

/// A decision about one call.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Decision {
    /// The call runs, this once.
    Allow,
    /// The call is refused.
    Deny {
        /// The reason, for the model.
        reason: String,
    },
    /// There is no one to decide, so the call does not run.
    Abstain,
}

/// The future of a [`Person`]'s answer.
pub type AnswerFuture<'a> = Pin<Box<dyn Future<Output = Result<Answer, NobodyThere>> + Send + 'a>>;

/// Answers the questions of tools: the user at the host's terminal or chat. See [`ToolContext::ask`].
pub trait Person: Send + Sync {
    /// Answers one question of the tool that runs in `cx`. Concurrent calls ask concurrently, so a person must queue the questions.
    ///
    /// The host must show that the words are the tool's or the model's, and not its own. The future is dropped when the call ends or
    /// the time limit of the question passes.
    fn answer<'a>(&'a self, question: &'a Question, cx: &'a ToolContext) -> AnswerFuture<'a>;

    /// Returns false if a program answers that may do so without its user, such as a client of a server. Such an answer consents to
    /// nothing beyond the session.
    fn is_at_host(&self) -> bool {
        true
    }
}

/// The error for a question without a person to answer it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "nobody is there to answer the question; decide without an answer, or end with the question"
)]
pub struct NobodyThere;

impl ToolContext {
    /// Returns true if a person at the host answers questions.
    pub fn has_person_at_host(&self) -> bool {
        self.facts
            .person
            .as_ref()
            .is_some_and(|person| person.is_at_host())
    }

    pub(crate) fn person(&self) -> Option<&Arc<dyn Person>> {
        self.facts.person.as_ref()
    }
}
