//! [`Disclosure`]: the tools of a session that requests offer, and those that the model finds.

mod cost;
mod finder;
mod state;

use std::any::TypeId;
use std::collections::BTreeSet;
use std::num::NonZeroU32;

use serde_json::json;
use tools::protocol::canonical_json;
use tools::{Entry, ToolContext, ToolName};

use crate::found::{SEARCHER, found};
use crate::inner_call::CALLER;
use crate::{PendingCall, Run, Selection, ToolSet, WireToolSet};

pub use self::cost::DefinitionCosts;
pub use self::finder::{FoundTool, ToolFinder, ToolSearch};
pub(crate) use self::state::SessionDisclosure;

/// The tools of a session whose definitions a request has.
///
/// ```
/// use agent::{Disclosure, DisclosureBudget, Selection};
///
/// let always = Selection::parse(["fs.*", "user.ask"])?;
/// let budget = DisclosureBudget { tools: 40, ..DisclosureBudget::default() };
/// let disclosure = Disclosure::Search { always, budget };
/// # Ok::<(), agent::InvalidSelection>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Disclosure {
    /// Requests offer every tool.
    All,
    /// Requests offer every tool within the budget. Above it, they offer the tools of `always`, `tools.search`, which finds the others, and
    /// `tools.call`, which calls them.
    ///
    /// A provider without a model is offered every tool. So is one for which a search would cost more tokens. The tool that the
    /// provider's [tool choice](crate::ToolChoice::Tool) names is always offered.
    Search {
        /// The tools that are offered in any case.
        always: Selection,
        /// The limits of the definitions and of searches.
        budget: DisclosureBudget,
    },
}

impl Default for Disclosure {
    /// Searches above the default [budget](DisclosureBudget), without tools that are offered in any case.
    fn default() -> Self {
        Self::Search {
            always: Selection::none(),
            budget: DisclosureBudget::default(),
        }
    }
}

/// The default of [`DisclosureBudget::found_turns`].
const FOUND_TURNS: NonZeroU32 = NonZeroU32::new(20).unwrap();

/// The limits of a [`Disclosure::Search`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DisclosureBudget {
    /// The most tools that are all offered. 0 makes every session search that spares tokens so. Defaults to 64.
    pub tools: usize,
    /// The most tokens of the definitions that are all offered, in percent of the model's context. A number above 100 is 100. Has no
    /// effect if the context is unknown. Defaults to 10.
    pub context_percent: u8,
    /// The most tokens of the definitions in the result of a search. Defaults to 4,000.
    pub search_tokens: u64,
    /// The number of model turns after which a found tool is forgotten. A call of the tool begins them anew. Defaults to 20.
    pub found_turns: NonZeroU32,
}

impl Default for DisclosureBudget {
    fn default() -> Self {
        Self {
            tools: 64,
            context_percent: 10,
            search_tokens: 4_000,
            found_turns: FOUND_TURNS,
        }
    }
}

/// Looks at the calls of a turn when it arrives.
pub(crate) struct Hidden<'a> {
    pub(crate) tools: &'a ToolSet,
    /// The form in which the model knows the tools.
    pub(crate) wire: Option<&'a WireToolSet>,
    pub(crate) cx: &'a ToolContext,
    pub(crate) found_turns: u32,
}

impl Hidden<'_> {
    /// Refuses calls of tools that the model has not seen, with their definitions.
    ///
    /// Decided once, when the turn arrives: a pending call of a stored run may have run already, and its journal has the outcome.
    pub(crate) fn refuse_unseen(&self, run: &mut Run, calls: Vec<PendingCall>) {
        let mut seen = None;
        for PendingCall { call, .. } in calls {
            if self.tools.inner_call(&call).is_none()
                && let Some(entry) = self
                    .tools
                    .hidden(&call.name)
                    .filter(|entry| !is_of_search(entry))
                && !seen
                    .get_or_insert_with(|| self.seen(run))
                    .contains(entry.name())
            {
                run.refuse(&call.id, self.answer(&entry));
            }
        }
    }

    /// Returns the names of the tools that the model has found. It may have called them by former names.
    fn seen(&self, run: &Run) -> BTreeSet<ToolName> {
        let found = found(run.messages(), self.found_turns).into_iter();
        found
            .filter_map(|name| Some(self.tools.get(&name).ok()?.name().clone()))
            .collect()
    }

    /// Returns the answer to a call of a tool that the model has not seen.
    fn answer(&self, entry: &Entry) -> String {
        let [name, caller] = [entry.name().as_str(), CALLER].map(|name| self.cx.spelling(name));
        format!(
            "the call of {name} was not run, because no recent search or call has shown its definition. It follows; check the arguments, and \
             make the call again. If {name} is not among your tools, make it with {caller}:\n{}",
            definition(entry, self.wire)
        )
    }
}

/// Returns true if this is `tools.search` or `tools.call`, neither another tool of its name nor one that finds tools as they do.
pub(crate) fn is_of_search(entry: &Entry) -> bool {
    let is_named = entry.name() == SEARCHER || entry.name() == CALLER;
    is_named
        && entry
            .needs()
            .iter()
            .any(|need| need.id() == TypeId::of::<ToolFinder>())
}

/// Returns the name, the description and the parameters of a tool as JSON text, in the form in which the model knows it.
pub(crate) fn definition(entry: &Entry, wire: Option<&WireToolSet>) -> String {
    described(entry, wire, &entry.tool().description)
}

/// Returns the definition with this description.
pub(super) fn described(entry: &Entry, wire: Option<&WireToolSet>, description: &str) -> String {
    let (own, wire) = (entry.tool(), wire.and_then(|wire| wire.get(entry.name())));
    let name = wire.map_or(own.name.as_str(), |wire| &wire.name);
    let parameters = wire.map_or(&own.parameters, |wire| &wire.parameters);
    let (name, description, parameters) =
        (json!(name), json!(description), canonical_json(parameters));
    format!(r#"{{"name":{name},"description":{description},"parameters":{parameters}}}"#)
}
