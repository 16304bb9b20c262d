//! [`Checkpoint`]: the stored state of a session.

use std::fmt;

/// The data a driver needs to resume a session. The journal stores it without reading it.
#[derive(Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Checkpoint {
    /// The messages, in order. A conversation only grows, even if requests leave out parts of it, so each message is written once.
    pub messages: Vec<String>,
    /// The rest of the state. It is small, and each checkpoint replaces it.
    pub state: String,
}

impl Checkpoint {
    /// Creates a checkpoint.
    pub fn new(messages: Vec<String>, state: impl Into<String>) -> Self {
        Self {
            messages,
            state: state.into(),
        }
    }
}

impl fmt::Debug for Checkpoint {
    /// Shows the number of messages only, because arguments in them may be secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Checkpoint")
            .field("messages", &self.messages.len())
            .finish_non_exhaustive()
    }
}

/// An identifier that a journal assigns to a checkpoint, unique within its session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CheckpointId(pub u64);
