//! [`HouseRules`]: checks all tools of a crate at once.

mod examples;
mod fault;
mod schema;
mod wording;

use tools::{Catalog, Entry, RegisterError, ToolContext};

use crate::IntoCatalog;

pub use fault::{Fault, Rule};

/// The rules for tools that a model chooses and calls. [`Rule`] lists them.
///
/// ```
/// use tools::tool;
/// use tools_testkit::{HouseRules, Rule};
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
/// assert_eq!(faults[0].rule, Rule::Example);
/// assert!(faults[0].to_string().ends_with("it has no example; add one with example(…)"));
///
/// HouseRules::new().without(Rule::Example).assert(&[&COUNT_TOOL]);
/// ```
#[derive(Clone, Debug, Default)]
pub struct HouseRules {
    prefix: Option<String>,
    waived: Vec<Rule>,
    cx: ToolContext,
}

impl HouseRules {
    /// Creates the rules without a prefix.
    pub fn new() -> Self {
        Self::default()
    }

    /// Requires that each name begins with this prefix and a dot: `fs` for `fs.read`.
    #[must_use]
    pub fn with_prefix(mut self, prefix: impl Into<String>) -> Self {
        self.prefix = Some(prefix.into());
        self
    }

    /// Sets the context in which examples of pure tools run. The default has no services.
    #[must_use]
    pub fn with_context(mut self, cx: ToolContext) -> Self {
        self.cx = cx;
        self
    }

    /// Waives a rule.
    #[must_use]
    pub fn without(mut self, rule: Rule) -> Self {
        self.waived.push(rule);
        self
    }

    /// Checks all tools and returns every fault, sorted by tool. Runs each example of a pure tool twice.
    pub fn check(&self, tools: impl IntoCatalog) -> Vec<Fault> {
        let (catalog, errors) = tools.into_catalog();
        let mut faults: Vec<Fault> = errors.iter().map(Fault::from_error).collect();
        faults.extend(unusable(&catalog));
        for entry in catalog.list() {
            wording::check(&catalog, &entry, self.prefix.as_deref(), &mut faults);
            schema::check(&entry, &mut faults);
            if entry.tool().effects.is_undeclared() {
                let message = "it declares no effects; declare them, such as with Effects::Pure";
                faults.push(Fault::new(&entry, Rule::Effects, message));
            }
            self.check_examples(&catalog, &entry, &mut faults);
        }
        faults.retain(|fault| !self.waived.contains(&fault.rule));
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
        assert!(faults.is_empty(), "faults against the house rules ({}):\n{}", faults.len(), faults.join("\n"));
    }
}

/// Returns the tools that the catalog holds but cannot run. Examples are checked one by one elsewhere.
fn unusable(catalog: &Catalog) -> Vec<Fault> {
    let problems = catalog.problems();
    let problems = problems.iter().filter(|problem| !matches!(problem.error, RegisterError::Example { .. }));
    let conflicts = catalog.conflicts();
    let conflicts = conflicts.iter().map(|conflict| Fault {
        rule: Rule::Name,
        tool: conflict.name.to_string(),
        source: conflict.sources.first().cloned(),
        message: conflict.to_string(),
    });
    problems.map(Fault::from_problem).chain(conflicts).collect()
}

impl Fault {
    fn new(entry: &Entry, rule: Rule, message: impl Into<String>) -> Self {
        let (tool, source) = (entry.name().to_string(), Some(entry.source().clone()));
        Self { rule, tool, source, message: message.into() }
    }
}
