//! Writing where no wall keeps the protected paths.

use tools::question::AnswerKind;
use tools::{Answer, AskError, Question, ToolContext, ToolError, ToolErrorKind, visible_line};

use crate::sandbox::Granted;

/// The note of a run that could not write.
pub(crate) const READ_ONLY: &str =
    "without bubblewrap the workspace was read-only; install it so that programs can write, or ask the user to agree";

/// Asks the person at the host whether a program may write the workspace, although Landlock cannot take single paths out of it again.
/// Without a person, it may not.
///
/// # Errors
/// Returns an error if the call was cancelled.
pub(crate) async fn may_write(cx: &ToolContext, program: &str) -> Result<bool, ToolError> {
    if Granted::from_context(cx).writable.paths.is_empty() {
        return Ok(false);
    }
    let text = format!(
        "May {} write the granted files of the workspace? Without bubblewrap, nothing keeps it from files that run or configure \
         programs, such as git hooks. Without a yes, it reads only.",
        visible_line(program, 200)
    );
    let question = Question::new(text, AnswerKind::Confirmation);
    let question = question.map_err(|error| ToolError::execution_failed(error.to_string()))?;
    match cx.ask(question).await {
        Ok(answer) => Ok(answer == Answer::Confirmation(true)),
        Err(AskError::Cancelled) => Err(ToolErrorKind::Cancelled.into()),
        Err(_) => Ok(false),
    }
}
