//! [`DefinitionCosts`]: the tokens of the definitions of a session, by which the offered tools are chosen.

use tools::Tool;

use super::Disclosure;
use crate::provider::ProviderInfo;
use crate::run::BYTES_PER_TOKEN;
use crate::tool_set::ToolSet;

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

/// Returns true if a session offers the tools of the narrowed set alone.
pub(super) fn is_search(
    tools: &ToolSet,
    narrowed: &ToolSet,
    disclosure: &Disclosure,
    about: &ProviderInfo,
    context_tokens: Option<u64>,
) -> bool {
    let Disclosure::Search { budget, .. } = disclosure else {
        return false;
    };
    let limit = about.wire.filter(|wire| wire.is_limited);
    let most = limit.and_then(|wire| wire.format.most_tools());
    // A search that has more tokens than it spares is worth nothing, unless the service takes no more tools.
    if most.is_some_and(|most| tools.list_offered().len() > most) {
        return true;
    }
    let percent = u64::from(budget.context_percent.min(100));
    let is_over = tools.len() > budget.tools
        || context_tokens
            .is_some_and(|tokens| is_above(about, tools, tokens.saturating_mul(percent) / 100));
    is_over && is_above(about, tools, tokens(about, narrowed))
}

/// Returns true if the definitions have more tokens. Of many tools, it renders no more than it counts.
fn is_above(about: &ProviderInfo, tools: &ToolSet, most: u64) -> bool {
    let mut bytes = 0;
    sizes(about, tools).any(|size| {
        bytes += size;
        bytes as u64 / BYTES_PER_TOKEN > most
    })
}

/// Returns the bytes of each offered definition, without those that the service refuses.
fn sizes(about: &ProviderInfo, tools: &ToolSet) -> impl Iterator<Item = usize> {
    tools
        .list_offered()
        .iter()
        .map(move |entry| match about.wire {
            Some(options) => {
                let wire = options.render()(entry, options.format, options.strictness);
                wire.map_or(0, |wire| wire.definition.len() + 1)
            }
            None => plain_size(entry.tool()),
        })
}

/// Estimates the tokens of the offered definitions. They are not scaled by the counts of the service, so that one session always has the
/// same tools.
pub(super) fn tokens(about: &ProviderInfo, tools: &ToolSet) -> u64 {
    sizes(about, tools).sum::<usize>() as u64 / BYTES_PER_TOKEN
}

/// Returns the bytes of a definition with the names of the catalog.
fn plain_size(tool: &Tool) -> usize {
    tool.name.len() + tool.description.len() + tool.parameters.to_string().len()
}
