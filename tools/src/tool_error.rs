//! [`ToolError`]: the error of a failed call.

mod kind;
mod message;
mod result;

use std::borrow::Borrow;
use std::error::Error;
use std::fmt::Display;
use std::io;
use std::iter::successors;
use std::time::Duration;

use protocol::wire::{NameGrammar, WireNames};
use protocol::{ErrorCode, ToolName};

use self::message::{Message, display_name};
use crate::near::{near, near_present};
use crate::spelling::Spelling;

pub use self::kind::ToolErrorKind;

/// The error of a failed call: the tool's name and a [kind](ToolErrorKind). It converts into a
/// [`ToolResult`](protocol::ToolResult) that a model can act on.
///
/// A handler returns errors without a name, which the pipeline adds:
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
#[error("{}", .0.message(Spelling::default()))]
pub struct ToolError(#[source] Failure);

/// The content of a [`ToolError`]. It is also the error's source, so that it is found behind wrappers that forward to the source.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{}", kind.code())]
struct Failure {
    /// `None` until the pipeline adds it.
    tool: Option<String>,
    /// The name of the call and the present one, if the model called a tool by a former name.
    renamed: Option<Box<(Box<str>, ToolName)>>,
    kind: ToolErrorKind,
    is_unclear: bool,
}

impl Failure {
    fn message<'a>(&'a self, spelling: Spelling<'a>) -> Message<'a> {
        Message {
            kind: &self.kind,
            tool: self.tool.as_deref(),
            spelling,
            is_unclear: self.is_unclear,
        }
    }
}

impl ToolError {
    /// Creates an error with a tool name, for code that runs tools. A handler returns a [kind](ToolErrorKind) instead.
    pub fn new(tool: impl Into<String>, kind: ToolErrorKind) -> Self {
        let mut error = Self::from(kind);
        error.0.tool = Some(tool.into());
        error
    }

    /// Creates an [`ExecutionFailed`](ToolErrorKind::ExecutionFailed) error. The message should name the next step.
    pub fn execution_failed(message: impl Into<String>) -> Self {
        ToolErrorKind::ExecutionFailed {
            message: message.into(),
        }
        .into()
    }

    /// Creates a [`Transient`](ToolErrorKind::Transient) error, such as for a busy service or a broken connection. The pipeline retries
    /// the call if the tool's effects and limits allow it.
    pub fn transient(message: impl Into<String>) -> Self {
        ToolErrorKind::Transient {
            message: message.into(),
            retry_after: None,
        }
        .into()
    }

    /// Creates a [`NotFound`](ToolErrorKind::NotFound) error that suggests the tools with the most similar names.
    ///
    /// Pass each name, present or [former](protocol::Tool::was), with the present name of its tool.
    pub fn not_found<'a>(name: &str, names: impl Iterator<Item = (&'a str, &'a str)>) -> Self {
        // A model can write a name of any length, and errors go back to it.
        let tool: String = name.chars().take(ToolName::MAX_LENGTH).collect();
        // Of a wire name of an unknown tool, only the words can be similar to a name.
        let wanted = WireNames::absent_wire(name).map_or(name, |wire| {
            NameGrammar::digested_words(wire).unwrap_or(wire)
        });
        Self::new(
            tool,
            ToolErrorKind::NotFound {
                near: near_present(wanted, names),
            },
        )
    }

    /// Returns at most three candidates that `wanted` may be a misspelling of, the most similar first.
    ///
    /// Case and separators are ignored: `filePath` is similar to `file_path`. Two names are similar if
    ///
    /// - at most about a third of the letters differ, or
    /// - one is a prefix or suffix of the other and at least a third of its length, such as `path` and `file_path`.
    pub fn near<'a>(wanted: &str, candidates: impl Iterator<Item = &'a str>) -> Vec<String> {
        near(wanted, candidates)
    }

    /// Returns the question whether one of these [near](Self::near) names is meant: `did you mean a or b?`. Returns `None` without names.
    pub fn did_you_mean(near: &[impl Borrow<str>]) -> Option<String> {
        (!near.is_empty()).then(|| format!("did you mean {}?", near.join(" or ")))
    }

    /// Returns the name of the tool, or `<unnamed>` if the error has none.
    pub fn tool_name(&self) -> &str {
        display_name(self.0.tool.as_deref().unwrap_or_default())
    }

    /// Returns the kind.
    pub fn kind(&self) -> &ToolErrorKind {
        &self.0.kind
    }

    pub(crate) fn kind_mut(&mut self) -> &mut ToolErrorKind {
        &mut self.0.kind
    }

    /// Returns the code of the kind.
    pub fn code(&self) -> ErrorCode {
        self.kind().code()
    }

    /// Returns true if the run continues and the model receives the error. [`Cancelled`](ToolErrorKind::Cancelled),
    /// [`Diverged`](ToolErrorKind::Diverged) and [`Internal`](ToolErrorKind::Internal) errors end the run.
    pub fn is_recoverable(&self) -> bool {
        !matches!(
            self.code(),
            ErrorCode::Cancelled | ErrorCode::Diverged | ErrorCode::Internal
        )
    }

    /// Adds that the tool may have taken effect. The pipeline adds it to the [`Timeout`](ToolErrorKind::Timeout) and the
    /// [`Cancelled`](ToolErrorKind::Cancelled) of a tool that had started and [must not be repeated](protocol::Effects::is_idempotent). A
    /// host that abandons such a call adds it too, also if it does not know whether the tool had started.
    #[must_use]
    pub fn with_unclear_effects(mut self) -> Self {
        self.0.is_unclear = true;
        self
    }

    /// Returns true if the call was stopped after its tool may have taken effect.
    pub fn is_unclear(&self) -> bool {
        self.0.is_unclear
    }

    /// Sets the time until a retry. Has no effect on kinds other than [`Transient`](ToolErrorKind::Transient) and
    /// [`Overloaded`](ToolErrorKind::Overloaded).
    #[must_use]
    pub fn with_retry_after(mut self, wait: Duration) -> Self {
        if let ToolErrorKind::Transient { retry_after, .. }
        | ToolErrorKind::Overloaded { retry_after } = self.kind_mut()
        {
            *retry_after = Some(wait);
        }
        self
    }

    /// Returns the time until a retry, or `None` if the error has none.
    pub fn retry_after(&self) -> Option<Duration> {
        match self.kind() {
            ToolErrorKind::Transient { retry_after, .. }
            | ToolErrorKind::Overloaded { retry_after } => *retry_after,
            _ => None,
        }
    }

    /// Adds the name of the tool, unless the error has one, such as that of a nested call.
    #[must_use]
    pub(crate) fn with_tool(mut self, tool: &ToolName) -> Self {
        self.0.tool.get_or_insert_with(|| tool.to_string());
        self
    }

    /// Adds the former name by which the tool was called, for the note in the result.
    #[must_use]
    pub(crate) fn with_former_name(mut self, former: Option<Box<str>>, present: &ToolName) -> Self {
        self.0.renamed = former.map(|former| Box::new((former, present.clone())));
        self
    }

    /// Converts a tool's own error: returns the first `ToolError` or [`ToolErrorKind`] in its source chain, which starts at `chain`.
    ///
    /// Otherwise returns an `ExecutionFailed` with the error's `{:#}` text, which contains the causes for errors such as anyhow's.
    pub(crate) fn from_failure(
        error: &impl Display,
        chain: Option<&(dyn Error + 'static)>,
    ) -> Self {
        successors(chain, |error| inside(*error))
            // A wrapper with `#[error(transparent)]` hides the error itself and shows its source, so both types are looked for.
            .find_map(|error| {
                error
                    .downcast_ref()
                    .map(|failure: &Failure| Self(failure.clone()))
                    .or_else(|| {
                        error
                            .downcast_ref()
                            .map(|kind: &ToolErrorKind| kind.clone().into())
                    })
            })
            .unwrap_or_else(|| Self::execution_failed(format!("{error:#}")))
    }
}

impl From<ToolErrorKind> for ToolError {
    /// Returns the error without a name, for the pipeline to add.
    fn from(kind: ToolErrorKind) -> Self {
        Self(Failure {
            tool: None,
            renamed: None,
            kind,
            is_unclear: false,
        })
    }
}

impl From<io::Error> for ToolError {
    /// Returns the `ToolError` inside, or [`ToolErrorKind::ExecutionFailed`].
    fn from(error: io::Error) -> Self {
        Self::from_failure(&error, Some(&error))
    }
}

/// Returns the inner error of an I/O error, whose `source` skips it, and otherwise the source.
fn inside<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a (dyn Error + 'static)> {
    let inner = error.downcast_ref().and_then(io::Error::get_ref);
    inner
        .map(|inner| inner as &(dyn Error + 'static))
        .or_else(|| error.source())
}
