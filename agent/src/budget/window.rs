//! [`BudgetWindow`]: counters that several processes share.

use std::error::Error;
use std::pin::Pin;
use std::sync::Arc;

use super::{BudgetError, BudgetLimits, Spending};

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

/// The opened counters, or the reason that they cannot be opened.
pub type OpenedWindow = Result<Arc<dyn BudgetWindow>, Box<dyn Error + Send + Sync>>;

/// Opens the counters that all sessions of a user share, with limits for a day and for a month: a service of a program that keeps counts.
#[derive(Clone, Copy, Debug)]
pub struct SharedWindow(pub fn(BudgetLimits, BudgetLimits) -> OpenedWindow);
