//! [`WaitingMessages`]: the messages that wait for the session of their chat.

use std::collections::{HashMap, VecDeque};
use std::io;

use super::kept::KeptFile;
use crate::incoming::IncomingMessage;

/// The messages of a chat that may wait.
const MAX_WAITING: usize = 32;

/// The chats that may have messages.
const MAX_OPEN: usize = 1000;

/// The bytes of all texts that may wait.
const MAX_BYTES: usize = 16 * 1024 * 1024;

/// A chat: the name of its channel, and its id there.
pub(super) type ChatKey = (String, String);

/// A message that waits.
#[derive(Debug)]
pub(super) struct QueuedMessage {
    pub(super) message: IncomingMessage,
    /// Its file. `None` if it is in memory alone.
    pub(super) kept: Option<KeptFile>,
}

/// The messages that wait, of each chat with a task.
#[derive(Debug, Default)]
pub(super) struct WaitingMessages {
    by_chat: HashMap<ChatKey, VecDeque<QueuedMessage>>,
    bytes: usize,
}

impl QueuedMessage {
    /// Returns the length of the conversation before the message if the file says that its run was begun, or else `None`.
    pub(super) fn begun_after(&self) -> Option<usize> {
        self.kept.as_ref().and_then(KeptFile::begun_after)
    }

    /// Stores that the run of the message begins, after a conversation of this length.
    pub(super) fn begin(&mut self, after: usize) -> io::Result<()> {
        self.kept.as_mut().map_or(Ok(()), |kept| kept.begin(after))
    }

    /// Removes the file of the message.
    pub(super) fn end(&mut self) -> io::Result<()> {
        self.kept.take().map_or(Ok(()), KeptFile::remove)
    }
}

impl WaitingMessages {
    /// Returns true if there is room for a message of this chat.
    pub(super) fn has_room(&self, chat: &ChatKey, message: &IncomingMessage) -> bool {
        let has_place = match self.by_chat.get(chat) {
            Some(queue) => queue.len() < MAX_WAITING,
            None => self.by_chat.len() < MAX_OPEN,
        };
        has_place && self.bytes + message.text().len() <= MAX_BYTES
    }

    /// Adds a message. Returns true if its chat needs a task.
    pub(super) fn push(&mut self, chat: &ChatKey, waiting: QueuedMessage) -> bool {
        self.bytes += waiting.message.text().len();
        if let Some(queue) = self.by_chat.get_mut(chat) {
            queue.push_back(waiting);
            return false;
        }
        self.by_chat.insert(chat.clone(), VecDeque::from([waiting]));
        true
    }

    /// Returns a message that was not handled to the front of its chat.
    pub(super) fn push_front(&mut self, chat: &ChatKey, waiting: QueuedMessage) {
        self.bytes += waiting.message.text().len();
        self.by_chat
            .entry(chat.clone())
            .or_default()
            .push_front(waiting);
    }

    /// Removes and returns the next message of a chat.
    pub(super) fn pop(&mut self, chat: &ChatKey) -> Option<QueuedMessage> {
        let next = self.by_chat.get_mut(chat)?.pop_front()?;
        self.bytes -= next.message.text().len();
        Some(next)
    }

    /// Returns true if no message of the chat waits. The chat has then no task any more.
    pub(super) fn is_done(&mut self, chat: &ChatKey) -> bool {
        let is_done = self.by_chat.get(chat).is_none_or(VecDeque::is_empty);
        if is_done {
            self.by_chat.remove(chat);
        }
        is_done
    }

    /// Returns the chats with a task.
    pub(super) fn chats(&self) -> impl Iterator<Item = &ChatKey> {
        self.by_chat.keys()
    }

    /// Returns the number of messages in files, and of those in memory alone.
    pub(super) fn counts(&self) -> (u64, u64) {
        let all = self.by_chat.values().flatten();
        let (kept, lost): (Vec<_>, Vec<_>) = all.partition(|waiting| waiting.kept.is_some());
        (kept.len() as u64, lost.len() as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bytes_that_wait_are_bounded_over_all_chats() {
        let mut waiting = WaitingMessages::default();
        let message = IncomingMessage::new("c", "x".repeat(IncomingMessage::MAX_TEXT)).unwrap();
        let mut count = 0;
        for number in 0..MAX_OPEN {
            let chat = ("box".to_owned(), number.to_string());
            while waiting.has_room(&chat, &message) {
                waiting.push(
                    &chat,
                    QueuedMessage {
                        message: message.clone(),
                        kept: None,
                    },
                );
                count += 1;
            }
        }
        assert_eq!(count * IncomingMessage::MAX_TEXT, MAX_BYTES);
        let chat = ("box".to_owned(), "0".to_owned());
        waiting.pop(&chat).unwrap();
        assert!(waiting.has_room(&chat, &message));
        assert_eq!(waiting.counts(), (0, count as u64 - 1));
    }
}
