//! [`WireToolSet`]: the tools of a set as a service takes them.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use serde_json::Value;
use tools::protocol::ToolNames;
use tools::protocol::wire::schema::NotStrict;
use tools::protocol::wire::{Format, NameGrammar, StrictLimits, Strictness, WireNames, WireTool};
use tools::{Entry, ToolCall, ToolName, join};

use crate::fingerprint::fingerprint;
use crate::inner_call;
use crate::skipped_tool::{SkipReason, SkippedTool};
use crate::wire_options::{Render, WireOptions};

/// The tools of a [`ToolSet`](crate::ToolSet) as a service takes them.
///
/// - The tools are sorted by their names in the catalog. Equal sets give equal bytes.
/// - A tool without a form that the service accepts is [skipped](Self::list_skipped), so that the request with the others succeeds.
/// - The tools after the [most](Format::most_tools) that a request takes, in the order of their names, are skipped too, unless the
///   [limit](WireOptions::is_limited) is off.
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
/// let call = wire.read_call(ToolCall::new("1", "fs__read", json!({"at": "x"})));
/// assert_eq!(call, ToolCall::new("1", "fs.read", json!({"$at": "x"})));
/// assert_eq!(wire.write_call(&call).name, "fs__read");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct WireToolSet {
    format: Format,
    /// Sorted by the name in the catalog.
    tools: Vec<(Arc<Entry>, Arc<WireTool>)>,
    /// The tools that can be called and are not offered, sorted too. Each is rendered when it is called.
    hidden: Vec<Arc<Entry>>,
    render: Render,
    /// True if a tool that is not part of a search has the name of the one that calls others.
    has_own_caller: bool,
    names: WireNames,
    skipped: Vec<SkippedTool>,
    definitions: OnceLock<Arc<str>>,
    value: OnceLock<Value>,
    digests: OnceLock<Arc<BTreeMap<ToolName, u64>>>,
}

