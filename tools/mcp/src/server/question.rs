//! [`PeerPerson`]: puts questions of tools to the person at the client.

use serde_json::{Value, json};
use tools::context::{AnswerFuture, NobodyThere};
use tools::question::AnswerKind;
use tools::{Answer, Person, Question, ToolContext};

use crate::server::peer::{Peer, PeerRequest};

/// Asks by elicitation. Without it nobody is there.
pub(super) struct PeerPerson(pub(super) Peer);

impl Person for PeerPerson {
    fn is_at_host(&self) -> bool {
        false
    }

    fn answer<'a>(&'a self, question: &'a Question, cx: &'a ToolContext) -> AnswerFuture<'a> {
        Box::pin(async move {
            let asks = cx
                .tool()
                .map_or_else(String::new, |tool| format!("The tool {tool} asks: "));
            let answer = match question.kind() {
                AnswerKind::Choice { options } => json!({"type": "string", "enum": options}),
                AnswerKind::Confirmation => json!({"type": "boolean"}),
                _ => json!({"type": "string"}),
            };
            let required: &[&str] = if question.may_be_empty() {
                &[]
            } else {
                &["answer"]
            };
            let schema =
                json!({"type": "object", "properties": {"answer": answer}, "required": required});
            let params =
                json!({"message": format!("{asks}{}", question.text()), "requestedSchema": schema});
            // An answer of another kind than asked is one that nobody gave.
            let given = self
                .0
                .request_unlimited(PeerRequest::new("elicitation/create", params))
                .await
                .map_err(|_| NobodyThere)?;
            answer_of(question, &given).ok_or(NobodyThere)
        })
    }
}

fn answer_of(question: &Question, given: &Value) -> Option<Answer> {
    let answer = &given["content"]["answer"];
    match (given["action"].as_str()?, question.kind()) {
        ("accept", _) if answer.is_null() && question.may_be_empty() => {
            Some(Answer::Text(String::new()))
        }
        ("accept", AnswerKind::Text) => answer.as_str().map(|text| Answer::Text(text.to_owned())),
        ("accept", AnswerKind::Confirmation) => answer.as_bool().map(Answer::Confirmation),
        ("accept", AnswerKind::Choice { options }) => {
            let chosen = options.iter().find(|option| answer == option.as_str());
            chosen.cloned().map(Answer::Choice)
        }
        ("decline" | "cancel", _) => Some(Answer::Declined),
        _ => None,
    }
}
