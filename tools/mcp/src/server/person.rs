//! [`PeerPerson`]: the person at the client, who approves calls and answers questions.

use serde_json::{Value, json};
use tools::context::{AnswerFuture, ApprovalFuture, NobodyThere};
use tools::policy::Sensitivity;
use tools::protocol::has_other_script;
use tools::question::AnswerKind;
use tools::{
    Answer, Approval, Approver, Decision, Person, Preview, Question, ToolContext, ToolError,
    visible_line,
};

use crate::server::peer::{Peer, PeerError, PeerRequest};

/// The maximum length of the shown arguments, in KiB. No question is asked about longer ones, because it cannot show the rest.
const MAX_KIB: usize = 64;

/// The number of characters of a line about a target or an error.
const LINE: usize = 500;

/// Asks by elicitation. Without it there is no one to decide or to answer.
pub(super) struct PeerPerson(pub(super) Peer);

impl PeerPerson {
    // Without a key of its own, the request is answered only after it was asked.
    async fn elicit(&self, message: &str, schema: &Value) -> Result<Value, PeerError> {
        let params = json!({"message": message, "requestedSchema": schema});
        let request = PeerRequest::new("elicitation/create", params);
        self.0.request_unlimited(request).await
    }
}

impl Approver for PeerPerson {
    fn approve<'a>(&'a self, approval: Approval<'a>) -> ApprovalFuture<'a> {
        Box::pin(async move {
            if !self.0.supports("elicitation/create") {
                return Decision::Abstain;
            }
            let arguments = visible_line(&approval.arguments.to_string(), usize::MAX);
            if arguments.len() > MAX_KIB << 10 {
                let reason = format!(
                    "a question shows at most {MAX_KIB} KiB of arguments; send shorter ones, or ask the user for a grant"
                );
                return Decision::Deny { reason };
            }
            let preview = approval.preview().await;
            // A file that runs by itself is not changed by content that nobody saw.
            if let Some(Err(error)) = &preview
                && approval
                    .targets
                    .iter()
                    .filter_map(|target| approval.sensitive(target))
                    .any(|path| path.sensitivity >= Sensitivity::RunsByItself)
            {
                return Decision::Deny {
                    reason: format!("the content cannot be shown to the user: {error}"),
                };
            }
            let message = question(&approval, &arguments, preview);
            let allow = json!({"type": "boolean", "title": "Allow this call"});
            let schema =
                json!({"type": "object", "properties": {"allow": allow}, "required": ["allow"]});
            match self.elicit(&message, &schema).await {
                // Only a yes in so many words allows the call.
                Ok(answer)
                    if answer["action"] == "accept" && answer["content"]["allow"] == true =>
                {
                    Decision::Allow
                }
                Ok(_) => Decision::Deny {
                    reason: "the MCP client declined: its person said no, or nobody could be asked"
                        .to_owned(),
                },
                Err(_) => Decision::Abstain,
            }
        })
    }
}

/// Returns the question. It shows every target and all arguments, because a person cannot approve unseen ones. Invisible characters are escaped, and the
/// lines of the call are indented, so that they cannot look like words of the server.
fn question(
    approval: &Approval<'_>,
    arguments: &str,
    preview: Option<Result<Preview, ToolError>>,
) -> String {
    let asks = if approval.targets.is_empty() {
        "asks to run"
    } else {
        "asks for"
    };
    let mut lines = vec![format!("The tool {} {asks}:", approval.tool)];
    for target in approval.targets {
        let sensitive = approval
            .sensitive(target)
            .map(|path| format!(" ({})", path.describe(target.value())));
        let is_granted = approval.cx.grant().permits(target);
        let granted = if is_granted { "" } else { " (not granted)" };
        let script = if has_other_script(target.value()) {
            " (letters of another script)"
        } else {
            ""
        };
        lines.push(format!(
            "  {}{script}{granted}",
            visible_line(&format!("{target}{}", sensitive.unwrap_or_default()), LINE)
        ));
        let concerns = approval.concerns.iter();
        let concerns = concerns.filter(|concern| concern.target == *target);
        lines.extend(concerns.map(|concern| format!("  because {}", escape_line(&concern.reason))));
    }
    if approval.has_changed {
        lines.push("asked again: its files are not those that you allowed before".to_owned());
    }
    lines.push("with:".to_owned());
    lines.push(format!("  {arguments}"));
    match preview {
        Some(Ok(preview)) => {
            lines.push("preview:".to_owned());
            let shown = preview.text().lines();
            lines.extend(shown.map(|line| format!("  {}", escape_line(line))));
        }
        Some(Err(error)) => lines.push(format!(
            "no preview: {}",
            visible_line(&error.to_string(), LINE)
        )),
        None => {}
    }
    lines.join("\n")
}

/// Returns a line of a preview. Unlike other lines it keeps its indentation.
fn escape_line(line: &str) -> String {
    let text = line.trim_start();
    let indentation = line.len() - text.len();
    format!(
        "{}{}",
        " ".repeat(indentation),
        visible_line(text, usize::MAX)
    )
}

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
            let required: &[&str] = if question.may_be_empty {
                &[]
            } else {
                &["answer"]
            };
            let schema =
                json!({"type": "object", "properties": {"answer": answer}, "required": required});
            let message = format!("{asks}{}", question.text());
            let given = self.elicit(&message, &schema).await;
            // An answer of another kind than asked is one that nobody gave.
            answer_of(question, &given.map_err(|_| NobodyThere)?).ok_or(NobodyThere)
        })
    }
}

fn answer_of(question: &Question, given: &Value) -> Option<Answer> {
    let answer = &given["content"]["answer"];
    match (given["action"].as_str()?, question.kind()) {
        ("accept", _) if answer.is_null() && question.may_be_empty => {
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
