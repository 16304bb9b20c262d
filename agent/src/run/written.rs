//! [`Written`]: a run as it is written down, before it is known to be one.

use std::collections::BTreeSet;

use serde::Deserialize;
use tools::protocol::Message;

use super::{Run, RunError, State};
use crate::Usage;

/// The fields of a [`Run`], whatever somebody wrote into them.
#[derive(Deserialize)]
pub(super) struct Written {
    pub(super) messages: Vec<Message>,
    max_steps: u32,
    #[serde(default)]
    earlier_turns: u64,
    steps: u32,
    calls: u32,
    failed_calls: u32,
    usage: Option<Usage>,
    state: State,
}

impl TryFrom<Written> for Run {
    type Error = RunError;

    /// Whatever is read has a next step: calls none of which is open would be waited for without end.
    fn try_from(written: Written) -> Result<Self, RunError> {
        let Written { messages, max_steps, earlier_turns, steps, calls, failed_calls, usage, state } = written;
        let messages = messages.into();
        let mut run = Self { messages, max_steps, earlier_turns, steps, calls, failed_calls, usage, state };
        match &run.state {
            State::Asking => run.ask(),
            State::Calling { places, .. } => {
                let mut ids = BTreeSet::new();
                if let Some(place) = places.iter().find(|place| !ids.insert(&place.pending.call.id)) {
                    return Err(RunError::RepeatedId { id: place.pending.call.id.clone() });
                }
                run.go_on();
            }
            State::Done(_) => {}
        }
        Ok(run)
    }
}
