//! [`ToolSet`]: the fixed tools of a session.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use serde_json::json;
use tools::call::Resolve;
use tools::protocol::ToolNames;
use tools::protocol::wire::{Format, FormatCell, Strictness};
use tools::{
    Arguments, Digest, Entry, Execution, Json, Services, Target, Tool, ToolCall, ToolContext,
    ToolError, ToolErrorKind, ToolName, ToolResult,
};
use tools_search::Index;

use crate::fingerprint::fingerprint;
use crate::inner_call;
use crate::selection::Selection;
use crate::skipped_tool::{SkipReason, SkippedTool};
use crate::wire_options::WireOptions;
use crate::wire_tool_set::WireToolSet;

/// An immutable, sorted subset of a catalog.
///
/// - Later changes to the catalog do not affect it.
/// - Its tools can call only tools of the set.
/// - Clones share the set. Calls take no lock.
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
pub struct ToolSet(Arc<SelectedTools>);

#[derive(Debug)]
struct SelectedTools {
    /// Sorted by name, each name once.
    entries: Vec<Arc<Entry>>,
    /// The entries that requests offer. `None` means all.
    offer: Option<Offer>,
    skipped: Vec<SkippedTool>,
    index: Arc<OnceLock<Index>>,
    digest: OnceLock<Digest>,
    definition_digests: OnceLock<Arc<BTreeMap<ToolName, u64>>>,
    /// Without and with examples; of each, without and with a limit.
    // Boxed, because a session needs one form or two of all.
    wires: [[FormatCell<Box<WireToolSet>>; 2]; 2],
}

/// The entries that requests offer.
#[derive(Debug)]
struct Offer {
    /// Sorted by name.
    entries: Vec<Arc<Entry>>,
    /// The tools that find and call the others.
    of_search: Vec<Arc<Entry>>,
}

impl ToolSet {
    /// Creates a set of the selected tools. Tools whose services are missing are [skipped](Self::list_skipped), so that the model
    /// is not offered a tool that can only fail. So are tools whose [former name](Tool::was) is a name of another tool of `entries`,
    /// selected or not: no tool can take over the calls, rules and selections of another.
    pub fn new(
        entries: impl IntoIterator<Item = Arc<Entry>>,
        selection: &Selection,
        services: &Services,
    ) -> Self {
        let mut offered: Vec<_> = entries.into_iter().collect();
        // Prompt caches depend on the order of the definitions.
        offered.sort_by(|a, b| a.name().cmp(b.name()));
        let mut selected = offered.clone();
        selected.retain(|entry| selection.matches(entry));
        let mut skipped = Vec::new();
        let mut entries = Vec::new();
        for same in selected.chunk_by(|a, b| a.name() == b.name()) {
            match SkipReason::in_set(same, &offered, services) {
                Some(reason) => skipped.push(SkippedTool {
                    name: same[0].name().clone(),
                    reason,
                }),
                None => entries.push(same[0].clone()),
            }
        }
        Self::assemble(entries, None, skipped, Arc::default())
    }

    fn assemble(
        entries: Vec<Arc<Entry>>,
        offer: Option<Offer>,
        skipped: Vec<SkippedTool>,
        index: Arc<OnceLock<Index>>,
    ) -> Self {
        let (digest, definition_digests, wires) = Default::default();
        Self(Arc::new(SelectedTools {
            entries,
            offer,
            skipped,
            index,
            digest,
            definition_digests,
            wires,
        }))
    }

