//! The resources that a run has used.

use super::{Run, State};
use crate::{Spending, Usage};

impl Run {
    /// Returns the steps, calls and tokens so far. A call counts once it has a result.
    pub(crate) fn spent(&self) -> Spending {
        let pending = match &self.state {
            State::Calling { slots, .. } => slots.iter().filter(|slot| slot.result.is_none()).count() as u64,
            _ => 0,
        };
        Spending {
            steps: self.steps.into(),
            calls: u64::from(self.calls).saturating_sub(pending),
            tokens: self.usage.map_or(0, Usage::total),
            ..Spending::default()
        }
    }

    /// Returns the tokens used so far, if the provider reports them.
    pub(crate) fn usage(&self) -> Option<Usage> {
        self.usage
    }
}
