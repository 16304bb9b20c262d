//! The policy, the sensitive paths and the approval timeout of a context.

use std::sync::Arc;
use std::time::Duration;

use protocol::{Clause, Grant, Target, ToolNames};

use super::{NotInherited, ToolContext};
use crate::concern::Concern;
use crate::context::Approval;
use crate::policy::{Policy, Reason, Ruling, SensitivePaths, Sensitivity, Verdict};
use crate::tool_error::ToolErrorKind;

impl ToolContext {
    /// Returns the policy, or `None` if none is set.
    pub fn policy(&self) -> Option<&Policy> {
        self.facts.policy.as_deref()
    }

    /// Returns the sensitive paths.
    pub fn sensitive_paths(&self) -> &SensitivePaths {
        self.facts
            .sensitive_paths
            .as_deref()
            // A host that says nothing about sensitive paths still has them: the grant alone would let a write run code.
            .unwrap_or(SensitivePaths::built_in())
    }

    /// Returns the decision about each target of a call of the tool. For a call without targets, returns one ruling about the call.
    ///
    /// The pipeline decides by these rulings. [`call::validate`](crate::call::validate) returns the targets of a call.
    pub fn rulings<'a>(
        &'a self,
        tool: impl Into<ToolNames<'a>>,
        targets: &'a [Target],
    ) -> impl Iterator<Item = Ruling<'a>> {
        let tool = tool.into();
        let call = targets.is_empty().then_some(None);
        targets
            .iter()
            .map(Some)
            .chain(call)
            .map(move |target| self.ruling(Some(tool), target))
    }

    fn ruling<'a>(&'a self, tool: Option<ToolNames<'a>>, target: Option<&'a Target>) -> Ruling<'a> {
        let touched = target.map(|target| (target, self.sensitive_paths()));
        Ruling::new(self.grant(), self.policy().zip(tool), touched)
    }

    /// Returns true if each layer of the grant has a clause without wildcards for the target, or if a rule allows it by such a clause.
    pub(crate) fn is_spelled<'a>(
        &'a self,
        tool: impl Into<ToolNames<'a>>,
        target: &Target,
    ) -> bool {
        SensitivePaths::is_spelled(self.grant(), self.policy().zip(Some(tool.into())), target)
    }

    pub(crate) fn approval_timeout(&self) -> Duration {
        self.facts
            .approval_timeout
            .unwrap_or(Approval::DEFAULT_TIMEOUT)
    }

    /// Decides about a target that the running call discovered. There is no further question at this point, but an approval of a
    /// directory covers the paths below it.
    pub(super) fn check_discovered(&self, target: &Target) -> Result<(), ToolErrorKind> {
        let tool = self.entry().map(|entry| entry.tool().into());
        let ruling = self.ruling(tool, Some(target));
        let unapproved = match ruling.verdict {
            Verdict::Allow => None,
            Verdict::Ask => ruling
                .reasons()
                .into_iter()
                .find(|reason| !self.is_approved(target, reason)),
            Verdict::Deny => {
                return Err(ToolErrorKind::Denied {
                    reason: ruling.denial(),
                });
            }
        };
        let needed = || vec![target.clone()];
        match unapproved {
            None => Ok(()),
            Some(Reason::Ungranted) => Err(ToolErrorKind::PermissionDenied {
                needed: needed(),
                granted: self.grant().clone(),
            }),
            Some(_) => Err(self.explain_unapproved(tool, needed(), &[], None)),
        }
    }

    /// Returns the error of a call without the approval it needs. `waited` is the time spent waiting for the answer, or `None` if there
    /// was no approver to ask.
    pub(crate) fn explain_unapproved(
        &self,
        tool: Option<ToolNames<'_>>,
        needed: Vec<Target>,
        concerns: &[Concern],
        waited: Option<Duration>,
    ) -> ToolErrorKind {
        let policy = self.policy().zip(tool);
        let sensitive = |target: &Target| {
            let path = self
                .sensitive_paths()
                .needing_approval(self.grant(), policy, target)
                .next()?;
            Some((target.clone(), path.clone()))
        };
        let sensitive = needed.iter().filter_map(sensitive).collect();
        let is_unnamed =
            |target: &&Target| self.ruling(tool, Some(target)).is_granted_but_unnamed();
        let unnamed = needed.iter().filter(is_unnamed).cloned().collect();
        let concern = concerns.first().cloned().map(Box::new);
        ToolErrorKind::Unapproved {
            needed,
            sensitive,
            unnamed,
            concern,
            waited,
        }
    }

    /// Returns true if the target, or a directory above it, was approved for the running call in spite of this reason to ask.
    ///
    /// The approval of a directory covers a sensitive path only if the same entry covers the directory, because these entries were
    /// shown with the question.
    fn is_approved(&self, target: &Target, reason: &Reason<'_>) -> bool {
        let approved = self.approved_targets().iter();
        let mut around = approved.filter(|approved| is_within(target, approved));
        around.any(|approved| match reason {
            // A person who moves a directory moves its dot files.
            Reason::Sensitive(path) if path.sensitivity == Sensitivity::DotFile => true,
            Reason::Sensitive(path) => path.covers(approved.value()),
            _ => true,
        })
    }

    fn approved_targets(&self) -> &[Target] {
        self.call.as_ref().map_or(&[], |call| &call.approved)
    }

    /// Returns the grant of the call that a preview describes, so that it can show what the call may do. Its own
    /// [grant](Self::grant) is for reading only. Outside of a preview both are the same.
    pub fn previewed_grant(&self) -> &Grant {
        self.facts.previewed.as_deref().unwrap_or(self.grant())
    }

    /// Returns the caller's context for a preview: its grant for reading only, and no way to be noticed outside of it. There is no
    /// approver and no person, because a preview must not ask, and no journal and no progress sink, because a preview is no call.
    pub(crate) fn for_preview(&self) -> Self {
        // Without the clause the grant would be empty, which is safe.
        let reads = READS.parse::<Clause>().ok();
        self.clone().with(|facts| {
            facts.previewed = Some(facts.grant.clone());
            facts.grant = Arc::new(facts.grant.narrow(reads));
            facts.approver = None;
            facts.person = None;
            facts.journal = None;
            facts.progress = None;
            facts.observer = NotInherited::default();
            facts.records_content = false;
        })
    }
}

/// Returns true if the target equals `outer` or is a path below it.
fn is_within(target: &Target, outer: &Target) -> bool {
    let is_path = target.scheme() == "fs";
    let rest = target.value().strip_prefix(outer.value());
    target.scheme() == outer.scheme()
        && target.access() == outer.access()
        // Without the slash, an approval of `src` would cover `src2`.
        && (rest.is_some_and(|rest| rest.is_empty() || is_path && rest.starts_with('/'))
            || is_path && outer.value() == ".")
}

/// The clause that covers every read.
const READS: &str = "*:read:**";
