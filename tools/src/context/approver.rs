//! [`Approver`]: whoever can allow a single call that the grant does not cover.

use std::future::Future;
use std::pin::Pin;

use protocol::{Target, ToolName};
use serde_json::Value;

use crate::ToolContext;

/// The answer of an [`Approver`], some time later.
pub type ApprovalFuture<'a> = Pin<Box<dyn Future<Output = Decision> + Send + 'a>>;

/// Decides about calls that touch more than the session's grant covers. The call's deadline starts after the answer.
pub trait Approver: Send + Sync {
    /// Decides about one call. Calls that run side by side ask side by side; an approver that asks a person queues them.
    fn approve<'a>(&'a self, approval: Approval<'a>) -> ApprovalFuture<'a>;
}

/// What an [`Approver`] decides about.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Approval<'a> {
    /// The tool.
    pub tool: &'a ToolName,
    /// The arguments, validated, with [secrets masked](crate::Entry::masked).
    pub arguments: &'a Value,
    /// What the call would touch beyond the grant.
    pub targets: &'a [Target],
    /// Whose call it is: session, principal, call id, depth.
    pub cx: &'a ToolContext,
}

/// A decision about one call.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Decision {
    /// It may run, this once.
    Allow,
    /// It may not run: somebody said so.
    Deny {
        /// What they said, for the model.
        reason: String,
    },
    /// Nobody could be asked, so the grant alone decides.
    Abstain,
}
