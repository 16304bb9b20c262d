//! [`Preview`]: a description of a call's effect, for the person who decides about it.

use std::fmt;
use std::future::Future;
use std::pin::Pin;

use protocol::Digest;

use crate::tool_error::ToolError;
use crate::visible::head;

/// The future of a [`Preview`].
pub type PreviewFuture<'a> = Pin<Box<dyn Future<Output = Result<Preview, ToolError>> + Send + 'a>>;

/// The expected effect of a call, made before a person decides about it. The pipeline gives it to the [`Approver`](crate::Approver)
/// alone: no model, result or record of a call has it.
///
/// A preview describes the moment at which it was made. The [approval](crate::Approval) of a call is bound to its preview: the pipeline
/// makes another one before the tool runs, and asks again if they differ. Of a diff, the lines that it adds and removes count.
/// [`with_basis`](Self::with_basis) binds the approval, and one for the session, to the content of files too.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub struct Preview {
    /// True if the text is a unified diff.
    pub is_diff: bool,
    pub(crate) text: String,
    /// The digest of the text that an approval is bound to. The text can have more, and can be truncated.
    bound: Digest,
    /// The content on which the effect depends.
    pub basis: Basis,
}

/// The content on which the effect of a call depends, beside its arguments.
///
/// An approval that is remembered for later calls holds only while the basis is the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Basis {
    /// Nothing that the session could change.
    #[default]
    Arguments,
    /// The content of files, such as the script that a command runs, with this digest.
    Content(Digest),
    /// Content that is not known before the call runs. An approval holds for one call.
    Unknown,
}

impl Preview {
    /// The maximum number of lines that an approver receives. The pipeline replaces the rest by a line that says so.
    pub const MAX_LINES: usize = 1000;

    /// The maximum number of bytes that an approver receives, not counting the line about the rest.
    pub const MAX_BYTES: usize = 64 * 1024;

    /// Creates a preview from a unified diff.
    pub fn diff(text: impl Into<String>) -> Self {
        let text = text.into();
        let changes: Vec<_> = text
            .lines()
            // Lines around a change may change while a person reads; what the call adds and removes is then still the same.
            .filter(|line| line.starts_with(['+', '-']))
            .collect();
        Self {
            is_diff: true,
            bound: Digest::hash_bytes(changes.join("\n").as_bytes()),
            text,
            basis: Basis::default(),
        }
    }

    /// Creates a preview from a description.
    pub fn summary(text: impl Into<String>) -> Self {
        let text = text.into();
        Self {
            is_diff: false,
            bound: Digest::hash_bytes(text.as_bytes()),
            text,
            basis: Basis::default(),
        }
    }

    /// Sets the content on which the effect depends. The default is [`Basis::Arguments`].
    pub fn with_basis(self, basis: Basis) -> Self {
        Self { basis, ..self }
    }

    /// Appends text that is another one at another time, such as the next run of a job. An approval is not bound to it.
    pub fn with_unbound_text(mut self, text: &str) -> Self {
        self.text += text;
        self
    }

    /// Returns the text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns a digest of all that an approval of the call is bound to: equal previews, up to the text that is not bound, have the same.
    pub fn digest(&self) -> Digest {
        Digest::hash_bytes(format!("{} {} {:?}", self.is_diff, self.bound, self.basis).as_bytes())
    }

    /// Truncates the text to its limits.
    pub(crate) fn truncate(mut self) -> Self {
        let text = &mut self.text;
        let lines = text
            .split_inclusive('\n')
            .take(Self::MAX_LINES)
            .map(str::len)
            .sum::<usize>();
        let end = head(text, lines.min(Self::MAX_BYTES)).len();
        let missing = text.len() - end;
        if missing > 0 {
            text.truncate(end);
            if !text.ends_with('\n') {
                text.push('\n');
            }
            *text += &format!("[… {missing} more bytes are not shown …]\n");
        }
        self
    }
}

/// The preview that an approver receives. `None` if the tool declares none.
pub(crate) type PreviewOutcome = Option<Result<Preview, ToolError>>;

/// The call whose preview an approver can ask for. A trait, because the pipeline makes previews and approvers must not depend on it.
pub(crate) trait PreviewSource: fmt::Debug + Send + Sync {
    /// Runs the tool's preview of the call, within a time limit, or returns the one that was made for this question.
    fn run_preview(&self) -> Pin<Box<dyn Future<Output = PreviewOutcome> + Send + '_>>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_text_is_kept() {
        for text in [
            "",
            "a",
            "a\n",
            &"a\n".repeat(Preview::MAX_LINES),
            &"é".repeat(Preview::MAX_BYTES / 2),
        ] {
            assert_eq!(Preview::diff(text).truncate().text(), text);
        }
    }

    #[test]
    fn a_long_text_keeps_its_beginning_and_says_how_much_is_missing() {
        let lines = "é\n".repeat(Preview::MAX_LINES + 7);
        let kept = Preview::summary(lines).truncate();
        assert_eq!(kept.text().lines().count(), Preview::MAX_LINES + 1);
        assert!(
            kept.text().ends_with("[… 21 more bytes are not shown …]\n"),
            "{:?}",
            kept.text().lines().last()
        );

        let line = format!("a{}", "é".repeat(Preview::MAX_BYTES));
        let kept = Preview::summary(line).truncate();
        let missing = Preview::MAX_BYTES + 2;
        assert!(
            kept.text()
                .ends_with(&format!("\n[… {missing} more bytes are not shown …]\n"))
        );
        assert!(kept.text().len() < Preview::MAX_BYTES + 100);
    }
}
