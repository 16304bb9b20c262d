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

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use host::sessions::{SessionScope, Sessions};
use host::settings::Settings;
use host::ungranted::Ungranted;
use host::{CommandError, Exit, Retention, program, shell};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use tools::call::{Isolated, Panic};
use tools::{CancellationToken, Host, IgnorePoison as _, counted};

use super::chat_session::{ChatSession, say};
use super::folder::{ChannelFolder, refuse};
use super::waiting::{ChatKey, QueuedMessage, WaitingMessages};
use crate::incoming::{Claim, IncomingMessage, NotTaken};
use crate::settings::channels::with_replies;

/// The time that running sessions get to end after a shutdown, and then to be cancelled.
const GRACE: Duration = Duration::from_secs(10);
const CANCEL_GRACE: Duration = Duration::from_secs(5);

/// Runs the sessions of the chats: one message of a chat at a time, and a limited number of chats in parallel.
pub(super) struct Chats {
    sessions: Arc<dyn Sessions>,
    /// The limits of the journals of a channel. `None` if sessions and messages are in memory alone.
    retention: Option<Retention>,
    permits: Semaphore,
    waiting: Mutex<WaitingMessages>,
    tasks: Mutex<JoinSet<()>>,
    shutdown: CancellationToken,
    /// The error that ended the program.
    failed: Mutex<Option<CommandError>>,
    /// Cancels the runs.
    runs: CancellationToken,
}

