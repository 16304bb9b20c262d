//! [`EditorAsker`]: asks the person at the editor to approve calls.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use agent::consent::{ApprovalAnswer, ApprovalAnswerFuture, ApprovalQuestion, Asker, CHANGED};
use serde_json::{Value, json};
use tools::visible::{harmless, visible};
use tools::{IgnorePoison as _, Preview, ToolError};

use crate::board::Board;
use crate::card::content_of;
use crate::content::{cut, fenced, text_block};
use crate::diff::hunks;
use crate::rpc::RpcError;

/// Asks the person at the editor to approve calls of a session.
pub(crate) struct EditorAsker {
    pub(crate) board: Arc<Board>,
    /// The calls that are refused without a question from now on: the caller and the targets.
    refused: Mutex<HashSet<String>>,
    /// True after the editor has said that it asks nobody.
    is_mute: AtomicBool,
}

impl EditorAsker {
    pub(crate) fn new(board: Arc<Board>) -> Self {
        Self {
            board,
            refused: Mutex::default(),
            is_mute: AtomicBool::new(false),
        }
    }

    async fn answer(&self, asked: ApprovalQuestion<'_>) -> ApprovalAnswer {
        let key = key(&asked);
        if self.refused.lock().ignore_poison().contains(&key) {
            return deny("the person at the editor denies it for the whole session");
        }
        if self.is_mute.load(Ordering::Relaxed) {
            return deny("the editor asks nobody about calls");
        }
        let Some(card) = self.board.asking(asked.approval.cx.call_id()) else {
            return deny("the call has ended");
        };
        // Made while no other question is open, because it is the effect that the call would have now.
        let preview = asked.approval.preview().await;
        let is_hidden = asked.needs_preview() && !matches!(preview, Some(Ok(_)));
        let mut call = card.to_update();
        call["content"] = content(&asked, preview.as_ref(), card.file()).into();
        let options = options(&asked, is_hidden);
        let params = json!({
            "sessionId": self.board.id(),
            "toolCall": call,
            "options": options,
        });
        let replied = self
            .board
            .client
            .request("session/request_permission", params)
            .await;
        let result = match replied {
            None => return deny("the question was withdrawn"),
            Some(Err(RpcError { code, message })) => {
                if code == RpcError::METHOD {
                    self.is_mute.store(true, Ordering::Relaxed);
                }
                return deny(&format!("the editor failed to ask: {}", visible(&message)));
            }
            Some(Ok(result)) => result,
        };
        let outcome = &result["outcome"];
        if outcome["outcome"] != "selected" {
            return deny("the question was cancelled");
        }
        // An answer that was not offered is no yes.
        let chosen = outcome["optionId"].as_str();
        let offered = chosen.filter(|id| options.iter().any(|option| option["optionId"] == *id));
        let answer = match offered {
            Some("once") => ApprovalAnswer::Once,
            Some("session") => ApprovalAnswer::Session,
            Some("never") => {
                self.refused.lock().ignore_poison().insert(key);
                return deny("the person at the editor denied it for the whole session");
            }
            Some(_) => return deny("the person at the editor denied it"),
            None => return deny("the editor gave an answer that was not offered"),
        };
        self.board.run(&card.id);
        answer
    }
}

impl Asker for EditorAsker {
    fn ask<'a>(&'a self, question: ApprovalQuestion<'a>) -> ApprovalAnswerFuture<'a> {
        Box::pin(self.answer(question))
    }
}

/// Returns the text that is equal for the calls that one lasting no refuses.
fn key(asked: &ApprovalQuestion<'_>) -> String {
    let targets = asked.approval.targets.iter().map(ToString::to_string);
    let targets = targets.collect::<Vec<_>>().join("\n");
    // A call without targets is known by its arguments.
    let arguments = targets
        .is_empty()
        .then(|| asked.approval.arguments_digest.to_string());
    format!(
        "{}\n{targets}{}",
        asked.caller(),
        arguments.unwrap_or_default()
    )
}

fn options(asked: &ApprovalQuestion<'_>, is_hidden: bool) -> Vec<Value> {
    let option =
        |id: &str, name: &str, kind: &str| json!({"optionId": id, "name": name, "kind": kind});
    let mut options = Vec::new();
    if !is_hidden {
        let once = if asked.holds_for_hosts() {
            "Allow this host for this session"
        } else {
            "Allow once"
        };
        options.push(option("once", once, "allow_once"));
        if asked.may_last() && !asked.holds_for_hosts() {
            options.push(option("session", "Allow for this session", "allow_always"));
        }
    }
    options.push(option("no", "Reject", "reject_once"));
    options.push(option("never", "Reject for this session", "reject_always"));
    options
}

/// Returns the content of a question: its words, and the effect of the call.
fn content(
    asked: &ApprovalQuestion<'_>,
    preview: Option<&Result<Preview, ToolError>>,
    file: Option<&std::path::Path>,
) -> Vec<Value> {
    let mut text = format!("{} {}:\n", asked.caller(), asked.verb());
    for target in asked.approval.targets {
        let remarks = asked.remarks(target);
        text += &format!("  {}{remarks}\n", visible(&target.to_string()));
    }
    if asked.has_changed {
        text += &format!("  {CHANGED}\n");
    }
    for url in asked.urls() {
        text += &format!("  URL: {}\n", visible(url));
    }
    let mut effect = Vec::new();
    match preview {
        Some(Ok(preview)) if preview.is_diff => {
            let hunks = file.and_then(|file| hunks(preview.text(), file));
            // Text that hides a part of itself is shown with escapes, which a diff of the editor would not have.
            let is_plain = harmless(preview.text()) == preview.text();
            effect = hunks.filter(|_| is_plain).unwrap_or_else(|| {
                let shown = harmless(preview.text());
                vec![content_of(text_block(&fenced(&cut(&shown), "diff")))]
            });
        }
        Some(Ok(preview)) => {
            let shown = harmless(preview.text());
            effect = vec![content_of(text_block(&fenced(&cut(&shown), "")))];
        }
        Some(Err(error)) => text += &format!("  no preview: {}\n", visible(&error.to_string())),
        None => {}
    }
    let mut content = vec![content_of(text_block(&fenced(&cut(&text), "")))];
    content.append(&mut effect);
    content
}

fn deny(reason: &str) -> ApprovalAnswer {
    let reason = reason.to_owned();
    ApprovalAnswer::No { reason }
}
