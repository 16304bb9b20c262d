//! [`Registration`]: the tools of one server in a catalog.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use rmcp::model;
use tools::protocol::wire::NameGrammar;
use tools::{Entry, RegisterError, Tool, ToolName, visible_line};

use super::call::RemoteTool;
use super::definition::imported;
use super::destination::Destination;
use super::link::Link;
use super::listing::Listing;
use super::{Refusal, Refused, Report, Review};

/// The maximum length of a name in a report, in characters.
const MAX_SHOWN: usize = 128;

/// The number of definitions after which other tasks of the thread get their turn.
const BATCH: usize = 32;

/// The grammars of models' services. A name's form in each depends on the name alone.
const GRAMMARS: [NameGrammar; 3] = [NameGrammar::Provider, NameGrammar::Gemini, NameGrammar::Mcp];

/// The tools of one server in a catalog. Removes them when it is dropped.
pub(super) struct Registration {
    destination: Destination,
    review: Option<Arc<Review>>,
    entries: HashMap<ToolName, Arc<Entry>>,
    /// The tools of the earlier list that the present update has not reached.
    earlier: HashMap<ToolName, Arc<Entry>>,
}

impl Registration {
    pub(super) fn new(destination: Destination, review: Option<Arc<Review>>) -> Self {
        Self { destination, review, entries: HashMap::new(), earlier: HashMap::new() }
    }

    /// Registers, replaces and removes the tools that differ from the list.
    pub(super) async fn update(&mut self, link: &Arc<Link>, listing: Listing<model::Tool>) -> Report {
        let mut report = Report { cut: listing.cut, ..Report::default() };
        // An update that was interrupted has left some.
        self.earlier.extend(self.entries.drain());
        let (mut ordinals, mut digested) = (HashMap::new(), HashSet::new());
        for (index, item) in listing.items.into_iter().enumerate() {
            if index % BATCH == BATCH - 1 {
                tokio::task::yield_now().await;
            }
            let name = item.as_ref().map_or_else(|malformed| malformed.name.clone(), |tool| tool.name.to_string());
            let outcome = match item {
                Ok(tool) => self.add(link, tool, &mut ordinals, &mut digested),
                Err(malformed) => Err(Refusal::Malformed { reason: visible_line(&malformed.reason, 200) }),
            };
            match outcome {
                Ok(name) => report.tools.push(name),
                Err(refusal) => report.refused.push(Refused { tool: visible_line(&name, MAX_SHOWN), refusal }),
            }
        }
        for (_, entry) in self.earlier.drain() {
            self.destination.unregister(&entry);
        }
        report
    }

    /// Adds one tool of a list.
    fn add(
        &mut self,
        link: &Arc<Link>,
        remote: model::Tool,
        ordinals: &mut HashMap<String, usize>,
        digested: &mut HashSet<(NameGrammar, String)>,
    ) -> Result<ToolName, Refusal> {
        let remote_name: Arc<str> = (*remote.name).into();
        let ordinal = ordinals.entry(remote_name.to_string()).or_insert(0);
        *ordinal += 1;
        let name = link.name().tool_name(&remote_name, *ordinal).map_err(RegisterError::Name)?;
        check_wire_names(&name, digested)?;
        let tool = imported(link.name(), &name, remote).map_err(RegisterError::Name)?;
        let tool = self.reviewed(tool)?;
        let entry = match self.earlier.remove(&name) {
            Some(entry) if *entry.tool() == tool => entry,
            old => {
                let handler = RemoteTool::new(link.clone(), remote_name);
                let outcome = match &old {
                    Some(old) => self.destination.replace(old, tool, handler),
                    None => self.destination.register(tool, handler),
                };
                if outcome.is_err() {
                    // The tool has changed, so its earlier definition must not stay.
                    old.iter().for_each(|old| self.destination.unregister(old));
                }
                outcome?
            }
        };
        self.entries.insert(name.clone(), entry);
        Ok(name)
    }

    /// Returns the definition as the host's review leaves it. The review decides neither the name nor former names.
    fn reviewed(&self, tool: Tool) -> Result<Tool, Refusal> {
        let Some(review) = &self.review else { return Ok(tool) };
        let name = tool.name.clone();
        let reviewed = review(tool).map_err(|reason| Refusal::Review { reason })?;
        Ok(Tool { name, was: Vec::new(), ..reviewed })
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        self.entries.values().chain(self.earlier.values()).for_each(|entry| self.destination.unregister(entry));
    }
}

/// Checks that no other long name of the server has the same digest. Short names have forms of their own.
fn check_wire_names(name: &ToolName, digested: &mut HashSet<(NameGrammar, String)>) -> Result<(), Refusal> {
    for grammar in GRAMMARS {
        let wire = grammar.encode(name);
        if NameGrammar::is_digested(&wire) && !digested.insert((grammar, wire.to_string())) {
            return Err(Refusal::WireName { wire: wire.into_owned() });
        }
    }
    Ok(())
}
