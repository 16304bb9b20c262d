//! The session, person and conversation for which calls run.

use super::ToolContext;

impl ToolContext {
    /// Removes the channel and the chat, for a call that runs outside of the conversation.
    #[must_use]
    pub fn without_conversation(&self) -> Self {
        self.clone()
            .with(|facts| (facts.channel, facts.chat) = (None, None))
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
