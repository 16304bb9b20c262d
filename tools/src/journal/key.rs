//! [`CallKey`]: the place of a call in a conversation.

use std::fmt;
use std::sync::Arc;

/// The place of a call: which one it is of which turn of which session. The same conversation, gone through again, gives
/// each call the same key.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct CallKey {
    /// The session.
    pub session: Arc<str>,
    /// The turn of the model that asked for it, counted from 1 over the whole session.
    pub turn: u64,
    /// Which of the turn's calls it is, from 0.
    pub index: u32,
    /// For a call that a tool made: which of that tool's calls it is, from 0, after those of the calls around it, such as
    /// `2.0`. Empty for the call of the turn itself.
    pub path: String,
}

impl CallKey {
    /// The key of a call that a turn asked for.
    pub fn new(session: impl Into<Arc<str>>, turn: u64, index: u32) -> Self {
        Self { session: session.into(), turn, index, path: String::new() }
    }

    /// The key of the call that this one makes as its `number`th, from 0.
    #[must_use]
    pub fn nested(&self, number: u32) -> Self {
        let path = match &*self.path {
            "" => number.to_string(),
            path => format!("{path}.{number}"),
        };
        Self { path, ..self.clone() }
    }
}

/// For people: `turn 3, call 0.2 of session "a"`.
impl fmt::Display for CallKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { session, turn, index, path } = self;
        let dot = if path.is_empty() { "" } else { "." };
        write!(f, "turn {turn}, call {index}{dot}{path} of session {session:?}")
    }
}
