//! [`SharedWindows`]: budgets that all sessions of the user share, counted in the state folder.

use std::error::Error;
use std::sync::Arc;

use agent::{
    BudgetError, BudgetLimits, BudgetScope, BudgetWindow, Cost, Exhausted, SharedWindow, Spending,
    WindowFuture,
};
use host::folders;
use jiff::Timestamp;
use tokio::task::spawn_blocking;
use tools_journal::{CounterKey, SharedCounters};
use tools_store::private;

use crate::error::SessionError;

/// The file in the state folder.
const FILE: &str = "budget.counters";

/// The counted resources, in the order of a window's counters.
const RESOURCES: [&str; 4] = ["steps", "calls", "tokens", "cost"];

/// The period and the limits of a window.
struct Window {
    name: &'static str,
    /// The format of the name of a period.
    format: &'static str,
    limits: BudgetLimits,
}

/// Windows with counters in a file. Days and months are those of UTC, so that a change of the time zone skips and repeats none.
struct SharedWindows {
    counters: Arc<SharedCounters>,
    windows: Arc<[Window]>,
}

/// Opens the counters of all sessions of the user.
pub(crate) const SHARED: SharedWindow =
    SharedWindow(|day, month| Ok(Arc::new(SharedWindows::open(day, month)?)));

impl SharedWindows {
    /// Opens the counters. The state folder is created if it is missing.
    fn open(day: BudgetLimits, month: BudgetLimits) -> Result<Self, Box<dyn Error + Send + Sync>> {
        let folder = folders::state().ok_or(SessionError::NoHome)?;
        private::prepare_folder(&folder).map_err(SessionError::folder(&folder))?;
        let counters = Arc::new(SharedCounters::open(&folder.join(FILE))?);
        let windows = [("day", "%Y-%m-%d", day), ("month", "%Y-%m", month)].into_iter();
        let windows = windows.map(|(name, format, limits)| Window {
            name,
            format,
            limits,
        });
        let limited = windows.filter(|window| window.limits != BudgetLimits::default());
        let windows = limited.collect();
        Ok(Self { counters, windows })
    }

    /// Adds to the counters of all windows. If `is_checked`, adds nothing if a limit would be exceeded.
    fn add(&self, spending: Spending, is_checked: bool) -> WindowFuture<'_> {
        let counters = self.counters.clone();
        let windows = self.windows.clone();
        Box::pin(async move {
            // The counters wait for a lock that other processes hold.
            let updated = spawn_blocking(move || {
                let now = Timestamp::now();
                let keys = windows.iter().flat_map(|window| keys(window, now));
                let keys: Vec<_> = keys.collect();
                counters.update(&keys, |values| {
                    if is_checked {
                        let counters = windows.iter().zip(values.chunks_exact(RESOURCES.len()));
                        for (window, values) in counters {
                            check(window, spent(values), spending)?;
                        }
                    }
                    for values in values.chunks_exact_mut(RESOURCES.len()) {
                        let sum = spent(values).saturating_add(spending);
                        let sum = [sum.steps, sum.calls, sum.tokens, sum.cost.nanos()];
                        values.copy_from_slice(&sum);
                    }
                    Ok::<(), Exhausted>(())
                })
            });
            Ok(updated.await.map_err(unusable)?.map_err(unusable)??)
        })
    }
}

fn unusable(error: impl ToString) -> BudgetError {
    let reason = error.to_string();
    BudgetError::Window { reason }
}

impl BudgetWindow for SharedWindows {
    fn charge(&self, spending: Spending) -> WindowFuture<'_> {
        self.add(spending, true)
    }

    fn record(&self, spending: Spending) -> WindowFuture<'_> {
        // Work that was done counts even beyond a limit.
        self.add(spending, false)
    }
}

fn check(window: &Window, spent: Spending, spending: Spending) -> Result<(), Exhausted> {
    window
        .limits
        .check(spent, spending, BudgetScope::Window(window.name.to_owned()))
}

fn keys(window: &Window, now: Timestamp) -> [CounterKey; RESOURCES.len()] {
    let period = now.strftime(window.format).to_string();
    RESOURCES.map(|resource| CounterKey {
        name: format!("{}.{resource}", window.name),
        period: period.clone(),
    })
}

fn spent(values: &[u64]) -> Spending {
    match *values {
        [steps, calls, tokens, cost] => Spending {
            steps,
            calls,
            tokens,
            cost: Cost::from_nanos(cost),
        },
        _ => Spending::default(),
    }
}
