//! Approve: asks the approver about targets that the stage *authorize* did not allow.

use std::sync::Arc;

use protocol::{Digest, Json, Target};
use tokio::sync::OnceCell;

use super::CallSpan;
use super::clock::{NoAnswer, until_answered};
use super::preview::PreviewRequest;
use crate::concern::Concern;
use crate::context::{Approval, Approver, Decision, ToolContext};
use crate::entry::Entry;
use crate::input::Input;
use crate::isolate::{Isolated, Panic};
use crate::resolve::{Resolve as _, Scope};
use crate::tool_error::{ToolError, ToolErrorKind};

/// The most questions about one call whose effect is another one after each answer.
const MOST_QUESTIONS: usize = 3;

/// Asks the approver about `targets`, for which the grant or the policy requires an approval. Returns the preview that was approved with
/// them.
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
/// - [`ToolErrorKind::Outdated`] if what was approved changed before each of several answers.
/// - [`ToolErrorKind::Cancelled`] or [`ToolErrorKind::Timeout`] if the call ended during the wait.
/// - [`ToolErrorKind::Internal`] if the approver panicked.
pub(super) async fn approve<'a>(
    entry: &'a Arc<Entry>,
    scope: &Scope,
    cx: &ToolContext,
    arguments: &Input,
    (targets, concerns): (&[Target], &[Concern]),
    span: &'a CallSpan,
) -> Result<PreviewRequest<'a>, ToolError> {
    let Some(approver) = cx.approver() else {
        return Err(refusal(entry, cx, targets, concerns).into());
    };
    let masked = entry.masked_in(arguments.json(), &|name| scope.resolve(name).ok());
    // A preview has no tools, so it could not mask them itself.
    let shown = entry
        .handler()
        .kept_call()
        .map(|_| Input::new(masked.clone(), true));
    // An effect that never stays the same would ask for ever.
    for question in 0..MOST_QUESTIONS {
        let arguments = (arguments, &masked);
        let preview = PreviewRequest {
            entry,
            cx: cx.clone(),
            arguments: shown.as_ref().unwrap_or(arguments.0).clone(),
            span,
            shown: OnceCell::new(),
        };
        match ask(
            &**approver,
            &preview,
            arguments,
            (targets, concerns),
            question > 0,
        )
        .await?
        {
            // The approval is for this entry, and the name may refer to another one by now.
            Decision::Allow if !entry.is_same(&*scope.resolve(entry.name())?) => {
                return Err(ToolErrorKind::Replaced.into());
            }
            Decision::Allow if preview.holds().await => return Ok(preview),
            // The effect changed between the question and the answer: the yes was for another one.
            Decision::Allow => {}
            Decision::Deny { reason } => return Err(ToolErrorKind::Denied { reason }.into()),
            Decision::Abstain => return Err(refusal(entry, cx, targets, concerns).into()),
        }
    }
    Err(ToolErrorKind::Outdated.into())
}

async fn ask(
    approver: &dyn Approver,
    preview: &PreviewRequest<'_>,
    (arguments, masked): (&Input, &Json),
    (targets, concerns): (&[Target], &[Concern]),
    has_changed: bool,
) -> Result<Decision, ToolErrorKind> {
    let PreviewRequest { entry, cx, .. } = preview;
    let approval = Approval {
        tool: entry.name(),
        arguments: masked,
        targets,
        concerns,
        tool_digest: entry.digest(),
        // A digest of the whole arguments would let a reader of it guess a short secret.
        arguments_digest: Digest::hash_json(masked),
        has_changed,
        cx,
        names: entry.tool().into(),
        unmasked: arguments.json(),
        preview,
    };
    let (by, limit) = cx.answer_by();
    let _stopped = cx.stop_clocks(by);
    let answer = Isolated::new(|| approver.approve(approval));
    match until_answered(cx, by, answer).await {
        Ok(Ok(decision)) => Ok(decision),
        Ok(Err(Panic(message))) => Err(ToolErrorKind::internal(format!(
            "the approver panicked: {message}"
        ))),
        Err(NoAnswer::Cancelled) => Err(ToolErrorKind::Cancelled),
        // At the host's deadline the call is late, not the approver.
        Err(NoAnswer::Late) if limit < cx.approval_timeout() => {
            Err(ToolErrorKind::Timeout { limit })
        }
        Err(NoAnswer::Late) => Err(cx.explain_unapproved(
            Some(entry.tool().into()),
            targets.to_vec(),
            concerns,
            Some(limit),
        )),
    }
}

/// Returns the error of a call that needs an approval while there is no approver to ask.
fn refusal(
    entry: &Entry,
    cx: &ToolContext,
    targets: &[Target],
    concerns: &[Concern],
) -> ToolErrorKind {
    let uncovered: Vec<_> = targets
        .iter()
        .filter(|target| !cx.grant().permits(target))
        .cloned()
        .collect();
    if uncovered.is_empty() {
        return cx.explain_unapproved(Some(entry.tool().into()), targets.to_vec(), concerns, None);
    }
    ToolErrorKind::PermissionDenied {
        needed: uncovered,
        granted: cx.grant().clone(),
    }
}
