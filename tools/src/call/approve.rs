//! Approve: asking somebody about what the grant does not cover.

use std::future::Future;
use std::sync::Arc;
use std::time::{Duration, Instant};

use protocol::Target;
use tokio::runtime::Handle;

use super::isolate::{Isolated, Panic};
use crate::{Approval, Decision, Entry, Input, ToolContext, ToolError};

/// The targets that were approved on top of the grant. Waiting for the answer ends with the caller's cancellation, and with the
/// time by which every call has to be over; the call's own timeout begins after it.
///
/// # Errors
/// [`ToolError::PermissionDenied`] when nobody could be asked, [`ToolError::Denied`] when somebody said no.
pub(super) async fn approve(
    entry: &Arc<Entry>,
    cx: &ToolContext,
    arguments: &Input,
    uncovered: Vec<Target>,
) -> Result<Vec<Target>, ToolError> {
    if uncovered.is_empty() {
        return Ok(uncovered);
    }
    let tool = entry.name();
    let decision = match cx.approver() {
        None => Decision::Abstain,
        Some(approver) => {
            let arguments = entry.masked(arguments.value());
            let approval = Approval { tool, arguments: &arguments, targets: &uncovered, cx };
            let answer = Isolated::new(|| approver.approve(approval));
            let answer = by_deadline(cx, cx.cancellation().run_until_cancelled(answer)).await;
            match answer.map_err(|limit| ToolError::Timeout { tool: tool.to_string(), limit })? {
                Some(Ok(decision)) => decision,
                Some(Err(Panic(message))) => {
                    let message = format!("whoever approves of calls panicked: {message}");
                    return Err(ToolError::Internal { tool: tool.to_string(), message });
                }
                None => return Err(ToolError::Cancelled { tool: tool.to_string() }),
            }
        }
    };
    match decision {
        Decision::Allow => Ok(uncovered),
        Decision::Deny { reason } => Err(ToolError::Denied { tool: tool.to_string(), reason }),
        Decision::Abstain => {
            Err(ToolError::PermissionDenied { tool: tool.to_string(), needed: uncovered, granted: cx.grant().clone() })
        }
    }
}

/// What comes of waiting until the context's deadline; how long that was, when nothing came.
async fn by_deadline<F: Future>(cx: &ToolContext, answer: F) -> Result<F::Output, Duration> {
    match cx.deadline() {
        // Without a runtime there is no clock to wait by.
        Some(deadline) if Handle::try_current().is_ok() => {
            let wait = deadline.saturating_duration_since(Instant::now());
            tokio::time::timeout_at(deadline.into(), answer).await.map_err(|_| wait)
        }
        _ => Ok(answer.await),
    }
}
