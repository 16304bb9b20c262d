//! The policy, the sensitive paths and the approval timeout of a context.

use std::sync::Arc;
use std::time::Duration;

use protocol::{Target, ToolName};

use super::ToolContext;
use crate::policy::{Policy, Ruling, SensitivePath, SensitivePaths, Verdict};
use crate::{Approval, ToolErrorKind};

impl ToolContext {
    /// Sets the policy: the rules that allow, ask about or deny granted calls.
    ///
    /// Without a policy all granted calls run, even destroying ones, except on sensitive paths. Use [`Policy::by_effects`] to ask before
    /// writes.
    ///
    /// Inside of a call this has no effect, so that a tool cannot choose its policy.
    #[must_use]
    pub fn with_policy(self, policy: impl Into<Arc<Policy>>) -> Self {
        if self.call.is_some() { self } else { self.with(|facts| facts.policy = Some(policy.into())) }
    }

    /// Sets the sensitive paths (settings, files that run automatically, build files), in place of the
    /// [built-in](SensitivePaths::default) table.
    ///
    /// Inside of a call this has no effect, so that a tool cannot choose its restrictions.
    #[must_use]
    pub fn with_sensitive_paths(self, paths: impl Into<Arc<SensitivePaths>>) -> Self {
        if self.call.is_some() { self } else { self.with(|facts| facts.sensitive_paths = Some(paths.into())) }
    }

    /// Sets the time limit of an approval or a [question](Self::ask), including its wait in the queue. The default is
    /// [5 minutes](crate::Approval::DEFAULT_TIMEOUT). Inside of a call this has no effect.
    #[must_use]
    pub fn with_approval_timeout(self, timeout: Duration) -> Self {
        if self.call.is_some() { self } else { self.with(|facts| facts.approval_timeout = Some(timeout)) }
    }

    /// Returns the policy, or `None` if none is set.
    pub fn policy(&self) -> Option<&Policy> {
        self.facts.policy.as_deref()
    }

    /// Returns the sensitive paths.
    pub fn sensitive_paths(&self) -> &SensitivePaths {
        self.facts.sensitive_paths.as_deref().unwrap_or(SensitivePaths::built_in())
    }

    /// Returns the decision about each target of a call of the tool, with its reasons. For a call without targets, returns one
    /// ruling about the call.
    ///
    /// The pipeline decides by these rulings. [`call::validate`](crate::call::validate) returns the targets of a call.
    pub fn rulings<'a>(&'a self, tool: &ToolName, targets: &'a [Target]) -> Vec<Ruling<'a>> {
        let about = |target| Ruling::new(self.grant(), self.policy(), self.sensitive_paths(), tool, target);
        match targets {
            [] => vec![about(None)],
            targets => targets.iter().map(|target| about(Some(target))).collect(),
        }
    }

    /// Returns the sensitive paths that match a target and that neither the grant nor the policy names, so that an approval is needed.
    pub(crate) fn unnamed(&self, tool: Option<&ToolName>, target: &Target) -> impl Iterator<Item = &SensitivePath> {
        self.sensitive_paths().needing_approval(self.grant(), self.policy(), tool, target)
    }

    pub(crate) fn approval_timeout(&self) -> Duration {
        self.facts.approval_timeout.unwrap_or(Approval::DEFAULT_TIMEOUT)
    }

    /// Refuses a sensitive target that the running call discovered, unless the grant, the policy or an approval names it.
    ///
    /// The approval of a directory covers the target only if the same sensitive paths cover the directory, because these were shown
    /// with the question.
    pub(super) fn check_sensitive(&self, target: &Target) -> Result<(), ToolErrorKind> {
        let was_shown = |path: &SensitivePath| {
            let shows = |approved: &Target| is_within(target, approved) && path.covers(approved.value());
            self.approved().iter().any(shows)
        };
        if self.unnamed(self.tool(), target).all(was_shown) {
            return Ok(());
        }
        Err(self.unapproved(self.tool(), vec![target.clone()], None))
    }

    /// Checks a discovered target against the policy. There is no further question at this point, but an approval of a directory covers
    /// the paths below it.
    pub(super) fn check_policy(&self, tool: &ToolName, target: &Target) -> Result<(), ToolErrorKind> {
        let Some(policy) = self.policy() else { return Ok(()) };
        let judgement = policy.judge(tool, Some(target));
        match judgement.verdict {
            Verdict::Allow => Ok(()),
            Verdict::Ask if self.is_approved(target) => Ok(()),
            Verdict::Ask => Err(self.unapproved(Some(tool), vec![target.clone()], None)),
            Verdict::Deny => Err(ToolErrorKind::Denied { reason: judgement.denial(Some(target)) }),
        }
    }

    /// Returns the error of a call without the approval it needs. `waited` is the time spent waiting for the answer, or `None` if there
    /// was no approver to ask.
    pub(crate) fn unapproved(
        &self,
        tool: Option<&ToolName>,
        needed: Vec<Target>,
        waited: Option<Duration>,
    ) -> ToolErrorKind {
        let sensitive = |target: &Target| Some((target.clone(), self.unnamed(tool, target).next()?.clone()));
        let sensitive = needed.iter().filter_map(sensitive).collect();
        ToolErrorKind::Unapproved { needed, sensitive, waited }
    }

    /// Returns true if the target, or a directory above it, was approved for the running call.
    pub(super) fn is_approved(&self, target: &Target) -> bool {
        self.approved().iter().any(|approved| is_within(target, approved))
    }

    fn approved(&self) -> &[Target] {
        self.call.as_ref().map_or(&[], |call| &call.approved)
    }
}

/// Returns true if the target equals `outer` or is a path below it.
fn is_within(target: &Target, outer: &Target) -> bool {
    let below = |rest: &str| rest.is_empty() || target.scheme() == "fs" && rest.starts_with('/');
    target.scheme() == outer.scheme()
        && target.access() == outer.access()
        && (target.value().strip_prefix(outer.value()).is_some_and(below)
            || target.scheme() == "fs" && outer.value() == ".")
}
