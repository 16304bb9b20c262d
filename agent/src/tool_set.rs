//! [`ToolSet`]: the tools that a session has signed out.

use std::fmt;
use std::sync::{Arc, OnceLock};

use serde::Serialize;
use serde_json::json;
use tools::call::Resolve;
use tools::protocol::wire::{Format, FormatCell, WireNames};
use tools::{
    Arguments, Digest, Entry, Execution, Json, Services, Source, Tool, ToolCall, ToolContext, ToolError, ToolErrorKind,
    ToolName,
};

use crate::Selection;

/// A fixed, sorted subset of a catalog. What happens to the catalog afterwards does not reach it; what runs in it does not
/// reach beyond it. Clones are the same set, and calling through it takes no lock.
///
/// ```
/// use agent::{Selection, ToolSet};
/// use tools::{Catalog, Services};
///
/// let catalog = Catalog::linked();
/// let set = ToolSet::new(catalog.list(), &Selection::parse(["fs.*"])?, &Services::new());
/// assert!(set.list().iter().all(|entry| entry.name().starts_with("fs.")));
/// # Ok::<(), agent::InvalidSelection>(())
/// ```
#[derive(Clone, Debug)]
pub struct ToolSet(Arc<Inner>);

/// A tool that was selected and is not in the set.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct LeftOut {
    /// The tool.
    pub name: ToolName,
    /// Why.
    pub reason: LeftOutReason,
}

/// Why a tool that was selected is not in the set.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum LeftOutReason {
    /// The host does not offer what it needs.
    Unmet {
        /// The missing services, by type.
        services: Vec<String>,
    },
    /// Different tools of that name were offered, as from two catalogs.
    Ambiguous {
        /// Where they were declared.
        sources: Vec<Source>,
    },
}

#[derive(Debug)]
struct Inner {
    /// Sorted by name, each name once.
    entries: Vec<Arc<Entry>>,
    left_out: Vec<LeftOut>,
    digest: OnceLock<Digest>,
    wire_names: OnceLock<WireNames>,
    wire_definitions: FormatCell<Arc<str>>,
}

impl ToolSet {
    /// The selected ones of these tools. One that needs a service which is not there is left out, so that no model is
    /// offered a tool that can only fail.
    pub fn new(entries: impl IntoIterator<Item = Arc<Entry>>, selection: &Selection, services: &Services) -> Self {
        let mut offered: Vec<_> = entries.into_iter().filter(|entry| selection.matches(entry)).collect();
        offered.sort_by(|a, b| a.name().cmp(b.name()));
        let mut left_out = Vec::new();
        let mut entries = Vec::new();
        for same in offered.chunk_by(|a, b| a.name() == b.name()) {
            match reason_against(same, services) {
                Some(reason) => left_out.push(LeftOut { name: same[0].name().clone(), reason }),
                None => entries.push(same[0].clone()),
            }
        }
        Self(Arc::new(Inner {
            entries,
            left_out,
            digest: OnceLock::new(),
            wire_names: OnceLock::new(),
            wire_definitions: FormatCell::new(),
        }))
    }

    /// The tools, sorted by name.
    pub fn list(&self) -> &[Arc<Entry>] {
        &self.0.entries
    }

    /// Their definitions, in the same order: what a model is told.
    pub fn definitions(&self) -> impl ExactSizeIterator<Item = &Tool> {
        self.0.entries.iter().map(|entry| entry.tool())
    }

    /// Returns their definitions as a JSON array in the format of a provider, joined once per format from the texts that the
    /// [entries](Entry::definition) keep. Equal sets give equal bytes. A provider that takes JSON values builds them from
    /// [`parameters`](tools::protocol::wire::parameters) instead.
    pub fn wire_definitions(&self, format: Format) -> Arc<str> {
        self.0.wire_definitions.get_or_init(format, || joined(self.list(), self.wire_names(), format)).clone()
    }

    /// What the tools are called in texts for providers. Made once.
    pub fn wire_names(&self) -> &WireNames {
        self.0.wire_names.get_or_init(|| WireNames::new(self.definitions().map(|tool| &tool.name)))
    }

    /// How many tools there are.
    pub fn len(&self) -> usize {
        self.0.entries.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.entries.is_empty()
    }

    /// The tool of that name.
    ///
    /// # Errors
    /// [`ToolErrorKind::NotFound`] with near names from this set; [`ToolErrorKind::Unavailable`] for one that was left out.
    pub fn get(&self, name: &str) -> Result<Arc<Entry>, ToolError> {
        self.0.resolve(name)
    }

    /// Whether the set has a tool of that name.
    pub fn contains(&self, name: &str) -> bool {
        self.0.position(name).is_ok()
    }

