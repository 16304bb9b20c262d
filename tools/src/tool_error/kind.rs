//! [`ToolErrorKind`]: the kinds of a failed call.

use std::fmt;
use std::time::Duration;

use protocol::{ErrorCode, Grant, Target};

use super::message::Message;
use crate::concern::Concern;
use crate::policy::SensitivePath;
use crate::schema::Violation;
use crate::source::Source;

/// The kind of a failed call, without the tool's name. Handlers and pipeline stages return it, and the pipeline adds the name.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{}", Message { kind: self, tool: None, spelling: Default::default(), is_unclear: false })]
#[non_exhaustive]
pub enum ToolErrorKind {
    /// There is no tool with this name.
    NotFound {
        /// Similar names, the most similar first. More than three are the names of all tools, of which none is similar.
        near: Vec<String>,
    },
    /// Several linked crates submit the name, so the call does not run.
    Conflict {
        /// The places of the declarations.
        sources: Vec<Source>,
    },
    /// The arguments are invalid. The tool did not run.
    InvalidArguments {
        /// All faults of the arguments.
        violations: Vec<Violation>,
    },
    /// The call has targets outside of the session's grant. The tool did not run.
    PermissionDenied {
        /// The targets that are not covered.
        needed: Vec<Target>,
        /// The grant.
        granted: Grant,
    },
    /// A person or a rule denied the call.
    Denied {
        /// The reason given.
        reason: String,
    },
    /// The call needed an approval, and there was no approver to ask or no answer in time. The tool did not run.
    Unapproved {
        /// The targets that need an approval. Empty if the call has no targets.
        needed: Vec<Target>,
        /// The targets that need an approval only because they are sensitive paths.
        sensitive: Box<[(Target, SensitivePath)]>,
        /// The granted targets that need an approval because neither the grant nor a rule [names](crate::policy::Reason::UnnamedHost)
        /// their host.
        unnamed: Box<[Target]>,
        /// The first reason to ask about this call that its targets do not show.
        concern: Option<Box<Concern>>,
        /// The time spent waiting for an answer, or `None` if there was no approver to ask.
        waited: Option<Duration>,
    },
    /// The tool was replaced while its call was being approved. The tool did not run.
    Replaced,
    /// The effect of the call is no longer the one that was approved: its preview differs. The tool did not run.
    Outdated,
    /// The tool cannot run here: the host lacks a service that it requires, or its schema does not compile.
    Unavailable {
        /// The missing part, and a remedy.
        reason: String,
    },
    /// Too many calls run or wait. The tool did not run.
    Overloaded {
        /// The time until a retry.
        retry_after: Option<Duration>,
    },
    /// The deadline passed. Effects of the tool until then remain, see [`is_unclear`](crate::ToolError::is_unclear).
    Timeout {
        /// The time limit.
        limit: Duration,
    },
    /// The caller cancelled the call. Effects of the tool until then remain, see [`is_unclear`](crate::ToolError::is_unclear).
    Cancelled,
    /// The tool panicked.
    Panicked {
        /// The message of the panic.
        message: String,
    },
    /// The tool ran and reported a failure.
    ExecutionFailed {
        /// The tool's message.
        message: String,
    },
    /// The tool ran and reported a temporary failure. The same call may succeed later.
    Transient {
        /// The tool's message.
        message: String,
        /// The time until a retry, if the tool knows it.
        retry_after: Option<Duration>,
    },
    /// The tool's result does not fit its definition.
    InvalidOutput {
        /// All faults of the result.
        violations: Vec<Violation>,
    },
    /// The journal has the call without its outcome, and its effects forbid a second run. The tool did not run again.
    OutcomeUnknown,
    /// The journal recorded a different call at this place of the conversation. The tool did not run.
    Diverged {
        /// The place in the conversation.
        place: String,
    },
    /// A part of the pipeline or of the host failed.
    Internal {
        /// The failed part.
        message: String,
    },
}

impl From<Violation> for ToolErrorKind {
    fn from(violation: Violation) -> Self {
        Self::InvalidArguments {
            violations: vec![violation],
        }
    }
}

impl ToolErrorKind {
    /// Creates an [`Unavailable`](Self::Unavailable) error: the missing part, and a remedy.
    pub fn unavailable(reason: impl fmt::Display) -> Self {
        let reason = reason.to_string();
        Self::Unavailable { reason }
    }

    /// Creates an [`Internal`](Self::Internal) error: the failed part.
    pub fn internal(message: impl fmt::Display) -> Self {
        let message = message.to_string();
        Self::Internal { message }
    }

    /// Returns the code of the kind.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::NotFound { .. } => ErrorCode::NotFound,
            Self::Conflict { .. } => ErrorCode::Conflict,
            Self::InvalidArguments { .. } => ErrorCode::InvalidArguments,
            Self::PermissionDenied { .. } => ErrorCode::PermissionDenied,
            Self::Denied { .. } => ErrorCode::Denied,
            Self::Unapproved { .. } => ErrorCode::Unapproved,
            Self::Replaced | Self::Outdated => ErrorCode::Replaced,
            Self::Unavailable { .. } => ErrorCode::Unavailable,
            Self::Overloaded { .. } => ErrorCode::Overloaded,
            Self::Timeout { .. } => ErrorCode::Timeout,
            Self::Cancelled => ErrorCode::Cancelled,
            Self::Panicked { .. } => ErrorCode::Panicked,
            Self::ExecutionFailed { .. } => ErrorCode::ExecutionFailed,
            Self::Transient { .. } => ErrorCode::Transient,
            Self::InvalidOutput { .. } => ErrorCode::InvalidOutput,
            Self::OutcomeUnknown => ErrorCode::OutcomeUnknown,
            Self::Diverged { .. } => ErrorCode::Diverged,
            Self::Internal { .. } => ErrorCode::Internal,
        }
    }
}
