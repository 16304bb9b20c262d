//! [`Exhausted`]: the limit that ended a run.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::provider::Cost;

/// A limit of a budget that is used up.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exhausted {
    /// The resource. Runs of earlier versions knew steps alone.
    #[serde(default)]
    pub resource: Resource,
    /// The limit: of time in milliseconds, of money in [nanos](Cost::nanos).
    #[serde(alias = "max_steps")]
    pub limit: u64,
    /// The budget that has the limit.
    #[serde(default)]
    pub scope: BudgetScope,
}

/// A resource of a budget.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Resource {
    /// Requests to the provider.
    #[default]
    Steps,
    /// Calls that the model makes.
    Calls,
    /// Tokens that the model reads and writes.
    Tokens,
    /// The price of the tokens.
    Cost,
    /// Wall time.
    Time,
}

/// The budget that has a limit, as seen from the run that it ended.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum BudgetScope {
    /// The run's own budget.
    #[default]
    Run,
    /// The budget of an ancestor of the run.
    Parent,
    /// The named window, such as `day`, which all sessions share.
    Window(String),
}

/// An error in charging a budget.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BudgetError {
    /// A limit is used up.
    #[error(transparent)]
    Exhausted(#[from] Exhausted),
    /// The counters of a window cannot be read or written.
    #[error("cannot count for the shared budget: {reason}")]
    Window {
        /// The problem and the next step.
        reason: String,
    },
}

impl Exhausted {
    pub(super) fn time(limit: Duration, scope: BudgetScope) -> Self {
        let limit = u64::try_from(limit.as_millis()).unwrap_or(u64::MAX);
        Self {
            resource: Resource::Time,
            limit,
            scope,
        }
    }
}

impl std::error::Error for Exhausted {}

/// Formats as `the run's budget of 50 steps is used up`.
impl fmt::Display for Exhausted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.scope {
            BudgetScope::Run => f.write_str("the run's budget of ")?,
            BudgetScope::Parent => f.write_str("the budget of a parent run of ")?,
            BudgetScope::Window(name) => write!(f, "the {name}'s budget of ")?,
        }
        let unit = |one, many| if self.limit == 1 { one } else { many };
        match self.resource {
            Resource::Steps => write!(f, "{} {}", self.limit, unit("step", "steps")),
            Resource::Calls => write!(f, "{} {}", self.limit, unit("call", "calls")),
            Resource::Tokens => write!(f, "{} {}", self.limit, unit("token", "tokens")),
            Resource::Cost => write!(f, "{} for tokens", Cost::from_nanos(self.limit)),
            Resource::Time => write!(f, "{:?}", Duration::from_millis(self.limit)),
        }?;
        f.write_str(" is used up")
    }
}
