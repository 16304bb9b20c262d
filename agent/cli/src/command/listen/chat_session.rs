//! [`ChatSession`]: the session of a chat, open for one message.

use std::sync::Arc;

use agent::{Driver, Outcome, Run, Summary};
use serde_json::json;
use tools::call::CallPlace;
use tools::context::KnownTexts;
use tools::protocol::{Message, Role};
use tools::{CancellationToken, visible_text};

use super::waiting::ChatKey;
use crate::error::Error;
use crate::notice;
use crate::observer::Observer;
use crate::session::OpenSession;
use crate::visible::visible;

/// The most characters of an answer.
const MAX_ANSWER: usize = 19_900;

/// The answer to a message whose run failed. The reason is for the person who runs the program.
const FAILED: &str = "I could not answer this message.";

/// The session of a chat, open for one message.
pub(super) struct ChatSession<'a> {
    key: &'a ChatKey,
    open: OpenSession,
    /// Cancels the runs.
    runs: &'a CancellationToken,
}

impl<'a> ChatSession<'a> {
    /// Takes an open session. Its messages are text of the open world.
    pub(super) fn new(
        key: &'a ChatKey,
        mut open: OpenSession,
        runs: &'a CancellationToken,
    ) -> Self {
        open.session.context().record_exposure();
        if let Some(known) = open.session.context().service::<KnownTexts>() {
            known.ignore_prompts();
        }
        if open.recording.is_some() {
            // A new session keeps to its grant too, because the next message resumes it.
            let own = || open.session.context().grant().clone();
            open.runner.first_grant.get_or_insert_with(own);
        }
        Self { key, open, runs }
    }

    /// Takes the run of an earlier message or process out of the session.
    pub(super) fn take_run(&mut self) -> Option<Run> {
        self.open.resumed.take()
    }

    /// Returns the length of the conversation.
    pub(super) fn length(&self) -> usize {
        length(self.open.session.messages())
    }

    /// Runs a message. Sends the answer if there is one.
    ///
    /// # Errors
    /// Returns an error if there is no answer: [`Error::Run`] with the reason, or that of the driver.
    pub(super) async fn run(&mut self, text: &str) -> Result<(), Error> {
        let observer = self.observer();
        let driver = self.observed_driver(&observer);
        let ended = driver.run(&mut self.open.session, visible_text(text)).await;
        self.hint(&observer);
        let answer = answer_of(ended)?;
        self.answer(&answer, false).await;
        Ok(())
    }

    /// Finishes a run that was begun. Sends the answer unless it was sent before. If the run fails, the conversation goes on behind its
    /// prompt.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub(super) async fn resume(&mut self, run: Run) -> Result<(), Error> {
        let (was_answered, conversation) = (run.is_answered(), run.messages().to_vec());
        let observer = self.observer();
        let driver = self.observed_driver(&observer);
        let ended = driver.resume(&mut self.open.session, run).await;
        self.hint(&observer);
        match answer_of(ended) {
            Ok(answer) => {
                self.answer(&answer, was_answered).await;
                Ok(())
            }
            Err(error) => {
                self.restore(conversation);
                Err(error)
            }
        }
    }

    /// Goes on behind the conversation of a run that failed. It is resumed and cancelled at once, so that its calls have results and none
    /// of them runs.
    pub(super) async fn go_on(&mut self, run: Run) {
        let conversation = run.messages().to_vec();
        let cancelled = CancellationToken::new();
        cancelled.cancel();
        let driver = self.driver(cancelled);
        // The error was the answer to the message of the run.
        let _ = driver.resume(&mut self.open.session, run).await;
        self.restore(conversation);
    }

    /// Tells the chat that a message has no answer. The journal has no record of that.
    pub(super) async fn apologise(&self) {
        self.reply(FAILED, None, Some("failed, and the chat was told so"))
            .await;
    }

    fn observer(&self) -> Arc<Observer> {
        Arc::new(Observer::new(
            self.open.runner.format,
            self.open.runner.console.clone(),
            self.runs.clone(),
        ))
    }

    /// Returns the driver of a run whose failures the observer collects.
    fn observed_driver(&self, observer: &Arc<Observer>) -> Driver {
        let events = observer.clone();
        self.driver(self.runs.clone())
            .with_events(move |event| events.record(&event))
    }

    /// Tells the person who runs the program what would permit the calls that were refused.
    fn hint(&self, observer: &Observer) {
        let failures = observer.finish();
        let session = self.open.session.context().session();
        let session = session
            .map(|name| format!(" of the session {name}"))
            .unwrap_or_default();
        for hint in self
            .open
            .runner
            .hints(&self.open.session, &failures.refusals, false)
        {
            say(self.key, &format!("a call{session} was refused; {hint}"));
        }
    }

    fn driver(&self, cancellation: CancellationToken) -> Driver {
        self.open
            .runner
            .driver
            .clone()
            .with_cancellation(cancellation)
    }

    /// Gives the session the conversation of a run without a turn of the model, which does not enter the session by itself.
    fn restore(&mut self, conversation: Vec<Message>) {
        let session = &mut self.open.session;
        if session.messages().is_empty() {
            let conversation = conversation
                .into_iter()
                .filter(|message| message.role != Role::System);
            conversation.for_each(|message| session.push(message));
        }
    }

    /// Sends the answer of a run. The place behind the last turn names it in the journal, which knows whether it was sent before.
    async fn answer(&self, text: &str, was_answered: bool) {
        let note = (!was_answered).then_some("answered");
        self.reply(
            text,
            Some(CallPlace::new(self.open.session.turns(), 0)),
            note,
        )
        .await;
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
        let cx = self
            .open
            .session
            .context()
            .clone()
            .with_cancellation(CancellationToken::new());
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
    notice::note(&visible(&format!("{channel}/{id}: {text}")));
}

/// Returns the number of messages of a conversation, without the system text.
pub(super) fn length(conversation: &[Message]) -> usize {
    conversation
        .iter()
        .filter(|message| message.role != Role::System)
        .count()
}

/// Returns the answer of a run that ended, or the reason that there is none.
fn answer_of(ended: Result<Summary, agent::DriverError>) -> Result<String, Error> {
    let reason = match ended.map_err(Error::Driver)?.outcome {
        Outcome::Answer { text, .. } => return Ok(text),
        Outcome::Cancelled => "it was cancelled".to_owned(),
        Outcome::Budget(_) => "a budget ran out".to_owned(),
        Outcome::Loop(_) => "the model repeated a call".to_owned(),
        Outcome::Failed { message, .. } => message,
        _ => "there is no answer".to_owned(),
    };
    Err(Error::Run(reason))
}
