//! `user.ask`: asks the user a question.

use serde::{Deserialize, Serialize};
use tools::call::AskError;
use tools::question::AnswerKind;
use tools::{Answer, JsonSchema, Question, ToolContext, ToolError, tool};

/// Asks the user one question and returns the answer.
///
/// Use it if the task cannot go on without a decision or a fact that only the user has. Ask one thing at a time. The answer is no
/// approval of another call. The status `nobody_there` or `unanswered` means that no user answers: decide yourself, or end with the
/// question.
// A read, so that questions of one turn are queued by the host, which stops their clocks, and not by the pipeline.
#[tool(
    name = "user.ask",
    title = "Ask the user",
    reads = "user:answer",
    tags = ["session"],
    example({"question": "Which license do you want?"}),
    example({"question": "Which database?", "kind": "choice", "options": ["SQLite", "PostgreSQL"]}),
    example({"question": "Is the server down at the moment?", "kind": "confirmation"}),
)]
pub(crate) async fn ask(
    cx: &ToolContext,
    /// The question.
    #[schemars(length(min = 1, max = Question::MAX_CHARS))]
    question: String,
    /// The kind of the answer: any text, one of the options, or yes or no.
    #[serde(default)]
    kind: Kind,
    /// The options of a choice, at least 2.
    #[serde(default)]
    #[schemars(length(max = Question::MAX_OPTIONS), inner(length(min = 1, max = Question::MAX_OPTION_CHARS)))]
    options: Vec<String>,
) -> Result<Reply, ToolError> {
    let kind = match kind {
        Kind::Choice => AnswerKind::Choice { options },
        Kind::Text | Kind::Confirmation if !options.is_empty() => {
            return Err(ToolError::execution_failed(
                "only a choice has options; set kind to choice, or drop the options",
            ));
        }
        Kind::Text => AnswerKind::Text,
        Kind::Confirmation => AnswerKind::Confirmation,
    };
    match cx.ask(Question::new(question, kind)?).await {
        Ok(Answer::Text(text) | Answer::Choice(text)) => Ok(Reply::Answered {
            answer: Given::Text(text),
        }),
        Ok(Answer::Confirmation(is_confirmed)) => Ok(Reply::Answered {
            answer: Given::Confirmation(is_confirmed),
        }),
        Ok(Answer::Declined) => Ok(Reply::Declined),
        Ok(other) => Err(ToolError::execution_failed(format!(
            "the answer {other:?} has no text"
        ))),
        // No failure: the model goes on by its own decision and should not repeat the call.
        Err(AskError::NobodyThere(_)) => Ok(Reply::NobodyThere),
        Err(AskError::Unanswered { .. }) => Ok(Reply::Unanswered),
        Err(error) => Err(error.into()),
    }
}

/// The kind of the answer.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(crate = "tools::schemars", inline)]
pub(crate) enum Kind {
    #[default]
    Text,
    Choice,
    Confirmation,
}

/// The result for the model.
#[derive(Debug, Serialize)]
#[serde(tag = "status", rename_all = "snake_case")]
pub(crate) enum Reply {
    Answered { answer: Given },
    Declined,
    NobodyThere,
    Unanswered,
}

/// A given answer.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(crate) enum Given {
    Text(String),
    Confirmation(bool),
}
