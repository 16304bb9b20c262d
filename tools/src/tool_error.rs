//! [`ToolError`]: why the call of a tool gave no result.

mod kind;
mod message;
mod result;


use std::error::Error;
use std::fmt::Display;
use std::io;
use std::iter::successors;
use std::time::Duration;

use protocol::{ErrorCode, ToolName};

use self::message::{Message, display_name};
use crate::near::near;

pub use self::kind::ToolErrorKind;
pub(crate) use self::message::listed;

/// Why a call gave no result: a kind, and the tool that it is about. It becomes a [`ToolResult`](protocol::ToolResult) that a
/// model can act on.
///
/// The error of a tool's own code has no name yet, and the pipeline adds it:
///
/// ```
/// use tools::{ErrorCode, ToolError, ToolErrorKind};
///
/// let failed = ToolError::execution_failed("there is no article 7; list the articles");
/// assert_eq!(failed.code(), ErrorCode::ExecutionFailed);
/// let denied: ToolError = ToolErrorKind::Denied { reason: "not today".to_owned() }.into();
/// assert!(denied.is_recoverable());
/// ```
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{}", .0.message())]
pub struct ToolError(#[source] Failure);

/// The error itself. As the source of a [`ToolError`] it is found behind wrappers that forward to that source.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{}", kind.code())]
struct Failure {
    /// `None` until the pipeline adds it.
    tool: Option<String>,
    kind: ToolErrorKind,
}

impl Failure {
    fn message(&self) -> Message<'_> {
        Message { kind: &self.kind, tool: self.tool.as_deref() }
    }
}

impl ToolError {
    /// An error about this tool, for code that runs tools. A tool returns a [kind](ToolErrorKind), and the pipeline adds its name.
    pub fn new(tool: impl Into<String>, kind: ToolErrorKind) -> Self {
        Self(Failure { tool: Some(tool.into()), kind })
    }

    /// An [`ExecutionFailed`](ToolErrorKind::ExecutionFailed). The message says the next step.
    pub fn execution_failed(message: impl Into<String>) -> Self {
        ToolErrorKind::ExecutionFailed { message: message.into() }.into()
    }

    /// A [`Transient`](ToolErrorKind::Transient) error, such as a busy service or a broken connection. The pipeline repeats the
    /// call if the tool's effects and limits allow it.
    pub fn transient(message: impl Into<String>) -> Self {
        ToolErrorKind::Transient { message: message.into(), retry_after: None }.into()
    }

    /// No tool has that name among these; the nearest of them are suggested.
    pub fn not_found<'a>(name: &str, names: impl Iterator<Item = &'a str>) -> Self {
        let tool: String = name.chars().take(ToolName::MAX_LENGTH).collect();
        Self::new(tool, ToolErrorKind::NotFound { near: near(name, names) })
    }

    /// Returns the names among `candidates` that `wanted` is likely a slip of, nearest first, at most three: what an error about an
    /// unknown name suggests.
    ///
    /// Case and separators hardly count (`filePath` is near `file_path`); otherwise a third of the letters may differ, or one name
    /// may begin or end with the other (`path` is near `file_path`) that is at most three times as long.
    pub fn near<'a>(wanted: &str, candidates: impl Iterator<Item = &'a str>) -> Vec<String> {
        near(wanted, candidates)
    }

    /// The tool that the error is about; `<unnamed>` if it has no name.
    pub fn tool_name(&self) -> &str {
        display_name(self.0.tool.as_deref().unwrap_or_default())
    }

    /// Why the call failed.
    pub fn kind(&self) -> &ToolErrorKind {
        &self.0.kind
    }

    pub(crate) fn kind_mut(&mut self) -> &mut ToolErrorKind {
        &mut self.0.kind
    }

    /// Returns the kind, without the name of the tool.
    pub fn into_kind(self) -> ToolErrorKind {
        self.0.kind
    }

    /// Returns the code of the kind.
    pub fn code(&self) -> ErrorCode {
        self.kind().code()
    }

    /// Returns true if a run can go on after it, with the model told what happened. Only a cancellation, a conversation that is not
    /// the journal's, and broken machinery end a run.
    pub fn is_recoverable(&self) -> bool {
        !matches!(self.code(), ErrorCode::Cancelled | ErrorCode::Diverged | ErrorCode::Internal)
    }

    /// When it is worth another try; of errors that say so.
    #[must_use]
    pub fn with_retry_after(mut self, wait: Duration) -> Self {
        if let ToolErrorKind::Transient { retry_after, .. } | ToolErrorKind::Overloaded { retry_after } =
            self.kind_mut()
        {
            *retry_after = Some(wait);
        }
        self
    }

    /// When it is worth another try, where the error says so.
    pub fn retry_after(&self) -> Option<Duration> {
        match self.kind() {
            ToolErrorKind::Transient { retry_after, .. } | ToolErrorKind::Overloaded { retry_after } => *retry_after,
            _ => None,
        }
    }

    /// Adds the name of the tool, unless the error has one: that of a nested call stays.
    #[must_use]
    pub(crate) fn named(mut self, tool: &ToolName) -> Self {
        self.0.tool.get_or_insert_with(|| tool.to_string());
        self
    }

    /// Returns the error that a tool's own error stands for: the one in its chain, which `chain` is, or else a failure with its
    /// alternate text, in which errors such as those of anyhow tell their causes.
    pub(crate) fn from_failure(error: &impl Display, chain: Option<&(dyn Error + 'static)>) -> Self {
        successors(chain, |error| inside(*error))
            .find_map(|error| {
                let kind = || error.downcast_ref().map(|kind: &ToolErrorKind| kind.clone().into());
                error.downcast_ref().map(|failure: &Failure| Self(failure.clone())).or_else(kind)
            })
            .unwrap_or_else(|| Self::execution_failed(format!("{error:#}")))
    }
}

impl From<ToolErrorKind> for ToolError {
    /// Returns the error without a name, for the pipeline to add.
    fn from(kind: ToolErrorKind) -> Self {
        Self(Failure { tool: None, kind })
    }
}

impl From<io::Error> for ToolError {
    /// Returns the `ToolError` inside, or [`ToolErrorKind::ExecutionFailed`].
    fn from(error: io::Error) -> Self {
        Self::from_failure(&error, Some(&error))
    }
}

/// The source of an I/O error is that of the error inside, which it leaves out.
fn inside<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a (dyn Error + 'static)> {
    let inner = error.downcast_ref().and_then(io::Error::get_ref);
    inner.map(|inner| inner as &(dyn Error + 'static)).or_else(|| error.source())
}
