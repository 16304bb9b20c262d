//! Approve: asking somebody about what the grant does not cover.

use std::sync::Arc;

use protocol::Target;
use serde_json::Value;

use crate::{Approval, Decision, Entry, ToolContext, ToolError};

/// The targets that were approved on top of the grant. Waiting for the answer ends with the caller's cancellation.
///
/// # Errors
/// [`ToolError::PermissionDenied`] when nobody could be asked, [`ToolError::Denied`] when somebody said no.
pub(super) async fn approve(
    entry: &Arc<Entry>,
    cx: &ToolContext,
    arguments: &Value,
    uncovered: Vec<Target>,
) -> Result<Vec<Target>, ToolError> {
    if uncovered.is_empty() {
        return Ok(uncovered);
    }
    let tool = entry.name();
    let decision = match cx.approver() {
        None => Decision::Abstain,
        Some(approver) => {
            let answer = approver.approve(Approval { tool, arguments, targets: &uncovered });
            let answer = cx.cancellation().run_until_cancelled(answer).await;
            answer.ok_or_else(|| ToolError::Cancelled { tool: tool.to_string() })?
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
