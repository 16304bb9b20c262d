//! [`ToolError`]: why a call gave no result.

mod result;
mod wording;

use std::error::Error;
use std::io;
use std::time::Duration;

use protocol::{Grant, Target, ToolName};

use self::wording::{after, suggested, unapproved};
use crate::near::near;
use crate::{SensitivePath, Source, ToolContext, Violation};

pub(crate) use self::wording::listed;

/// Why a call gave no result. Each becomes a [`ToolResult`](protocol::ToolResult) that a model can act on.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ToolError {
    /// No tool has that name here.
    #[error("there is no tool named {:?}{}", tool, suggested(near))]
    NotFound {
        /// The name asked for.
        tool: String,
        /// Names that exist and look like it, the nearest first.
        near: Vec<String>,
    },
    /// Several linked crates claim the name, so none of them runs.
    #[error(
        "{} is declared by {}; unlink or rename one of them, or settle it with replace",
        self.tool_name(), Source::listed(sources)
    )]
    Conflict {
        /// The name asked for.
        tool: String,
        /// All places that declare it.
        sources: Vec<Source>,
    },
    /// The arguments do not fit; nothing was run.
    #[error("the arguments of {} do not fit: {}", self.tool_name(), listed(violations))]
    InvalidArguments {
        /// The tool.
        tool: String,
        /// Everything that is wrong with them.
        violations: Vec<Violation>,
    },
    /// The call would touch what the session's grant does not cover.
    #[error(
        "{} needs {}, and what is granted is {granted}; ask for the grant, or work inside what is granted",
        self.tool_name(), needed.iter().map(Target::to_string).collect::<Vec<_>>().join(", ")
    )]
    PermissionDenied {
        /// The tool.
        tool: String,
        /// The targets that are not covered.
        needed: Vec<Target>,
        /// What is granted.
        granted: Grant,
    },
    /// Whoever was asked said no.
    #[error("the call of {} was denied: {reason}; do not repeat it, find another way or ask what is wanted", self.tool_name())]
    Denied {
        /// The tool.
        tool: String,
        /// What they said.
        reason: String,
    },
    /// Somebody had to be asked, and there was nobody, or no answer. Nothing was run.
    #[error("{}", unapproved(self.tool_name(), needed, sensitive, *waited))]
    Unapproved {
        /// The tool.
        tool: String,
        /// What was asked about; nothing where the call touches nothing.
        needed: Vec<Target>,
        /// The targets that are asked about although they are granted, each with what it is.
        sensitive: Vec<(Target, SensitivePath)>,
        /// How long the answer was waited for; `None` when nobody could be asked.
        waited: Option<Duration>,
    },
    /// The tool was replaced while somebody was asked about it, so the answer was for another one. Nothing was run.
    #[error("{} was replaced while its call was being approved; look at what it is now, and call it again", self.tool_name())]
    Replaced {
        /// The tool.
        tool: String,
    },
    /// The host does not offer what the tool needs.
    #[error("{} is not available here: {reason}", self.tool_name())]
    Unavailable {
        /// The tool.
        tool: String,
        /// What is missing, and who can mend it.
        reason: String,
    },
    /// Too many calls at once.
    #[error("{} has too much to do; try again{}", self.tool_name(), after(*retry_after))]
    Overloaded {
        /// The tool.
        tool: String,
        /// When it is worth another try.
        retry_after: Option<Duration>,
    },
    /// The deadline passed. What the tool did until then stands.
    #[error("{} took longer than {limit:?} and was stopped; ask for less at a time, or allow more time", self.tool_name())]
    Timeout {
        /// The tool.
        tool: String,
        /// How long it was allowed to take.
        limit: Duration,
    },
    /// The caller took the call back. What the tool did until then stands.
    #[error("the call of {} was cancelled", self.tool_name())]
    Cancelled {
        /// The tool.
        tool: String,
    },
    /// The tool panicked. The panic went no further.
    #[error("{} panicked: {message}; this is a fault of the tool, try other arguments or another tool", self.tool_name())]
    Panicked {
        /// The tool.
        tool: String,
        /// What the panic said.
        message: String,
    },
    /// The tool ran and says that it failed.
    #[error("{} failed: {message}", self.tool_name())]
    ExecutionFailed {
        /// The tool.
        tool: String,
        /// What the tool says.
        message: String,
    },
    /// The tool ran and says that it failed in passing, so that the same call may succeed later.
    #[error("{} failed: {message}; that should pass, try again{}", self.tool_name(), after(*retry_after))]
    Transient {
        /// The tool.
        tool: String,
        /// What the tool says.
        message: String,
        /// When it is worth another try, where the tool knows.
        retry_after: Option<Duration>,
    },
    /// The tool gave something else than its definition promises.
    #[error("{} gave a result that its definition does not allow: {}", self.tool_name(), listed(violations))]
    InvalidOutput {
        /// The tool.
        tool: String,
        /// Everything that is wrong with it.
        violations: Vec<Violation>,
    },
    /// The call was begun before, and nobody wrote down how it ended. It was not run now, since it may not be run twice.
    #[error(
        "whether {} has done this already is not known: the call was begun before and its end is not on record, so it was not \
         run again; find out what is there now, and call it anew only if that is needed",
        self.tool_name()
    )]
    OutcomeUnknown {
        /// The tool.
        tool: String,
    },
    /// The journal has another call at this place of the conversation. Nothing was run.
    #[error(
        "the journal has another call than this one of {} at {place}; resume the run that was stored, or give the session \
         another name",
        self.tool_name()
    )]
    Diverged {
        /// The tool.
        tool: String,
        /// The place.
        place: String,
    },
    /// Something in the machinery around the tool is broken.
    #[error("cannot run {}: {message}", self.tool_name())]
    Internal {
        /// The tool.
        tool: String,
        /// What is broken.
        message: String,
    },
}

