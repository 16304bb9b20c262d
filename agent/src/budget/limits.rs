//! [`BudgetLimits`]: the most that a budget allows.

use std::time::Duration;

use super::{BudgetScope, Exhausted, Resource, Spending};
use crate::provider::Cost;

/// The most of each resource that a budget allows. `None` means no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BudgetLimits {
    /// The most requests to the provider.
    pub steps: Option<u64>,
    /// The most calls that the model makes.
    pub calls: Option<u64>,
    /// The tokens, read and written by all requests together, after which no turn begins. Cached ones count. Each request reads the whole
    /// conversation again, and the last turn may exceed the limit.
    pub tokens: Option<u64>,
    /// The cost after which no turn begins.
    pub cost: Option<Cost>,
    /// The time from the creation of the budget, after which the run is stopped. It stands still while a call waits for an approval or
    /// for the answer to a question. The deadline of the session's context does not.
    pub time: Option<Duration>,
}

impl BudgetLimits {
    /// Checks the counted resources. A limit that is reached refuses further steps, whichever resource it bounds.
    ///
    /// # Errors
    /// Returns the first limit that would be exceeded.
    pub fn check(
        &self,
        spent: Spending,
        spending: Spending,
        scope: BudgetScope,
    ) -> Result<(), Exhausted> {
        let resources = [
            (Resource::Steps, self.steps, spent.steps, spending.steps),
            (Resource::Calls, self.calls, spent.calls, spending.calls),
            // The tokens of a step are not known before it.
            (
                Resource::Tokens,
                self.tokens,
                spent.tokens,
                spending.tokens.max(spending.steps),
            ),
            (
                Resource::Cost,
                self.cost.map(Cost::nanos),
                spent.cost.nanos(),
                spending.cost.nanos().max(spending.steps),
            ),
        ];
        for (resource, limit, spent, amount) in resources {
            if let Some(limit) = limit
                && amount > 0
                && spent.saturating_add(amount) > limit
            {
                return Err(Exhausted {
                    resource,
                    limit,
                    scope,
                });
            }
        }
        Ok(())
    }
}
