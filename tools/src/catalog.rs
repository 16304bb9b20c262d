//! [`Catalog`]: the tools that exist, as a plain value.

use std::collections::HashSet;
use std::sync::Arc;

use protocol::{Tool, ToolName};

use crate::call::{self, Execution};
use crate::slot::{Slot, Slots};
use crate::subscription::Publisher;
use crate::{
    Admission, Arguments, Conflict, Entry, Handler, Problem, RegisterError, Resolve, Source, Submission, ToolContext,
    ToolError, Subscription, submission,
};

/// A set of tools by name. Instances are independent of each other and of the process-wide one; a clone is a copy that
/// goes its own way.
///
/// ```
/// use serde_json::json;
/// use tools::{Catalog, Effects, Tool, ToolContext};
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
/// let result = catalog.execute(&ToolContext::default(), "shout", json!({"text": "hey"})).await?;
/// assert_eq!(result.to_text(), "HEY");
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Catalog {
    /// Shared with the calls under way, which look up nested calls in it; copied only if one changes the catalog meanwhile.
    slots: Arc<Slots>,
    /// Submissions without a valid name to be filed under.
    nameless: Vec<Problem>,
    generation: u64,
    admission: Arc<Admission>,
    publisher: Publisher,
}

impl Catalog {
    /// An empty catalog.
    pub fn new() -> Self {
        Self {
            slots: Arc::default(),
            nameless: Vec::new(),
            generation: 0,
            admission: Arc::default(),
            publisher: Publisher::new(0),
        }
    }

    /// A catalog of all tools that are linked into this process. Names that two crates claim become
    /// [`conflicts`](Self::conflicts), definitions that cannot be built [`problems`](Self::problems).
    pub fn linked() -> Self {
        let mut catalog = Self::new();
        let submissions = submission::linked();
        let slots = Arc::make_mut(&mut catalog.slots);
        for same in submissions.chunk_by(|a, b| a.name == b.name) {
            let name = match ToolName::new(same[0].name) {
                Ok(name) => name,
                Err(error) => {
                    let problem = |s: &&Submission| Problem {
                        name: s.name.to_owned(),
                        source: s.source.clone(),
                        error: error.clone().into(),
                    };
                    catalog.nameless.extend(same.iter().map(problem));
                    continue;
                }
            };
            let slot = match same {
                [only] => Slot::linked(only, catalog.admission.clone()),
                _ => {
                    let sources = same.iter().map(|submission| submission.source.clone()).collect();
                    Slot::Conflict(Arc::new(Conflict { name: name.clone(), sources }))
                }
            };
            slots.0.insert(name, slot);
        }
        catalog
    }

    /// Has calls admitted by this: to set its limits, or to share it with other catalogs whose tools touch the same things. Say
    /// it first: tools that were added or looked at before keep what they have.
    #[must_use]
    pub fn with_admission(mut self, admission: Arc<Admission>) -> Self {
        for slot in Arc::make_mut(&mut self.slots).0.values_mut() {
            *slot = slot.clone().with_admission(&admission);
        }
        self.admission = admission;
        self
    }

    /// What calls are admitted by. A copy of the catalog shares it.
    pub fn admission(&self) -> &Arc<Admission> {
        &self.admission
    }

    /// Adds a tool.
    ///
    /// # Errors
    /// [`RegisterError`]; the catalog is then as it was.
    #[track_caller]
    pub fn register(&mut self, tool: Tool, handler: impl Handler) -> Result<Arc<Entry>, RegisterError> {
        self.insert(Entry::from_caller(tool, handler)?)
    }

    /// Adds a tool with a source of its own, such as [`source!`](crate::source!) gives, which knows the package's version.
    ///
    /// # Errors
    /// [`RegisterError::Exists`]; the catalog is then as it was.
    pub fn insert(&mut self, entry: Entry) -> Result<Arc<Entry>, RegisterError> {
        let entry = Arc::new(entry);
        self.add(vec![entry.clone()])?;
        self.publish();
        Ok(entry)
    }

    /// Adds a tool, or puts it in the place of the one that holds its name, conflicts included.
    ///
    /// # Errors
    /// [`RegisterError`], but not for the name's being taken; the catalog is then as it was.
    #[track_caller]
    pub fn replace(&mut self, tool: Tool, handler: impl Handler) -> Result<Arc<Entry>, RegisterError> {
        let entry = Arc::new(Entry::from_caller(tool, handler)?);
        let replaced = self.put(entry.clone());
        self.publish();
        drop(replaced);
        Ok(entry)
    }

