//! [`SessionDisclosure`]: the disclosure of one session.

use std::sync::{Arc, OnceLock};

use tools::{Entry, ToolContext};

use super::cost::{is_search, tokens};
use crate::disclosure::{DefinitionCosts, Disclosure, DisclosureBudget, ToolFinder};
use crate::provider::{ProviderInfo, ToolChoice};
use crate::tool_set::ToolSet;

/// The disclosure of one session.
#[derive(Clone, Debug, Default)]
pub(crate) struct SessionDisclosure {
    pub(crate) disclosure: Disclosure,
    /// `tools.search` and `tools.call`, if the catalog of the session has them.
    of_search: Vec<Arc<Entry>>,
    narrowed: OnceLock<Narrowed>,
}

/// The tools of a session with those that a search offers.
#[derive(Clone, Debug)]
struct Narrowed {
    /// The tool of which the provider forces a call.
    forced: Option<String>,
    /// `None` if there can be no search.
    tools: Option<ToolSet>,
}

impl SessionDisclosure {
    /// Sets the [tools of a search](super::is_of_search) of the catalog. The tools of the session are others from now on.
    pub(crate) fn set_search(&mut self, of_search: Vec<Arc<Entry>>) {
        self.of_search = of_search;
        self.of_search.sort_by(|a, b| a.name().cmp(b.name()));
        self.of_search.dedup_by(|a, b| a.name() == b.name());
        self.forget_tools();
    }

    /// Forgets the tools of the session, which are others now.
    pub(crate) fn forget_tools(&mut self) {
        self.narrowed = Default::default();
    }

    fn budget(&self) -> DisclosureBudget {
        match &self.disclosure {
            Disclosure::All => DisclosureBudget::default(),
            Disclosure::Search { budget, .. } => *budget,
        }
    }

    /// Returns the number of turns after which a found tool is forgotten.
    pub(crate) fn found_turns(&self) -> u32 {
        self.budget().found_turns.get()
    }

    /// Returns the session's tools as requests to this provider offer them. Without a model, nothing is to be spared.
    pub(crate) fn offer(
        &self,
        tools: &ToolSet,
        about: &ProviderInfo,
        context_tokens: Option<u64>,
    ) -> ToolSet {
        let disclosure = &self.disclosure;
        if !about.is_metered || *disclosure == Disclosure::All {
            return tools.clone();
        }
        let narrowed = self.narrow(tools, about);
        narrowed
            .filter(|narrowed| is_search(tools, narrowed, disclosure, about, context_tokens))
            .unwrap_or_else(|| tools.clone())
    }

    /// Returns the costs of the session's definitions. Returns `None` if its tools do not permit a search.
    pub(crate) fn costs(
        &self,
        tools: &ToolSet,
        about: &ProviderInfo,
        context_tokens: Option<u64>,
    ) -> Option<DefinitionCosts> {
        let narrowed = self.narrow(tools, about)?;
        Some(DefinitionCosts {
            tools: tools.list_offered().len(),
            tokens: tokens(about, tools),
            search_tools: narrowed.list_offered().len(),
            search_tokens: tokens(about, &narrowed),
            is_search: is_search(tools, &narrowed, &self.disclosure, about, context_tokens),
        })
    }

    /// Adds the finder of the tools to the services of a run's calls, if requests do not offer all of them. It also replaces the finder
    /// that a sub-agent has from its parent, whose tools are not all its own.
    pub(crate) fn enter(&self, cx: ToolContext, tools: &ToolSet) -> ToolContext {
        let is_inherited = cx.depth() > 0 && cx.service::<ToolFinder>().is_some();
        if !tools.is_disclosing() && !is_inherited {
            return cx;
        }
        cx.with_service(ToolFinder::new(tools.clone()).with_budget(self.budget()))
    }

    fn narrow(&self, tools: &ToolSet, about: &ProviderInfo) -> Option<ToolSet> {
        let forced = match &about.generation.tool_choice {
            Some(ToolChoice::Tool(name)) => Some(name),
            _ => None,
        };
        let is_always = |entry: &Entry| match &self.disclosure {
            Disclosure::All => false,
            Disclosure::Search { always, .. } => always.matches(entry),
        };
        let is_forced =
            |entry: &Entry| forced.is_some_and(|forced| entry.name() == forced.as_str());
        let narrow = || {
            // Tools that are found and cannot be called, or the other way round, are of no use.
            let of_search = Some(&*self.of_search).filter(|of_search| of_search.len() == 2)?;
            tools.disclosing(of_search, |entry| is_always(entry) || is_forced(entry))
        };
        let known = self.narrowed.get_or_init(|| Narrowed {
            forced: forced.cloned(),
            tools: narrow(),
        });
        // One session seldom has providers that differ in this.
        if known.forced.as_ref() == forced {
            known.tools.clone()
        } else {
            narrow()
        }
    }
}
