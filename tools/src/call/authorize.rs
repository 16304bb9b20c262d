//! Authorize: the concrete targets of a call against the grant, the policy where there is one, and the sensitive paths.

use protocol::Target;

use crate::policy::Verdict;
use crate::{Entry, ToolContext, ToolErrorKind};

/// The targets that somebody has to be asked about: those that the grant does not cover, those that the policy asks about, and
/// sensitive ones that nothing names.
/// None of them is left where the policy asks about a call that touches nothing. `None` is that nobody has to be asked.
///
/// # Errors
/// [`ToolErrorKind::Denied`] when a rule of the policy says so.
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
    // A denial comes before any question, whichever target it is about.
    let asked = targets.iter().map(|target| judge(Some(target))).collect::<Result<Vec<_>, _>>()?;
    let mut asked = asked.into_iter();
    targets.retain(|target| asked.next().unwrap_or(true) || !is_open(target));
    Ok((!targets.is_empty()).then_some(targets))
}
