//! [`Catalog`]: a set of tools, as a plain value.

pub(crate) mod slot;

use std::collections::HashSet;
use std::sync::Arc;

use protocol::{Tool, ToolName};

use self::slot::{Slot, Slots};
use crate::admission::Admission;
use crate::arguments::Arguments;
use crate::call::{self, Execution};
use crate::conflict::{Conflict, Problem};
use crate::context::ToolContext;
use crate::entry::Entry;
use crate::handler::Handler;
use crate::register_error::RegisterError;
use crate::resolve::Resolve;
use crate::source::Source;
use crate::submission;
use crate::submission::Submission;
use crate::subscription::{Publisher, Subscription};
use crate::tool_error::ToolError;

/// A set of tools by name. Every catalog, clones included, is independent of the others and of the process-wide one.
///
/// ```
/// use serde_json::json;
/// use tools::{Catalog, Effects, Host, Tool, ToolContext};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut catalog = Catalog::new();
/// let tool = Tool::new("shout", "Says it louder.", json!({
///     "type": "object",
///     "properties": {"text": {"type": "string"}},
///     "required": ["text"],
/// }))?
/// .with_effects(Effects::Pure);
/// catalog.register(tool, async |_cx: ToolContext, arguments: serde_json::Value| {
///     Ok::<_, String>(arguments["text"].as_str().unwrap_or_default().to_uppercase())
/// })?;
///
/// let result = catalog.execute(&Host::new(), "shout", json!({"text": "hey"})).await?;
/// assert_eq!(result.to_text(), "HEY");
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Catalog {
    /// Shared with running calls, which look up nested calls in it. A change to the catalog copies it while they run.
    pub(crate) slots: Arc<Slots>,
    /// Submissions with an invalid name.
    nameless: Vec<Problem>,
    pub(crate) generation: u64,
    admission: Arc<Admission>,
    pub(crate) publisher: Publisher,
}

impl Catalog {
    /// Creates an empty catalog.
    pub fn new() -> Self {
        Self {
            slots: Arc::default(),
            nameless: Vec::new(),
            generation: 0,
            admission: Arc::default(),
            publisher: Publisher::new(0),
        }
    }

    /// Creates a catalog of all tools that are linked into this process.
    ///
    /// A name that two crates submit is listed in [`conflicts`](Self::conflicts). A definition that cannot be built is listed in
    /// [`problems`](Self::problems), and so is a tool whose former name is a name of another tool.
    pub fn linked() -> Self {
        let mut catalog = Self::new();
        let mut named = Vec::new();
        for submission in submission::list_linked() {
            let Submission { name, source, .. } = submission;
            match ToolName::new(name) {
                Ok(name) => named.push((name, submission)),
                Err(error) => {
                    catalog.nameless.push(Problem {
                        name: (*name).to_owned(),
                        source: source.clone(),
                        error: error.into(),
                    });
                }
            }
        }
        catalog.slots = Arc::new(Slots::linked(&named, &catalog.admission));
        catalog
    }

    /// Sets the [`Admission`], to change its limits or to share it with catalogs whose tools touch the same targets.
    ///
    /// Call this first: tools that were registered or resolved before keep their admission.
    #[must_use]
    pub fn with_admission(mut self, admission: Arc<Admission>) -> Self {
        for slot in Arc::make_mut(&mut self.slots).slots_mut() {
            *slot = slot.clone().with_admission(&admission);
        }
        self.admission = admission;
        self
    }

    /// Returns the admission of this catalog. Clones of the catalog share it.
    pub fn admission(&self) -> &Arc<Admission> {
        &self.admission
    }

    /// Registers a tool.
    ///
    /// # Errors
    /// Returns a [`RegisterError`] and leaves the catalog unchanged if the definition is invalid or the name is taken.
    #[track_caller]
    pub fn register(
        &mut self,
        tool: Tool,
        handler: impl Handler,
    ) -> Result<Arc<Entry>, RegisterError> {
        self.insert(Entry::from_caller(tool, handler)?)
    }

    /// Registers a tool with an explicit source, such as [`source!`](crate::source!), which includes the package's version.
    ///
    /// # Errors
    /// Returns [`RegisterError::Exists`] and leaves the catalog unchanged if the name is taken.
    pub fn insert(&mut self, entry: Entry) -> Result<Arc<Entry>, RegisterError> {
        let entry = Arc::new(entry);
        self.add(vec![entry.clone()])?;
        self.publish();
        Ok(entry)
    }