    /// Returns the same tools with those of a search, of which requests offer these and the chosen ones. Returns `None` if another tool has the name of one of them.
    pub(crate) fn disclosing(
        &self,
        of_search: &[Arc<Entry>],
        is_offered: impl Fn(&Entry) -> bool,
    ) -> Option<Self> {
        // A host's own tool of this name must not be replaced, and two tools cannot have one name.
        for searched in of_search {
            let list = self.list();
            let found = list.binary_search_by(|entry| entry.name().cmp(searched.name()));
            if found.is_ok() {
                return None;
            }
        }
        let with_search = |selected: Vec<Arc<Entry>>| {
            let mut entries = [&selected, of_search].concat();
            entries.sort_by(|a, b| a.name().cmp(b.name()));
            entries
        };
        let entries = with_search(self.list().to_vec());
        let mut offered = self.list().to_vec();
        offered.retain(|entry| is_offered(entry));
        let offer = Offer {
            entries: with_search(offered),
            of_search: of_search.to_vec(),
        };
        Some(Self::assemble(
            entries,
            Some(offer),
            self.list_skipped().to_vec(),
            self.0.index.clone(),
        ))
    }

    /// Takes over the parts of another set's index that this set needs too.
    pub(crate) fn with_index_of(self, former: &Self) -> Self {
        if let Some(index) = former.0.index.get() {
            self.0.index.get_or_init(|| index.update(self.corpus()));
        }
        self
    }

    /// Returns the index of the tools. Built on first use.
    pub(crate) fn index(&self) -> &Index {
        self.0.index.get_or_init(|| Index::new(self.corpus()))
    }

    /// Returns the definitions that can be found.
    fn corpus(&self) -> impl Iterator<Item = &Tool> {
        let ordinary = self.list().iter().filter(move |entry| {
            let mut of_search = self.of_search().iter();
            of_search.all(|other| other.name() != entry.name())
        });
        ordinary.map(|entry| entry.tool())
    }

    /// Returns the tools, sorted by name. All of them can be called.
    pub fn list(&self) -> &[Arc<Entry>] {
        &self.0.entries
    }

    /// Returns the tools that requests offer, sorted by name: all of them, unless the session's [disclosure](crate::Disclosure) makes its
    /// model search for the others.
    pub fn list_offered(&self) -> &[Arc<Entry>] {
        self.0.list_offered()
    }

    /// Returns the tools that find and call those which requests do not offer. Empty if they offer all.
    fn of_search(&self) -> &[Arc<Entry>] {
        self.0.offer.as_ref().map_or(&[], |offer| &offer.of_search)
    }

    /// Returns the definitions of the [offered](Self::list_offered) tools, sorted by name.
    pub fn definitions(&self) -> impl ExactSizeIterator<Item = &Tool> {
        self.list_offered().iter().map(|entry| entry.tool())
    }

    /// Returns true if requests do not offer all tools.
    pub(crate) fn is_disclosing(&self) -> bool {
        self.0.offer.is_some()
    }

    /// Returns the tool of this name or former name if requests do not offer it.
    pub(crate) fn find_hidden(&self, name: &str) -> Option<Arc<Entry>> {
        let offer = self.0.offer.as_ref()?;
        let entry = self.0.find(name)?;
        offer
            .entries
            .binary_search_by(|other| other.name().cmp(entry.name()))
            .is_err()
            .then(|| entry.clone())
    }

    /// Returns the call for which a call of `tools.call` stands. Returns `None` for another call, and if the set has a tool of its own by
    /// that name.
    pub(crate) fn inner_call(&self, call: &ToolCall) -> Option<ToolCall> {
        let inner = inner_call::inner(call)?;
        (self.is_disclosing() || !self.contains(inner_call::CALLER)).then_some(inner)
    }

    /// Returns the offered tools as the public service takes them, without examples.
    pub fn wire(&self, format: Format, strictness: Strictness) -> &WireToolSet {
        self.wire_as(WireOptions {
            strictness,
            ..WireOptions::new(format)
        })
    }

