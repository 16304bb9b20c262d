//! [`ToolErrorKind`]: why a call failed, whichever tool it was.

use std::time::Duration;

use protocol::{ErrorCode, Grant, Target};

use super::message::Message;
use crate::policy::SensitivePath;
use crate::{Source, Violation};

/// Why a call failed, without the name of its tool: handlers and stages return it, and the pipeline adds the name.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{}", Message { kind: self, tool: None })]
#[non_exhaustive]
pub enum ToolErrorKind {
    /// No tool has that name here.
    NotFound {
        /// Names that exist and look like it, the nearest first.
        near: Vec<String>,
    },
    /// Several linked crates claim the name, so none of them runs.
    Conflict {
        /// All places that declare it.
        sources: Vec<Source>,
    },
    /// The arguments do not fit; nothing was run.
    InvalidArguments {
        /// Everything that is wrong with them.
        violations: Vec<Violation>,
    },
    /// The call would touch what the session's grant does not cover.
    PermissionDenied {
        /// The targets that are not covered.
        needed: Vec<Target>,
        /// The grant.
        granted: Grant,
    },
    /// A person or a rule refused the call.
    Denied {
        /// The reason given.
        reason: String,
    },
    /// Somebody had to be asked, and there was nobody, or no answer. Nothing was run.
    Unapproved {
        /// The targets asked about; none if the call touches nothing.
        needed: Vec<Target>,
        /// The targets that are asked about although they are granted, each with what it is.
        sensitive: Vec<(Target, SensitivePath)>,
        /// How long the answer was waited for; `None` when nobody could be asked.
        waited: Option<Duration>,
    },
    /// The tool was replaced while somebody was asked about it, so the answer was for another one. Nothing was run.
    Replaced,
    /// The host does not offer what the tool needs.
    Unavailable {
        /// The missing part, and who can mend it.
        reason: String,
    },
    /// Too many calls at once.
    Overloaded {
        /// When it is worth another try.
        retry_after: Option<Duration>,
    },
    /// The deadline passed. What the tool did until then stands.
    Timeout {
        /// How long it was allowed to take.
        limit: Duration,
    },
    /// The caller took the call back. What the tool did until then stands.
    Cancelled,
    /// The tool panicked. The panic went no further.
    Panicked {
        /// The message of the panic.
        message: String,
    },
    /// The tool ran and says that it failed.
    ExecutionFailed {
        /// The tool's message.
        message: String,
    },
    /// The tool ran and says that it failed in passing, so that the same call may succeed later.
    Transient {
        /// The tool's message.
        message: String,
        /// When it is worth another try, where the tool knows.
        retry_after: Option<Duration>,
    },
    /// The tool gave something else than its definition promises.
    InvalidOutput {
        /// Everything that is wrong with it.
        violations: Vec<Violation>,
    },
    /// The call was begun before, and nobody wrote down how it ended. It was not run now, since it may not be run twice.
    OutcomeUnknown,
    /// The journal has another call at this place of the conversation. Nothing was run.
    Diverged {
        /// The place.
        place: String,
    },
    /// Something in the machinery around the tool is broken.
    Internal {
        /// The broken part.
        message: String,
    },
}

impl ToolErrorKind {
    /// Returns the code of the kind.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::NotFound { .. } => ErrorCode::NotFound,
            Self::Conflict { .. } => ErrorCode::Conflict,
            Self::InvalidArguments { .. } => ErrorCode::InvalidArguments,
            Self::PermissionDenied { .. } => ErrorCode::PermissionDenied,
            Self::Denied { .. } => ErrorCode::Denied,
            Self::Unapproved { .. } => ErrorCode::Unapproved,
            Self::Replaced => ErrorCode::Replaced,
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

    /// Returns the kind of a call whose host does not offer these services.
    pub(crate) fn unmet(services: &[&str]) -> Self {
        let reason =
            format!("the host offers no {}; add it to the context with with_service", services.join(" and no "));
        Self::Unavailable { reason }
    }
}
