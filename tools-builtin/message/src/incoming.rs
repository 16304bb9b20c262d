//! [`Inbox`]: takes the messages that come in.

use std::future::Future;
use std::io;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use tools::CancellationToken;
use tools::protocol::is_invisible;

/// The pause before a message is offered again.
const PAUSE: Duration = Duration::from_millis(100);

/// The future of a [`Channel`](crate::Channel) that listens.
pub type ListenFuture<'a> = Pin<Box<dyn Future<Output = Result<(), ListenError>> + Send + 'a>>;

/// A message that came in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IncomingMessage {
    chat: String,
    text: String,
}

/// The error of a message that cannot be taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidMessage {
    /// The name of the chat cannot be used.
    #[error("the chat needs a name of 1 to 200 bytes without invisible characters")]
    Chat,
    /// The text cannot be used.
    #[error(
        "the text is blank, or longer than {} bytes",
        IncomingMessage::MAX_TEXT
    )]
    Text,
}

/// The error of an [`Inbox`] that does not take a message.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotTaken {
    /// Too many messages wait.
    #[error("too many messages wait; send it again later")]
    Full,
    /// The channel could not store that the message is taken.
    #[error("the message cannot be stored ({reason}); send it again later")]
    Unclaimed {
        /// The cause.
        reason: String,
    },
}

/// Stores that a message is taken, such as by its position in a file, so that the channel never offers it again. An inbox calls it once it
/// has room for the message, and before it keeps the message.
pub type Claim<'a> = &'a mut dyn FnMut() -> io::Result<()>;

/// The error of a channel that cannot listen.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct ListenError {
    /// The cause, and the next step.
    pub reason: String,
}

impl ListenError {
    /// Creates an error, with the cause and the next step.
    pub fn new(reason: impl Into<String>) -> Self {
        Self {
            reason: reason.into(),
        }
    }
}

impl IncomingMessage {
    /// The maximum size of a text, in bytes.
    pub const MAX_TEXT: usize = 64 * 1024;

    /// Creates a message.
    ///
    /// # Errors
    /// Returns [`InvalidMessage`] if the name of the chat or the text is empty, too long, or the name has invisible characters.
    pub fn new(chat: impl Into<String>, text: impl Into<String>) -> Result<Self, InvalidMessage> {
        let chat = chat.into();
        let text = text.into();
        if !(1..=200).contains(&chat.len())
            || chat.chars().any(|c| is_invisible(c) || c.is_control())
        {
            return Err(InvalidMessage::Chat);
        }
        if text.trim().is_empty() || text.len() > Self::MAX_TEXT {
            return Err(InvalidMessage::Text);
        }
        Ok(Self { chat, text })
    }

    /// Returns the id of the chat on its channel.
    pub fn chat(&self) -> &str {
        &self.chat
    }

    /// Returns the text. It may have any characters.
    pub fn text(&self) -> &str {
        &self.text
    }
}

type Take = dyn Fn(IncomingMessage, Claim<'_>) -> Result<(), NotTaken> + Send + Sync;

/// Takes the messages that come in over one channel, each at most once. The host of a channel creates it.
#[derive(Clone)]
pub struct Inbox {
    take: Arc<Take>,
    note: Arc<dyn Fn(&str) + Send + Sync>,
    folder: PathBuf,
    shutdown: CancellationToken,
}

impl Inbox {
    /// Creates an inbox. `take` takes a message after it was claimed, or refuses it. `folder` exists, belongs to the channel alone, and
    /// keeps what the channel has to know after a restart.
    pub fn new(
        folder: impl Into<PathBuf>,
        shutdown: CancellationToken,
        take: impl Fn(IncomingMessage, Claim<'_>) -> Result<(), NotTaken> + Send + Sync + 'static,
    ) -> Self {
        Self {
            take: Arc::new(take),
            note: Arc::new(|_| {}),
            folder: folder.into(),
            shutdown,
        }
    }

    /// Sets the function that shows a person a note, such as on a message that cannot be read.
    #[must_use]
    pub fn with_notes(mut self, note: impl Fn(&str) + Send + Sync + 'static) -> Self {
        self.note = Arc::new(note);
        self
    }

    /// Offers a message.
    ///
    /// # Errors
    /// - Returns [`NotTaken::Full`] if too many messages wait. The message was not claimed.
    /// - Returns [`NotTaken::Unclaimed`] if `claim` failed.
    pub fn offer(&self, message: IncomingMessage, claim: Claim<'_>) -> Result<(), NotTaken> {
        (self.take)(message, claim)
    }

    /// Offers a message until it is taken. Returns false if the shutdown began before.
    ///
    /// # Errors
    /// Returns [`NotTaken::Unclaimed`] if `claim` failed.
    pub async fn put(
        &self,
        message: IncomingMessage,
        claim: &mut (dyn FnMut() -> io::Result<()> + Send),
    ) -> Result<bool, NotTaken> {
        while !self.shutdown.is_cancelled() {
            match self.offer(message.clone(), claim) {
                Err(NotTaken::Full) => {}
                taken => return taken.map(|()| true),
            }
            let _ = self
                .shutdown
                .run_until_cancelled(tokio::time::sleep(PAUSE))
                .await;
        }
        Ok(false)
    }

    /// Shows a person a note.
    pub fn note(&self, text: &str) {
        (self.note)(text);
    }

    /// Returns the folder for the state of the channel.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the token that is cancelled when the channel has to stop.
    pub fn shutdown(&self) -> &CancellationToken {
        &self.shutdown
    }
}

tools::debug_fields!(self: Inbox { folder });
