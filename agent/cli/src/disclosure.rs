//! The tools that the requests of a session offer.

use std::sync::Arc;

use agent::{
    DefinitionCosts, Direct, Disclosure, DisclosureBudget, Driver, InvalidSelection, Provider,
    RunOptions, Selection, Session,
};
use tools::{Host, Services, counted};

use crate::config::{DisclosureMode, ProgramSettings as _, Settings, value};
use crate::provider_choice::ProviderChoice;
use crate::{program, provider_options};

/// The tools that a search offers in any case: those of most tasks. With the system text, their definitions
/// have at most 2,500 tokens, so that a model with a context of 4,096 tokens has room to work.
const ALWAYS: [&str; 5] = ["fs.read", "fs.list", "fs.edit", "fs.write", "exec.run"];

/// Returns the disclosure of a session with these settings.
pub(crate) fn from_settings(settings: &Settings) -> Result<Disclosure, InvalidSelection> {
    let mut budget = DisclosureBudget::default();
    match settings.program().disclosure.value {
        DisclosureMode::All => return Ok(Disclosure::All),
        DisclosureMode::Auto => {}
        DisclosureMode::Search => budget.tools = 0,
    }
    let always = Selection::parse(ALWAYS)?;
    Ok(Disclosure::Search { always, budget })
}

/// Returns the line of `doctor` on the tokens of the definitions of a session without flags.
pub(crate) fn report(services: Option<&Services>, settings: &Settings) -> Option<String> {
    let cx = Host::new().with_services(services?.clone());
    let session = Session::new(tools::list(), settings.selection().ok()?, cx);
    let session = session.with_disclosure(from_settings(settings).ok()?);
    let choice = ProviderChoice::from_settings(settings);
    let mut options = provider_options::from_settings(settings, choice.model.as_deref());
    // `doctor` asks no service.
    options.facts_cache = None;
    let provider = program::provider(&choice.provider).ok();
    let provider = provider.and_then(|provider| provider.create(&options).ok());
    // Without a key, the definitions of the catalog are counted.
    let provider = provider.unwrap_or_else(|| Arc::new(Direct) as Arc<dyn Provider>);
    let options = RunOptions {
        context_tokens: value(&settings.program().context_tokens).map(u64::from),
        ..RunOptions::default()
    };
    let driver = Driver::new(provider).with_options(options);
    let costs = driver.definition_costs(&session)?;
    Some(line(costs))
}

fn line(costs: DefinitionCosts) -> String {
    let verb = if costs.is_search {
        "searches"
    } else {
        "offers all tools"
    };
    format!(
        "definitions in each request: {} with all tools, {} with a search; a session with a model {verb}. Tools of MCP servers are not counted",
        describe(costs.tools, costs.tokens),
        describe(costs.search_tools, costs.search_tokens),
    )
}

fn describe(tools: usize, tokens: u64) -> String {
    let tools = counted(tools as u64, "tool");
    format!("about {} ({tools})", counted(tokens, "token"))
}
