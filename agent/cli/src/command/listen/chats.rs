//! [`Chats`]: the sessions of the chats.

use std::collections::{HashMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use agent::{Outcome, Run, Summary};
use serde_json::json;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use tools::protocol::Digest;
use tools::{CancellationToken, visible_text};
use tools_builtin::message::{InboxFull, IncomingMessage};

use crate::error::Error;
use crate::host::how_to_grant;
use crate::notice;
use crate::output_format::OutputFormat;
use crate::session::{Chat, OpenSession, SessionOptions};
use crate::visible::visible;
use crate::wording::counted;

/// The messages of a chat that may wait.
const MAX_WAITING: usize = 32;

/// The chats that may have messages.
const MAX_OPEN: usize = 1000;

/// The time that running sessions get to end after a shutdown, and then to be cancelled.
const GRACE: Duration = Duration::from_secs(10);
const CANCEL_GRACE: Duration = Duration::from_secs(5);

/// The most characters of an answer.
const MAX_ANSWER: usize = 19_900;

/// The answer to a message whose run failed. The reason is for the person who runs the program.
const FAILED: &str = "I could not answer this message.";

/// A chat: the name of its channel, and its id there.
type ChatKey = (String, String);

/// Runs the sessions of the chats: one message of a chat at a time, and a limited number of chats in parallel.
pub(super) struct Chats {
    options: SessionOptions,
    permits: Semaphore,
    /// The messages that wait, of each chat with a task.
    waiting: Mutex<HashMap<ChatKey, VecDeque<IncomingMessage>>>,
    tasks: Mutex<JoinSet<()>>,
    shutdown: CancellationToken,
    /// Cancels the runs.
    runs: CancellationToken,
    unhandled: AtomicU64,
}

impl Chats {
    pub(super) fn new(options: SessionOptions, parallel: usize, shutdown: CancellationToken) -> Arc<Self> {
        Arc::new(Self {
            options,
            permits: Semaphore::new(parallel.min(Semaphore::MAX_PERMITS)),
            waiting: Mutex::default(),
            tasks: Mutex::default(),
            shutdown,
            runs: CancellationToken::new(),
            unhandled: AtomicU64::new(0),
        })
    }

    /// Takes a message of a channel, whose folder has the journals of its chats.
    pub(super) fn take(
        self: &Arc<Self>,
        channel: &str,
        folder: &Path,
        message: IncomingMessage,
    ) -> Result<(), InboxFull> {
        if self.shutdown.is_cancelled() {
            return Err(InboxFull);
        }
        let key = (channel.to_owned(), message.chat().to_owned());
        let mut waiting = self.waiting();
        if let Some(queue) = waiting.get_mut(&key) {
            if queue.len() >= MAX_WAITING {
                return Err(InboxFull);
            }
            queue.push_back(message);
            return Ok(());
        }
        if waiting.len() >= MAX_OPEN {
            return Err(InboxFull);
        }
        waiting.insert(key.clone(), VecDeque::from([message]));
        drop(waiting);
        let (chats, folder) = (self.clone(), folder.to_owned());
        let mut tasks = self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
        while tasks.try_join_next().is_some() {}
        tasks.spawn(async move { chats.serve(key, folder).await });
        Ok(())
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
        match self.unhandled.load(Ordering::Relaxed) {
            0 => {}
            count => notice::warning(&format!(
                "{} that waited when the program ended: not handled",
                counted(count, "message")
            )),
        }
    }

    /// Runs the messages of a chat until none waits.
    async fn serve(&self, key: ChatKey, folder: PathBuf) {
        let permit = self.permits.acquire().await;
        let mut open = None;
        while let Some(message) = self.next(&key) {
            if self.shutdown.is_cancelled() {
                self.unhandled.fetch_add(1, Ordering::Relaxed);
                continue;
            }
            if let Err(error) = self.handle(&key, &folder, &mut open, &message).await {
                self.say(&key, &error.to_string());
                // The next message continues what is recorded.
                open = None;
            }
        }
        drop((open, permit));
    }

    /// Runs a message, and sends the answer to the chat.
    async fn handle(
        &self,
        key: &ChatKey,
        folder: &Path,
        open: &mut Option<OpenSession>,
        message: &IncomingMessage,
    ) -> Result<(), Error> {
        let open = match open {
            Some(open) => open,
            None => {
                let mut opened = self.open(key, folder).await?;
                opened.session.context().record_exposure();
                if let Some(run) = opened.resumed.take() {
                    self.resume(key, &mut opened, run).await?;
                }
                open.insert(opened)
            }
        };
        let driver = open.runner.driver.clone().with_cancellation(self.runs.clone());
        let ended = driver.run(&mut open.session, visible_text(message.text())).await;
        let answer = match &ended {
            Ok(Summary { outcome: Outcome::Answer { text, .. }, .. }) => text,
            _ => FAILED,
        };
        self.reply(key, open, answer).await;
        match ended.map_err(Error::Driver)?.outcome {
            Outcome::Answer { .. } => Ok(()),
            outcome => Err(Error::Run(reason(&outcome))),
        }
    }

    /// Opens the session of a chat, which continues if it was recorded.
    async fn open(&self, key: &ChatKey, folder: &Path) -> Result<OpenSession, Error> {
        let (channel, id) = key;
        // A chat has a session in each workspace, because a session keeps to the one that it began in.
        let mut name =
            Digest::hash_bytes(format!("{}\0{id}", self.options.host.root.workspace()).as_bytes()).to_string();
        name.truncate(32);
        let journal = folder.join(format!("{name}.journal"));
        let chat = Chat { channel: channel.clone(), id: id.clone() };
        let options = || {
            let journal = self.options.journal.for_chat(journal.clone(), format!("{channel}/{name}"));
            journal.map(|journal| self.options.for_chat(chat.clone(), journal)).ok_or_else(|| Error::Channel {
                channel: channel.clone(),
                reason: "each chat has a journal of its own; leave out --journal, --session and --resume".to_owned(),
            })
        };
        let open = async |options: SessionOptions| {
            options.open(OutputFormat::Text, Arc::default(), how_to_grant, self.runs.clone(), None).await
        };
        match open(options()?).await {
            // The program ended between the start of the session and its first run.
            Err(Error::NoSession(_)) => {
                for end in ["", "-wal", "-shm"] {
                    let mut path = journal.clone().into_os_string();
                    path.push(end);
                    let _ = std::fs::remove_file(path);
                }
                open(options()?).await
            }
            opened => opened,
        }
    }

    /// Continues the run of an earlier process. An answer that was recorded may have been sent, so it is not sent again.
    async fn resume(&self, key: &ChatKey, open: &mut OpenSession, run: Run) -> Result<(), Error> {
        let was_answered = run.is_answered();
        let driver = open.runner.driver.clone().with_cancellation(self.runs.clone());
        let summary = driver.resume(&mut open.session, run).await.map_err(Error::Driver)?;
        if let Outcome::Answer { text, .. } = &summary.outcome
            && !was_answered
        {
            self.reply(key, open, text).await;
        }
        Ok(())
    }

    /// Sends an answer to the chat at most once, as a call of `message.send`.
    async fn reply(&self, key: &ChatKey, open: &OpenSession, answer: &str) {
        let mut text: String = answer.chars().take(MAX_ANSWER).collect();
        if text.len() < answer.len() {
            text += "\n\n(The answer was cut here.)";
        }
        if text.trim().is_empty() {
            return self.say(key, "the answer is empty");
        }
        match tools::execute(open.session.context(), "message.send", json!({"text": text})).await {
            Ok(result) if !result.is_error => self.say(key, "answered"),
            Ok(result) => self.say(key, &result.to_text()),
            Err(error) => self.say(key, &error.to_string()),
        }
    }

    /// Removes and returns the next message of a chat. Without one, the chat has no task any more.
    fn next(&self, key: &ChatKey) -> Option<IncomingMessage> {
        let mut waiting = self.waiting();
        let next = waiting.get_mut(key).and_then(VecDeque::pop_front);
        if next.is_none() {
            waiting.remove(key);
        }
        next
    }

    fn waiting(&self) -> MutexGuard<'_, HashMap<ChatKey, VecDeque<IncomingMessage>>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn say(&self, (channel, id): &ChatKey, text: &str) {
        notice::note(&visible(&format!("{channel}/{id}: {text}")));
    }
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
