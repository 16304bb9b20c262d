//! [`WireToolSet`]: the tools of a set as a service takes them.

use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

use tools::protocol::ToolNames;
use tools::protocol::wire::schema::NotStrict;
use tools::protocol::wire::{Format, NameCollision, StrictLimits, Strictness, WireNames, WireTool};
use tools::{Entry, ToolCall};

use crate::{SkipReason, SkippedTool};

/// The tools of a [`ToolSet`](crate::ToolSet) as a service takes them.
///
/// - The tools are sorted by their names in the catalog. Equal sets give equal bytes.
/// - A tool without a form that the service accepts is [skipped](Self::skipped), so that the request with the others succeeds.
/// - A relaxed definition does not depend on the other tools. Some services [limit](Format::strict_limits) the strict tools of a
///   request; the tools after the limit, in the order of their names, are relaxed.
///
/// ```
/// use agent::{Selection, ToolSet};
/// use tools::protocol::wire::{Format, Strictness};
/// use tools::{Catalog, Effects, Services, Tool, ToolCall, ToolContext};
/// use serde_json::{Value, json};
///
/// let mut catalog = Catalog::new();
/// let schema = json!({"type": "object", "properties": {"$at": {"type": "string"}}});
/// let tool = Tool::new("fs.read", "Reads.", schema)?.with_effects(Effects::Pure);
/// catalog.register(tool, async |_: ToolContext, _: Value| "text".to_owned())?;
/// let set = ToolSet::new(catalog.list(), &Selection::new(), &Services::new());
///
/// let wire = set.wire(Format::Anthropic, Strictness::Relaxed);
/// assert!(wire.definitions().starts_with(r#"[{"name":"fs__read""#));
/// let call = wire.read_call(ToolCall::new("1", "fs__read", json!({"at": "x"})))?;
/// assert_eq!(call, ToolCall::new("1", "fs.read", json!({"$at": "x"})));
/// assert_eq!(wire.write_call(&call).name, "fs__read");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct WireToolSet {
    format: Format,
    /// Sorted by the name in the catalog.
    tools: Vec<(Arc<Entry>, Arc<WireTool>)>,
    names: WireNames,
    skipped: Vec<SkippedTool>,
    definitions: OnceLock<Arc<str>>,
}

impl WireToolSet {
    /// Creates the set of these entries, which are sorted by name. `skipped` are the tools that no service is offered.
    pub(crate) fn new(
        entries: &[Arc<Entry>],
        mut skipped: Vec<SkippedTool>,
        format: Format,
        strictness: Strictness,
    ) -> Self {
        let mut limits = format.strict_limits();
        let mut tools = Vec::with_capacity(entries.len());
        collect(entries, &mut tools, &mut skipped, |entry| wire(entry, format, strictness, &mut limits));
        let names = loop {
            let long = tools.iter().filter(|(_, wire)| wire.name.len() >= SHORTEST_DIGESTED);
            let former = tools.iter().flat_map(|(entry, _)| &entry.tool().was);
            let names = long.map(|(entry, _)| entry.name()).chain(former);
            match WireNames::new(format.names(), names) {
                Ok(names) => break names,
                Err(collision) => skip(collision, &mut tools, &mut skipped),
            }
        };
        skipped.sort_by(|a, b| a.name.cmp(&b.name));
        Self { format, tools, names, skipped, definitions: OnceLock::new() }
    }

    /// Returns the format.
    pub fn format(&self) -> Format {
        self.format
    }

    /// Returns the tools, sorted by their names in the catalog.
    pub fn list(&self) -> impl ExactSizeIterator<Item = &WireTool> {
        self.tools.iter().map(|(_, wire)| &**wire)
    }

    /// Returns the entries of the [listed](Self::list) tools, in the same order.
    pub fn entries(&self) -> impl ExactSizeIterator<Item = &Arc<Entry>> {
        self.tools.iter().map(|(entry, _)| entry)
    }

    /// Returns the definitions as a JSON array. Joined on first use.
    pub fn definitions(&self) -> &Arc<str> {
        self.definitions.get_or_init(|| joined(&self.tools).into())
    }

    /// Returns the selected tools that are not sent, sorted by name: those that the set [skipped](crate::ToolSet::skipped), and those that
    /// the service would refuse.
    pub fn skipped(&self) -> &[SkippedTool] {
        &self.skipped
    }