impl WireToolSet {
    /// Creates the set of these entries, which are sorted by name. `hidden` are entries that can be called and are not offered, and
    /// `of_search` the ones that find and call them. `skipped` are the tools that no service is offered.
    pub(crate) fn new(
        entries: &[Arc<Entry>],
        mut hidden: Vec<Arc<Entry>>,
        of_search: &[Arc<Entry>],
        mut skipped: Vec<SkippedTool>,
        options: WireOptions,
    ) -> Self {
        let format = options.format;
        let render = options.render();
        // A limit holds for a whole request, so tools use it up in the order of their names.
        let mut limits = format.strict_limits();
        let most = format.most_tools().filter(|_| options.is_limited);
        let mut left = most.map_or(usize::MAX, |most| most.saturating_sub(of_search.len()));
        let mut tools = Vec::new();
        collect(entries, &mut tools, &mut skipped, |entry| {
            // The tools that find and call the others are sent in any case.
            let is_of_search = of_search.iter().any(|it| it.name() == entry.name());
            // Of ten thousand tools, those that are sent are rendered.
            if let Some(most) = most.filter(|_| left == 0 && !is_of_search) {
                return Err(SkipReason::RequestLimit { format, most });
            }
            let wire = wire(entry, format, options.strictness, render, &mut limits)?;
            left -= usize::from(!is_of_search);
            Ok(wire)
        });
        let names = loop {
            let all = || tools.iter().map(|(entry, _)| entry).chain(&hidden);
            // The other names need no table.
            let digested = all()
                .map(|entry| entry.name())
                .filter(|name| NameGrammar::is_digested(&format.names().encode(name.as_str())));
            let former = all().flat_map(|entry| &entry.tool().was);
            let collision = match WireNames::new(format.names(), digested.chain(former)) {
                Ok(names) => break names,
                Err(collision) => collision,
            };
            let colliding = [collision.first.clone(), collision.second.clone()];
            let is_apart = |entry: &Entry| {
                let names = ToolNames::from(entry.tool());
                !names.iter().any(|name| colliding.contains(name))
            };
            tools.retain(|(entry, _)| is_apart(entry));
            hidden.retain(|entry| is_apart(entry));
            skipped.extend(colliding.map(|name| SkippedTool {
                name,
                reason: SkipReason::Collision(collision.clone()),
            }));
        };
        skipped.sort_by(|a, b| a.name.cmp(&b.name));
        let mut sent = tools.iter().map(|(entry, _)| entry.name());
        let has_own_caller = of_search.is_empty() && sent.any(|name| *name == *inner_call::CALLER);
        Self {
            format,
            tools,
            hidden,
            render,
            has_own_caller,
            names,
            skipped,
            definitions: OnceLock::new(),
            value: OnceLock::new(),
            digests: OnceLock::new(),
        }
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

    /// Returns the digests of the definitions by the names in the catalog. Computed on first use.
    pub(crate) fn definition_digests(&self) -> &Arc<BTreeMap<ToolName, u64>> {
        self.digests.get_or_init(|| {
            let digests = self
                .tools
                .iter()
                .map(|(entry, wire)| (entry.name().clone(), fingerprint(&wire.definition)));
            Arc::new(digests.collect())
        })
    }

    /// Returns the definitions as the text of a JSON array. Joined on first use.
    pub fn definitions(&self) -> &Arc<str> {
        self.definitions
            .get_or_init(|| join_definitions(&self.tools).into())
    }

    /// Returns the definitions as a JSON array, for clients that take JSON values. Built on first use.
    pub fn value(&self) -> &Value {
        self.value
            .get_or_init(|| self.list().map(WireTool::value).collect())
    }

    /// Returns the selected tools that are not sent, sorted by name: those that the set [skipped](crate::ToolSet::list_skipped), and those that
    /// the service would refuse.
    pub fn list_skipped(&self) -> &[SkippedTool] {
        &self.skipped
    }

    /// Returns the name of a tool on the wire, in the set or not.
    pub fn name<'a>(&self, tool: &'a str) -> Cow<'a, str> {
        match WireNames::absent_wire(tool) {
            Some(wire) if self.format.names().allows(wire) => Cow::Borrowed(wire),
            _ => self.format.names().encode(tool),
        }
    }

    /// Returns a model's call with the names of the catalog.
    ///
    /// A wire name takes precedence, so that no tool can take the place of another, also of one outside the set. Otherwise the name
    /// is the catalog's own, or that of the only tool whose name differs by punctuation or case alone. The wire name of another tool
    /// becomes a text that names no tool, here or in any other set. The call that a call of `tools.call` stands for is read too.
    pub fn read_call(&self, call: ToolCall) -> ToolCall {
        let call = self.read_outer(call);
        let call = if self.has_own_caller {
            call
        } else {
            inner_call::readable(call)
        };
        self.with_inner(&call, &|inner| self.read_call(inner))
            .unwrap_or(call)
    }

    fn read_outer(&self, call: ToolCall) -> ToolCall {
        let own = self.names.tool(&call.name).map(|own| own.to_string());
        let is_known = own.as_deref().is_some_and(|own| self.get(own).is_some());
        let near = (!is_known).then(|| self.near(&call.name)).flatten();
        let name = match near.or(own) {
            Some(own) => own,
            None if ToolName::new(&call.name).is_ok() => WireNames::absent(&call.name),
            None => call.name,
        };
        let arguments = match self.get(&name) {
            Some(wire) => wire.arguments.decode(&call.arguments),
            None => call.arguments,
        };
        ToolCall::new(call.id, name, arguments)
    }

    /// Returns the only tool whose name differs from this one by punctuation, case or the prefix of a namespace alone.
    fn near(&self, name: &str) -> Option<String> {
        let both = || self.entries().chain(&self.hidden);
        let bare = NAMESPACES
            .iter()
            .find_map(|namespace| name.strip_prefix(namespace))
            .unwrap_or(name);
        // Some servers leave the marks of gpt-oss behind the name: `fs__read<|channel|>commentary`.
        let letters = simplify_name(bare.split("<|").next().unwrap_or(bare));
        let is_own = both().any(|entry| entry.name().as_str() == name);
        if letters.is_empty() || is_own || NameGrammar::is_digested(name) {
            return None;
        }
        let mut near = both().filter(|entry| simplify_name(entry.name().as_str()) == letters);
        let entry = near.next()?;
        // Of two near names, the model may have meant either.
        near.next().is_none().then(|| entry.name().to_string())
    }

    /// Returns an earlier call with the names of the wire.
    pub fn write_call(&self, call: &ToolCall) -> ToolCall {
        let with_inner = self.with_inner(call, &|inner| self.write_call(&inner));
        let call = with_inner.as_ref().unwrap_or(call);
        let arguments = match self.get(&call.name) {
            Some(wire) => wire.arguments.encode(&call.arguments),
            None => call.arguments.clone(),
        };
        ToolCall::new(&*call.id, self.name(&call.name), arguments)
    }

    /// Changes the call for which a call of `tools.call` stands. Returns `None` for any other call.
    fn with_inner(
        &self,
        call: &ToolCall,
        change: &dyn Fn(ToolCall) -> ToolCall,
    ) -> Option<ToolCall> {
        let inner = inner_call::direct_inner(call)?;
        let changed = (!self.has_own_caller).then(|| change(inner.clone()));
        let changed = changed.filter(|changed| *changed != inner)?;
        Some(inner_call::with_inner(call.clone(), &changed))
    }

    /// Returns the tool of this name, or else of this former name, in the catalog, offered or not. One without a form on the wire can be
    /// called by `tools.call` alone.
    pub(crate) fn get(&self, name: &str) -> Option<&WireTool> {
        let tools = &self.tools;
        let others = &self.hidden;
        if let Ok(at) = tools.binary_search_by(|(entry, _)| entry.name().as_str().cmp(name)) {
            return Some(&tools[at].1);
        }
        let hidden = match others.binary_search_by(|entry| entry.name().as_str().cmp(name)) {
            Ok(at) => &others[at],
            Err(_) => match ToolNames::holder(tools, |(entry, _)| entry.tool().into(), name) {
                Some((_, wire)) => return Some(wire),
                None => ToolNames::holder(others, |entry| entry.tool().into(), name)?,
            },
        };
        let wire = (self.render)(hidden, self.format, Strictness::Relaxed);
        wire.ok().map(|wire| &**wire)
    }
}

