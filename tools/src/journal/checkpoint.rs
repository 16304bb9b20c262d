//! [`Checkpoint`]: how far a session has come.

/// The text that a driver needs to go on with a session. The journal does not read it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
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

/// The name that a journal gives a checkpoint, to tell it from all others of its session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CheckpointId(pub u64);
