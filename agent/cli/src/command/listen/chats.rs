//! [`Chats`]: the sessions of the chats.
//!
//! # The life of a message
//!
//! 1. It arrives: a line of a file, a signed request, or a line of standard input.
//! 2. If there is no room for it, it stays with its sender: the line is read again, and a service is told to repeat the request.
//! 3. It is claimed: its channel stores its position or its id, and never offers it again.
//! 4. It is kept in a file of its channel, unless sessions are not recorded.
//! 5. It waits for the messages of its chat that came before, and for one of the sessions that may run at the same time.
//! 6. The session of its chat is opened. It first finishes the run of a message that an earlier process began.
//! 7. It is begun: its file says so, and its run begins, which the journal records.
//! 8. The answer of the run goes out as a call of `message.send`, which the journal records too. Then its file is removed.
//!
//! A message is handled at most once, and answered at most once. After a restart,
//!
//! - a message that was kept is handled;
//! - a run that was begun is finished, and an answer whose sending was not begun is sent.
//!
//! A message is lost if the process is killed between 3 and 4, or in 7 before the first record. If a session cannot be opened, the program
//! ends, and the next start handles the message. A run that failed, whose chat was told so, is not continued: the conversation goes on.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use agent::{Outcome, Run, Summary};
use serde_json::json;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use tools::call::{CallPlace, Isolated, Panic};
use tools::protocol::{Digest, Message, Role};
use tools::{CancellationToken, visible_text};
use tools_builtin::message::{Claim, IncomingMessage, NotTaken};

use super::folder::ChannelFolder;
use super::waiting::{ChatKey, Waiting, WaitingMessages};
use crate::error::Error;
use crate::host::how_to_grant;
use crate::notice;
use crate::output_format::OutputFormat;
use crate::session::{Chat, OpenSession, SessionOptions};
use crate::visible::visible;
use crate::wording::counted;

/// The time that running sessions get to end after a shutdown, and then to be cancelled.
const GRACE: Duration = Duration::from_secs(10);
const CANCEL_GRACE: Duration = Duration::from_secs(5);

/// The most characters of an answer.
const MAX_ANSWER: usize = 19_900;

/// The answer to a message whose run failed. The reason is for the person who runs the program.
const FAILED: &str = "I could not answer this message.";

/// Runs the sessions of the chats: one message of a chat at a time, and a limited number of chats in parallel.
pub(super) struct Chats {
    options: SessionOptions,
    /// False if sessions and messages are in memory alone.
    is_recorded: bool,
    permits: Semaphore,
    waiting: Mutex<WaitingMessages>,
    tasks: Mutex<JoinSet<()>>,
    shutdown: CancellationToken,
    /// The error that ended the program.
    failed: Mutex<Option<Error>>,
    /// Cancels the runs.
    runs: CancellationToken,
}

impl Chats {
    pub(super) fn new(
        options: SessionOptions,
        is_recorded: bool,
        parallel: usize,
        shutdown: CancellationToken,
    ) -> Arc<Self> {
        Arc::new(Self {
            options,
            is_recorded,
            permits: Semaphore::new(parallel.min(Semaphore::MAX_PERMITS)),
            waiting: Mutex::default(),
            tasks: Mutex::default(),
            shutdown,
            failed: Mutex::default(),
            runs: CancellationToken::new(),
        })
    }

    /// Continues with the messages of a channel that waited when an earlier process ended.
    pub(super) fn restore(self: &Arc<Self>, channel: &str, folder: &Arc<ChannelFolder>) -> std::io::Result<()> {
        for (file, message) in folder.kept().read()? {
            let key = (channel.to_owned(), message.chat().to_owned());
            self.push(&mut self.waiting(), key, folder, Waiting { message, kept: Some(file) });
        }
        Ok(())
    }

    /// Takes a message of a channel.
    pub(super) fn take(
        self: &Arc<Self>,
        channel: &str,
        folder: &Arc<ChannelFolder>,
        message: IncomingMessage,
        claim: Claim<'_>,
    ) -> Result<(), NotTaken> {
        let key = (channel.to_owned(), message.chat().to_owned());
        let mut waiting = self.waiting();
        if self.shutdown.is_cancelled() || !waiting.has_room(&key, &message) {
            return Err(NotTaken::Full);
        }
        claim().map_err(|error| NotTaken::Unclaimed { reason: error.to_string() })?;
        let kept = self.is_recorded.then(|| folder.kept().keep(&message)).and_then(|kept| {
            let warn = |error| self.say(&key, &format!("the message waits in memory alone: {error}"));
            kept.map_err(warn).ok()
        });
        self.push(&mut waiting, key, folder, Waiting { message, kept });
        Ok(())
    }

