//! The process-wide catalog: all linked tools, and the tools registered at run time. Only this module accesses the static.

use std::sync::Arc;

use once_cell::sync::Lazy;
use protocol::Tool;

use crate::call::Execution;
use crate::sync::RwLock;
use crate::{
    Arguments, Catalog, Conflict, Entry, Handler, Problem, RegisterError, SharedCatalog,
    Submission, Subscription, ToolContext, ToolError,
};

static CATALOG: Lazy<RwLock<Catalog>> = Lazy::new(|| RwLock::new(Catalog::linked()));

fn shared() -> SharedCatalog<&'static RwLock<Catalog>> {
    SharedCatalog(&CATALOG)
}

/// Registers a tool in the process-wide catalog.
///
/// # Errors
/// Returns the errors of [`Catalog::register`].
#[track_caller]
pub fn register(tool: Tool, handler: impl Handler) -> Result<Arc<Entry>, RegisterError> {
    shared().register(tool, handler)
}

/// Registers a tool in the process-wide catalog and replaces any tool or conflict with the same name.
///
/// # Errors
/// Returns the errors of [`Catalog::replace`].
#[track_caller]
pub fn replace(tool: Tool, handler: impl Handler) -> Result<Arc<Entry>, RegisterError> {
    shared().replace(tool, handler)
}

/// Registers submissions in the process-wide catalog, as linking their crate would.
///
/// # Errors
/// Returns the errors of [`Catalog::submit`].
pub fn submit(submissions: &[&'static Submission]) -> Result<(), RegisterError> {
    shared().submit(submissions)
}

/// Removes a tool from the process-wide catalog. Returns true if the name existed.
pub fn unregister(name: &str) -> bool {
    shared().unregister(name)
}

/// Returns the tool with this name from the process-wide catalog.
///
/// # Errors
/// Returns the errors of [`Resolve::resolve`](crate::call::Resolve::resolve).
pub fn get(name: &str) -> Result<Arc<Entry>, ToolError> {
    shared().get(name)
}

/// Returns true if a tool or a conflict in the process-wide catalog holds this name.
pub fn contains(name: &str) -> bool {
    shared().contains(name)
}

/// Returns all callable tools of the process-wide catalog, sorted by name.
pub fn list() -> Vec<Arc<Entry>> {
    shared().list()
}

/// Validates the arguments of a call to a tool of the process-wide catalog without running it.
///
/// # Errors
/// Returns the errors of [`Catalog::validate`].
pub fn validate(name: &str, arguments: impl Into<Arguments>) -> Result<(), ToolError> {
    shared().validate(name, arguments)
}

/// Runs a tool of the process-wide catalog through the [pipeline](crate::call).
///
/// The future completes by the call's deadline if the tool yields. An async tool is polled with this future and cannot be interrupted
/// between two awaits. There are two ways to run a tool that may not yield:
///
/// - Spawn the call on a multi-thread runtime and stop waiting at the deadline, as the driver of `toolcrib-agent` does.
/// - Make the tool [blocking](crate::handler::blocking).
///
/// A panic ends only the call. The module [`call`](crate::call) lists the faults that end the process.
///
/// # Errors
/// Returns the errors of [`Catalog::execute`].
pub fn execute(cx: &ToolContext, name: &str, arguments: impl Into<Arguments>) -> Execution {
    shared().execute(cx, name, arguments)
}

/// Returns the conflicts between linked crates, sorted by name.
pub fn conflicts() -> Vec<Conflict> {
    shared().conflicts()
}

/// Returns the tools of the process-wide catalog that cannot be used or have an invalid example.
pub fn problems() -> Vec<Problem> {
    shared().problems()
}

/// Subscribes to changes of the process-wide catalog.
pub fn subscribe() -> Subscription {
    shared().subscribe()
}

/// Returns a copy of the process-wide catalog.
pub fn snapshot() -> Catalog {
    shared().snapshot()
}
