//! [`Spending`]: amounts of the resources of a budget.

use serde::{Deserialize, Serialize};

use crate::provider::Cost;

/// Amounts of the resources that runs use, except time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Spending {
    /// Requests to the provider. Each continuation of a turn that the service paused is one.
    pub steps: u64,
    /// Calls that the model makes.
    pub calls: u64,
    /// Tokens that the model reads and writes.
    pub tokens: u64,
    /// The price of the tokens.
    pub cost: Cost,
}

impl Spending {
    /// Returns an amount of steps.
    pub fn steps(steps: u64) -> Self {
        Self {
            steps,
            ..Self::default()
        }
    }

    /// Returns an amount of calls.
    pub fn calls(calls: u64) -> Self {
        Self {
            calls,
            ..Self::default()
        }
    }

    /// Returns an amount of tokens and their price.
    pub fn tokens(tokens: u64, cost: Cost) -> Self {
        Self {
            tokens,
            cost,
            ..Self::default()
        }
    }

    /// Returns the sum, at most `u64::MAX` of each resource.
    #[must_use]
    pub fn saturating_add(self, other: Self) -> Self {
        Self {
            steps: self.steps.saturating_add(other.steps),
            calls: self.calls.saturating_add(other.calls),
            tokens: self.tokens.saturating_add(other.tokens),
            cost: Cost::from_nanos(self.cost.nanos().saturating_add(other.cost.nanos())),
        }
    }

    /// Returns the difference, at least 0 of each resource.
    pub(super) fn saturating_sub(self, other: Self) -> Self {
        Self {
            steps: self.steps.saturating_sub(other.steps),
            calls: self.calls.saturating_sub(other.calls),
            tokens: self.tokens.saturating_sub(other.tokens),
            cost: Cost::from_nanos(self.cost.nanos().saturating_sub(other.cost.nanos())),
        }
    }
}
