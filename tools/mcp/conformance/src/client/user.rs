//! A person and a model, who answer each question of a server.

use tools::context::AnswerFuture;
use tools::question::AnswerKind;
use tools::{Answer, Person, Question, ToolContext};
use tools_mcp::client::{Sample, SampleRequest};

/// A person who agrees, and leaves each field of a form as it is.
pub(crate) struct User;

impl Person for User {
    fn answer<'a>(&'a self, question: &'a Question, _: &'a ToolContext) -> AnswerFuture<'a> {
        let answer = match question.kind() {
            AnswerKind::Confirmation => Answer::Confirmation(true),
            AnswerKind::Choice { options } => {
                Answer::Choice(options.last().cloned().unwrap_or_default())
            }
            _ => Answer::Text(String::new()),
        };
        Box::pin(async { Ok(answer) })
    }
}

/// Answers as a model that repeats what it reads.
pub(crate) async fn echo(request: SampleRequest, _: ToolContext) -> Result<Sample, String> {
    let message = request.messages.into_iter().next();
    let content = message.and_then(|message| message.content.into_iter().next());
    Ok(Sample {
        model: "echo".to_owned(),
        content: content.ok_or("there is no message")?,
        stop_reason: Some("endTurn".to_owned()),
    })
}