    /// Adds a message, and starts the task of its chat.
    fn push(
        self: &Arc<Self>,
        waiting: &mut WaitingMessages,
        key: ChatKey,
        folder: &Arc<ChannelFolder>,
        message: Waiting,
    ) {
        if waiting.push(&key, message) {
            let (chats, folder) = (self.clone(), folder.clone());
            let mut tasks = self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
            while tasks.try_join_next().is_some() {}
            tasks.spawn(async move { chats.serve(key, &folder).await });
        }
    }

    /// Waits for the running sessions. After a shutdown they are cancelled if they take long.
    pub(super) async fn finish(&self) {
        let mut tasks = std::mem::take(&mut *self.tasks.lock().unwrap_or_else(PoisonError::into_inner));
        let overdue = async {
            self.shutdown.cancelled().await;
            sleep(GRACE).await;
        };
        let ended = async { while tasks.join_next().await.is_some() {} };
        tokio::select! {
            () = ended => {}
            () = overdue => self.runs.cancel(),
        }
        let _ = timeout(CANCEL_GRACE, async { while tasks.join_next().await.is_some() {} }).await;
        let (kept, lost) = self.waiting().counts();
        if kept > 0 {
            notice::note(&format!("{} wait for the next start", messages(kept)));
        }
        if lost > 0 {
            notice::warning(&format!("{} that waited when the program ended: not handled", messages(lost)));
        }
    }

    /// Runs the messages of a chat until none waits. Between two messages, other chats have their turn.
    async fn serve(&self, key: ChatKey, folder: &ChannelFolder) {
        while !self.waiting().is_done(&key) {
            let Some(_permit) = self.shutdown.run_until_cancelled(self.permits.acquire()).await else { return };
            let Some(mut message) = self.waiting().pop(&key) else { continue };
            match Isolated::new(|| Box::pin(self.handle(&key, folder, &mut message))).await {
                Ok(Ok(true)) => {}
                Ok(Ok(false)) => self.waiting().push_front(&key, message),
                Ok(Err(error)) => self.say(&key, &error.to_string()),
                Err(Panic(reason)) => {
                    self.say(&key, &format!("the run of a message panicked, and has no answer: {reason}"));
                    if let Err(error) = message.end() {
                        self.say(&key, &format!("the file of the message cannot be removed: {error}"));
                    }
                }
            }
        }
    }

    /// Ends the program with an error. Messages that wait are handled by the next start.
    fn fail(&self, error: Error) {
        self.failed.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
        self.shutdown.cancel();
    }

