//! [`Registration`]: the tools of one server in a catalog.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use rmcp::model;
use serde_json::{Value, json};
use tools::protocol::wire::NameGrammar;
use tools::{Catalog, Digest, Entry, RegisterError, Tool, ToolContext, ToolName, visible_line};

use crate::client::call::RemoteTool;
use crate::client::definition::import_definition;
use crate::client::destination::Destination;
use crate::client::import::{Refusal, Refused, Report};
use crate::client::imported::Imported;
use crate::client::listing::Listing;
use crate::client::schema_repair::repair;
use crate::client::server_name::ServerName;
use crate::client::server_tool::ServerTool;

/// The maximum length of a name in a report, in characters.
const MAX_SHOWN: usize = 128;

/// The maximum length of a name that nobody has approved yet, in bytes.
const MAX_PLAIN: usize = 64;

/// The maximum length of the places of dropped rules in a note, in characters.
const MAX_PLACES: usize = 500;

/// The number of definitions after which other tasks of the thread get their turn.
const BATCH: usize = 32;

/// The grammars of models' services. A name's form in each depends on the name alone.
const GRAMMARS: [NameGrammar; 3] = [NameGrammar::Provider, NameGrammar::Gemini, NameGrammar::Mcp];

/// The tools of one server in a catalog. Removes them when it is dropped.
pub(super) struct Registration {
    pub(super) destination: Destination,
    pub(super) entries: HashMap<ToolName, Registered>,
    /// The tools of the earlier list that the present update has not reached.
    pub(super) earlier: HashMap<ToolName, Registered>,
}

/// A registered tool, with the digest of its server's definition.
pub(super) struct Registered {
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
    /// Registers the tools of an earlier connection.
    pub(super) fn add_known(
        &mut self,
        imported: &Arc<Imported>,
        known: Vec<(ToolName, ServerTool)>,
    ) {
        for (name, definition) in known {
            let digest = definition.digest();
            if let Err(refusal) = self.add(imported, &name, &definition, digest) {
                tracing::warn!(
                    server = imported.name().as_str(),
                    "the tool {name} cannot be offered: {refusal}"
                );
            }
        }
    }

    /// Registers, replaces and removes the tools that differ from the list.
    pub(super) async fn update(
        &mut self,
        imported: &Arc<Imported>,
        listing: Listing<model::Tool>,
        has_resources: bool,
    ) -> Report {
        let mut report = Report {
            cut: listing.cut,
            notes: listing.notes,
            ..Report::default()
        };
        // An update that was interrupted has left some.
        self.earlier.extend(self.entries.drain());
        let mut seen = Seen::default();
        for (index, item) in listing.items.into_iter().enumerate() {
            if index % BATCH == BATCH - 1 {
                tokio::task::yield_now().await;
            }
            let name = match &item {
                Ok(tool) => tool.name.to_string(),
                Err(malformed) => malformed.name.clone(),
            };
            let outcome = match item {
                Ok(tool) => self.add_listed(imported, tool.into(), &mut seen, &mut report.notes),
                Err(malformed) => {
                    // An earlier definition of the tool is not its present one.
                    if let Ok(tool) = imported.name().tool_name(&malformed.name, 1) {
                        let digest = Digest::hash_bytes(malformed.reason.as_bytes());
                        seen.present.insert(tool, digest);
                    }
                    Err(Refusal::Malformed {
                        reason: visible_line(&malformed.reason, 200),
                    })
                }
            };
            match outcome {
                Ok(name) => report.tools.push(name),
                Err(refusal) => report.refused.push(Refused {
                    tool: visible_line(&name, MAX_SHOWN),
                    refusal,
                }),
            }
        }
        for (_, earlier) in self.earlier.drain() {
            self.destination.unregister(&earlier.entry);
        }
        if let Some(review) = &imported.import.review {
            report.notes.extend(review.end_list(has_resources));
        }
        imported.set_present(seen.present);
        report
    }

    /// Adds one tool of a list.
    fn add_listed(
        &mut self,
        imported: &Arc<Imported>,
        definition: ServerTool,
        seen: &mut Seen,
        notes: &mut Vec<String>,
    ) -> Result<ToolName, Refusal> {
        let ordinal = seen
            .ordinals
            .entry(definition.name().to_owned())
            .or_insert(0);
        *ordinal += 1;
        let name = imported
            .name()
            .tool_name(definition.name(), *ordinal)
            .map_err(RegisterError::Name)?;
        let digest = definition.digest();
        seen.present.insert(name.clone(), digest);
        for grammar in GRAMMARS {
            let wire = grammar.encode(&name);
            if NameGrammar::is_digested(&wire) && !seen.digested.insert((grammar, wire.to_string()))
            {
                return Err(Refusal::WireName {
                    wire: wire.into_owned(),
                });
            }
        }
        match self.add(imported, &name, &definition, digest) {
            Ok(more) => notes.extend(more),
            Err(refusal) => {
                // A host that only refuses a definition does not wait for an approval of it.
                let waits = imported.check_permitted(&name, &digest).is_err();
                if matches!(refusal, Refusal::Review { .. }) && waits {
                    self.keep_refused(imported, name, &definition, digest);
                }
                return Err(refusal);
            }
        }
        Ok(name)
    }

