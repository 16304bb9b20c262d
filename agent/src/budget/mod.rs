//! [`Budget`]: bounds what a run and its children may use together.

mod exhausted;
mod time;

use std::error::Error;
use std::fmt;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::time::Instant;
use tools::call::PersonClock;
use tools::{IgnorePoison as _, ToolContext};

use crate::provider::Cost;

pub use self::exhausted::{BudgetError, BudgetScope, Exhausted, Resource};

/// The resources that a run and all its children may use together: steps, calls, tokens, money and time.
///
/// A run charges its budget, and with it the budgets of all its ancestors. So a child has its own limits *and* the rest of each
/// ancestor's. Clones share the budget. The time of a budget starts when it is created, and stands still while a call waits for a person.
///
/// - Steps and calls are [charged](Self::charge) before they happen, so their limits are never exceeded.
/// - Tokens and money are known only after a turn, which [records](Self::record) them. No turn begins once their limit is reached.
///
/// A [`Driver`](crate::Driver) gives each run a budget: a child of the budget that is a service of the session's context, if there is
/// one. It offers the run's budget to the run's calls as a service. So a session in the context of a call shares the budget of the
/// run that made the call.
///
/// ```
/// use agent::{Budget, BudgetLimits, Spending};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let parent = Budget::new(BudgetLimits { calls: Some(3), ..BudgetLimits::default() });
/// let child = parent.child(BudgetLimits { calls: Some(100), ..BudgetLimits::default() });
/// assert!(parent.charge(Spending::calls(2)).await.is_ok());
/// assert!(child.charge(Spending::calls(2)).await.is_err());
/// assert!(child.charge(Spending::calls(1)).await.is_ok());
/// assert_eq!(parent.spent().calls, 3);
/// # }
/// ```
#[derive(Clone)]
pub struct Budget(Arc<Node>);

struct Node {
    limits: BudgetLimits,
    /// Changed only under the lock of the tree.
    spent: Mutex<Spending>,
    started: Instant,
    /// Measures the questions of its runs, those of its descendants included. Its time stands still meanwhile.
    person_clock: Arc<PersonClock>,
    parent: Option<Budget>,
    /// Only a root has one.
    window: Option<Arc<dyn BudgetWindow>>,
    /// Locked while a charge is checked and counted in the whole chain. One lock for the tree, so that a charge that a budget refuses
    /// leaves no trace. A charge that the window refuses is counted until then.
    tree: Arc<Mutex<()>>,
}

impl Budget {
    /// Creates a budget without a parent.
    pub fn new(limits: BudgetLimits) -> Self {
        Self::root(limits, None)
    }

    /// Creates a budget that shares the counters of a window with other processes.
    pub fn from_window(window: Arc<dyn BudgetWindow>) -> Self {
        Self::root(BudgetLimits::default(), Some(window))
    }

    /// Creates a budget whose charges also count for this one and its ancestors.
    #[must_use]
    pub fn child(&self, limits: BudgetLimits) -> Self {
        self.child_with_spent(limits, Spending::default())
    }

    /// Creates a child that has used these amounts before. They count for the child alone.
    pub(crate) fn child_with_spent(&self, limits: BudgetLimits, spent: Spending) -> Self {
        // A question of one child does not stop the time of another, but that of all their ancestors.
        let person_clock = Arc::new(PersonClock::default().with_outer(self.person_clock().clone()));
        Self(Arc::new(Node {
            limits,
            spent: Mutex::new(spent),
            started: Instant::now(),
            person_clock,
            parent: Some(self.clone()),
            window: None,
            tree: self.0.tree.clone(),
        }))
    }

    /// Returns the budget of a call's run. Returns one without limits if the call belongs to no run.
    pub(crate) fn of_call(cx: &ToolContext) -> Self {
        cx.service::<Self>()
            .map_or_else(Self::default, |budget| Self::clone(&budget))
    }

    fn root(limits: BudgetLimits, window: Option<Arc<dyn BudgetWindow>>) -> Self {
        Self(Arc::new(Node {
            limits,
            spent: Mutex::default(),
            started: Instant::now(),
            person_clock: Arc::default(),
            parent: None,
            window,
            tree: Arc::default(),
        }))
    }

    /// Returns the limits of this budget, without those of its ancestors.
    pub fn limits(&self) -> &BudgetLimits {
        &self.0.limits
    }

    /// Returns the amounts that this budget and all its descendants have used.
    pub fn spent(&self) -> Spending {
        *self.0.spent.lock().ignore_poison()
    }