    /// Returns the name of a tool on the wire, in the set or not.
    pub fn name<'a>(&self, tool: &'a str) -> Cow<'a, str> {
        self.format.names().encode(tool)
    }

    /// Returns a model's call with the names of the catalog.
    ///
    /// A wire name takes precedence, so that no tool can take the place of another, also of one outside the set. Otherwise the name
    /// is the catalog's own.
    ///
    /// # Errors
    /// Returns an error if the call must not be run.
    pub fn read_call(&self, call: ToolCall) -> Result<ToolCall, UnreadableCall> {
        let name = match self.names.tool(&call.name) {
            Some(own) => own.to_string(),
            None if self.get(&call.name).is_some() => return Err(UnreadableCall::Absent { name: call.name }),
            None => call.name,
        };
        let arguments = match self.get(&name) {
            Some(wire) => wire.arguments.decode(&call.arguments),
            None => call.arguments,
        };
        Ok(ToolCall { id: call.id, name, arguments })
    }

    /// Returns an earlier call with the names of the wire.
    pub fn write_call(&self, call: &ToolCall) -> ToolCall {
        let arguments = match self.get(&call.name) {
            Some(wire) => wire.arguments.encode(&call.arguments),
            None => call.arguments.clone(),
        };
        ToolCall { id: call.id.clone(), name: self.name(&call.name).into_owned(), arguments }
    }

    /// Returns the tool of this name, or else of this former name, in the catalog.
    fn get(&self, name: &str) -> Option<&WireTool> {
        let position = self.tools.binary_search_by(|(entry, _)| entry.name().as_str().cmp(name)).ok();
        let former =
            || self.tools.iter().position(|(entry, _)| entry.tool().was.iter().any(|was| was.as_str() == name));
        Some(&self.tools[position.or_else(former)?].1)
    }
}

/// A call of a model that must not be run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum UnreadableCall {
    /// The name is the wire name of a tool outside the set.
    #[error("the tool {name} is not available; call one of the tools of this request")]
    Absent {
        /// The name, as the model wrote it.
        name: String,
    },
}

/// The length of the shortest digested name. Shorter names need no table.
const SHORTEST_DIGESTED: usize = 28;

/// Adds each entry to the tools, or to the skipped tools with the reason.
fn collect(
    entries: &[Arc<Entry>],
    tools: &mut Vec<(Arc<Entry>, Arc<WireTool>)>,
    skipped: &mut Vec<SkippedTool>,
    mut wire: impl FnMut(&Entry) -> Result<Arc<WireTool>, SkipReason>,
) {
    for entry in entries {
        match wire(entry) {
            Ok(wire) => tools.push((entry.clone(), wire)),
            Err(reason) => skipped.push(SkippedTool { name: entry.name().clone(), reason }),
        }
    }
}

/// Returns a tool on the wire. A strict tool uses up `limits`, and is relaxed if they do not suffice.
fn wire(
    entry: &Entry,
    format: Format,
    strictness: Strictness,
    limits: &mut Option<StrictLimits>,
) -> Result<Arc<WireTool>, SkipReason> {
    let unsendable = |reason: &_| SkipReason::Unsendable { format, reason: Clone::clone(reason) };
    let wire = entry.wire(format, strictness).map_err(unsendable)?;
    let Some(left) = limits.filter(|_| wire.is_strict) else { return Ok(wire.clone()) };
    match left.after(wire) {
        Some(left) => {
            *limits = Some(left);
            Ok(wire.clone())
        }
        None => {
            let mut relaxed = WireTool::clone(entry.wire(format, Strictness::Relaxed).map_err(unsendable)?);
            relaxed.not_strict = Some(NotStrict::RequestLimit);
            Ok(Arc::new(relaxed))
        }
    }
}

/// Skips both tools of a collision.
fn skip(collision: NameCollision, tools: &mut Vec<(Arc<Entry>, Arc<WireTool>)>, skipped: &mut Vec<SkippedTool>) {
    let colliding = [collision.first.clone(), collision.second.clone()];
    tools.retain(|(entry, _)| !ToolNames::from(entry.tool()).iter().any(|name| colliding.contains(name)));
    skipped.extend(colliding.map(|name| SkippedTool { name, reason: SkipReason::Collision(collision.clone()) }));
}

fn joined(tools: &[(Arc<Entry>, Arc<WireTool>)]) -> String {
    let bytes: usize = tools.iter().map(|(_, wire)| wire.definition.len() + 1).sum();
    let mut text = String::with_capacity(bytes + 2);
    text.push('[');
    for (position, (_, wire)) in tools.iter().enumerate() {
        if position > 0 {
            text.push(',');
        }
        text.push_str(&wire.definition);
    }
    text.push(']');
    text
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use tools::protocol::wire::schema::Unsendable;
    use tools::{Catalog, Effects, Tool, ToolContext};

    use super::*;

    #[test]
    fn a_tool_that_a_service_refuses_is_skipped_with_the_reason() {
        let mut catalog = Catalog::new();
        for name in ["a", "m", "z"] {
            let tool = Tool::new(name, "Answers.", json!({"type": "object"})).unwrap().with_effects(Effects::Pure);
            catalog.register(tool, async |_: ToolContext, _: Value| "pong").unwrap();
        }
        let (format, mut tools, mut skipped) = (Format::Anthropic, Vec::new(), Vec::new());
        collect(&catalog.list(), &mut tools, &mut skipped, |entry| match entry.name().as_str() {
            "m" => Err(SkipReason::Unsendable { format, reason: Unsendable::NotAnObject }),
            _ => wire(entry, format, Strictness::Relaxed, &mut None),
        });
        let sent: Vec<Value> = serde_json::from_str(&joined(&tools)).unwrap();
        assert_eq!(sent.iter().map(|tool| &tool["name"]).collect::<Vec<_>>(), ["a", "z"]);
        let [skipped] = &skipped[..] else { panic!("{skipped:?}") };
        assert_eq!(skipped.name.as_str(), "m");
        assert!(skipped.to_string().contains("anthropic") && skipped.to_string().contains("object"), "{skipped}");
    }
}
