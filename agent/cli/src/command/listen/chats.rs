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
//! 7. It is begun: its file gets the length of the conversation before it, and its run begins, which the journal records.
//! 8. The answer of the run goes out as a call of `message.send`, which the journal records too. Then its file is removed. If there is no
//!    answer, its file is removed first, and then an apology goes out.
//!
//! A message is handled at most once, and answered at most once. After a restart,
//!
//! - a message that was kept is handled, also one that was begun, if the journal has no run of it: the conversation of such a run is longer
//!   than the file says;
//! - a run that was begun is finished, and an answer whose sending was not begun is sent;
//! - a message that was begun is answered with an apology if its journal is missing, because it is unknown how far its run came;
//! - a start without records leaves messages that were begun to one with records.
//!
//! A message is lost if the process is killed between 3 and 4, and its answer while it is sent, or between the two steps of 8. If a
//! session cannot be opened, the program ends, and the next start handles the message. A run that failed, whose chat was told so, is not
//! continued: the conversation goes on.

mod pruning;

use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use host::retention::Retention;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use tools::CancellationToken;
use tools::IgnorePoison as _;
use tools::call::{Isolated, Panic};
use tools_builtin::message::{Claim, IncomingMessage, NotTaken};

use super::chat_session::{ChatSession, length, say};
use super::folder::ChannelFolder;
use super::waiting::{ChatKey, QueuedMessage, WaitingMessages};
use crate::config::{ProgramSettings as _, Settings};
use crate::error::Error;
use crate::notice;
use crate::output_format::OutputFormat;
use crate::policy;
use crate::refusal::{self, HowToGrant, Ungranted};
use crate::session::{Chat, OpenSession, SessionOptions, UnattendedOptions};
use crate::shell;
use tools::counted;

/// The time that running sessions get to end after a shutdown, and then to be cancelled.
const GRACE: Duration = Duration::from_secs(10);
const CANCEL_GRACE: Duration = Duration::from_secs(5);

