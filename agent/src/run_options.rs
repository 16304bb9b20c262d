//! [`RunOptions`]: the settings of a run.

use std::sync::Arc;

use crate::budget::BudgetLimits;
use crate::repeat::RepeatLimits;

/// The default step limit of a run.
pub const DEFAULT_MAX_STEPS: u32 = 50;

/// The settings of the runs of a [`Driver`](crate::Driver). Clone the driver to give a single run its own.
#[derive(Clone, Debug)]
pub struct RunOptions {
    /// The limits of each run, in addition to those of the [budget](crate::Budget) in the session's context.
    pub limits: BudgetLimits,
    /// The reactions to repeated calls.
    pub repeats: RepeatLimits,
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
            context_tokens: None,
            correlation_id: None,
            agent_name: None,
        }
    }
}

/// The service of `agent.spawn`: a session whose context has it may start sub-agents, within these limits.
///
/// A sub-agent runs inside of the call that starts it, with the provider of the run. It has at most the tools, the grant and the
/// budget of the agent that starts it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SubAgents {
    /// The number of levels. Defaults to 2: a sub-agent may start sub-agents, which may start none. The pipeline's limit of nested
    /// calls holds too.
    pub max_depth: usize,
}

impl Default for SubAgents {
    fn default() -> Self {
        Self { max_depth: 2 }
    }
}
