//! A run as a [`Checkpoint`]: messages that are written once, and a state without them.

use serde_json::{Error, from_str, to_string};
use tools::journal::Checkpoint;

use super::conversation::Conversation;
use super::written::Written;
use super::{Outcome, Run, State};

impl Run {
    /// Returns true if the run was cancelled or failed: its last checkpoint is where to go on from.
    pub(crate) fn is_broken_off(&self) -> bool {
        matches!(self.state, State::Done(Outcome::Cancelled | Outcome::Failed { .. }))
    }

    /// Writes the run down with its messages from this one on.
    pub(crate) fn to_checkpoint(&self, from: usize) -> Result<Checkpoint, Error> {
        let messages = self.messages().get(from..).unwrap_or_default().iter().map(to_string);
        let state = Self { messages: Conversation::default(), state: self.state.clone(), ..*self };
        Ok(Checkpoint::new(messages.collect::<Result<_, _>>()?, to_string(&state)?))
    }

    /// Reads a run back. The state of an old checkpoint holds all messages itself.
    pub(crate) fn from_checkpoint(checkpoint: &Checkpoint) -> Result<Self, Error> {
        let mut written: Written = from_str(&checkpoint.state)?;
        for message in &checkpoint.messages {
            written.messages.push(from_str(message)?);
        }
        Self::try_from(written).map_err(serde::de::Error::custom)
    }
}
