//! [`Preview`]: a description of a call's effect, for the person who decides about it.

use std::fmt;
use std::future::Future;
use std::pin::Pin;

use crate::ToolError;

/// The future of a [`Preview`].
pub type PreviewFuture<'a> = Pin<Box<dyn Future<Output = Result<Preview, ToolError>> + Send + 'a>>;

/// The expected effect of a call, made before a person decides about it. The pipeline gives it to the [`Approver`](crate::Approver)
/// alone: no model, result or record of a call has it.
///
/// A preview describes the moment at which it was made. The [approval](crate::Approval) is bound to the arguments, so a target that
/// changes before the tool runs makes the effect differ. A tool that must not overwrite such a change checks for it when it runs.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Preview {
    /// A change of text.
    Diff {
        /// A unified diff.
        text: String,
    },
    /// Any other effect.
    Summary {
        /// A description, such as `removes 3 files`.
        text: String,
    },
}

impl Preview {
    /// The maximum number of lines that an approver receives. The pipeline replaces the rest by a line that says so.
    pub const MAX_LINES: usize = 1000;

    /// The maximum number of bytes that an approver receives, not counting the line about the rest.
    pub const MAX_BYTES: usize = 64 * 1024;

    /// Creates a preview from a unified diff.
    pub fn diff(text: impl Into<String>) -> Self {
        Self::Diff { text: text.into() }
    }

    /// Creates a preview from a description.
    pub fn summary(text: impl Into<String>) -> Self {
        Self::Summary { text: text.into() }
    }

    /// Returns the text.
    pub fn text(&self) -> &str {
        let (Self::Diff { text } | Self::Summary { text }) = self;
        text
    }
}

/// The preview that an approver receives. `None` if the tool declares none.
pub(crate) type PreviewOutcome = Option<Result<Preview, ToolError>>;

/// The call whose preview an approver can ask for. A trait, because the pipeline makes previews and approvers must not depend on it.
pub(crate) trait PreviewSource: fmt::Debug + Send + Sync {
    /// Runs the tool's preview of the call, within a time limit.
    fn make(&self) -> Pin<Box<dyn Future<Output = PreviewOutcome> + Send + '_>>;
}
