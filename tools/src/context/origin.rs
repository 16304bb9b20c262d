//! The session, person and conversation for which calls run.

use std::sync::Arc;

use super::ToolContext;

impl ToolContext {
    /// Sets the name of the session.
    #[must_use]
    pub fn with_session(self, session: impl Into<Arc<str>>) -> Self {
        self.with(|facts| facts.session = Some(session.into()))
    }

    /// Sets the principal, the user on whose behalf calls run.
    #[must_use]
    pub fn with_principal(self, principal: impl Into<Arc<str>>) -> Self {
        self.with(|facts| facts.principal = Some(principal.into()))
    }

    /// Sets the channel of the conversation, such as a messaging service.
    #[must_use]
    pub fn with_channel(self, channel: impl Into<Arc<str>>) -> Self {
        self.with(|facts| facts.channel = Some(channel.into()))
    }

    /// Sets the id of the conversation on its channel.
    #[must_use]
    pub fn with_chat(self, chat: impl Into<Arc<str>>) -> Self {
        self.with(|facts| facts.chat = Some(chat.into()))
    }

    /// Removes the channel and the chat, for a call that runs outside of the conversation.
    #[must_use]
    pub fn without_conversation(self) -> Self {
        self.with(|facts| (facts.channel, facts.chat) = (None, None))
    }

    /// Sets the correlation id, which identifies a request across systems.
    #[must_use]
    pub fn with_correlation_id(self, id: impl Into<Arc<str>>) -> Self {
        self.with(|facts| facts.correlation_id = Some(id.into()))
    }

    /// Returns the name of the session.
    pub fn session(&self) -> Option<&str> {
        self.facts.session.as_deref()
    }

    /// Returns the principal, the user on whose behalf calls run.
    pub fn principal(&self) -> Option<&str> {
        self.facts.principal.as_deref()
    }

    /// Returns the channel of the conversation.
    pub fn channel(&self) -> Option<&str> {
        self.facts.channel.as_deref()
    }

    /// Returns the id of the conversation on its channel.
    pub fn chat(&self) -> Option<&str> {
        self.facts.chat.as_deref()
    }

    /// Returns the correlation id.
    pub fn correlation_id(&self) -> Option<&str> {
        self.facts.correlation_id.as_deref()
    }
}
