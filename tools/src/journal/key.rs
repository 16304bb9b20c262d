//! [`CallKey`]: the position of a call in a session.

use std::fmt;
use std::sync::Arc;

/// The position of a call in a session. Repeating a conversation gives each call the same key.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct CallKey {
    /// The session's name.
    pub session: Arc<str>,
    /// The number of the turn, counted from 1 over the whole session.
    pub turn: u64,
    /// The index of the call in the turn, from 0.
    pub index: u32,
    /// For a nested call: the indexes on the way to it, from 0, joined by dots. Empty for a call made by the turn itself.
    ///
    /// `2.0` is the first call made by the third call that the turn's tool made.
    pub path: String,
}

impl CallKey {
    /// Creates the key of a call made by a turn.
    pub fn new(session: impl Into<Arc<str>>, turn: u64, index: u32) -> Self {
        Self {
            session: session.into(),
            turn,
            index,
            path: String::new(),
        }
    }

    /// Returns the key of a nested call. `number` counts the calls made by this one, from 0.
    #[must_use]
    pub fn nested(&self, number: u32) -> Self {
        let path = match &*self.path {
            "" => number.to_string(),
            path => format!("{path}.{number}"),
        };
        Self {
            path,
            ..self.clone()
        }
    }
}

/// Formats the key for people: `turn 3, call 0.2 of session "a"`.
impl fmt::Display for CallKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            session,
            turn,
            index,
            path,
        } = self;
        let dot = if path.is_empty() { "" } else { "." };
        write!(
            f,
            "turn {turn}, call {index}{dot}{path} of session {session:?}"
        )
    }
}
