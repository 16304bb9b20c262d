//! [`DefinitionCosts`]: the tokens of the definitions of a session, by which the offered tools are chosen.

use tools::Tool;

use super::Disclosure;
use crate::run::BYTES_PER_TOKEN;
use crate::{ProviderInfo, SkipReason, ToolSet};

/// The definitions that requests of a session have, if all tools are offered and if the others are searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DefinitionCosts {
    /// The number of all tools.
    pub tools: usize,
    /// The estimated tokens of the definitions of all tools.
    pub tokens: u64,
    /// The number of tools that are offered if the others are searched.
    pub search_tools: usize,
    /// The estimated tokens of their definitions.
    pub search_tokens: u64,
    /// True if the session offers these alone.
    pub is_search: bool,
}

/// Returns the tools as requests to this provider offer them: all, or as `narrowed` has them. Without a model, nothing is to be spared.
pub(super) fn offer(
    tools: &ToolSet,
    narrowed: Option<ToolSet>,
    disclosure: &Disclosure,
    about: &ProviderInfo,
    context_tokens: Option<u64>,
) -> ToolSet {
    let is_search =
        |narrowed: &ToolSet| costs(tools, narrowed, disclosure, about, context_tokens).is_search;
    narrowed
        .filter(|_| about.is_metered)
        .filter(is_search)
        .unwrap_or_else(|| tools.clone())
}

/// Returns the costs of a set, and of the same set with the tools that a search offers.
pub(super) fn costs(
    tools: &ToolSet,
    narrowed: &ToolSet,
    disclosure: &Disclosure,
    about: &ProviderInfo,
    context_tokens: Option<u64>,
) -> DefinitionCosts {
    let (all, searched) = (tokens(about, tools), tokens(about, narrowed));
    let is_cut = |set| {
        let skipped = about.wire_tools(set).map_or(&[][..], |wire| wire.skipped());
        skipped
            .iter()
            .any(|tool| matches!(tool.reason, SkipReason::RequestLimit { .. }))
    };
    let is_search = match disclosure {
        Disclosure::All => false,
        Disclosure::Search { budget, .. } => {
            let most = context_tokens
                .map(|tokens| tokens.saturating_mul(budget.context_percent.min(100).into()) / 100);
            let is_over = tools.len() > budget.tools || most.is_some_and(|most| all > most);
            is_cut(tools) || is_over && searched < all
        }
    };
    DefinitionCosts {
        tools: tools.offered().len(),
        tokens: all,
        search_tools: narrowed.offered().len(),
        search_tokens: searched,
        is_search,
    }
}

/// Estimates the tokens of the offered definitions. They are not scaled by the counts of the service, so that one session always has the
/// same tools.
fn tokens(about: &ProviderInfo, tools: &ToolSet) -> u64 {
    let bytes: usize = match about.wire_tools(tools) {
        Some(wire) => wire.list().map(|tool| tool.definition.len() + 1).sum(),
        None => tools.definitions().map(plain_size).sum(),
    };
    bytes as u64 / BYTES_PER_TOKEN
}

/// Returns the bytes of a definition with the names of the catalog.
fn plain_size(tool: &Tool) -> usize {
    tool.name.len() + tool.description.len() + tool.parameters.to_string().len()
}
