//! [`RunOptions`]: the settings of a run.

use std::sync::Arc;

use crate::{BudgetLimits, Price, RepeatLimits};

/// The default step limit of a run.
pub const DEFAULT_MAX_STEPS: u32 = 50;

/// The settings of the runs of a [`Driver`](crate::Driver). Clone the driver to give a single run its own.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct RunOptions {
    /// The limits of each run, in addition to those of the [budget](crate::Budget) in the session's context.
    pub limits: BudgetLimits,
    /// The reactions to repeated calls.
    pub repeats: RepeatLimits,
    /// The price of the provider's model. Without one, a run costs nothing.
    pub price: Option<Price>,
    /// The tokens of the model's context. `None` means those that the provider [knows](crate::Provider::context_tokens).
    pub context_tokens: Option<u64>,
    /// The id of the host's request, which the run's events, journal rows and spans carry.
    pub correlation_id: Option<Arc<str>>,
    /// The name of the agent in spans. A sub-agent has its path instead.
    pub agent_name: Option<Arc<str>>,
}

impl RunOptions {
    /// Creates the default options: at most [`DEFAULT_MAX_STEPS`] steps and the default [`RepeatLimits`].
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the limits of each run.
    #[must_use]
    pub fn with_limits(mut self, limits: BudgetLimits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets the reactions to repeated calls.
    #[must_use]
    pub fn with_repeats(mut self, repeats: RepeatLimits) -> Self {
        self.repeats = repeats;
        self
    }

    /// Sets the price of the provider's model.
    #[must_use]
    pub fn with_price(mut self, price: Price) -> Self {
        self.price = Some(price);
        self
    }

    /// Sets the tokens of the model's context. Conversations are [compacted](crate::Event::Compacted) before they fill it.
    #[must_use]
    pub fn with_context_tokens(mut self, tokens: u64) -> Self {
        self.context_tokens = Some(tokens);
        self
    }

    /// Sets the id of the host's request.
    #[must_use]
    pub fn with_correlation_id(mut self, id: impl Into<Arc<str>>) -> Self {
        self.correlation_id = Some(id.into());
        self
    }

    /// Sets the name of the agent in spans.
    #[must_use]
    pub fn with_agent_name(mut self, name: impl Into<Arc<str>>) -> Self {
        self.agent_name = Some(name.into());
        self
    }
}

impl Default for RunOptions {
    fn default() -> Self {
        let limits = BudgetLimits::new().with_steps(DEFAULT_MAX_STEPS.into());
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