/// The prefixes that models put before names, after the namespaces of their training.
const NAMESPACES: [&str; 4] = ["functions.", "functions:", "default_api.", "default_api:"];

/// Returns a name without case and punctuation.
fn simplify_name(name: &str) -> String {
    name.chars()
        .filter(|c| c.is_alphanumeric())
        .flat_map(char::to_lowercase)
        .collect()
}

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
            Err(reason) => skipped.push(SkippedTool {
                name: entry.name().clone(),
                reason,
            }),
        }
    }
}

/// Returns a tool on the wire. A strict tool uses up `limits`, and is relaxed if they do not suffice.
fn wire(
    entry: &Entry,
    format: Format,
    strictness: Strictness,
    render: Render,
    limits: &mut Option<StrictLimits>,
) -> Result<Arc<WireTool>, SkipReason> {
    let unsendable = |reason: &_| SkipReason::Unsendable {
        format,
        reason: Clone::clone(reason),
    };
    let wire = render(entry, format, strictness).map_err(unsendable)?;
    let Some(left) = limits.filter(|_| wire.strict.is_ok()) else {
        return Ok(wire.clone());
    };
    match left.after(wire) {
        Some(left) => {
            *limits = Some(left);
            Ok(wire.clone())
        }
        None => {
            let mut relaxed =
                WireTool::clone(render(entry, format, Strictness::Relaxed).map_err(unsendable)?);
            relaxed.strict = Err(NotStrict::RequestLimit);
            Ok(Arc::new(relaxed))
        }
    }
}

fn join_definitions(tools: &[(Arc<Entry>, Arc<WireTool>)]) -> String {
    let definitions = tools.iter().map(|(_, wire)| &wire.definition);
    format!("[{}]", join(definitions, ","))
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use tools::protocol::wire::schema::Unsendable;
    use tools::{Catalog, Effects, Tool, ToolContext};

    use super::*;

    #[test]
    fn a_tool_that_a_service_refuses_is_skipped_with_the_reason() {
        let mut catalog = Catalog::new();
        for name in ["a", "m", "z"] {
            let tool = Tool::new(name, "Answers.", json!({"type": "object"}))
                .unwrap()
                .with_effects(Effects::Pure);
            catalog
                .register(tool, async |_: ToolContext, _: Value| "pong")
                .unwrap();
        }
        let (format, mut tools, mut skipped) = (Format::Anthropic, Vec::new(), Vec::new());
        collect(
            &catalog.list(),
            &mut tools,
            &mut skipped,
            |entry| match entry.name().as_str() {
                "m" => Err(SkipReason::Unsendable {
                    format,
                    reason: Unsendable::NotAnObject,
                }),
                _ => wire(entry, format, Strictness::Relaxed, Entry::wire, &mut None),
            },
        );
        let sent: Vec<Value> = serde_json::from_str(&join_definitions(&tools)).unwrap();
        assert_eq!(
            sent.iter().map(|tool| &tool["name"]).collect::<Vec<_>>(),
            ["a", "z"]
        );
        let [skipped] = &skipped[..] else {
            panic!("{skipped:?}")
        };
        assert_eq!(skipped.name.as_str(), "m");
        assert!(
            skipped.to_string().contains("anthropic") && skipped.to_string().contains("object"),
            "{skipped}"
        );
    }
}
