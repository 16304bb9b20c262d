//! Lint: checks tools against the house rules and against the formats of all services.
//!
//! `toolcrib lint` prints the faults of the linked tools. In a test of a crate, `HouseRules` of `toolcrib-testkit` asserts that there
//! are none.

mod examples;
mod fault;
mod schema;
mod wording;

use std::sync::Arc;

use protocol::wire::{Format, Strictness};
use protocol::{Effects, Tool};
use serde_json::Value;

use crate::catalog::Catalog;
use crate::context::Host;
use crate::entry::Entry;
use crate::register_error::RegisterError;

pub use fault::{Fault, LintRule, Severity};

/// The checks of all tools in a catalog. [`LintRule`] lists the rules.
///
/// ```
/// use serde_json::{Value, json};
/// use tools::lint::{Lint, LintRule, Severity};
/// use tools::{Catalog, Effects, Tool, ToolContext};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let schema = json!({"type": "object", "additionalProperties": false});
/// let tool = Tool::new("text.count", "Counts.", schema)?.with_effects(Effects::Pure);
/// let mut catalog = Catalog::new();
/// catalog.register(tool, async |_: ToolContext, _: Value| Ok::<_, String>(()))?;
///
/// let faults = Lint::default().check(&catalog).await;
/// assert_eq!(faults.len(), 1);
/// assert_eq!((faults[0].rule, faults[0].severity), (LintRule::Example, Severity::Warning));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default)]
pub struct Lint {
    /// The prefix with which each name begins, before a dot: `fs` for `fs.read`.
    pub prefix: Option<String>,
    /// The rules that are not checked.
    pub waived: Vec<LintRule>,
    /// The host with which examples of pure tools run. Without one, only those of tools that need no services run.
    pub host: Option<Host>,
}

impl Lint {
    /// Checks all tools and returns every fault, sorted by tool. Runs each example of a pure tool twice.
    pub async fn check(&self, catalog: &Catalog) -> Vec<Fault> {
        let mut faults = unusable(catalog);
        let scope = Arc::new(catalog.clone());
        let entries = catalog.list();
        wording::check_similar(&entries, &mut faults);
        for entry in &entries {
            wording::check(&entries, entry, self.prefix.as_deref(), &mut faults);
            schema::check(entry, &mut faults);
            check_wires(entry, &mut faults);
            if entry.tool().effects.is_undeclared() {
                let message = "it declares no effects; declare them, such as with Effects::Pure";
                faults.push(Fault::warning(entry, LintRule::Effects, message));
            }
            faults.extend(list_unnamed(entry).map(|argument| {
                let message = format!(
                    "no template names `{argument}`; a call with an address, a URL or a path there is asked about"
                );
                Fault::warning(entry, LintRule::Effects, message)
            }));
            examples::check(&scope, self.host.as_ref(), entry, &mut faults).await;
        }
        faults.retain(|fault| !self.waived.contains(&fault.rule));
        faults.sort_by(|one, other| one.tool.cmp(&other.tool));
        faults
    }
}

/// Returns the arguments that the user's effects of a writing tool do not name, and that may hold an address, a URL or a path.
fn list_unnamed(entry: &Entry) -> impl Iterator<Item = &String> {
    let Tool {
        effects,
        parameters,
        ..
    } = entry.tool();
    let declared = match effects {
        Effects::Declared(declared) if declared.foreign && !effects.is_read_only() => {
            Some(declared)
        }
        _ => None,
    };
    let arguments = parameters
        .get("properties")
        .and_then(Value::as_object)
        .into_iter()
        .flat_map(|names| names.keys());
    declared
        .into_iter()
        .flat_map(move |declared| arguments.clone().filter(move |name| !declared.names(name)))
}

/// Returns the tools that the catalog holds but cannot run. Examples are checked one by one elsewhere.
fn unusable(catalog: &Catalog) -> Vec<Fault> {
    let problems = catalog.problems();
    let problems = problems
        .iter()
        .filter(|problem| !matches!(problem.error, RegisterError::Example { .. }));
    let conflicts = catalog.conflicts();
    let conflicts = conflicts
        .iter()
        .map(|it| Fault::from_conflict(&it.name, &it.sources, it.to_string()));
    problems.map(Fault::from_problem).chain(conflicts).collect()
}

/// Reports the formats in which a tool cannot be sent.
fn check_wires(entry: &Entry, faults: &mut Vec<Fault>) {
    for format in Format::ALL {
        if let Err(reason) = entry.wire(format, Strictness::Relaxed) {
            let message = format!("it cannot be sent as {format}: {reason}");
            faults.push(Fault::error(entry, LintRule::Wire, message));
        }
    }
}
