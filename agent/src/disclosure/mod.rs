//! [`Disclosure`]: the tools of a session that requests offer, and those that the model finds.

mod cost;
mod definition;
mod finder;
mod hidden;
mod own;
mod state;

use std::num::NonZeroU32;

use crate::selection::Selection;

pub use self::cost::DefinitionCosts;
pub(crate) use self::definition::definition;
pub use self::finder::{FoundTool, ToolFinder, ToolSearch};
pub(crate) use self::hidden::Hidden;
pub(crate) use self::own::is_of_search;
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
