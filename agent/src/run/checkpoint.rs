//! Converts a run to and from a [`Checkpoint`], which stores each message once and the other fields as the state.

use serde::de::Error as _;
use serde_json::{Error, from_str, to_string};
use tools::journal::Checkpoint;

use super::conversation::Conversation;
use super::{Outcome, Run, RunPhase};
use crate::budget::Spending;
use crate::provider::Usage;

impl Run {
    /// Returns true if the run was cancelled or failed. It can be resumed from its last checkpoint.
    pub(crate) fn is_interrupted(&self) -> bool {
        matches!(
            self.state,
            RunPhase::Done(Outcome::Cancelled | Outcome::Failed { .. })
        )
    }

    /// Returns the spending of the run and its children. Without a budget, that is the steps, calls and reported tokens of the run.
    pub(crate) fn spent(&self) -> Spending {
        self.spent.unwrap_or(Spending {
            steps: self.steps.into(),
            calls: self.calls.into(),
            tokens: self.usage.map_or(0, Usage::total),
            ..Spending::default()
        })
    }

    /// Sets the spending of the run and its children. Returns true if it has changed.
    pub(crate) fn record_spent(&mut self, spent: Spending) -> bool {
        self.spent.replace(spent) != Some(spent)
    }

    /// Returns a checkpoint with the messages starting at index `from`.
    pub(crate) fn to_checkpoint(&self, from: usize) -> Result<Checkpoint, Error> {
        let messages = self.messages().get(from..).unwrap_or_default();
        let messages = messages.iter().map(to_string);
        let state = Self {
            messages: Conversation::default(),
            compaction: self.compaction.clone(),
            prefix: self.prefix.clone(),
            writers: self.writers.clone(),
            state: self.state.clone(),
            ..*self
        };
        Ok(Checkpoint::new(
            messages.collect::<Result<_, _>>()?,
            to_string(&state)?,
        ))
    }

    /// Restores a run. In checkpoints of earlier versions, the state holds all messages.
    ///
    /// [`Session::stored_run`](crate::Session::stored_run) loads the checkpoint too. This function suffices to read the state of
    /// a stored session. A checkpoint with its first messages alone has the state as well.
    ///
    /// # Errors
    /// Returns an error if the checkpoint is not a valid run.
    pub fn from_checkpoint(checkpoint: &Checkpoint) -> Result<Self, Error> {
        let mut state = serde_json::Deserializer::from_str(&checkpoint.state);
        let mut stored = Self::deserialize(&mut state)?;
        state.end()?;
        let mut messages = stored.messages.into_messages();
        for message in &checkpoint.messages {
            messages.push(from_str(message)?);
        }
        stored.messages = messages.into();
        stored.validate().map_err(Error::custom)
    }
}
