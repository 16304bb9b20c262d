//! The process-wide catalog: everything that is linked, and what is registered at run time. A thin shell over
//! [`Catalog`]; nothing else touches the static.

use std::sync::Arc;

use once_cell::sync::Lazy;
use protocol::Tool;

use crate::call::Execution;
use crate::sync::RwLock;
use crate::{
    Arguments, Catalog, Conflict, Entry, Handler, Problem, RegisterError, SharedCatalog, Submission, ToolContext,
    ToolError, Subscription,
};

static CATALOG: Lazy<RwLock<Catalog>> = Lazy::new(|| RwLock::new(Catalog::linked()));

fn shared() -> SharedCatalog<&'static RwLock<Catalog>> {
    SharedCatalog(&CATALOG)
}

/// Adds a tool to the process-wide catalog.
///
/// # Errors
/// As [`Catalog::register`].
#[track_caller]
pub fn register(tool: Tool, handler: impl Handler) -> Result<Arc<Entry>, RegisterError> {
    shared().register(tool, handler)
}

/// Adds a tool to the process-wide catalog, or puts it in the place of the one that holds its name.
///
/// # Errors
/// As [`Catalog::replace`].
#[track_caller]
pub fn replace(tool: Tool, handler: impl Handler) -> Result<Arc<Entry>, RegisterError> {
    shared().replace(tool, handler)
}

/// Adds what a crate would contribute by being linked to the process-wide catalog.
///
/// # Errors
/// As [`Catalog::submit`].
pub fn submit(submissions: &[&'static Submission]) -> Result<(), RegisterError> {
    shared().submit(submissions)
}

/// Takes a name out of the process-wide catalog; gives whether there was one.
pub fn unregister(name: &str) -> bool {
    shared().unregister(name)
}

/// The tool of that name in the process-wide catalog.
///
/// # Errors
/// As [`Resolve::resolve`](crate::call::Resolve::resolve).
pub fn get(name: &str) -> Result<Arc<Entry>, ToolError> {
    shared().get(name)
}

/// Whether the name is taken in the process-wide catalog.
pub fn contains(name: &str) -> bool {
    shared().contains(name)
}

/// All tools of the process-wide catalog that can be called, sorted by name.
pub fn list() -> Vec<Arc<Entry>> {
    shared().list()
}

/// Checks the arguments of a call to a tool of the process-wide catalog without running it.
///
/// # Errors
/// As [`Catalog::validate`].
pub fn validate(name: &str, arguments: impl Into<Arguments>) -> Result<(), ToolError> {
    shared().validate(name, arguments)
}

/// Runs a tool of the process-wide catalog, through every stage of the counter.
///
/// The future ends at the deadline of the call at the latest, as long as the tool yields: an async tool is polled by whoever polls this
/// future, and nothing can interrupt it between two awaits. Where tools are not to be trusted with that, spawn the call on a
/// multi-thread runtime and do not wait for the task beyond the deadline, as the driver of `toolcrib-agent` does; or have the tool
/// [declared blocking](crate::handler::blocking). A panic ends the call and nothing else. What ends the process (a panic while panicking, a stack
/// that is used up, no memory) is not contained: see [`call`](crate::call) for every case.
///
/// # Errors
/// As [`Catalog::execute`].
pub fn execute(cx: &ToolContext, name: &str, arguments: impl Into<Arguments>) -> Execution {
    shared().execute(cx, name, arguments)
}

/// The names that several linked crates claim, sorted.
pub fn conflicts() -> Vec<Conflict> {
    shared().conflicts()
}

/// The linked tools that cannot be used.
pub fn problems() -> Vec<Problem> {
    shared().problems()
}

/// Subscribes to changes of the process-wide catalog.
pub fn subscribe() -> Subscription {
    shared().subscribe()
}

/// A copy of the process-wide catalog as it is now.
pub fn snapshot() -> Catalog {
    shared().snapshot()
}
