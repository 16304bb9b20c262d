//! [`Checkpoint`]: how far a session has come.

use std::fmt;

/// The text that a driver needs to go on with a session. The journal does not read it.
#[derive(Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Checkpoint {
    /// The messages, in order. A conversation only grows, so each is written once.
    pub messages: Vec<String>,
    /// The rest, which is small and replaced by each checkpoint.
    pub state: String,
}

impl Checkpoint {
    /// Creates a checkpoint.
    pub fn new(messages: Vec<String>, state: impl Into<String>) -> Self {
        Self { messages, state: state.into() }
    }
}

impl fmt::Debug for Checkpoint {
    /// Shows nothing of the conversation: arguments in it may be secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Checkpoint").field("messages", &self.messages.len()).finish_non_exhaustive()
    }
}

/// The name that a journal gives a checkpoint, to tell it from all others of its session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CheckpointId(pub u64);