    /// Returns the tools in this form. Built once per form, from the [wire tools](Entry::wire) of the entries.
    pub fn wire_as(&self, options: WireOptions) -> &WireToolSet {
        let wires = &self.0.wires[usize::from(options.examples)][usize::from(options.is_limited)];
        wires.get_or_init(options.format, options.strictness, || {
            let mut hidden = self.list().to_vec();
            hidden.retain(|entry| self.find_hidden(entry.name()).is_some());
            let of_search = self.of_search();
            let skipped = self.list_skipped().to_vec();
            let offered = self.list_offered();
            Box::new(WireToolSet::new(
                offered, hidden, of_search, skipped, options,
            ))
        })
    }

    /// Returns the number of tools.
    pub fn len(&self) -> usize {
        self.0.entries.len()
    }

    /// Returns true if the set has no tools.
    pub fn is_empty(&self) -> bool {
        self.0.entries.is_empty()
    }

    /// Returns the tool of that name or former name.
    ///
    /// # Errors
    /// - Returns [`ToolErrorKind::NotFound`], with similar names from this set, if the name is unknown.
    /// - Returns [`ToolErrorKind::Unavailable`] if the tool was skipped.
    pub fn get(&self, name: &str) -> Result<Arc<Entry>, ToolError> {
        self.0.resolve(name)
    }

    /// Returns true if the set has a tool of that name or former name.
    pub fn contains(&self, name: &str) -> bool {
        self.0.find(name).is_some()
    }

    /// Returns the SHA-256 digest over the names and digests of the tools, which identifies the set. Computed on first use.
    pub fn digest(&self) -> Digest {
        *self.0.digest.get_or_init(|| digest(self.list()))
    }

    /// Returns the digests of the descriptions and parameters by name. Computed on first use.
    pub(crate) fn definition_digests(&self) -> &Arc<BTreeMap<ToolName, u64>> {
        self.0.definition_digests.get_or_init(|| {
            let digests = self.definitions().map(|tool| {
                let text = json!([tool.description, tool.parameters]).to_string();
                (tool.name.clone(), fingerprint(&text))
            });
            Arc::new(digests.collect())
        })
    }

    /// Returns the tools that were selected but are not in the set, sorted by name.
    pub fn list_skipped(&self) -> &[SkippedTool] {
        &self.0.skipped
    }

    /// Returns the tool of a call and the targets that the arguments name. Returns `None` if they cannot be derived.
    pub(crate) fn targets(
        &self,
        call: &ToolCall,
        cx: &ToolContext,
    ) -> Option<(Arc<Entry>, Vec<Target>)> {
        let entry = self.get(&call.name).ok()?;
        let arguments = tools::call::read_arguments(&entry, &call.arguments, cx);
        let targets = entry.targets(&arguments, cx).ok()?;
        Some((entry, targets))
    }

    /// Returns the arguments of a call with [secrets masked](Entry::masked_in), so that they may be shown.
    ///
    /// For a tool outside the set, the secret arguments are unknown. All its arguments are masked if any tool of the set has
    /// secrets.
    pub fn masked_arguments(&self, call: &ToolCall) -> Json {
        if let Some(mut inner) = self.inner_call(call) {
            inner.arguments = self.masked_arguments(&inner);
            return inner_call::with_inner(call.clone(), &inner).arguments;
        }
        match self.get(&call.name) {
            Ok(entry) => entry.masked_in(&call.arguments, &|name| self.get(name).ok()),
            Err(_) if self.list().iter().any(|entry| entry.has_secrets) => {
                tools::Secret::mask(&json!({"writeOnly": true}), call.arguments.value())
                    .into_owned()
                    .into()
            }
            Err(_) => call.arguments.clone(),
        }
    }

    /// Calls a tool through the pipeline. Nested calls are looked up in this set.
    ///
    /// # Errors
    /// The future returns a [`ToolError`] if the call is refused or the tool fails.
    pub fn execute(
        &self,
        cx: &ToolContext,
        name: &str,
        arguments: impl Into<Arguments>,
    ) -> Execution {
        tools::call::execute(self.0.clone(), cx, name, arguments)
    }

