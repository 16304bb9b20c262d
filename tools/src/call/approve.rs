//! Approve: asking somebody about what the grant does not cover, and about what the policy asks about.

use std::future::{Future as _, pending, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Instant;

use protocol::{Digest, Json, Target};

use super::clock::until_cancelled;
use crate::isolate::{Isolated, Panic};
use crate::timer::timer;
use crate::{Approval, Approver, Decision, Entry, Input, Resolve as _, Scope, ToolContext, ToolError, ToolErrorKind};

/// The targets that somebody approved of. Waiting for the answer ends with the caller's cancellation, with the time by which every
/// call has to be over, and with a time of its own; the call's timeout begins after it.
///
/// # Errors
/// [`ToolErrorKind::PermissionDenied`] or [`ToolErrorKind::Unapproved`] when nobody could be asked, the latter also when nobody
/// answered in time; [`ToolErrorKind::Denied`] when somebody said no; [`ToolErrorKind::Replaced`] when the tool is not the same
/// any more.
pub(super) async fn approve(
    entry: &Arc<Entry>,
    scope: &Scope,
    cx: &ToolContext,
    arguments: &Input,
    targets: Vec<Target>,
) -> Result<Vec<Target>, ToolError> {
    let decision = match cx.approver() {
        None => Decision::Abstain,
        Some(approver) => ask(&**approver, entry, cx, &entry.masked(arguments.json()), &targets).await?,
    };
    match decision {
        // What was approved of is this very entry. It never changes, but its name may have come to stand for another one.
        Decision::Allow if !entry.is_same(&*scope.resolve(entry.name())?) => Err(ToolErrorKind::Replaced.into()),
        Decision::Allow => Ok(targets),
        Decision::Deny { reason } => Err(ToolErrorKind::Denied { reason }.into()),
        Decision::Abstain => Err(refusal(entry, cx, targets).into()),
    }
}

async fn ask(
    approver: &dyn Approver,
    entry: &Entry,
    cx: &ToolContext,
    arguments: &Json,
    targets: &[Target],
) -> Result<Decision, ToolErrorKind> {
    let approval = Approval {
        tool: entry.name(),
        arguments,
        targets,
        tool_digest: entry.digest(),
        arguments_digest: Digest::of_json(arguments),
        cx,
    };
    let patience = cx.approval_timeout().unwrap_or(Approval::DEFAULT_TIMEOUT);
    let now = Instant::now();
    let by_patience = now.checked_add(patience);
    let by = by_patience.into_iter().chain(cx.deadline()).min();
    let mut answer = pin!(until_cancelled(cx, Isolated::new(|| approver.approve(approval))));
    let mut late = pin!(until(by));
    let answered = poll_fn(|task| match answer.as_mut().poll(task) {
        Poll::Ready(answered) => Poll::Ready(Ok(answered)),
        Poll::Pending => late.as_mut().poll(task).map(Err),
    });
    match answered.await {
        Ok(Some(Ok(decision))) => Ok(decision),
        Ok(Some(Err(Panic(message)))) => {
            let message = format!("whoever approves of calls panicked: {message}");
            Err(ToolErrorKind::Internal { message })
        }
        Ok(None) => Err(ToolErrorKind::Cancelled),
        // The time by which every call has to be over is not the approver's to keep.
        Err(()) => Err(match cx.deadline() {
            Some(deadline) if by_patience.is_none_or(|patience| deadline <= patience) => {
                ToolErrorKind::Timeout { limit: deadline.saturating_duration_since(now) }
            }
            _ => cx.unapproved(Some(entry.name()), targets.to_vec(), Some(patience)),
        }),
    }
}

/// Why a call is not run that nobody could be asked about.
fn refusal(entry: &Entry, cx: &ToolContext, targets: Vec<Target>) -> ToolErrorKind {
    let uncovered: Vec<_> = targets.iter().filter(|target| !cx.grant().permits(target)).cloned().collect();
    if uncovered.is_empty() {
        return cx.unapproved(Some(entry.name()), targets, None);
    }
    ToolErrorKind::PermissionDenied { needed: uncovered, granted: cx.grant().clone() }
}

/// Ends at that time, or never where there is no clock to wait by.
async fn until(by: Option<Instant>) {
    match by.and_then(|by| timer(by.into())) {
        Some(timer) => timer.await,
        None => pending().await,
    }
}
