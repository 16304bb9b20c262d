//! Approve: asks the approver about targets that the stage *authorize* did not allow.

use std::sync::Arc;

use protocol::{Digest, Target};

use super::CallSpan;
use super::clock::{NoAnswer, until_answered};
use super::preview::PreviewRequest;
use crate::isolate::{Isolated, Panic};
use crate::{
    Approval, Approver, Concern, Decision, Entry, Input, Resolve as _, Scope, ToolContext, ToolError, ToolErrorKind,
};

/// Asks the approver about `targets`, for which the grant or the policy requires an approval, and returns them if they are approved.
///
/// The wait ends when the caller cancels, at the host's deadline, or after the approval timeout. The call's own timeout starts
/// afterwards, and the clocks of its outer calls stop meanwhile.
///
/// # Errors
/// - [`ToolErrorKind::PermissionDenied`] if there is no approver, or it abstains, and the grant does not cover a target.
/// - [`ToolErrorKind::Unapproved`] if there is no approver, or it abstains, and the grant covers all targets (a rule, a sensitive
///   path, an unnamed host or a concern requires the approval), or if the answer was late.
/// - [`ToolErrorKind::Denied`] if the approver denied the call.
/// - [`ToolErrorKind::Replaced`] if the tool was replaced before the answer.
/// - [`ToolErrorKind::Cancelled`] or [`ToolErrorKind::Timeout`] if the call ended during the wait.
/// - [`ToolErrorKind::Internal`] if the approver panicked.
pub(super) async fn approve(
    entry: &Arc<Entry>,
    scope: &Scope,
    cx: &ToolContext,
    arguments: &Input,
    (targets, concerns): (Vec<Target>, &[Concern]),
    span: &CallSpan,
) -> Result<Vec<Target>, ToolError> {
    let decision = match cx.approver() {
        None => Decision::Abstain,
        Some(approver) => ask(&**approver, entry, scope, cx, arguments, (&targets, concerns), span).await?,
    };
    match decision {
        // The approval is for this entry, and the name may refer to another one by now.
        Decision::Allow if !entry.is_same(&*scope.resolve(entry.name())?) => Err(ToolErrorKind::Replaced.into()),
        Decision::Allow => Ok(targets),
        Decision::Deny { reason } => Err(ToolErrorKind::Denied { reason }.into()),
        Decision::Abstain => Err(refusal(entry, cx, targets, concerns).into()),
    }
}

async fn ask(
    approver: &dyn Approver,
    entry: &Arc<Entry>,
    scope: &Scope,
    cx: &ToolContext,
    arguments: &Input,
    (targets, concerns): (&[Target], &[Concern]),
    span: &CallSpan,
) -> Result<Decision, ToolErrorKind> {
    let masked = entry.masked_in(arguments.json(), &|name| scope.resolve(name).ok());
    // A preview has no tools, so it could not mask them itself.
    let shown = entry.handler().kept_call().map(|_| Input::new(masked.clone(), true));
    let preview = PreviewRequest { entry, cx, arguments: shown.as_ref().unwrap_or(arguments), span };
    let approval = Approval {
        tool: entry.name(),
        arguments: &masked,
        targets,
        concerns,
        tool_digest: entry.digest(),
        arguments_digest: Digest::hash_json(&masked),
        cx,
        names: entry.tool().into(),
        unmasked: arguments.json(),
        preview: &preview,
    };
    let (by, limit) = cx.answer_by();
    let _stopped = cx.stop_clocks(by);
    let answer = Isolated::new(|| approver.approve(approval));
    match until_answered(cx, by, answer).await {
        Ok(Ok(decision)) => Ok(decision),
        Ok(Err(Panic(message))) => {
            let message = format!("the approver panicked: {message}");
            Err(ToolErrorKind::Internal { message })
        }
        Err(NoAnswer::Cancelled) => Err(ToolErrorKind::Cancelled),
        // At the host's deadline the call is late, not the approver.
        Err(NoAnswer::Late) if limit < cx.approval_timeout() => Err(ToolErrorKind::Timeout { limit }),
        Err(NoAnswer::Late) => Err(cx.unapproved(Some(entry.tool().into()), targets.to_vec(), concerns, Some(limit))),
    }
}

/// Returns the error of a call that needs an approval while there is no approver to ask.
fn refusal(entry: &Entry, cx: &ToolContext, targets: Vec<Target>, concerns: &[Concern]) -> ToolErrorKind {
    let uncovered: Vec<_> = targets.iter().filter(|target| !cx.grant().permits(target)).cloned().collect();
    if uncovered.is_empty() {
        return cx.unapproved(Some(entry.tool().into()), targets, concerns, None);
    }
    ToolErrorKind::PermissionDenied { needed: uncovered, granted: cx.grant().clone() }
}
