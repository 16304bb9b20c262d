//! [`Approver`]: whoever can allow a single call that the grant does not cover, or that the policy asks about.

use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use protocol::{Digest, Json, Target, ToolName};

use crate::ToolContext;
use crate::policy::SensitivePath;

/// The answer of an [`Approver`], some time later.
pub type ApprovalFuture<'a> = Pin<Box<dyn Future<Output = Decision> + Send + 'a>>;

/// Decides about calls that touch more than the session's grant covers, and about those that its policy asks about. The call's
/// deadline starts after the answer.
pub trait Approver: Send + Sync {
    /// Decides about one call. Calls that run side by side ask side by side; an approver that asks a person queues them.
    fn approve<'a>(&'a self, approval: Approval<'a>) -> ApprovalFuture<'a>;
}

/// What an [`Approver`] decides about: this call of this tool and no other. An approver that remembers an answer keeps it with the
/// digests that it was given for.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Approval<'a> {
    /// The tool.
    pub tool: &'a ToolName,
    /// The arguments, validated, with [secrets masked](crate::Entry::masked).
    pub arguments: &'a Json,
    /// What of that which the call would touch is asked about: what is beyond the grant, and what the policy asks about. Empty
    /// where the policy asks about a call that touches nothing.
    pub targets: &'a [Target],
    /// The identity of the tool's definition. A tool that is replaced before the answer comes is not run.
    pub tool_digest: Digest,
    /// The identity of the arguments as they are shown here: [`Digest::hash_json`]. Calls that differ in secrets alone have the same
    /// one: a digest by which a secret could be guessed would tell it.
    pub arguments_digest: Digest,
    /// Whose call it is: session, principal, call id, depth, grant.
    pub cx: &'a ToolContext,
}

impl Approval<'_> {
    /// The time that an answer may take unless the host sets another one: 5 minutes.
    pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(300);
}

impl<'a> Approval<'a> {
    /// Returns what is to be known about a target before somebody agrees to it, `None` if it is a file like any other.
    pub fn sensitive(&self, target: &Target) -> Option<&'a SensitivePath> {
        self.cx.sensitive_paths().find_target(target)
    }
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
    /// Nobody could be asked, so it does not run.
    Abstain,
}
