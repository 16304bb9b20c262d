//! Authorize: compares the targets of a call with the grant, the policy and the sensitive paths.

use protocol::Target;

use crate::policy::Verdict;
use crate::{Entry, ToolContext, ToolErrorKind};

/// Returns the targets that need an approval, or `None` if the call needs none. A target needs one if
///
/// - the grant does not cover it,
/// - the policy asks about it, or
/// - it is a sensitive path that no clause or rule names.
///
/// The list is empty if the policy asks about a call without targets.
///
/// # Errors
/// Returns [`ToolErrorKind::Denied`] if a rule of the policy denies a target.
pub(super) fn authorize(
    entry: &Entry,
    cx: &ToolContext,
    mut targets: Vec<Target>,
) -> Result<Option<Vec<Target>>, ToolErrorKind> {
    let is_open =
        |target: &Target| cx.grant().permits(target) && cx.unnamed(Some(entry.name()), target).next().is_none();
    let Some(policy) = cx.policy() else {
        if targets.is_empty() {
            return Ok(None);
        }
        targets.retain(|target| !is_open(target));
        return Ok((!targets.is_empty()).then_some(targets));
    };
    let judge = |target| {
        let judgement = policy.judge(entry.name(), target);
        match judgement.verdict {
            Verdict::Deny => Err(ToolErrorKind::Denied { reason: judgement.denial(target) }),
            verdict => Ok(verdict == Verdict::Ask),
        }
    };
    if targets.is_empty() {
        return Ok(judge(None)?.then(Vec::new));
    }
    // All targets are judged first, so that the approver is not asked about a denied call.
    let needs_approval = targets.iter().map(|target| judge(Some(target))).collect::<Result<Vec<_>, _>>()?;
    let mut needs_approval = needs_approval.into_iter();
    targets.retain(|target| needs_approval.next().unwrap_or(true) || !is_open(target));
    Ok((!targets.is_empty()).then_some(targets))
}
