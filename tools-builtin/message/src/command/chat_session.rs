//! [`ChatSession`]: the session of a chat, open for one message.

use host::sessions::{CommandSession, SessionEnd, SessionInput};
use host::{CommandError, program};
use serde_json::json;
use tools::call::CallPlace;
use tools::context::KnownTexts;
use tools::visible::visible;
use tools::{CancellationToken, visible_text};

use super::waiting::ChatKey;

/// The most characters of an answer.
const MAX_ANSWER: usize = 19_900;

/// The answer to a message whose run failed. The reason is for the person who runs the program.
const FAILED: &str = "I could not answer this message.";

/// The session of a chat, open for one message.
pub(super) struct ChatSession<'a> {
    key: &'a ChatKey,
    pub(super) open: Box<dyn CommandSession>,
}

impl<'a> ChatSession<'a> {
    /// Takes an open session. Its messages are text of the open world.
    pub(super) fn new(key: &'a ChatKey, open: Box<dyn CommandSession>) -> Self {
        open.context().record_exposure();
        // A message of a chat is text of strangers, so its words permit no URL.
        if let Some(known) = open.context().service::<KnownTexts>() {
            known.ignore_prompts();
        }
        Self { key, open }
    }

    /// Runs a message. Sends the answer if there is one.
    ///
    /// # Errors
    /// Returns an error if there is no answer.
    pub(super) async fn run(&mut self, text: &str) -> Result<(), CommandError> {
        let input = SessionInput::Prompt(visible_text(text));
        let end = self.open.run(input).await?;
        self.answer(end, false).await
    }

    /// Finishes a run that was begun. Sends the answer unless it was sent before. If the run fails, the conversation goes on behind its
    /// prompt.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub(super) async fn resume(&mut self) -> Result<(), CommandError> {
        let was_answered = self.open.earlier_run().is_some_and(|run| run.is_answered);
        let end = self.open.resume().await?;
        self.answer(end, was_answered).await
    }

    /// Tells the chat that a message has no answer. The journal has no record of that.
    pub(super) async fn apologise(&self) {
        self.reply(FAILED, None, Some("failed, and the chat was told so"))
            .await;
    }

    /// Tells the person who runs the program what would permit the calls that were refused. Sends the answer of a run. The place behind the
    /// last turn names it in the journal, which knows whether it was sent before.
    async fn answer(&self, end: SessionEnd, was_answered: bool) -> Result<(), CommandError> {
        let session = self.open.context().session();
        let session = session
            .map(|name| format!(" of the session {name}"))
            .unwrap_or_default();
        for hint in end.hints {
            say(self.key, &format!("a call{session} was refused; {hint}"));
        }
        let note = (!was_answered).then_some("answered");
        self.reply(&end.answer?, Some(self.open.next_place()), note)
            .await;
        Ok(())
    }

    /// Sends a text to the chat at most once, as a call of `message.send`. The call outlives the cancellation of the runs. The note says
    /// that it was sent; without one, it may have been sent before.
    async fn reply(&self, text: &str, place: Option<CallPlace>, note: Option<&str>) {
        let mut cut: String = text.chars().take(MAX_ANSWER).collect();
        if cut.len() < text.len() {
            cut += "\n\n(The answer was cut here.)";
        }
        if cut.trim().is_empty() {
            return say(self.key, "the answer is empty");
        }
        let cx = self.open.context().clone();
        let cx = cx.with_cancellation(CancellationToken::new());
        let cx = place.unwrap_or_default().enter(cx);
        let sent = tools::execute(&cx, "message.send", json!({"text": cut})).await;
        let Some(note) = note else { return };
        match sent {
            Ok(result) if !result.is_error => say(self.key, note),
            Ok(result) => say(self.key, &result.to_text()),
            Err(error) => say(self.key, &error.to_string()),
        }
    }
}

/// Shows a person a note on a chat.
pub(super) fn say((channel, id): &ChatKey, text: &str) {
    program::note(&visible(&format!("{channel}/{id}: {text}")));
}
