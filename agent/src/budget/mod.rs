//! [`Budget`]: bounds what a run and its children may use together.

mod exhausted;
mod limits;
mod spending;
mod time;
mod window;

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use tokio::time::Instant;
use tools::IgnorePoison as _;
use tools::call::PersonClock;

use crate::provider::Cost;

pub use self::exhausted::{BudgetError, BudgetScope, Exhausted, Resource};
pub use self::limits::BudgetLimits;
pub use self::spending::Spending;
pub use self::window::{BudgetWindow, OpenedWindow, SharedWindow, WindowFuture};

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
    spent: Counters,
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

/// The counters of a node. Written only under the lock of the tree.
#[derive(Default)]
struct Counters {
    steps: AtomicU64,
    calls: AtomicU64,
    tokens: AtomicU64,
    cost: AtomicU64,
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
        let spent = Counters::from(spent);
        let person_clock = Arc::new(PersonClock::default().with_outer(self.person_clock().clone()));
        Self(Arc::new(Node {
            limits,
            spent,
            started: Instant::now(),
            person_clock,
            parent: Some(self.clone()),
            window: None,
            tree: self.0.tree.clone(),
        }))
    }

    fn root(limits: BudgetLimits, window: Option<Arc<dyn BudgetWindow>>) -> Self {
        Self(Arc::new(Node {
            limits,
            spent: Counters::default(),
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
        self.0.spent.load()
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
            self.count(|spent| spent.subtract(spending));
            return Err(error);
        }
        Ok(())
    }

    /// Counts amounts that are already used, such as the tokens of a turn. Never refuses them.
    ///
    /// # Errors
    /// Returns [`BudgetError::Window`] if the counters of the window cannot be written.
    pub async fn record(&self, spending: Spending) -> Result<(), BudgetError> {
        self.count(|spent| spent.add(spending));
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
        let _tree = self.lock();
        if let Some((end, exhausted)) = self.deadline()
            && Instant::now() >= end
        {
            return Err(exhausted);
        }
        self.chain()
            .try_for_each(|(node, scope)| node.limits.check(node.spent.load(), spending, scope))?;
        self.chain().for_each(|(node, _)| node.spent.add(spending));
        Ok(())
    }

    /// Changes the counters of this budget and all its ancestors.
    fn count(&self, change: impl Fn(&Counters)) {
        let _tree = self.lock();
        self.chain().for_each(|(node, _)| change(&node.spent));
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

impl From<Spending> for Counters {
    fn from(spending: Spending) -> Self {
        let counters = Self::default();
        counters.add(spending);
        counters
    }
}

impl Counters {
    fn load(&self) -> Spending {
        Spending {
            steps: self.steps.load(Ordering::Relaxed),
            calls: self.calls.load(Ordering::Relaxed),
            tokens: self.tokens.load(Ordering::Relaxed),
            cost: Cost::from_nanos(self.cost.load(Ordering::Relaxed)),
        }
    }

    fn add(&self, spending: Spending) {
        self.store(self.load().saturating_add(spending));
    }

    fn subtract(&self, spending: Spending) {
        self.store(self.load().saturating_sub(spending));
    }

    fn store(&self, spending: Spending) {
        self.steps.store(spending.steps, Ordering::Relaxed);
        self.calls.store(spending.calls, Ordering::Relaxed);
        self.tokens.store(spending.tokens, Ordering::Relaxed);
        self.cost.store(spending.cost.nanos(), Ordering::Relaxed);
    }
}
