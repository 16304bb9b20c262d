//! Questions of a server that the person answers.

use rmcp::model::ElicitationAction;
use tools::call::AskError;
use tools::question::{AnswerKind, InvalidQuestion};
use tools::{Answer, Question, ToolContext};

/// Puts a question to the person.
///
/// # Errors
/// Returns a decline if there is no person, or if the question is no question. Returns a cancellation if the call has ended, or if nobody
/// answered in time.
pub(super) async fn ask(
    cx: &ToolContext,
    question: Result<Question, InvalidQuestion>,
) -> Result<Answer, ElicitationAction> {
    let question = question.map_err(|_| ElicitationAction::Decline)?;
    cx.ask(question).await.map_err(|error| match error {
        AskError::NobodyThere(_) => ElicitationAction::Decline,
        _ => ElicitationAction::Cancel,
    })
}

/// Asks the person for a confirmation.
pub(super) async fn confirm(cx: &ToolContext, text: &str) -> ElicitationAction {
    match ask(cx, Question::new(text, AnswerKind::Confirmation)).await {
        Ok(Answer::Confirmation(true)) => ElicitationAction::Accept,
        Ok(_) => ElicitationAction::Decline,
        Err(action) => action,
    }
}