/// Runs the sessions of the chats: one message of a chat at a time, and a limited number of chats in parallel.
pub(super) struct Chats {
    options: UnattendedOptions,
    /// False if sessions and messages are in memory alone.
    is_recorded: bool,
    /// The limits of the journals of a channel.
    retention: Retention,
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
        options: UnattendedOptions,
        settings: &Settings,
        parallel: usize,
        shutdown: CancellationToken,
    ) -> Arc<Self> {
        Arc::new(Self {
            options,
            is_recorded: settings.program().record_sessions.value,
            retention: Retention::from_settings(settings).without_kept(),
            permits: Semaphore::new(parallel.min(Semaphore::MAX_PERMITS)),
            waiting: Mutex::default(),
            tasks: Mutex::default(),
            shutdown,
            failed: Mutex::default(),
            runs: CancellationToken::new(),
        })
    }

    /// Continues with the messages of a channel that waited when an earlier process ended.
    pub(super) fn restore(
        self: &Arc<Self>,
        channel: &str,
        folder: &Arc<ChannelFolder>,
    ) -> std::io::Result<()> {
        for (file, message) in folder.kept().read()? {
            if file.begun_after().is_some() && !self.is_recorded {
                continue;
            }
            let key = (channel.to_owned(), message.chat().to_owned());
            self.push(
                &mut self.waiting(),
                key,
                folder,
                QueuedMessage {
                    message,
                    kept: Some(file),
                },
            );
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
        claim().map_err(|error| NotTaken::Unclaimed {
            reason: error.to_string(),
        })?;
        let kept = self
            .is_recorded
            .then(|| folder.kept().keep(&message))
            .and_then(|kept| {
                let warn =
                    |error| say(&key, &format!("the message waits in memory alone: {error}"));
                kept.map_err(warn).ok()
            });
        self.push(&mut waiting, key, folder, QueuedMessage { message, kept });
        Ok(())
    }

    /// Adds a message, and starts the task of its chat.
    fn push(
        self: &Arc<Self>,
        waiting: &mut WaitingMessages,
        key: ChatKey,
        folder: &Arc<ChannelFolder>,
        message: QueuedMessage,
    ) {
        if waiting.push(&key, message) {
            let (chats, folder) = (self.clone(), folder.clone());
            let mut tasks = self.tasks.lock().ignore_poison();
            while tasks.try_join_next().is_some() {}
            tasks.spawn(async move { chats.serve(key, &folder).await });
        }
    }

    /// Waits for the running sessions. After a shutdown they are cancelled if they take long.
    pub(super) async fn finish(&self) {
        let mut tasks = std::mem::take(&mut *self.tasks.lock().ignore_poison());
        let overdue = async {
            self.shutdown.cancelled().await;
            sleep(GRACE).await;
        };
        let ended = async { while tasks.join_next().await.is_some() {} };
        tokio::select! {
            () = ended => {}
            () = overdue => self.runs.cancel(),
        }
        let _ = timeout(CANCEL_GRACE, async {
            while tasks.join_next().await.is_some() {}
        })
        .await;
        let (kept, lost) = self.waiting().counts();
        if kept > 0 {
            let wait = if kept == 1 { "waits" } else { "wait" };
            notice::note(&format!("{} {wait} for the next start", messages(kept)));
        }
        if lost > 0 {
            notice::warning(&format!(
                "{} that waited when the program ended: not handled",
                messages(lost)
            ));
        }
    }

    /// Runs the messages of a chat until none waits. Between two messages, other chats have their turn.
    async fn serve(&self, key: ChatKey, folder: &Arc<ChannelFolder>) {
        while !self.waiting().is_done(&key) {
            let Some(_permit) = self
                .shutdown
                .run_until_cancelled(self.permits.acquire())
                .await
            else {
                return;
            };
            let Some(mut message) = self.waiting().pop(&key) else {
                continue;
            };
            match Isolated::new(|| Box::pin(self.handle(&key, folder, &mut message))).await {
                Ok(Ok(true)) => {}
                Ok(Ok(false)) => self.waiting().push_front(&key, message),
                Ok(Err(error)) => say(&key, &error.to_string()),
                Err(Panic(reason)) => {
                    say(
                        &key,
                        &format!("the run of a message panicked, and has no answer: {reason}"),
                    );
                    let answered =
                        Isolated::new(|| Box::pin(self.end_panicked(&key, folder, &mut message)))
                            .await;
                    if let Err(error) = answered.unwrap_or(Ok(())) {
                        say(&key, &error.to_string());
                    }
                }
            }
        }
    }

    /// Ends the program with an error. Messages that wait are handled by the next start.
    fn fail(&self, error: Error) {
        self.failed.lock().ignore_poison().get_or_insert(error);
        self.shutdown.cancel();
    }

    /// Returns the error that ended the program.
    pub(super) fn take_failure(&self) -> Option<Error> {
        self.failed.lock().ignore_poison().take()
    }

    /// Runs a message, and sends the answer to the chat. Returns false if it is left to the next start.
    async fn handle(
        &self,
        key: &ChatKey,
        folder: &Arc<ChannelFolder>,
        message: &mut QueuedMessage,
    ) -> Result<bool, Error> {
        let begun_after = message.begun_after();
        if begun_after.is_none() {
            self.make_room(key, folder).await;
        }
        let is_lost = begun_after.is_some() && !folder.journal(&key.1).exists();
        let mut chat = match self.open(key, folder).await {
            Ok(open) => ChatSession::new(key, open, &self.runs),
            Err(error) => {
                self.fail(error);
                return Ok(false);
            }
        };
        if is_lost {
            end(key, message)?;
            chat.apologise().await;
            return Err(Error::Run("the record of it is missing".to_owned()));
        }
        if let Some(run) = chat.take_run() {
            let is_own = begun_after.is_some_and(|after| length(run.messages()) > after);
            if !is_own && !run.is_answered() {
                chat.go_on(run).await;
            } else {
                let ended = chat.resume(run).await;
                if is_own {
                    return self.end(key, &chat, message, ended).await;
                }
                if let Err(error) = ended {
                    say(key, &error.to_string());
                }
            }
        }
        if self.runs.is_cancelled() {
            return Ok(false);
        }
        message
            .begin(chat.length())
            .map_err(|error| unwritable(key, &error))?;
        let ended = chat.run(message.message.text()).await;
        self.end(key, &chat, message, ended).await
    }

    /// Ends a message whose run has ended. Returns false if it is left to the next start.
    async fn end(
        &self,
        key: &ChatKey,
        chat: &ChatSession<'_>,
        message: &mut QueuedMessage,
        ended: Result<(), Error>,
    ) -> Result<bool, Error> {
        if ended.is_err() && self.runs.is_cancelled() && message.begun_after().is_some() {
            return Ok(false);
        }
        end(key, message)?;
        if ended.is_err() {
            chat.apologise().await;
        }
        ended.map(|()| true)
    }

    /// Tells the chat of a message whose run panicked that it has no answer.
    async fn end_panicked(
        &self,
        key: &ChatKey,
        folder: &ChannelFolder,
        message: &mut QueuedMessage,
    ) -> Result<(), Error> {
        end(key, message)?;
        let open = self.open(key, folder).await?;
        ChatSession::new(key, open, &self.runs).apologise().await;
        Ok(())
    }

    /// Opens the session of a chat, which continues if it was recorded.
    async fn open(&self, key: &ChatKey, folder: &ChannelFolder) -> Result<OpenSession, Error> {
        let (channel, id) = key;
        let journal = folder.journal(&key.1);
        let name = format!(
            "{channel}/{}",
            journal.file_stem().unwrap_or_default().display()
        );
        let chat = Chat {
            channel: channel.clone(),
            id: id.clone(),
            principal: folder.principal(id),
        };
        let options = || {
            let options = self.options.for_chat(chat.clone());
            match self.is_recorded {
                true => options.recorded_in(journal.clone(), name.clone()),
                false => options,
            }
        };
        let of_hint = journal.clone();
        let how_to_grant: HowToGrant = Arc::new(move |refused| how_to_grant(refused, &of_hint));
        let open = async |options: SessionOptions| {
            options
                .open(
                    OutputFormat::Text,
                    Arc::default(),
                    how_to_grant.clone(),
                    self.runs.clone(),
                    None,
                )
                .await
        };
        match open(options()).await {
            // The program ended between the start of the session and its first run.
            Err(Error::NoSession(_)) => {
                let _ = ChannelFolder::remove(&journal);
                open(options()).await
            }
            opened => opened,
        }
    }

    fn waiting(&self) -> MutexGuard<'_, WaitingMessages> {
        self.waiting.lock().ignore_poison()
    }
}

