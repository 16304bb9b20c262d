//! The text of an approval question, and its answers.

use std::fmt::Write as _;

use agent::consent::ApprovalQuestion;
use tools::{Access, Json, Preview, ToolError};

use super::preview;
use crate::notice::{ALERT, BAD, STRONG, styled};
use crate::visible::visible;

/// The number of characters of the arguments shown at first.
const SHOWN: usize = 2000;

/// The number of characters of the arguments shown at first beside a preview, which usually repeats them.
const SHOWN_WITH_PREVIEW: usize = 200;

/// A typed answer to an approval question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TypedAnswer {
    /// Approves this call.
    Once,
    /// Approves this call and later calls of the tool on the same targets.
    Session,
    /// Denies this call.
    No,
    /// Shows the whole arguments and the whole preview, and asks again.
    View,
}

impl TypedAnswer {
    /// Parses a line; an empty one denies. Returns `None` if the text is unknown.
    pub(super) fn parse(line: &str) -> Option<Self> {
        match line.trim().to_ascii_lowercase().as_str() {
            "y" | "yes" => Some(Self::Once),
            "s" | "session" => Some(Self::Session),
            "" | "n" | "no" => Some(Self::No),
            "v" | "view" => Some(Self::View),
            _ => None,
        }
    }
}

/// Returns the question. It shows every target, because a person cannot approve unseen ones.
pub(super) fn question(
    question: &ApprovalQuestion<'_>,
    preview: Option<&Result<Preview, ToolError>>,
    is_whole: bool,
) -> String {
    let approval = question.approval;
    let asks = if approval.targets.is_empty() { "asks to run" } else { "asks for" };
    let mut text = format!("{} {asks}:\n", styled(STRONG, visible(approval.tool)));
    for target in approval.targets {
        let style = if target.access() == Access::Destroy { BAD } else { ALERT };
        let _ = writeln!(text, "  {}{}", styled(style, visible(&target.to_string())), question.remarks(target));
    }
    let shown = if matches!(preview, Some(Ok(_))) { SHOWN_WITH_PREVIEW } else { SHOWN };
    let _ = writeln!(text, "with {}", arguments(approval.arguments, if is_whole { usize::MAX } else { shown }));
    match preview {
        Some(Ok(preview)) => text += &preview::lines(preview, is_whole),
        Some(Err(error)) => {
            let _ = writeln!(text, "{} {}", styled(ALERT, "no preview:"), visible(&error.to_string()));
        }
        None => {}
    }
    text + &choices(question)
}

/// Returns the last line of the question, which lists the answers.
pub(super) fn choices(question: &ApprovalQuestion<'_>) -> String {
    let session = if question.may_last() { ", [s] for this session" } else { "" };
    format!("{} [y] once{session}, [n] no: ", styled(STRONG, "Allow?"))
}

fn arguments(arguments: &Json, shown_chars: usize) -> String {
    let json = arguments.to_string();
    let shown = visible(&json);
    match shown.char_indices().nth(shown_chars) {
        Some((end, _)) => {
            let more = shown[end..].chars().count();
            format!("{}\n… and {more} more characters, [v] to view them", &shown[..end])
        }
        None => shown.into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_clear_yes_is_one() {
        assert_eq!(TypedAnswer::parse("Y\n"), Some(TypedAnswer::Once));
        assert_eq!(TypedAnswer::parse(" session \r\n"), Some(TypedAnswer::Session));
        for line in ["\n", "n\n", "NO\n"] {
            assert_eq!(TypedAnswer::parse(line), Some(TypedAnswer::No), "{line:?}");
        }
        for line in ["yy\n", "ok\n", "1\n", "y n\n"] {
            assert_eq!(TypedAnswer::parse(line), None, "{line:?}");
        }
    }
}
