//! What of a context decides about calls beside the grant: the policy, and how long an answer may take.

use std::sync::Arc;
use std::time::Duration;

use protocol::{Target, ToolName};

use super::ToolContext;
use crate::ToolErrorKind;
use crate::policy::{Policy, SensitivePath, SensitivePaths, Verdict};

impl ToolContext {
    /// Which of the granted calls run, are asked about and are refused. Without a policy the grant alone decides: what it covers
    /// runs, destroying included. Hosts that want writes to ask set [`Policy::by_effects`].
    ///
    /// Inside of a call this has no effect: a tool does not choose what it is asked about.
    #[must_use]
    pub fn with_policy(self, policy: impl Into<Arc<Policy>>) -> Self {
        if self.call.is_some() { self } else { self.with(|facts| facts.policy = Some(policy.into())) }
    }

    /// Sets which paths are settings, run by themselves or are built, in place of the [built-in](SensitivePaths::default) table.
    ///
    /// Inside of a call this has no effect: a tool does not choose what it is asked about.
    #[must_use]
    pub fn with_sensitive_paths(self, paths: impl Into<Arc<SensitivePaths>>) -> Self {
        if self.call.is_some() { self } else { self.with(|facts| facts.sensitive_paths = Some(paths.into())) }
    }

    /// How long an approver may take to answer, waiting in its queue included, in place of
    /// [5 minutes](crate::Approval::DEFAULT_TIMEOUT). Inside of a call this has no effect.
    #[must_use]
    pub fn with_approval_timeout(self, timeout: Duration) -> Self {
        if self.call.is_some() { self } else { self.with(|facts| facts.approval_timeout = Some(timeout)) }
    }

    /// The rules about calls, where there are some.
    pub fn policy(&self) -> Option<&Policy> {
        self.facts.policy.as_deref()
    }

    /// The paths whose writing does more than change a file.
    pub fn sensitive_paths(&self) -> &SensitivePaths {
        self.facts.sensitive_paths.as_deref().unwrap_or(SensitivePaths::built_in())
    }

    /// Returns the sensitive paths because of which a person is asked about a target of the tool, although it is granted.
    pub(crate) fn unnamed(&self, tool: Option<&ToolName>, target: &Target) -> impl Iterator<Item = &SensitivePath> {
        self.sensitive_paths().needing_approval(self.grant(), self.policy(), tool, target)
    }

    pub(crate) fn approval_timeout(&self) -> Option<Duration> {
        self.facts.approval_timeout
    }

    /// Refuses a sensitive target that the running call has discovered and that nothing allows by its name. An approval of a
    /// directory covers it only if the same entries of the table cover the directory: they were shown to whoever approved.
    pub(super) fn check_sensitive(&self, target: &Target) -> Result<(), ToolErrorKind> {
        let is_told = |path: &SensitivePath| {
            let shows = |approved: &Target| is_within(target, approved) && path.covers(approved.value());
            self.approved().iter().any(shows)
        };
        if self.unnamed(self.tool(), target).all(is_told) {
            return Ok(());
        }
        Err(self.unapproved(self.tool(), vec![target.clone()], None))
    }

    /// Whether the policy lets the running call touch what it has discovered. Nobody can be asked any more; what was approved of
    /// covers what is below it.
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

    /// Returns the kind of a call of the tool that needs an approval and has none. `waited` is how long the answer was waited for,
    /// `None` if nobody could be asked.
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

    /// Returns true if somebody approved of the target, or of a directory that it is in, for the running call.
    pub(super) fn is_approved(&self, target: &Target) -> bool {
        self.approved().iter().any(|approved| is_within(target, approved))
    }

    fn approved(&self) -> &[Target] {
        self.call.as_ref().map_or(&[], |call| &call.approved)
    }
}

/// Whether a target is another one, or a path below it.
fn is_within(target: &Target, outer: &Target) -> bool {
    let below = |rest: &str| rest.is_empty() || target.scheme() == "fs" && rest.starts_with('/');
    target.scheme() == outer.scheme()
        && target.access() == outer.access()
        && (target.value().strip_prefix(outer.value()).is_some_and(below)
            || target.scheme() == "fs" && outer.value() == ".")
}
