//! [`ChannelSettings`]: the values of the fields of a channel.

use std::collections::BTreeMap;
use std::fmt;
use std::future::Future;
use std::pin::Pin;

use tools::Secret;
use tools_http::Url;

use crate::delivery::Delivery;
use crate::error;
use crate::error::{ChannelError, SendError};
use crate::incoming::{Inbox, ListenFuture};

/// The values of the fields of a channel. Its `Debug` shows no secret.
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct ChannelSettings {
    texts: BTreeMap<String, Vec<String>>,
    secrets: BTreeMap<String, Secret>,
}

impl ChannelSettings {
    /// Creates settings without values.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets a text, a number or a path.
    pub fn with_text(self, field: impl Into<String>, text: impl Into<String>) -> Self {
        self.with_list(field, [text.into()])
    }

    /// Sets a list.
    pub fn with_list(
        mut self,
        field: impl Into<String>,
        texts: impl IntoIterator<Item = String>,
    ) -> Self {
        self.texts.insert(field.into(), texts.into_iter().collect());
        self
    }

    /// Sets a secret.
    pub fn with_secret(mut self, field: impl Into<String>, secret: Secret) -> Self {
        self.secrets.insert(field.into(), secret);
        self
    }

    /// Returns a text, a number or a path. Returns `None` if it is not set.
    pub fn text(&self, field: &str) -> Option<&str> {
        self.list(field).first().map(String::as_str)
    }

    /// Returns a list, which is empty if it is not set.
    pub fn list(&self, field: &str) -> &[String] {
        self.texts.get(field).map(Vec::as_slice).unwrap_or_default()
    }

    /// Returns a secret. Returns `None` if it is not set.
    pub fn secret(&self, field: &str) -> Option<&Secret> {
        self.secrets.get(field)
    }

    /// Returns a text.
    ///
    /// # Errors
    /// Returns [`ChannelError::Field`] if it is not set.
    pub fn require(&self, field: &'static str) -> Result<&str, ChannelError> {
        let text = self.text(field).filter(|text| !text.is_empty());
        text.ok_or_else(|| error::field(field, "is missing; set it"))
    }
}

/// The future of a [`Channel`] that sends a message.
pub type SendFuture<'a> = Pin<Box<dyn Future<Output = Result<(), SendError>> + Send + 'a>>;

/// A place that messages go to, such as a file, a webhook or a mailbox. A [`ChannelKind`](crate::ChannelKind) creates it from the
/// settings of the user.
pub trait Channel: Send + Sync + fmt::Debug {
    /// Returns a URL with the scheme `http` or `https` and the host and port that messages are sent to. Returns `None` if sending opens
    /// no connection.
    fn server(&self) -> Option<&Url> {
        None
    }

    /// Returns the recipients that a call may choose from. Without a choice, all get the message. A channel without recipients has one
    /// fixed place.
    fn recipients(&self) -> &[String] {
        &[]
    }

    /// Sends a message at most once.
    ///
    /// - Returns [`SendError::NotSent`] only if the message certainly did not arrive.
    /// - Returns [`SendError::Unclear`] if it may have arrived, such as after a connection that broke before the answer.
    ///
    /// An error has no text of the server, which the model would read as if it were the program's; a channel that needs it calls
    /// [`ToolContext::record_exposure`](tools::ToolContext::record_exposure) first.
    fn send<'a>(&'a self, delivery: Delivery<'a>) -> SendFuture<'a>;

    /// Takes messages from outside until the shutdown of the inbox, or until there are no more. Returns `None` if the channel has none.
    fn listen(&self, inbox: Inbox) -> Option<ListenFuture<'_>> {
        let _ = inbox;
        None
    }
}