    /// Returns the identity of the set: SHA-256 over the names and digests of its tools. Computed on first use.
    pub fn digest(&self) -> Digest {
        *self.0.digest.get_or_init(|| digest(self.list()))
    }

    /// The tools that were selected and are not in the set, sorted by name.
    pub fn left_out(&self) -> &[LeftOut] {
        &self.0.left_out
    }

    /// The arguments of a call as they may be shown: with [secrets masked](Entry::masked). Which arguments of a tool are secret that
    /// the set does not have nobody knows, so nothing of them is shown if any of its tools takes secrets.
    pub fn masked_arguments(&self, call: &ToolCall) -> Json {
        match self.get(&call.name) {
            Ok(entry) => entry.masked(&call.arguments),
            Err(_) if self.list().iter().any(|entry| entry.has_secrets()) => {
                tools::Secret::masked(&json!({"writeOnly": true}), call.arguments.value()).into_owned().into()
            }
            Err(_) => call.arguments.clone(),
        }
    }

    /// Runs a tool, through every stage of the counter. Tools that it calls in turn are looked up in this set.
    ///
    /// # Errors
    /// The future gives a [`ToolError`] when the tool could not be run or failed.
    pub fn execute(&self, cx: &ToolContext, name: &str, arguments: impl Into<Arguments>) -> Execution {
        tools::call::execute(self.0.clone(), cx, name, arguments)
    }
}

impl Default for ToolSet {
    /// No tools.
    fn default() -> Self {
        Self::new([], &Selection::new(), &Services::new())
    }
}

impl Resolve for ToolSet {
    fn resolve(&self, name: &str) -> Result<Arc<Entry>, ToolError> {
        self.0.resolve(name)
    }
}

impl Resolve for Inner {
    fn resolve(&self, name: &str) -> Result<Arc<Entry>, ToolError> {
        if let Ok(position) = self.position(name) {
            return Ok(self.entries[position].clone());
        }
        match self.left_out.iter().find(|left_out| left_out.name.as_str() == name) {
            Some(LeftOut { name, reason }) => {
                Err(ToolError::new(name.as_str(), ToolErrorKind::Unavailable { reason: reason.to_string() }))
            }
            None => Err(ToolError::not_found(name, self.entries.iter().map(|entry| entry.name().as_str()))),
        }
    }
}

impl Inner {
    fn position(&self, name: &str) -> Result<usize, usize> {
        self.entries.binary_search_by(|entry| entry.name().as_str().cmp(name))
    }
}

impl fmt::Display for LeftOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.name, self.reason)
    }
}

impl fmt::Display for LeftOutReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unmet { services } => write!(f, "the host offers no {}", services.join(" and no ")),
            Self::Ambiguous { sources } => {
                let sources: Vec<_> = sources.iter().map(Source::to_string).collect();
                write!(f, "different tools bear this name: {}; offer one of them", sources.join(" and "))
            }
        }
    }
}

/// What speaks against taking the tool that bears this name. The same tool, offered twice, is one.
fn reason_against(same: &[Arc<Entry>], services: &Services) -> Option<LeftOutReason> {
    let first = &same[0];
    if !same.iter().all(|entry| entry.is_same(first)) {
        let mut sources: Vec<_> = same.iter().map(|entry| entry.source().clone()).collect();
        sources.sort();
        sources.dedup();
        return Some(LeftOutReason::Ambiguous { sources });
    }
    let unmet = services.unmet(first.needs());
    let services = || unmet.iter().map(|need| need.type_name().to_owned()).collect();
    (!unmet.is_empty()).then(|| LeftOutReason::Unmet { services: services() })
}

/// Returns the digest of every tool's name and digest. A NUL ends a name, because no name contains one.
fn digest(entries: &[Arc<Entry>]) -> Digest {
    let mut pinned = Vec::new();
    for entry in entries {
        pinned.extend_from_slice(entry.name().as_bytes());
        pinned.push(0);
        pinned.extend_from_slice(entry.digest().as_bytes());
    }
    Digest::hash_bytes(&pinned)
}

/// Returns the definitions as a JSON array. A tool whose name meets another one's on the wire is rendered anew.
fn joined(entries: &[Arc<Entry>], names: &WireNames, format: Format) -> Arc<str> {
    let definition = |entry: &Arc<Entry>| match names.spelling_with_digest(entry.name()) {
        None => entry.definition(format).clone(),
        Some(spelling) => format.definition(entry.tool(), spelling),
    };
    let definitions: Vec<Arc<str>> = entries.iter().map(definition).collect();
    let bytes: usize = definitions.iter().map(|definition| definition.len() + 1).sum();
    let mut text = String::with_capacity(bytes + 2);
    text.push('[');
    for (position, definition) in definitions.iter().enumerate() {
        if position > 0 {
            text.push(',');
        }
        text.push_str(definition);
    }
    text.push(']');
    text.into()
}
