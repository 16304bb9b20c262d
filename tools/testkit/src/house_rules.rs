//! [`HouseRules`]: checks all tools of a crate at once.

use std::{panic, thread};

use tools::Host;
use tools::lint::{Fault, Lint, LintRule};

use crate::host::runtime;
use crate::into_catalog::IntoCatalog;

/// The rules for tools that a model chooses and calls, which [`LintRule`] lists. `toolcrib lint --deny warnings` checks the same.
///
/// ```
/// use tools::tool;
/// use tools_testkit::{HouseRules, LintRule};
///
/// /// Counts the words of a text.
/// #[tool(name = "text.count", pure)]
/// fn count(
///     /// The text.
///     text: String,
/// ) -> usize {
///     text.split_whitespace().count()
/// }
///
/// let faults = HouseRules::new().with_prefix("text").check(&[&COUNT_TOOL]);
/// assert_eq!(faults.len(), 1);
/// assert_eq!(faults[0].rule, LintRule::Example);
/// assert!(faults[0].to_string().ends_with("it has no example; add one with example(…)"));
///
/// HouseRules::new().without(LintRule::Example).assert(&[&COUNT_TOOL]);
/// ```
#[derive(Clone, Debug)]
pub struct HouseRules {
    lint: Lint,
}

impl HouseRules {
    /// Creates the rules without a prefix.
    pub fn new() -> Self {
        Self {
            lint: Lint {
                host: Some(Host::new()),
                ..Lint::default()
            },
        }
    }

    /// Requires that each name begins with this prefix and a dot: `fs` for `fs.read`.
    #[must_use]
    pub fn with_prefix(mut self, prefix: impl Into<String>) -> Self {
        self.lint.prefix = Some(prefix.into());
        self
    }

    /// Sets the host with which examples of pure tools run. The default has no services.
    #[must_use]
    pub fn with_host(mut self, host: Host) -> Self {
        self.lint.host = Some(host);
        self
    }

    /// Waives a rule.
    #[must_use]
    pub fn without(mut self, rule: LintRule) -> Self {
        self.lint.waived.push(rule);
        self
    }

    /// Checks all tools and returns every fault, sorted by tool. Runs each example of a pure tool twice.
    pub fn check(&self, tools: impl IntoCatalog) -> Vec<Fault> {
        let (catalog, errors) = tools.into_catalog();
        // A thread of its own, so that an async test can check the rules as well.
        let check = || runtime().block_on(self.lint.check(&catalog));
        let checked = thread::scope(|scope| scope.spawn(check).join());
        let mut faults = checked.unwrap_or_else(|panic| panic::resume_unwind(panic));
        faults.extend(
            errors
                .iter()
                .map(Fault::from_error)
                .filter(|fault| !self.lint.waived.contains(&fault.rule)),
        );
        faults.sort_by(|one, other| one.tool.cmp(&other.tool));
        faults
    }

    /// Checks all tools.
    ///
    /// # Panics
    /// Panics with a list of every fault if there is one.
    #[track_caller]
    pub fn assert(&self, tools: impl IntoCatalog) {
        let faults: Vec<_> = self.check(tools).iter().map(ToString::to_string).collect();
        assert!(
            faults.is_empty(),
            "faults against the house rules ({}):\n{}",
            faults.len(),
            faults.join("\n")
        );
    }
}

impl Default for HouseRules {
    fn default() -> Self {
        Self::new()
    }
}
