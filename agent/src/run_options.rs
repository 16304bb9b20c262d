//! [`RunOptions`]: the settings of a run.

use std::sync::Arc;

use crate::{BudgetLimits, Price, RepeatLimits};

/// The default step limit of a run.
pub const DEFAULT_MAX_STEPS: u32 = 50;

/// The settings of the runs of a [`Driver`](crate::Driver). Clone the driver to give a single run its own.
#[derive(Clone, Debug)]
pub struct RunOptions {
    /// The limits of each run, in addition to those of the [budget](crate::Budget) in the session's context.
    pub limits: BudgetLimits,
    /// The reactions to repeated calls.
    pub repeats: RepeatLimits,
    /// The price of the provider's model, in place of the one that the [provider](crate::ProviderInfo) knows.
    pub price: Option<Price>,
    /// The tokens of the model's context. `None` means those that the provider [knows](crate::ProviderInfo::context).
    pub context_tokens: Option<u64>,
    /// The id of the host's request, which the run's events, journal rows and spans carry.
    pub correlation_id: Option<Arc<str>>,
    /// The name of the agent in spans. A sub-agent has its path instead.
    pub agent_name: Option<Arc<str>>,
}

impl Default for RunOptions {
    /// Returns options with at most [`DEFAULT_MAX_STEPS`] steps and the default [`RepeatLimits`].
    fn default() -> Self {
        let limits = BudgetLimits {
            steps: Some(DEFAULT_MAX_STEPS.into()),
            ..BudgetLimits::default()
        };
        Self {
            limits,
            repeats: RepeatLimits::default(),
            price: None,
            context_tokens: None,
            correlation_id: None,
            agent_name: None,
        }
    }
}
