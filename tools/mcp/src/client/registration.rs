//! [`Registration`]: the tools of one server in a catalog.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use rmcp::model;
use tools::protocol::wire::NameGrammar;
use tools::{Digest, Entry, RegisterError, Tool, ToolName, visible_line};

use super::call::RemoteTool;
use super::definition::imported;
use super::destination::Destination;
use super::link::Link;
use super::listing::Listing;
use super::{Refusal, Refused, Report, ServerTool};

/// The maximum length of a name in a report, in characters.
const MAX_SHOWN: usize = 128;

/// The number of definitions after which other tasks of the thread get their turn.
const BATCH: usize = 32;

/// The grammars of models' services. A name's form in each depends on the name alone.
const GRAMMARS: [NameGrammar; 3] = [NameGrammar::Provider, NameGrammar::Gemini, NameGrammar::Mcp];

/// The tools of one server in a catalog. Removes them when it is dropped.
pub(super) struct Registration {
    destination: Destination,
    entries: HashMap<ToolName, Registered>,
    /// The tools of the earlier list that the present update has not reached.
    earlier: HashMap<ToolName, Registered>,
}

/// A registered tool, with the digest of its server's definition.
struct Registered {
    entry: Arc<Entry>,
    digest: Digest,
}

/// The tools of a list that the present update has reached.
#[derive(Default)]
struct Seen {
    ordinals: HashMap<String, usize>,
    digested: HashSet<(NameGrammar, String)>,
    present: HashMap<ToolName, Digest>,
}

impl Registration {
    pub(super) fn new(destination: Destination) -> Self {
        Self { destination, entries: HashMap::new(), earlier: HashMap::new() }
    }

    /// Registers the tools of an earlier connection.
    pub(super) fn add_known(&mut self, link: &Arc<Link>, known: Vec<(ToolName, ServerTool)>) {
        for (name, definition) in known {
            let digest = definition.digest();
            if let Err(refusal) = self.add(link, &name, &definition, digest) {
                tracing::warn!(server = link.name().as_str(), "the tool {name} cannot be offered: {refusal}");
            }
        }
    }

    /// Registers, replaces and removes the tools that differ from the list.
    pub(super) async fn update(
        &mut self,
        link: &Arc<Link>,
        listing: Listing<model::Tool>,
        has_resources: bool,
    ) -> Report {
        let mut report = Report { cut: listing.cut, ..Report::default() };
        // An update that was interrupted has left some.
        self.earlier.extend(self.entries.drain());
        let mut seen = Seen::default();
        for (index, item) in listing.items.into_iter().enumerate() {
            if index % BATCH == BATCH - 1 {
                tokio::task::yield_now().await;
            }
            let name = item.as_ref().map_or_else(|malformed| malformed.name.clone(), |tool| tool.name.to_string());
            let outcome = match item {
                Ok(tool) => self.add_listed(link, ServerTool::from_remote(tool), &mut seen, &mut report.notes),
                Err(malformed) => {
                    // An earlier definition of the tool is not its present one.
                    let tool = link.name().tool_name(&malformed.name, 1).ok();
                    seen.present.extend(tool.map(|tool| (tool, Digest::hash_bytes(malformed.reason.as_bytes()))));
                    Err(Refusal::Malformed { reason: visible_line(&malformed.reason, 200) })
                }
            };
            match outcome {
                Ok(name) => report.tools.push(name),
                Err(refusal) => report.refused.push(Refused { tool: visible_line(&name, MAX_SHOWN), refusal }),
            }
        }
        for (_, earlier) in self.earlier.drain() {
            self.destination.unregister(&earlier.entry);
        }
        if let Some(review) = &link.review {
            report.notes.extend(review.end_list(has_resources));
        }
        link.set_present(seen.present);
        report
    }

    /// Adds one tool of a list.
    fn add_listed(
        &mut self,
        link: &Arc<Link>,
        definition: ServerTool,
        seen: &mut Seen,
        notes: &mut Vec<String>,
    ) -> Result<ToolName, Refusal> {
        let ordinal = seen.ordinals.entry(definition.name().to_owned()).or_insert(0);
        *ordinal += 1;
        let name = link.name().tool_name(definition.name(), *ordinal).map_err(RegisterError::Name)?;
        let digest = definition.digest();
        seen.present.insert(name.clone(), digest);
        check_wire_names(&name, &mut seen.digested)?;
        notes.extend(self.add(link, &name, &definition, digest)?);
        Ok(name)
    }

    /// Adds one tool. Returns notes about it.
    fn add(
        &mut self,
        link: &Arc<Link>,
        name: &ToolName,
        definition: &ServerTool,
        digest: Digest,
    ) -> Result<Vec<String>, Refusal> {
        let (tool, notes) = imported(link.name(), name, definition).map_err(RegisterError::Name)?;
        let tool = reviewed(link, definition, tool)?;
        let entry = match self.earlier.remove(name) {
            Some(earlier) if *earlier.entry.tool() == tool && earlier.digest == digest => earlier.entry,
            old => {
                let old = old.map(|old| old.entry);
                let handler = RemoteTool::new(link.clone(), definition.name().into(), name.clone(), digest);
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
        self.entries.insert(name.clone(), Registered { entry, digest });
        Ok(notes)
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        let all = self.entries.values().chain(self.earlier.values());
        all.for_each(|registered| self.destination.unregister(&registered.entry));
    }
}

/// Returns the definition as the host's review leaves it. The review decides neither the name nor former names.
fn reviewed(link: &Link, definition: &ServerTool, tool: Tool) -> Result<Tool, Refusal> {
    let Some(review) = &link.review else { return Ok(tool) };
    let name = tool.name.clone();
    let reviewed = review.review(definition, tool).map_err(|reason| Refusal::Review { reason })?;
    Ok(Tool { name, was: Vec::new(), ..reviewed })
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
