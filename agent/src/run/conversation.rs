//! [`Conversation`]: the messages of a run, and the ids that their calls have taken.

use std::collections::BTreeMap;

use serde::{Serialize, Serializer};
use tools::protocol::{Message, Part};

/// Messages in which the ids of the calls that are added are unique. Written down, it is the messages alone.
#[derive(Clone, Debug, Default)]
pub(super) struct Conversation {
    messages: Vec<Message>,
    /// The ids of all calls, each with the number to try first when another call comes by it: all below are taken. Kept,
    /// because to gather them anew for each turn would make a run of many turns quadratic. Blank ids stand under the empty one.
    taken: BTreeMap<String, u64>,
}

impl Conversation {
    pub(super) fn messages(&self) -> &[Message] {
        &self.messages
    }

    pub(super) fn into_messages(self) -> Vec<Message> {
        self.messages
    }

    /// Adds a message, the ids of whose calls are [unique](Self::rename_calls).
    pub(super) fn push(&mut self, message: Message) {
        self.messages.push(message);
    }

    /// Makes the ids of a turn's calls unique in the whole conversation, so that a result, an event or a record is never taken
    /// for another call's. Ids that are unique stay as the model made them.
    pub(super) fn rename_calls(&mut self, message: &mut Message) {
        for part in &mut message.parts {
            let Part::ToolCall(call) = part else { continue };
            if call.id.trim().is_empty() {
                call.id = self.free("", "call", 1);
            } else if self.taken.contains_key(&call.id) {
                call.id = self.free(&call.id, &call.id, 2);
            }
            self.taken.insert(call.id.clone(), 2);
        }
    }

    /// The first free one of `stem_first`, `stem_(first + 1)`, …, for another call by this id.
    fn free(&mut self, id: &str, stem: &str, first: u64) -> String {
        let mut number = self.taken.get(id).copied().unwrap_or(first);
        let mut name = format!("{stem}_{number}");
        while self.taken.contains_key(&name) {
            number += 1;
            name = format!("{stem}_{number}");
        }
        self.taken.insert(id.to_owned(), number + 1);
        name
    }
}

impl From<Vec<Message>> for Conversation {
    fn from(messages: Vec<Message>) -> Self {
        let ids = messages.iter().flat_map(Message::calls).map(|call| &call.id).filter(|id| !id.is_empty());
        let taken = ids.map(|id| (id.clone(), 2)).collect();
        Self { messages, taken }
    }
}

/// What is taken follows from the messages, but for how far it was counted.
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