    /// Adds what a crate would contribute by being linked, all or nothing. A submission that is there already is passed
    /// over.
    ///
    /// # Errors
    /// [`RegisterError`] for the first that cannot be added; the catalog is then as it was.
    pub fn submit(&mut self, submissions: &[&'static Submission]) -> Result<(), RegisterError> {
        self.add_missing(built(submissions)?)?;
        self.publish();
        Ok(())
    }

    /// Takes a name out, whatever holds it. Calls under way are not disturbed. Gives whether there was one.
    pub fn unregister(&mut self, name: &str) -> bool {
        let removed = self.remove(name);
        self.publish();
        removed.is_some()
    }

    /// The tool of that name.
    ///
    /// # Errors
    /// As [`Resolve::resolve`].
    pub fn get(&self, name: &str) -> Result<Arc<Entry>, ToolError> {
        self.slots.resolve(name)
    }

    /// Whether the name is taken, be it by a conflict.
    pub fn contains(&self, name: &str) -> bool {
        self.slots.0.contains_key(name)
    }

    /// All tools that can be called, sorted by name. Conflicts and linked tools that cannot be built are left out:
    /// [`conflicts`](Self::conflicts) and [`problems`](Self::problems) have them.
    pub fn list(&self) -> Vec<Arc<Entry>> {
        self.sorted().iter().filter_map(Slot::entry).collect()
    }

    /// The names that are taken, sorted. Builds nothing, and names conflicts and what cannot be built as well.
    pub fn names(&self) -> Vec<ToolName> {
        let mut names: Vec<_> = self.slots.0.keys().cloned().collect();
        names.sort_unstable();
        names
    }

    /// Checks the arguments of a call without running it.
    ///
    /// # Errors
    /// As [`get`](Self::get), and [`ToolErrorKind::InvalidArguments`](crate::ToolErrorKind::InvalidArguments) with every violation.
    pub fn validate(&self, name: &str, arguments: impl Into<Arguments>) -> Result<(), ToolError> {
        call::validate(&*self.get(name)?, arguments.into())
    }

    /// Runs a tool, through every stage of the counter. Tools that it calls in turn are looked up in this catalog as it is
    /// now.
    ///
    /// # Errors
    /// The future gives a [`ToolError`] when the tool could not be run or failed.
    pub fn execute(&self, cx: &ToolContext, name: &str, arguments: impl Into<Arguments>) -> Execution {
        call::execute(self.slots.clone(), cx, name, arguments)
    }

    /// The names that several linked crates claim, sorted.
    pub fn conflicts(&self) -> Vec<Conflict> {
        self.sorted().iter().filter_map(Slot::conflict).collect()
    }

    /// The tools that cannot be used or have a wrong example, sorted by name. Builds every linked tool, and compiles the schemas
    /// and validates the examples of every tool: registration leaves that out.
    pub fn problems(&self) -> Vec<Problem> {
        let mut problems = self.nameless.clone();
        problems.extend(self.sorted().iter().filter_map(Slot::problem));
        problems
    }

    /// Subscribes to changes.
    pub fn subscribe(&self) -> Subscription {
        self.publisher.subscribe()
    }

    /// Adds entries, all or nothing; nobody is woken yet.
    pub(crate) fn add(&mut self, entries: Vec<Arc<Entry>>) -> Result<(), RegisterError> {
        for (index, entry) in entries.iter().enumerate() {
            let twin = || entries[..index].iter().find(|other| other.name() == entry.name());
            let held = self.slots.0.get(entry.name()).map(Slot::sources);
            if let Some(existing) = held.or_else(|| twin().map(|twin| vec![twin.source().clone()])) {
                return Err(self.exists(entry, existing));
            }
        }
        // Every name was free, so nothing is dropped here.
        entries.into_iter().for_each(|entry| drop(self.put(entry)));
        Ok(())
    }

    /// Adds the entries of submissions, all or nothing, but for those that are there; nobody is woken yet.
    pub(crate) fn add_missing(&mut self, mut entries: Vec<Arc<Entry>>) -> Result<(), RegisterError> {
        let mut seen = HashSet::new();
        entries.retain(|entry| {
            let held = self.slots.0.get(entry.name()).map(Slot::sources);
            let is_there = held.as_deref() == Some(std::slice::from_ref(entry.source()));
            !is_there && seen.insert((entry.source().clone(), entry.digest()))
        });
        self.add(entries)
    }

    /// Puts an entry in and gives what was there; nobody is woken yet.
    #[must_use = "a handler's drop is somebody's code, which may not run under a lock"]
    pub(crate) fn put(&mut self, entry: Arc<Entry>) -> Option<Slot> {
        self.generation += 1;
        entry.set_admission(&self.admission);
        Arc::make_mut(&mut self.slots).0.insert(entry.name().clone(), Slot::Entry(entry))
    }

    /// Takes a name out and gives what was there; nobody is woken yet.
    #[must_use = "a handler's drop is somebody's code, which may not run under a lock"]
    pub(crate) fn remove(&mut self, name: &str) -> Option<Slot> {
        if !self.contains(name) {
            return None;
        }
        self.generation += 1;
        Arc::make_mut(&mut self.slots).0.remove(name)
    }

    /// What holds the name, and, where nothing does, all names as they are now.
    pub(crate) fn slot(&self, name: &str) -> Result<Slot, Arc<Slots>> {
        self.slots.0.get(name).cloned().ok_or_else(|| self.slots.clone())
    }

    pub(crate) fn slots(&self) -> Arc<Slots> {
        self.slots.clone()
    }

    fn sorted(&self) -> Vec<Slot> {
        self.slots.sorted()
    }

    /// What it takes to wake the watchers once the catalog's lock is released.
    pub(crate) fn publication(&self) -> (Publisher, u64) {
        (self.publisher.clone(), self.generation)
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

    /// The first of `name_v2`, `name_v3`, … that nobody holds. A name too long for a suffix loses its end to it.
    fn free_name(&self, name: &ToolName) -> ToolName {
        let suffixed = |version: u64| {
            let suffix = format!("_v{version}");
            let kept = name.len().min(ToolName::MAX_LENGTH - suffix.len());
            ToolName::new(format!("{}{suffix}", &name[..kept])).unwrap_or_else(|_| name.clone())
        };
        (2..).map(suffixed).find(|free| !self.contains(free)).unwrap_or_else(|| name.clone())
    }
}

/// The entries of submissions.
pub(crate) fn built(submissions: &[&'static Submission]) -> Result<Vec<Arc<Entry>>, RegisterError> {
    let build = |submission: &&'static Submission| submission.to_entry()?.with_checked_dialects();
    submissions.iter().map(|submission| build(submission).map(Arc::new)).collect()
}

impl Clone for Catalog {
    /// A copy with the same tools and watchers of its own.
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
