//! [`Conversation`]: the messages of a run and the ids of their calls.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize, Serializer};
use tools::Content;
use tools::protocol::{Message, Part, Role};

use super::{Run, RunPhase};

/// Messages whose added calls have unique ids. Serialises as the messages.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(from = "Vec<Message>")]
pub(super) struct Conversation {
    /// Calls read them through [`PastResults`].
    pub(super) messages: Arc<Vec<Message>>,
    /// The ids of all calls, each with the lowest suffix that may be unused. Blank ids share the empty key. Collecting the ids
    /// for each turn would make long runs quadratic.
    used_ids: BTreeMap<String, u64>,
    /// The number of messages of the model. A count for each request would make long runs quadratic.
    replies: usize,
    /// The number of messages whose spare memory is freed.
    shrunk: usize,
    counted: Option<CountedRequest>,
}

/// The bytes of the first messages in requests, which later requests do not count again.
#[derive(Clone, Copy, Debug)]
struct CountedRequest {
    messages: usize,
    bytes: u64,
    /// The version of the compaction.
    version: u64,
}

impl Conversation {
    pub(super) fn into_messages(self) -> Vec<Message> {
        Arc::unwrap_or_clone(self.messages)
    }

    /// Appends a message whose calls have [unique ids](Self::rename_calls).
    pub(super) fn push(&mut self, message: Message) {
        self.replies += usize::from(message.role == Role::Assistant);
        // Weak references do not make it copy the messages.
        Arc::make_mut(&mut self.messages).push(message);
    }

    /// Returns the newest message, to add to it. Its calls must stay as they are.
    pub(super) fn newest_mut(&mut self) -> Option<&mut Message> {
        self.counted
            // The counted bytes have the message without the addition.
            .take_if(|counted| counted.messages == self.messages.len());
        Arc::make_mut(&mut self.messages).last_mut()
    }

    /// Makes the ids of a turn's calls unique in the conversation, so that results, events and records are never confused.
    /// Unique ids do not change.
    pub(super) fn rename_calls(&mut self, message: &mut Message) {
        for part in &mut message.parts {
            let Part::ToolCall(call) = part else { continue };
            if call.id.trim().is_empty() {
                call.id = self.unused_id("", "call", 1);
            } else if self.used_ids.contains_key(&call.id) {
                // Services give equal ids to the calls of different turns, and some to those of one.
                call.id = self.unused_id(&call.id, &call.id, 2);
            }
            self.used_ids.insert(call.id.clone(), 2);
        }
    }

    /// Returns the first unused id of `stem_first`, `stem_(first + 1)`, ….
    fn unused_id(&mut self, id: &str, stem: &str, first: u64) -> String {
        // The lowest free suffix is kept, so that a run of very many turns does not look through all of them.
        let mut number = self.used_ids.get(id).copied().unwrap_or(first);
        let mut name = format!("{stem}_{number}");
        while self.used_ids.contains_key(&name) {
            number += 1;
            name = format!("{stem}_{number}");
        }
        self.used_ids.insert(id.to_owned(), number + 1);
        name
    }
}

impl Run {
    /// Frees the spare memory of the new messages. Their arguments and results are free for it once their calls are over, and until a
    /// provider keeps clones of them.
    pub(crate) fn shrink_to_fit(&mut self) {
        let messages = Arc::make_mut(&mut self.messages.messages);
        let new = messages.iter_mut().skip(self.messages.shrunk);
        new.for_each(Message::shrink_to_fit);
        self.messages.shrunk = messages.len();
    }

    /// Returns the number of messages of the model in the conversation.
    pub(crate) fn replies(&self) -> usize {
        self.messages.replies
    }

    /// Records the bytes that the messages have in a request.
    pub(crate) fn record_bytes(&mut self, bytes: u64) {
        self.messages.counted = Some(CountedRequest {
            messages: self.messages().len(),
            bytes,
            version: self.compaction.version,
        });
    }

    /// Returns the recorded bytes and the messages after the recorded ones. Returns `None` if these have other bytes by now.
    pub(crate) fn recorded_bytes(&self) -> Option<(u64, &[Message])> {
        let counted = self
            .messages
            .counted
            .filter(|counted| counted.version == self.compaction.version)?;
        Some((counted.bytes, &self.messages()[counted.messages..]))
    }

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

impl From<Vec<Message>> for Conversation {
    fn from(mut messages: Vec<Message>) -> Self {
        messages.iter_mut().for_each(Message::shrink_to_fit);
        let ids = messages.iter().flat_map(Message::calls);
        let ids = ids.map(|call| &call.id).filter(|id| !id.is_empty());
        let used_ids = ids.map(|id| (id.clone(), 2)).collect();
        let roles = messages.iter().map(|message| message.role);
        let replies = roles.filter(|role| *role == Role::Assistant).count();
        Self {
            shrunk: messages.len(),
            messages: Arc::new(messages),
            used_ids,
            replies,
            counted: None,
        }
    }
}

/// Compares the messages. The ids and bytes follow from them, except for the suffixes.
impl PartialEq for Conversation {
    fn eq(&self, other: &Self) -> bool {
        self.messages == other.messages
    }
}

impl Serialize for Conversation {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.messages.serialize(serializer)
    }
}
