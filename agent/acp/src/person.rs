//! [`EditorPerson`]: puts the questions of tools to the person at the editor.

use std::sync::Arc;

use serde_json::{Value, json};
use tokio::sync::Mutex;
use tools::context::{AnswerFuture, NobodyThere};
use tools::question::AnswerKind;
use tools::visible::harmless;
use tools::{Answer, Person, Question, ToolContext};

use crate::board::Board;

/// The name of the one field of a form.
const FIELD: &str = "answer";

/// The person at an editor that shows forms.
pub(crate) struct EditorPerson {
    board: Arc<Board>,
    /// Held while a question is open, so that one is shown at a time.
    queue: Mutex<()>,
}

impl EditorPerson {
    pub(crate) fn new(board: Arc<Board>) -> Self {
        let queue = Mutex::default();
        Self { board, queue }
    }

    async fn ask(&self, question: &Question, cx: &ToolContext) -> Result<Answer, NobodyThere> {
        let _turn = self.queue.lock().await;
        let field = match question.kind() {
            AnswerKind::Choice { options } => json!({"type": "string", "enum": options}),
            AnswerKind::Confirmation => json!({"type": "boolean"}),
            _ => json!({"type": "string"}),
        };
        let caller = cx.tool().map_or("a tool", |tool| tool.as_str());
        let message = format!("{caller} asks you: {}", harmless(question.text()));
        let required: &[&str] = if question.may_be_empty { &[] } else { &[FIELD] };
        let mut params = json!({
            "sessionId": self.board.id(),
            "mode": "form",
            "message": message,
            "requestedSchema": {"type": "object", "properties": {FIELD: field}, "required": required},
        });
        if let Some(card) = self.board.asking(cx.call_id()) {
            params["toolCallId"] = card.id.into();
        }
        let replied = self
            .board
            .client
            .request("elicitation/create", params)
            .await;
        let result = replied.and_then(Result::ok).ok_or(NobodyThere)?;
        match result["action"].as_str() {
            Some("accept") => {}
            Some("decline") => return Ok(Answer::Declined),
            // The person has closed the form without an answer.
            _ => return Err(NobodyThere),
        }
        answer(&result["content"][FIELD], question).ok_or(NobodyThere)
    }
}

impl Person for EditorPerson {
    fn answer<'a>(&'a self, question: &'a Question, cx: &'a ToolContext) -> AnswerFuture<'a> {
        Box::pin(self.ask(question, cx))
    }
}

fn answer(given: &Value, question: &Question) -> Option<Answer> {
    if question.may_be_empty && (given.is_null() || given == "") {
        return Some(Answer::Text(String::new()));
    }
    match question.kind() {
        AnswerKind::Choice { options } => {
            let chosen = given.as_str()?.to_owned();
            options.contains(&chosen).then_some(Answer::Choice(chosen))
        }
        AnswerKind::Confirmation => given.as_bool().map(Answer::Confirmation),
        _ => Some(Answer::Text(given.as_str()?.to_owned())),
    }
}