impl Chats {
    pub(super) fn new(
        sessions: Arc<dyn Sessions>,
        retention: Option<Retention>,
        parallel: usize,
        shutdown: CancellationToken,
    ) -> Arc<Self> {
        Arc::new(Self {
            sessions,
            retention: retention.map(|all| Retention { keep: 0, ..all }),
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
        let mut waiting = self.waiting();
        for (file, message) in folder.kept.read()? {
            if file.begun_after().is_some() && self.retention.is_none() {
                continue;
            }
            let key = (channel.to_owned(), message.chat().to_owned());
            let kept = Some(file);
            self.push(&mut waiting, key, folder, QueuedMessage { message, kept });
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
        let kept = self.retention.as_ref().and_then(|_| {
            let kept = folder.kept.keep(&message).inspect_err(|error| {
                say(&key, &format!("the message waits in memory alone: {error}"));
            });
            kept.ok()
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
            let chats = self.clone();
            let folder = folder.clone();
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
            let kept = counted(kept, "message");
            program::note(&format!("{kept} {wait} for the next start"));
        }
        if lost > 0 {
            let lost = counted(lost, "message");
            program::warn(&format!(
                "{lost} that waited when the program ended: not handled"
            ));
        }
    }

    /// Runs the messages of a chat until none waits. Between two messages, other chats have their turn.
    async fn serve(&self, key: ChatKey, folder: &Arc<ChannelFolder>) {
        while !self.waiting().is_done(&key) {
            let permit = self.shutdown.run_until_cancelled(self.permits.acquire());
            let Some(_permit) = permit.await else {
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
                    let told =
                        format!("the run of a message panicked, and has no answer: {reason}");
                    say(&key, &told);
                    let ended =
                        Isolated::new(|| Box::pin(self.end_panicked(&key, folder, &mut message)));
                    if let Err(error) = ended.await.unwrap_or(Ok(())) {
                        say(&key, &error.to_string());
                    }
                }
            }
        }
    }

    /// Ends the program with an error. Messages that wait are handled by the next start.
    fn fail(&self, error: CommandError) {
        self.failed.lock().ignore_poison().get_or_insert(error);
        self.shutdown.cancel();
    }

    /// Returns the error that ended the program.
    pub(super) fn take_failure(&self) -> Option<CommandError> {
        self.failed.lock().ignore_poison().take()
    }

    /// Runs a message, and sends the answer to the chat. Returns false if it is left to the next start.
    async fn handle(
        &self,
        key: &ChatKey,
        folder: &Arc<ChannelFolder>,
        message: &mut QueuedMessage,
    ) -> Result<bool, CommandError> {
        let begun_after = message.begun_after();
        if begun_after.is_none() {
            self.make_room(key, folder).await;
        }
        let is_lost = begun_after.is_some() && !folder.journal(&key.1).exists();
        let mut chat = match self.open(key, folder).await {
            Ok(chat) => chat,
            Err(error) => {
                self.fail(error);
                return Ok(false);
            }
        };
        if is_lost {
            end(key, message)?;
            chat.apologise().await;
            let error = "the run failed: the record of it is missing";
            return Err(CommandError::new(Exit::Failed, error));
        }
        if let Some(run) = chat.open.earlier_run() {
            let is_own = begun_after.is_some_and(|after| run.length > after);
            if !is_own && !run.is_answered {
                chat.open.give_up().await?;
            } else {
                let ended = chat.resume().await;
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
            .begin(chat.open.length())
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
        ended: Result<(), CommandError>,
    ) -> Result<bool, CommandError> {
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
    ) -> Result<(), CommandError> {
        end(key, message)?;
        self.open(key, folder).await?.apologise().await;
        Ok(())
    }

    /// Opens the session of a chat, which continues if it was recorded.
    async fn open<'a>(
        &self,
        key: &'a ChatKey,
        folder: &ChannelFolder,
    ) -> Result<ChatSession<'a>, CommandError> {
        let (channel, id) = key;
        let scope = ChatScope {
            channel: channel.clone(),
            id: id.clone(),
            principal: folder.principal(id),
            file: folder.journal(id),
            is_recorded: self.retention.is_some(),
        };
        let opened = self.sessions.open(Arc::new(scope), self.runs.clone());
        Ok(ChatSession::new(key, opened.await?))
    }

    fn waiting(&self) -> MutexGuard<'_, WaitingMessages> {
        self.waiting.lock().ignore_poison()
    }
}

/// Removes the file of a message.
fn end(key: &ChatKey, message: &mut QueuedMessage) -> Result<(), CommandError> {
    message.end().map_err(|error| unwritable(key, &error))
}

fn unwritable((channel, _): &ChatKey, error: &std::io::Error) -> CommandError {
    let reason = format!("the file of a message that waits cannot be changed: {error}");
    refuse(channel, &reason)
}

/// The marks of the session of a chat. The process has one set of servers for all its chats.
#[derive(Clone, Debug)]
struct ChatScope {
    pub(super) channel: String,
    /// The id on the channel.
    pub(super) id: String,
    /// The principal, which no chat of another channel has.
    pub(super) principal: String,
    /// The journal.
    pub(super) file: PathBuf,
    /// False if the session is in memory alone.
    pub(super) is_recorded: bool,
}

impl SessionScope for ChatScope {
    fn settings(&self, settings: Settings, _has_provider: bool) -> Result<Settings, CommandError> {
        Ok(with_replies(settings))
    }

    fn enter(&self, host: Host) -> Host {
        host.with_channel(&*self.channel)
            .with_chat(&*self.id)
            .with_principal(&*self.principal)
    }

    fn how_to_grant(&self, refused: &Ungranted<'_>) -> String {
        if !refused.is_beyond(refused.needed) {
            return format!(
                "to allow it, add {} to `listen`",
                refused.consenting_flags(refused.needed)
            );
        }
        let flags = match refused.missing {
            [] => String::new(),
            missing => format!(" with {}", refused.consenting_flags(missing)),
        };
        // The pattern has the files that SQLite creates beside the journal.
        let journal = shell::quote(&self.file.to_string_lossy());
        format!(
            "the session keeps to the grant that it began with; to allow it, end `listen`, forget the chat with `rm {journal}*`, and start \
             `listen` again{flags}"
        )
    }

    fn journal(&self) -> Option<(PathBuf, String)> {
        let stem = self.file.file_stem().unwrap_or_default();
        let name = format!("{}/{}", self.channel, stem.display());
        self.is_recorded.then(|| (self.file.clone(), name))
    }

    fn is_shared(&self) -> bool {
        true
    }
}
