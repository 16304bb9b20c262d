//! [`SharedCatalog`]: a catalog that several owners change.

use std::sync::Arc;

use protocol::{Tool, ToolName};

use crate::call::{self, Execution};
use crate::locked::Locked;
use crate::sync::RwLock;
use crate::{
    Arguments, Catalog, Conflict, Entry, Handler, Problem, RegisterError, Resolve, Submission, ToolContext, ToolError,
    Watch,
};

/// A [`Catalog`] behind a lock: clones are the same catalog, and every method takes `&self`. For hosts that want several
/// catalogs in one process, or none that is global.
///
/// The methods do what those of [`Catalog`] do. A tool may change the catalog it is running from.
#[derive(Clone, Debug, Default)]
pub struct SharedCatalog(Arc<RwLock<Catalog>>);

impl SharedCatalog {
    /// An empty catalog.
    pub fn new() -> Self {
        Self::default()
    }

    /// A catalog of all tools that are linked into this process.
    pub fn linked() -> Self {
        Catalog::linked().into()
    }

    /// Adds a tool.
    ///
    /// # Errors
    /// As [`Catalog::register`].
    #[track_caller]
    pub fn register(&self, tool: Tool, handler: impl Handler) -> Result<Arc<Entry>, RegisterError> {
        self.0.add(Entry::of_caller(tool, handler)?)
    }

    /// Adds a tool with a source of its own.
    ///
    /// # Errors
    /// As [`Catalog::insert`].
    pub fn insert(&self, entry: Entry) -> Result<Arc<Entry>, RegisterError> {
        self.0.add(entry)
    }

    /// Adds a tool, or puts it in the place of the one that holds its name.
    ///
    /// # Errors
    /// As [`Catalog::replace`].
    #[track_caller]
    pub fn replace(&self, tool: Tool, handler: impl Handler) -> Result<Arc<Entry>, RegisterError> {
        Ok(self.0.put(Entry::of_caller(tool, handler)?))
    }

    /// Adds what a crate would contribute by being linked.
    ///
    /// # Errors
    /// As [`Catalog::submit`].
    pub fn submit(&self, submissions: &[&'static Submission]) -> Result<(), RegisterError> {
        self.0.submit(submissions)
    }

    /// Takes a name out; gives whether there was one.
    pub fn unregister(&self, name: &str) -> bool {
        self.0.unregister(name)
    }

    /// The tool of that name.
    ///
    /// # Errors
    /// As [`Resolve::resolve`].
    pub fn get(&self, name: &str) -> Result<Arc<Entry>, ToolError> {
        self.0.resolve(name)
    }

    /// Whether the name is taken.
    pub fn contains(&self, name: &str) -> bool {
        self.0.contains(name)
    }

    /// All tools that can be called, sorted by name.
    pub fn list(&self) -> Vec<Arc<Entry>> {
        self.0.list()
    }

    /// The names that are taken, sorted.
    pub fn names(&self) -> Vec<ToolName> {
        self.0.snapshot().names()
    }

    /// Checks the arguments of a call without running it.
    ///
    /// # Errors
    /// As [`Catalog::validate`].
    pub fn validate(&self, name: &str, arguments: impl Into<Arguments>) -> Result<(), ToolError> {
        call::validate(&*self.get(name)?, arguments.into())
    }

    /// Runs a tool, through every stage of the counter. Tools that it calls in turn are looked up in this catalog as it is
    /// then.
    ///
    /// # Errors
    /// As [`Catalog::execute`].
    pub fn execute(&self, cx: &ToolContext, name: &str, arguments: impl Into<Arguments>) -> Execution {
        call::execute(self.0.clone(), cx, name, arguments)
    }

    /// The names that several linked crates claim, sorted.
    pub fn conflicts(&self) -> Vec<Conflict> {
        self.0.conflicts()
    }

    /// The linked tools that cannot be used.
    pub fn problems(&self) -> Vec<Problem> {
        self.0.problems()
    }

    /// Subscribes to changes.
    pub fn subscribe(&self) -> Watch {
        self.0.subscribe()
    }

    /// A copy of the catalog as it is now.
    pub fn snapshot(&self) -> Catalog {
        self.0.snapshot()
    }
}

impl From<Catalog> for SharedCatalog {
    fn from(catalog: Catalog) -> Self {
        Self(Arc::new(RwLock::new(catalog)))
    }
}

impl Resolve for SharedCatalog {
    fn resolve(&self, name: &str) -> Result<Arc<Entry>, ToolError> {
        self.get(name)
    }
}
