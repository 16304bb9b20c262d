//! [`SessionDisclosure`]: the disclosure of one session.

use std::fmt;
use std::sync::{Arc, OnceLock};

use tools::{Entry, ToolContext};
use tools_search::Reranker;

use super::cost::{costs, offer};
use super::is_of_search;
use crate::provider::guarded::defers_tools;
use crate::{DefinitionCosts, Disclosure, DisclosureBudget, Provider, Selection, ToolFinder, ToolSet};

/// The disclosure of one session.
#[derive(Clone, Default)]
pub(crate) struct SessionDisclosure {
    disclosure: Disclosure,
    reranker: Option<Arc<dyn Reranker>>,
    /// `tools.search` and `tools.call`, if the catalog of the session has them.
    of_search: Vec<Arc<Entry>>,
    /// The tools of the session with those that a search offers, for services without and with deferred tools. `None` if there can be
    /// no search.
    narrowed: [OnceLock<Option<ToolSet>>; 2],
}

impl SessionDisclosure {
    pub(crate) fn disclosure(&self) -> &Disclosure {
        &self.disclosure
    }

    pub(crate) fn set_disclosure(&mut self, disclosure: Disclosure) {
        self.disclosure = disclosure;
        self.forget_tools();
    }

    pub(crate) fn set_reranker(&mut self, reranker: Arc<dyn Reranker>) {
        self.reranker = Some(reranker);
    }

    /// Sets the tools of a search from those of a catalog. The tools of the session are others from now on.
    pub(crate) fn set_catalog<'a>(&mut self, entries: impl IntoIterator<Item = &'a Arc<Entry>>) {
        self.of_search = entries.into_iter().filter(|entry| is_of_search(entry)).cloned().collect();
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
        self.budget().found_turns
    }

    /// Returns the session's tools as requests to this provider offer them.
    pub(crate) fn offer<'a>(
        &'a self,
        tools: &'a ToolSet,
        provider: &dyn Provider,
        context_tokens: Option<u64>,
    ) -> &'a ToolSet {
        match &self.disclosure {
            Disclosure::All => tools,
            disclosure => offer(tools, self.narrowed(tools, provider), disclosure, provider, context_tokens),
        }
    }

    /// Returns the costs of the session's definitions. Returns `None` if its tools do not permit a search.
    pub(crate) fn costs(
        &self,
        tools: &ToolSet,
        provider: &dyn Provider,
        context_tokens: Option<u64>,
    ) -> Option<DefinitionCosts> {
        Some(costs(tools, self.narrowed(tools, provider)?, &self.disclosure, provider, context_tokens))
    }

    /// Adds the finder of the tools to the services of a run's calls, if requests do not offer all of them.
    pub(crate) fn enter(&self, cx: ToolContext, tools: &ToolSet) -> ToolContext {
        if !tools.is_disclosing() {
            return cx;
        }
        let finder = ToolFinder::new(tools.clone()).with_budget(self.budget()).with_reranker(self.reranker.clone());
        cx.with_service(finder)
    }

    fn narrowed(&self, tools: &ToolSet, provider: &dyn Provider) -> Option<&ToolSet> {
        let of_search = Some(&*self.of_search).filter(|of_search| of_search.len() == 2);
        let is_deferring = defers_tools(provider, tools.len() + self.of_search.len());
        let narrow = || match &self.disclosure {
            Disclosure::All => tools.disclosing(&Selection::none(), of_search?, is_deferring),
            Disclosure::Search { always, .. } => tools.disclosing(always, of_search?, is_deferring),
        };
        self.narrowed[usize::from(is_deferring)].get_or_init(narrow).as_ref()
    }
}

impl fmt::Debug for SessionDisclosure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.disclosure.fmt(f)
    }
}