    /// Keeps the name of a tool whose definition the host refuses, so that a call ends with the reason: with the earlier definition, or
    /// without a word of the server.
    fn keep_refused(
        &mut self,
        imported: &Arc<Imported>,
        name: ToolName,
        definition: &ServerTool,
        digest: Digest,
    ) {
        let kept = match self.earlier.remove(&name) {
            Some(earlier) => Ok(earlier),
            None if !is_plain(definition.name()) => return,
            None => {
                let description = format!(
                    "[This tool of the MCP server {} waits for the user's approval.]",
                    imported.name()
                );
                let tool = Tool::new(name.clone(), description, json!({"type": "object"}))
                    .map_err(RegisterError::Name);
                let registered = tool.and_then(|tool| {
                    self.register(imported, definition, tool.with_audit(true), digest, None)
                });
                registered.map(|entry| Registered { entry, digest })
            }
        };
        match kept {
            Ok(kept) => drop(self.entries.insert(name, kept)),
            Err(error) => tracing::debug!(server = imported.name().as_str(), "{error}"),
        }
    }

    /// Adds one tool. Returns notes about it.
    fn add(
        &mut self,
        imported: &Arc<Imported>,
        name: &ToolName,
        definition: &ServerTool,
        digest: Digest,
    ) -> Result<Vec<String>, Refusal> {
        let (tool, mut notes) =
            import_definition(imported.name(), name, definition).map_err(RegisterError::Name)?;
        let mut tool = match &imported.import.review {
            // The review decides neither the name nor former names.
            Some(review) => Tool {
                name: name.clone(),
                was: Vec::new(),
                ..review
                    .review(definition, tool)
                    .map_err(|reason| Refusal::Review { reason })?
            },
            None => tool,
        };
        if let Some(timeout) = imported.import.call_timeout {
            tool.limits
                .timeout_ms
                .get_or_insert(u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX));
        }
        let old = match self.earlier.remove(name) {
            Some(earlier) if earlier.digest == digest && is_same(earlier.entry.tool(), &tool) => {
                self.entries.insert(name.clone(), earlier);
                return Ok(notes);
            }
            old => old.map(|old| old.entry),
        };
        let (outcome, more) = register_usable(tool, |tool| {
            self.register(imported, definition, tool, digest, old.as_ref())
        });
        notes.extend(more);
        if outcome.is_err() {
            // The tool has changed, so its earlier definition must not stay.
            old.iter().for_each(|old| self.destination.unregister(old));
        }
        let entry = outcome?;
        self.entries
            .insert(name.clone(), Registered { entry, digest });
        Ok(notes)
    }

    /// Registers a tool, or replaces an earlier entry by it.
    fn register(
        &self,
        imported: &Arc<Imported>,
        definition: &ServerTool,
        tool: Tool,
        digest: Digest,
        old: Option<&Arc<Entry>>,
    ) -> Result<Arc<Entry>, RegisterError> {
        let handler = RemoteTool {
            imported: imported.clone(),
            name: definition.name().into(),
            tool: tool.name.clone(),
            digest,
            schema: definition.tool.input_schema.clone(),
        };
        match old {
            Some(old) => self.destination.replace(old, tool, handler),
            None => self.destination.register(tool, handler),
        }
    }
}

/// Registers a tool, if necessary without the rules of its schemas that cannot be used. Returns notes about these, too.
fn register_usable<T>(
    mut tool: Tool,
    mut register: impl FnMut(Tool) -> Result<T, RegisterError>,
) -> (Result<T, RegisterError>, Vec<String>) {
    let outcome = register(tool.clone());
    let mut notes = Vec::new();
    if !matches!(outcome, Err(RegisterError::Schema { .. })) {
        return (outcome, notes);
    }
    let name = tool.name.clone();
    for (part, schema) in [
        ("arguments", Some(&mut tool.parameters)),
        ("results", tool.output.as_mut()),
    ] {
        let Some(schema) = schema else { continue };
        let Some((mut usable, mut dropped)) = repair(schema.clone()) else {
            continue;
        };
        // Arguments are an object, whatever else the schema says.
        let is_other = match usable.get("type") {
            Some(Value::Array(kinds)) => !kinds.contains(&json!("object")),
            kind => kind.is_some_and(|kind| *kind != "object"),
        };
        if part == "arguments"
            && is_other
            && let Some(fields) = usable.as_object_mut()
        {
            fields.remove("type");
            dropped.push("/type".to_owned());
        }
        *schema = usable;
        if !dropped.is_empty() {
            let places = visible_line(&dropped.join(", "), MAX_PLACES);
            notes.push(format!(
                "{name} is offered without rules of its {part} that cannot be used: {places}"
            ));
        }
    }
    (register(tool), notes)
}

/// Returns the definitions that no catalog takes, with the reason.
pub(crate) fn unusable(
    server: &ServerName,
    known: Vec<(ToolName, ServerTool)>,
) -> Vec<(ToolName, Refused)> {
    let mut catalog = Catalog::new();
    let unusable = known.into_iter().filter_map(|(name, definition)| {
        let tool = definition.import(server, &name).ok()?;
        let (outcome, _) = register_usable(tool, |tool| {
            catalog.register(tool, async |_: ToolContext, _: Value| "")
        });
        let refused = Refused {
            tool: visible_line(definition.name(), MAX_SHOWN),
            refusal: outcome.err()?.into(),
        };
        Some((name, refused))
    });
    unusable.collect()
}

/// Returns true if a name that nobody has approved yet can only be read as a name.
fn is_plain(name: &str) -> bool {
    let mut characters = name.chars();
    (1..=MAX_PLAIN).contains(&name.len())
        && characters.all(|c| c.is_ascii_alphanumeric() || "_-.".contains(c))
}

/// Returns true if a definition is that of an entry, whose schemas may have been repaired.
fn is_same(entry: &Tool, tool: &Tool) -> bool {
    let mut tool = tool.clone();
    tool.parameters = entry.parameters.clone();
    tool.output = entry.output.clone();
    *entry == tool
}

impl Drop for Registration {
    fn drop(&mut self) {
        let all = self.entries.values().chain(self.earlier.values());
        all.for_each(|registered| self.destination.unregister(&registered.entry));
    }
}