    /// Returns the error that ended the program.
    pub(super) fn take_failure(&self) -> Option<Error> {
        self.failed.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Runs a message, and sends the answer to the chat. Returns false if it is left to the next start.
    async fn handle(&self, key: &ChatKey, folder: &ChannelFolder, waiting: &mut Waiting) -> Result<bool, Error> {
        let mut open = match self.open(key, folder).await {
            Ok(open) => open,
            Err(error) => {
                self.fail(error);
                return Ok(false);
            }
        };
        open.session.context().record_exposure();
        match open.resumed.take() {
            Some(run) if waiting.is_begun() || run.is_answered() => self.resume(key, &mut open, run).await,
            Some(run) => self.go_on(&mut open, run).await,
            None => {}
        }
        if self.runs.is_cancelled() {
            return Ok(false);
        }
        let unwritable = |error| Error::Channel {
            channel: key.0.clone(),
            reason: format!("the file of a message that waits cannot be changed: {error}"),
        };
        if waiting.is_begun() {
            return waiting.end().map(|()| true).map_err(unwritable);
        }
        waiting.begin().map_err(unwritable)?;
        let driver = open.runner.driver.clone().with_cancellation(self.runs.clone());
        let ended = driver.run(&mut open.session, visible_text(waiting.message.text())).await;
        match &ended {
            Ok(Summary { outcome: Outcome::Answer { text, .. }, .. }) => self.answer(key, &open, text, false).await,
            // It continues after a restart.
            Ok(Summary { outcome: Outcome::Cancelled, .. }) if waiting.is_begun() => return Ok(false),
            _ => self.reply(key, &open, FAILED, None, false).await,
        }
        waiting.end().map_err(unwritable)?;
        match ended.map_err(Error::Driver)?.outcome {
            Outcome::Answer { .. } => Ok(true),
            outcome => Err(Error::Run(reason(&outcome))),
        }
    }

    /// Opens the session of a chat, which continues if it was recorded.
    async fn open(&self, (channel, id): &ChatKey, folder: &ChannelFolder) -> Result<OpenSession, Error> {
        // A chat has a session in each workspace, because a session keeps to the one that it began in.
        let workspace = self.options.host.root.workspace()?;
        let mut name = Digest::hash_bytes(format!("{workspace}\0{id}").as_bytes()).to_string();
        name.truncate(32);
        let journal = folder.path().join(format!("{name}.journal"));
        let chat = Chat { channel: channel.clone(), id: id.clone() };
        let options = || {
            let options = match self.is_recorded {
                true => self.options.journal.for_chat(journal.clone(), format!("{channel}/{name}")),
                false => self.options.journal.clone(),
            };
            self.options.for_chat(chat.clone(), options)
        };
        let open = async |options: SessionOptions| {
            options.open(OutputFormat::Text, Arc::default(), how_to_grant, self.runs.clone(), None).await
        };
        match open(options()).await {
            // The program ended between the start of the session and its first run.
            Err(Error::NoSession(_)) => {
                for end in ["", "-wal", "-shm"] {
                    let mut path = journal.clone().into_os_string();
                    path.push(end);
                    let _ = std::fs::remove_file(PathBuf::from(path));
                }
                open(options()).await
            }
            opened => opened,
        }
    }

    /// Finishes the run of an earlier process. If that fails, the conversation goes on behind its prompt.
    async fn resume(&self, key: &ChatKey, open: &mut OpenSession, run: Run) {
        let (was_answered, conversation) = (run.is_answered(), run.messages().to_vec());
        let driver = open.runner.driver.clone().with_cancellation(self.runs.clone());
        let failure = match driver.resume(&mut open.session, run).await {
            Ok(Summary { outcome: Outcome::Answer { text, .. }, .. }) => {
                return self.answer(key, open, &text, was_answered).await;
            }
            Ok(Summary { outcome, .. }) => reason(&outcome),
            Err(error) => Error::Driver(error).to_string(),
        };
        restore(open, conversation);
        self.say(key, &format!("the run of an earlier process has no answer: {failure}"));
    }

    /// Goes on behind the conversation of a run that failed. It is resumed and cancelled at once, so that its calls have results and none
    /// of them runs.
    async fn go_on(&self, open: &mut OpenSession, run: Run) {
        let conversation = run.messages().to_vec();
        let cancelled = CancellationToken::new();
        cancelled.cancel();
        let driver = open.runner.driver.clone().with_cancellation(cancelled);
        // The error was the answer to the message of the run.
        let _ = driver.resume(&mut open.session, run).await;
        restore(open, conversation);
    }

    /// Sends the answer of a run. The place behind the last turn names it in the journal, which knows whether it was sent before.
    async fn answer(&self, key: &ChatKey, open: &OpenSession, text: &str, was_answered: bool) {
        self.reply(key, open, text, Some(CallPlace::new(open.session.turns(), 0)), was_answered).await;
    }

    /// Sends a text to the chat at most once, as a call of `message.send`. The call outlives the cancellation of the runs.
    async fn reply(&self, key: &ChatKey, open: &OpenSession, text: &str, place: Option<CallPlace>, is_repeated: bool) {
        let mut cut: String = text.chars().take(MAX_ANSWER).collect();
        if cut.len() < text.len() {
            cut += "\n\n(The answer was cut here.)";
        }
        if cut.trim().is_empty() {
            return self.say(key, "the answer is empty");
        }
        let cx = open.session.context().clone().with_cancellation(CancellationToken::new());
        let cx = place.into_iter().fold(cx, tools::ToolContext::with_place);
        let sent = match tools::execute(&cx, "message.send", json!({"text": cut})).await {
            Ok(result) if !result.is_error => "answered".to_owned(),
            Ok(result) => result.to_text(),
            Err(error) => error.to_string(),
        };
        if !is_repeated {
            self.say(key, &sent);
        }
    }

    fn waiting(&self) -> MutexGuard<'_, WaitingMessages> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn say(&self, (channel, id): &ChatKey, text: &str) {
        notice::note(&visible(&format!("{channel}/{id}: {text}")));
    }
}

/// Gives a session the conversation of a run without a turn of the model, which does not enter the session by itself.
fn restore(open: &mut OpenSession, conversation: Vec<Message>) {
    if open.session.messages().is_empty() {
        let conversation = conversation.into_iter().filter(|message| message.role != Role::System);
        conversation.for_each(|message| open.session.push(message));
    }
}

/// Returns a count of messages with its unit.
fn messages(count: usize) -> String {
    counted(count.try_into().unwrap_or(u64::MAX), "message")
}

/// Returns the reason that a run has no answer.
fn reason(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Cancelled => "it was cancelled".to_owned(),
        Outcome::Budget(_) => "a budget ran out".to_owned(),
        Outcome::Loop(_) => "the model repeated a call".to_owned(),
        Outcome::Failed { message, .. } => message.clone(),
        _ => "there is no answer".to_owned(),
    }
}
