//! [`Asked`]: the outcome of a question to the person.

use tools::call::AskError;
use tools::question::{AnswerKind, InvalidQuestion};
use tools::{Answer, Question, ToolContext};

/// The outcome of a question.
pub(super) enum Asked {
    Answer(Answer),
    /// There is no person, or the question is no question.
    Nobody,
    /// The call has ended, or nobody answered in time.
    Cancelled,
}

pub(super) async fn ask(cx: &ToolContext, text: &str, kind: AnswerKind) -> Asked {
    put(cx, Question::new(text, kind)).await
}

/// Puts a question to the person.
pub(super) async fn put(cx: &ToolContext, question: Result<Question, InvalidQuestion>) -> Asked {
    let Ok(question) = question else {
        return Asked::Nobody;
    };
    match cx.ask(question).await {
        Ok(answer) => Asked::Answer(answer),
        Err(AskError::NobodyThere(_)) => Asked::Nobody,
        Err(_) => Asked::Cancelled,
    }
}