    /// Registers a tool and replaces any tool or conflict with the same name.
    ///
    /// # Errors
    /// Returns a [`RegisterError`] and leaves the catalog unchanged if the definition is invalid, the name is a former name of another
    /// tool, or a former name is taken.
    #[track_caller]
    pub fn replace(
        &mut self,
        tool: Tool,
        handler: impl Handler,
    ) -> Result<Arc<Entry>, RegisterError> {
        let entry = Arc::new(Entry::from_caller(tool, handler)?);
        let replaced = self.put_checked(entry.clone())?;
        self.publish();
        // A handler may change the catalog when it is dropped, so it is dropped after the publication.
        drop(replaced);
        Ok(entry)
    }

    /// Registers submissions, as linking their crate would. Submissions that are already registered are skipped.
    ///
    /// # Errors
    /// Returns the first [`RegisterError`] and leaves the catalog unchanged if a submission cannot be registered.
    pub fn submit(&mut self, submissions: &[&'static Submission]) -> Result<(), RegisterError> {
        self.add_missing(build(submissions)?)?;
        self.publish();
        Ok(())
    }

    /// Removes a tool or a conflict. Running calls continue. Returns true if the name existed.
    pub fn unregister(&mut self, name: &str) -> bool {
        let removed = self.remove(name);
        self.publish();
        removed.is_some()
    }

    /// Returns the tool with this name.
    ///
    /// # Errors
    /// Returns the errors of [`Resolve::resolve`].
    pub fn get(&self, name: &str) -> Result<Arc<Entry>, ToolError> {
        self.slots.resolve(name)
    }

    /// Returns true if a tool or a conflict holds this name. A tool also holds its former names.
    pub fn contains(&self, name: &str) -> bool {
        self.slots.get(name).is_some()
    }

    /// Returns all callable tools, sorted by name.
    ///
    /// The list excludes [`conflicts`](Self::conflicts) and linked tools that cannot be built, which are in
    /// [`problems`](Self::problems).
    pub fn list(&self) -> Vec<Arc<Entry>> {
        self.in_order().iter().filter_map(Slot::entry).collect()
    }

    /// Returns all names, sorted, including those of conflicts and of tools that cannot be built. Builds no linked tool.
    pub fn names(&self) -> Vec<ToolName> {
        let mut names: Vec<_> = self.slots.names().cloned().collect();
        // The order of a hash map differs in each process, and prompt caches depend on the order of tools.
        names.sort_unstable();
        names
    }

    /// Validates the arguments of a call without running it.
    ///
    /// # Errors
    /// Returns the errors of [`get`](Self::get), and
    /// [`ToolErrorKind::InvalidArguments`](crate::ToolErrorKind::InvalidArguments) with every violation.
    pub fn validate(&self, name: &str, arguments: impl Into<Arguments>) -> Result<(), ToolError> {
        call::validate(&*self.get(name)?, arguments.into(), None).map(drop)
    }

    /// Runs a tool through the [pipeline](crate::call). Nested calls are resolved in this catalog as it is now.
    ///
    /// # Errors
    /// The future returns a [`ToolError`] if the tool was not run or failed.
    pub fn execute(
        &self,
        cx: &ToolContext,
        name: &str,
        arguments: impl Into<Arguments>,
    ) -> Execution {
        call::execute(self.slots.clone(), cx, name, arguments)
    }

    /// Returns the conflicts between linked crates, sorted by name.
    pub fn conflicts(&self) -> Vec<Conflict> {
        self.in_order().iter().filter_map(Slot::conflict).collect()
    }

    /// Returns the tools that cannot be used or have an invalid example, sorted by name.
    ///
    /// Builds every linked tool, compiles all schemas and validates all examples, which registration does not do.
    pub fn problems(&self) -> Vec<Problem> {
        let mut problems = self.nameless.clone();
        problems.extend(self.in_order().iter().filter_map(Slot::problem));
        problems
    }

    /// Subscribes to changes of the catalog.
    pub fn subscribe(&self) -> Subscription {
        self.publisher.subscribe()
    }

    /// Adds all entries or none, without publishing the change.
    pub(crate) fn add(&mut self, entries: Vec<Arc<Entry>>) -> Result<(), RegisterError> {
        // All are checked before the first is added, so that a refused registration changes nothing.
        for (index, entry) in entries.iter().enumerate() {
            if let Some(existing) = self.slots.holders(entry.name(), &entries[..index]) {
                return Err(self.exists(entry, existing));
            }
            self.slots.check_former(entry, &entries[..index])?;
        }
        // Every name was free, so no handler is dropped here.
        entries.into_iter().for_each(|entry| drop(self.put(entry)));
        Ok(())
    }

    /// Adds the entries that are not registered yet, all or none, without publishing the change.
    pub(crate) fn add_missing(
        &mut self,
        mut entries: Vec<Arc<Entry>>,
    ) -> Result<(), RegisterError> {
        let mut seen = HashSet::new();
        entries.retain(|entry| {
            let held = self.slots.get(entry.name()).map(Slot::sources);
            let is_there = held.as_deref() == Some(std::slice::from_ref(entry.source()));
            // A crate may be linked and submitted, which is one declaration.
            !is_there && seen.insert((entry.source().clone(), entry.digest()))
        });
        self.add(entries)
    }

    /// Inserts an entry if no other tool holds one of its names and returns the replaced slot, without publishing the change.
    pub(crate) fn put_checked(&mut self, entry: Arc<Entry>) -> Result<Option<Slot>, RegisterError> {
        if self
            .slots
            .present(entry.name())
            // A former name cannot be replaced: rules about the tool that had it would then hold for a stranger.
            .is_some_and(|present| present != entry.name())
        {
            let existing = self.slots.holders(entry.name(), &[]).unwrap_or_default();
            return Err(self.exists(&entry, existing));
        }
        self.slots.check_former(&entry, &[])?;
        Ok(self.put(entry))
    }

    /// Inserts an entry and returns the replaced slot, without publishing the change.
    #[must_use = "dropping a handler runs foreign code, which must not run under a lock"]
    pub(crate) fn put(&mut self, entry: Arc<Entry>) -> Option<Slot> {
        self.generation += 1;
        entry.set_admission(&self.admission);
        Arc::make_mut(&mut self.slots).put(entry)
    }

    /// Removes a name and returns its slot, without publishing the change.
    #[must_use = "dropping a handler runs foreign code, which must not run under a lock"]
    pub(crate) fn remove(&mut self, name: &str) -> Option<Slot> {
        if self
            .slots
            .present(name)
            // A former name is no tool of its own, so it cannot be removed without its tool.
            .is_none_or(|present| present.as_str() != name)
        {
            return None;
        }
        self.generation += 1;
        Arc::make_mut(&mut self.slots).remove(name)
    }

    /// Returns the slot of a name.
    ///
    /// # Errors
    /// Returns all slots if the name does not exist, so that the caller can suggest names without the lock.
    pub(crate) fn slot(&self, name: &str) -> Result<Slot, Arc<Slots>> {
        self.slots
            .get(name)
            .cloned()
            .ok_or_else(|| self.slots.clone())
    }

    fn in_order(&self) -> Vec<Slot> {
        self.slots.in_order()
    }

    fn publish(&self) {
        self.publisher.publish(self.generation);
    }

    fn exists(&self, refused: &Entry, existing: Vec<Source>) -> RegisterError {
        RegisterError::Exists {
            name: refused.name().clone(),
            existing,
            refused: Box::new(refused.source().clone()),
            free: self.free_name(refused.name()),
        }
    }

    /// Returns the first free name of `name_v2`, `name_v3`, …. A name that is too long for a suffix is shortened.
    fn free_name(&self, name: &ToolName) -> ToolName {
        (2..)
            .map(|version| {
                let suffix = format!("_v{version}");
                let kept = name.len().min(ToolName::MAX_LENGTH - suffix.len());
                ToolName::new(format!("{}{suffix}", &name[..kept])).unwrap_or_else(|_| name.clone())
            })
            .find(|free| !self.contains(free))
            .unwrap_or_else(|| name.clone())
    }
}

/// Builds the entries of submissions.
pub(crate) fn build(submissions: &[&'static Submission]) -> Result<Vec<Arc<Entry>>, RegisterError> {
    let entries = submissions.iter().map(|submission| {
        let entry = submission.to_entry()?.with_checked_dialects();
        entry.map(Arc::new)
    });
    entries.collect()
}

impl Clone for Catalog {
    /// Returns a catalog with the same tools. Changes to it do not notify subscribers of the original.
    fn clone(&self) -> Self {
        Self {
            slots: self.slots.clone(),
            nameless: self.nameless.clone(),
            generation: self.generation,
            admission: self.admission.clone(),
            publisher: Publisher::new(self.generation),
        }
    }
}

impl Default for Catalog {
    fn default() -> Self {
        Self::new()
    }
}

impl Resolve for Catalog {
    fn resolve(&self, name: &str) -> Result<Arc<Entry>, ToolError> {
        self.get(name)
    }
}