impl ToolError {
    /// The tool that the error is about; `<unnamed>` where a caller named none.
    pub fn tool_name(&self) -> &str {
        let (Self::NotFound { tool, .. }
        | Self::Conflict { tool, .. }
        | Self::InvalidArguments { tool, .. }
        | Self::PermissionDenied { tool, .. }
        | Self::Denied { tool, .. }
        | Self::Unapproved { tool, .. }
        | Self::Replaced { tool }
        | Self::Unavailable { tool, .. }
        | Self::Overloaded { tool, .. }
        | Self::Timeout { tool, .. }
        | Self::Cancelled { tool }
        | Self::Panicked { tool, .. }
        | Self::ExecutionFailed { tool, .. }
        | Self::Transient { tool, .. }
        | Self::InvalidOutput { tool, .. }
        | Self::OutcomeUnknown { tool }
        | Self::Diverged { tool, .. }
        | Self::Internal { tool, .. }) = self;
        if tool.trim().is_empty() { "<unnamed>" } else { tool }
    }

    /// Whether a run can go on after it, with the model told what happened. Only a cancellation, a conversation that is not the
    /// journal's, and broken machinery end a run.
    pub fn is_recoverable(&self) -> bool {
        !matches!(self, Self::Cancelled { .. } | Self::Diverged { .. } | Self::Internal { .. })
    }

    /// One word for the variant, stable, for programs that read results.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::NotFound { .. } => "not_found",
            Self::Conflict { .. } => "conflict",
            Self::InvalidArguments { .. } => "invalid_arguments",
            Self::PermissionDenied { .. } => "permission_denied",
            Self::Denied { .. } => "denied",
            Self::Unapproved { .. } => "unapproved",
            Self::Replaced { .. } => "replaced",
            Self::Unavailable { .. } => "unavailable",
            Self::Overloaded { .. } => "overloaded",
            Self::Timeout { .. } => "timeout",
            Self::Cancelled { .. } => "cancelled",
            Self::Panicked { .. } => "panicked",
            Self::ExecutionFailed { .. } => "execution_failed",
            Self::Transient { .. } => "transient",
            Self::InvalidOutput { .. } => "invalid_output",
            Self::OutcomeUnknown { .. } => "outcome_unknown",
            Self::Diverged { .. } => "diverged",
            Self::Internal { .. } => "internal",
        }
    }

    /// No tool has that name among these; the nearest of them are suggested.
    pub fn not_found<'a>(name: &str, names: impl Iterator<Item = &'a str>) -> Self {
        Self::NotFound { tool: name.chars().take(ToolName::MAX_LENGTH).collect(), near: near(name, names) }
    }

    /// Returns the first `ToolError` in the chain of an error and its sources.
    pub(crate) fn find<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a Self> {
        let mut next = Some(error);
        while let Some(error) = next {
            let boxed = || error.downcast_ref::<Box<Self>>().map(Box::as_ref);
            if let Some(found) = error.downcast_ref().or_else(boxed) {
                return Some(found);
            }
            // The source of such an error is that of the error inside, which it leaves out.
            let inner = error.downcast_ref().and_then(io::Error::get_ref);
            next = inner.map(|inner| inner as &(dyn Error + 'static)).or_else(|| error.source());
        }
        None
    }

    /// The host does not offer these services.
    pub(crate) fn unmet(tool: String, services: &[&str]) -> Self {
        let reason =
            format!("the host offers no {}; add it to the context with with_service", services.join(" and no "));
        Self::Unavailable { tool, reason }
    }

    /// What a tool returns when it could not do its work. The message says what to do next.
    pub fn execution_failed(cx: &ToolContext, message: impl Into<String>) -> Self {
        Self::ExecutionFailed { tool: cx.tool_text(), message: message.into() }
    }

    /// What a tool returns when it could not do its work for a reason that passes: a service that is busy, a connection that
    /// broke. The counter then repeats the call, where the tool's effects and limits allow it.
    pub fn transient(cx: &ToolContext, message: impl Into<String>) -> Self {
        Self::Transient { tool: cx.tool_text(), message: message.into(), retry_after: None }
    }

    /// When it is worth another try; of errors that say so.
    #[must_use]
    pub fn with_retry_after(mut self, wait: Duration) -> Self {
        if let Self::Transient { retry_after, .. } | Self::Overloaded { retry_after, .. } = &mut self {
            *retry_after = Some(wait);
        }
        self
    }

    /// When it is worth another try, where the error says so.
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Transient { retry_after, .. } | Self::Overloaded { retry_after, .. } => *retry_after,
            _ => None,
        }
    }

    /// What code around tools returns when something is broken that no caller can mend.
    pub fn internal(cx: &ToolContext, message: impl Into<String>) -> Self {
        Self::Internal { tool: cx.tool_text(), message: message.into() }
    }

    /// The calling tool's arguments do not fit in a way that its schema cannot say.
    pub fn invalid_arguments(cx: &ToolContext, violations: Vec<Violation>) -> Self {
        Self::InvalidArguments { tool: cx.tool_text(), violations }
    }
}

impl From<io::Error> for ToolError {
    /// Returns the `ToolError` inside, or [`ToolError::ExecutionFailed`]. The pipeline adds the tool's name.
    fn from(error: io::Error) -> Self {
        crate::handler::of_error(&error, Some(&error), None)
    }
}
