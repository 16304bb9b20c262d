//! [`StoredRun`]: a deserialised run before validation.

use std::collections::BTreeSet;

use serde::Deserialize;
use tools::context::UrlCount;
use tools::protocol::Message;

use super::{Compaction, Run, RunError, RunPhase};
use crate::consent::ApprovalKey;
use crate::prefix::Prefix;
use crate::{Spending, Usage};

/// The fields of a [`Run`] that are not validated yet.
#[derive(Deserialize)]
pub(super) struct StoredRun {
    pub(super) messages: Vec<Message>,
    #[serde(default)]
    compaction: Compaction,
    #[serde(default)]
    earlier_turns: u64,
    steps: u32,
    calls: u32,
    failed_calls: u32,
    usage: Option<Usage>,
    #[serde(default)]
    spent: Option<Spending>,
    #[serde(default)]
    prefix: Option<Prefix>,
    #[serde(default)]
    approval_key: Option<ApprovalKey>,
    /// A run of an earlier version may have read anything.
    #[serde(default = "exposed")]
    exposed: bool,
    #[serde(default)]
    urls: UrlCount,
    state: RunPhase,
}

fn exposed() -> bool {
    true
}

impl TryFrom<StoredRun> for Run {
    type Error = RunError;

    /// Advances the run to a state with a next step. Otherwise, a turn whose calls all have results would never end.
    fn try_from(stored: StoredRun) -> Result<Self, RunError> {
        let mut run = Self {
            messages: stored.messages.into(),
            compaction: stored.compaction,
            earlier_turns: stored.earlier_turns,
            steps: stored.steps,
            calls: stored.calls,
            failed_calls: stored.failed_calls,
            usage: stored.usage,
            spent: stored.spent,
            prefix: stored.prefix,
            approval_key: stored.approval_key,
            exposed: stored.exposed,
            urls: stored.urls,
            state: stored.state,
        };
        match &run.state {
            RunPhase::Calling { slots, .. } => {
                let mut ids = BTreeSet::new();
                if let Some(slot) = slots.iter().find(|slot| !ids.insert(&slot.pending.call.id)) {
                    return Err(RunError::RepeatedId {
                        id: slot.pending.call.id.clone(),
                    });
                }
                run.advance();
            }
            RunPhase::Asking | RunPhase::Done(_) => {}
        }
        Ok(run)
    }
}