/// Removes the file of a message.
fn end(key: &ChatKey, message: &mut QueuedMessage) -> Result<(), Error> {
    message.end().map_err(|error| unwritable(key, &error))
}

fn unwritable((channel, _): &ChatKey, error: &std::io::Error) -> Error {
    let reason = format!("the file of a message that waits cannot be changed: {error}");
    Error::Channel {
        channel: channel.clone(),
        reason,
    }
}

/// Returns the hint about refused targets of a chat with this journal.
fn how_to_grant(refused: &Ungranted<'_>, journal: &Path) -> String {
    if !refusal::is_beyond(refused.first, refused.needed) {
        return format!(
            "to allow it, add {} to `listen`",
            policy::consenting_flags(refused.needed)
        );
    }
    let flags = match refused.missing {
        [] => String::new(),
        missing => format!(" with {}", policy::consenting_flags(missing)),
    };
    // The pattern has the files that SQLite creates beside the journal.
    let journal = shell::quoted(&journal.to_string_lossy()).into_owned();
    format!(
        "the session keeps to the grant that it began with; to allow it, end `listen`, forget the chat with `rm {journal}*`, and start \
         `listen` again{flags}"
    )
}

/// Returns a count of messages with its unit.
fn messages(count: usize) -> String {
    counted(count.try_into().unwrap_or(u64::MAX), "message")
}