    /// Takes steps or calls from this budget and all its ancestors: all of them, or none if any limit would be exceeded.
    ///
    /// A step is also refused if the tokens or the money are used up. If the future is dropped, the amounts may count although they
    /// were not granted.
    ///
    /// # Errors
    /// - Returns [`BudgetError::Exhausted`] if a limit would be exceeded or the time is over.
    /// - Returns [`BudgetError::Window`] if the counters of the window cannot be read or written.
    pub async fn charge(&self, spending: Spending) -> Result<(), BudgetError> {
        self.take(spending)?;
        if let Some(window) = self.window()
            && let Err(error) = window.charge(spending).await
        {
            // The tree is counted first: the window waits for other processes, and a lock held meanwhile would stop all runs of the tree.
            self.change_spent(self.lock(), |spent| spent.saturating_sub(spending));
            return Err(error);
        }
        Ok(())
    }

    /// Counts amounts that are already used, such as the tokens of a turn. Never refuses them.
    ///
    /// # Errors
    /// Returns [`BudgetError::Window`] if the counters of the window cannot be written.
    pub async fn record(&self, spending: Spending) -> Result<(), BudgetError> {
        self.change_spent(self.lock(), |spent| spent.saturating_add(spending));
        match self.window() {
            Some(window) => window.record(spending).await,
            None => Ok(()),
        }
    }

    /// Returns true if the budget, an ancestor or a window may limit tokens or money.
    pub(crate) fn counts_tokens(&self) -> bool {
        let limits = |node: &Node| {
            node.limits.tokens.is_some() || node.limits.cost.is_some() || node.window.is_some()
        };
        self.chain().any(|(node, _)| limits(node))
    }

    fn take(&self, spending: Spending) -> Result<(), Exhausted> {
        let tree = self.lock();
        if let Some((end, exhausted)) = self.deadline()
            && Instant::now() >= end
        {
            return Err(exhausted);
        }
        self.chain().try_for_each(|(node, scope)| {
            let spent = *node.spent.lock().ignore_poison();
            node.limits.check(spent, spending, scope)
        })?;
        self.change_spent(tree, |spent| spent.saturating_add(spending));
        Ok(())
    }

    /// Changes the amounts of this budget and all its ancestors, under the lock of the tree.
    fn change_spent(&self, _tree: impl Drop, change: impl Fn(Spending) -> Spending) {
        for (node, _) in self.chain() {
            let mut spent = node.spent.lock().ignore_poison();
            *spent = change(*spent);
        }
    }

    fn lock(&self) -> impl Drop {
        self.0.tree.lock().ignore_poison()
    }

    fn window(&self) -> Option<&Arc<dyn BudgetWindow>> {
        self.chain().find_map(|(node, _)| node.window.as_ref())
    }

    /// Returns the nodes from this budget to the root.
    fn chain(&self) -> impl Iterator<Item = (&Node, BudgetScope)> {
        let mut next = Some((self, BudgetScope::Run));
        std::iter::from_fn(move || {
            let (Budget(node), scope) = next.take()?;
            next = node
                .parent
                .as_ref()
                .map(|parent| (parent, BudgetScope::Parent));
            Some((&**node, scope))
        })
    }
}

impl Default for Budget {
    /// Returns a budget without limits.
    fn default() -> Self {
        Self::new(BudgetLimits::default())
    }
}

impl fmt::Debug for Budget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = f.debug_struct("Budget");
        debug
            .field("limits", &self.0.limits)
            .field("spent", &self.spent())
            .field("parent", &self.0.parent)
            .finish()
    }
}

/// The future of a window's operation.
pub type WindowFuture<'a> = Pin<Box<dyn Future<Output = Result<(), BudgetError>> + Send + 'a>>;

/// Counters with limits that several sessions and processes share, such as those of a day.
pub trait BudgetWindow: Send + Sync {
    /// Counts steps or calls: all of them, or none if a limit would be exceeded.
    ///
    /// The future returns the errors of [`Budget::charge`](Budget::charge).
    fn charge(&self, spending: Spending) -> WindowFuture<'_>;

    /// Counts amounts that are already used. Never refuses them.
    ///
    /// The future returns the errors of [`Budget::record`](Budget::record).
    fn record(&self, spending: Spending) -> WindowFuture<'_>;
}

/// The opened counters, or the reason that they cannot be opened.
pub type OpenedWindow = Result<Arc<dyn BudgetWindow>, Box<dyn Error + Send + Sync>>;

/// Opens the counters that all sessions of a user share, with limits for a day and for a month: a service of a program that keeps counts.
#[derive(Clone, Copy, Debug)]
pub struct SharedWindow(pub fn(BudgetLimits, BudgetLimits) -> OpenedWindow);

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
                // A step has at least some cost, so that none begins once the limit is reached.
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