    /// Runs a model's call with the names of the wire and returns its result for the model, also if the call is refused or fails.
    ///
    /// # Errors
    /// Returns the errors that [end a run](ToolError::is_recoverable), such as a cancellation.
    pub async fn answer(
        &self,
        cx: &ToolContext,
        wire: &WireToolSet,
        call: ToolCall,
    ) -> Result<ToolResult, ToolError> {
        let cx = cx.clone().with_wire(wire.format());
        let call = wire.read_call(call);
        match self.execute(&cx, &call.name, call.arguments).await {
            Err(error) if error.is_recoverable() => {
                Ok(cx.error_result(self.get(&call.name).ok().as_deref(), &error))
            }
            outcome => outcome,
        }
    }
}

impl Default for ToolSet {
    /// Returns a set without tools.
    fn default() -> Self {
        Self::new([], &Selection::new(), &Services::new())
    }
}

impl Resolve for ToolSet {
    fn resolve(&self, name: &str) -> Result<Arc<Entry>, ToolError> {
        self.0.resolve(name)
    }
}

impl Resolve for SelectedTools {
    fn resolve(&self, name: &str) -> Result<Arc<Entry>, ToolError> {
        if let Some(entry) = self.find(name) {
            return Ok(entry.clone());
        }
        // The reason that a selected tool is missing says more than names that are similar.
        let mut skipped = self.skipped.iter();
        if let Some(skipped) = skipped.find(|skipped| skipped.name.as_str() == name) {
            let kind = ToolErrorKind::unavailable(&skipped.reason);
            return Err(ToolError::new(name, kind));
        }
        let names = self.entries.iter().flat_map(|entry| names_of(entry));
        let error = ToolError::not_found(name, names);
        match error.kind() {
            ToolErrorKind::NotFound { near } if near.is_empty() => {
                Err(self.unlike_any(name).unwrap_or(error))
            }
            _ => Err(error),
        }
    }
}

/// The most tools that the error for an unknown name lists.
const MOST_LISTED: usize = 64;

impl SelectedTools {
    fn list_offered(&self) -> &[Arc<Entry>] {
        self.offer
            .as_ref()
            .map_or(&self.entries, |offer| &offer.entries)
    }

    /// Returns the error for a name that is similar to none, with the names of the tools that requests offer, among them that of a search.
    /// Returns `None` if these are too many.
    fn unlike_any(&self, name: &str) -> Option<ToolError> {
        let offered = self.list_offered();
        (offered.len() <= MOST_LISTED).then(|| {
            let near = offered.iter();
            let near = near.map(|entry| entry.name().to_string()).collect();
            let name: String = name.chars().take(ToolName::MAX_LENGTH).collect();
            ToolError::new(name, ToolErrorKind::NotFound { near })
        })
    }

    /// Returns the tool of this name or former name.
    fn find(&self, name: &str) -> Option<&Arc<Entry>> {
        match self
            .entries
            .binary_search_by(|entry| entry.name().as_str().cmp(name))
        {
            Ok(position) => Some(&self.entries[position]),
            // Former names are few, and are looked for only where the present ones have none.
            Err(_) => ToolNames::holder(&self.entries, |entry| entry.tool().into(), name),
        }
    }
}

/// Returns the names of a tool, each with the present one.
fn names_of(entry: &Entry) -> impl Iterator<Item = (&str, &str)> {
    ToolNames::from(entry.tool())
        .iter()
        .map(|name| (name.as_str(), entry.name().as_str()))
}

/// Returns the digest over every tool's name and digest. A NUL ends each name, because names contain none.
fn digest(entries: &[Arc<Entry>]) -> Digest {
    let mut pinned = Vec::new();
    for entry in entries {
        pinned.extend_from_slice(entry.name().as_bytes());
        pinned.push(0);
        pinned.extend_from_slice(entry.digest().as_bytes());
    }
    Digest::hash_bytes(&pinned)
}
