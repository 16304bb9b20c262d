//! Notes of the host in the conversation.

use tools::Content;
use tools::protocol::{Part, Role};

use super::{Run, RunPhase};

impl Run {
    /// Returns true if the newest message can have notes: it is a prompt or has results, and no request has it yet.
    pub(crate) fn can_be_noted(&self) -> bool {
        let newest = self.messages().last();
        self.state == RunPhase::Asking
            && newest.is_some_and(|message| matches!(message.role, Role::User | Role::Tool))
    }

    /// Adds a note to the newest message: to the last result, or after the prompt, so that every service takes the conversation.
    /// Call it before the message is stored or sent, because both may happen once only.
    pub(crate) fn add_note(&mut self, note: &str) {
        let Some(message) = self.messages.newest_mut() else {
            return;
        };
        match message.parts.last_mut() {
            Some(Part::ToolResult { result, .. }) => result.content.push(Content::text(note)),
            _ => message.parts.push(Part::Content(Content::text(note))),
        }
    }
}
