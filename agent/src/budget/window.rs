//! [`BudgetWindow`]: counters that several processes share.

use std::pin::Pin;

use super::{BudgetError, Spending};

/// The future of a window's operation.
pub type WindowFuture<'a> = Pin<Box<dyn Future<Output = Result<(), BudgetError>> + Send + 'a>>;

/// Counters with limits that several sessions and processes share, such as those of a day.
pub trait BudgetWindow: Send + Sync {
    /// Counts steps or calls: all of them, or none if a limit would be exceeded.
    ///
    /// The future returns the errors of [`Budget::charge`](super::Budget::charge).
    fn charge(&self, spending: Spending) -> WindowFuture<'_>;

    /// Counts amounts that are already used. Never refuses them.
    ///
    /// The future returns the errors of [`Budget::record`](super::Budget::record).
    fn record(&self, spending: Spending) -> WindowFuture<'_>;
}
