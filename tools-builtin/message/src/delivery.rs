//! [`Delivery`]: a message on its way to a channel.

use tools::ToolContext;
use tools_http::HttpClient;

/// A message on its way to a channel.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Delivery<'a> {
    /// The context of the call.
    pub cx: &'a ToolContext,
    /// The client of the channel. Its options are those of the user for this channel.
    pub client: &'a HttpClient,
    /// The message.
    pub message: &'a OutgoingMessage,
}

/// A message that goes out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct OutgoingMessage {
    /// The name of the channel.
    pub channel: String,
    /// The chat of the channel, for an answer in a conversation.
    pub chat: Option<String>,
    /// The subject: one line without control characters.
    pub subject: Option<String>,
    /// The text. It may have any characters.
    pub text: String,
    /// The recipients: some of [`Channel::recipients`](crate::Channel::recipients).
    pub recipients: Vec<String>,
}

impl OutgoingMessage {
    /// Creates a message for the whole channel.
    pub fn new(channel: impl Into<String>, text: impl Into<String>) -> Self {
        Self {
            channel: channel.into(),
            text: text.into(),
            ..Self::default()
        }
    }

    /// Sets the chat.
    #[must_use]
    pub fn with_chat(mut self, chat: impl Into<String>) -> Self {
        self.chat = Some(chat.into());
        self
    }
}
