//! Questions of a server to the person.

use rmcp::model::{ElicitRequestParams, ElicitResult, ElicitationAction};
use serde_json::Value;
use tools::call::AskError;
use tools::question::AnswerKind;
use tools::{Answer, Question, ToolContext, visible_line, visible_text};

use super::ServerName;
use super::form::{Filled, fill};

/// The maximum length of a server's text in a question, in characters.
const MAX_TEXT: usize = 1000;

/// The maximum length of a URL that is shown, in characters.
const MAX_URL: usize = 800;

/// Asks the person of a call. Declines without a call or a person, and for a question that cannot be asked.
pub(super) async fn elicit(server: &ServerName, cx: Option<&ToolContext>, params: ElicitRequestParams) -> ElicitResult {
    let declined = || ElicitResult::new(ElicitationAction::Decline);
    let Some(cx) = cx else { return declined() };
    match params {
        ElicitRequestParams::FormElicitationParams { message, requested_schema, .. } => {
            match fill(cx, &headed(server, &message), &requested_schema).await {
                Filled::Accepted(values) => {
                    ElicitResult::new(ElicitationAction::Accept).with_content(Value::Object(values))
                }
                Filled::Declined => declined(),
                Filled::Cancelled => ElicitResult::new(ElicitationAction::Cancel),
            }
        }
        ElicitRequestParams::UrlElicitationParams { message, url, .. } => {
            let is_web = url.starts_with("https://") || url.starts_with("http://");
            let shown = visible_line(&url, MAX_URL);
            if !is_web || shown != url {
                return declined();
            }
            let text = format!(
                "{}\n\nOpen this address yourself if you trust it: {shown}\nHave you?",
                headed(server, &message)
            );
            ElicitResult::new(match ask(cx, &text, AnswerKind::Confirmation).await {
                Asked::Answer(Answer::Confirmation(true)) => ElicitationAction::Accept,
                Asked::Answer(_) | Asked::Nobody => ElicitationAction::Decline,
                Asked::Cancelled => ElicitationAction::Cancel,
            })
        }
        _ => declined(),
    }
}

/// The outcome of a question.
pub(super) enum Asked {
    Answer(Answer),
    /// There is no person, or the question is no question.
    Nobody,
    /// The call has ended, or nobody answered in time.
    Cancelled,
}

pub(super) async fn ask(cx: &ToolContext, text: &str, kind: AnswerKind) -> Asked {
    let Ok(question) = Question::new(text, kind) else { return Asked::Nobody };
    match cx.ask(question).await {
        Ok(answer) => Asked::Answer(answer),
        Err(AskError::NobodyThere(_)) => Asked::Nobody,
        Err(_) => Asked::Cancelled,
    }
}

/// Returns a message of a server under its name.
fn headed(server: &ServerName, message: &str) -> String {
    let message = visible_text(message);
    let mut kept: String = message.chars().take(MAX_TEXT).collect();
    if kept.len() < message.len() {
        kept.push('…');
    }
    format!("The MCP server {server} asks: {kept}")
}
