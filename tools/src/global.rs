//! The process-wide catalog: all linked tools, and the tools registered at run time. Only this module accesses the static.

use std::sync::Arc;

use once_cell::sync::Lazy;
use protocol::Tool;

use crate::arguments::Arguments;
use crate::call::Execution;
use crate::catalog::Catalog;
use crate::conflict::{Conflict, Problem};
use crate::context::ToolContext;
use crate::entry::Entry;
use crate::handler::Handler;
use crate::register_error::RegisterError;
use crate::shared::SharedCatalog;
use crate::submission::Submission;
use crate::subscription::Subscription;
use crate::sync::RwLock;
use crate::tool_error::ToolError;

// Gathered at first use and not by constructors before `main`, which OpenDAL tried and withdrew because of static libraries.
static CATALOG: Lazy<RwLock<Catalog>> = Lazy::new(|| RwLock::new(Catalog::linked()));

fn catalog() -> SharedCatalog<&'static RwLock<Catalog>> {
    SharedCatalog(&CATALOG)
}

/// Calls [`Catalog::register`] on the process-wide catalog.
#[track_caller]
pub fn register(tool: Tool, handler: impl Handler) -> Result<Arc<Entry>, RegisterError> {
    catalog().register(tool, handler)
}

/// Calls [`Catalog::replace`] on the process-wide catalog.
#[track_caller]
pub fn replace(tool: Tool, handler: impl Handler) -> Result<Arc<Entry>, RegisterError> {
    catalog().replace(tool, handler)
}

/// Calls [`Catalog::submit`] on the process-wide catalog.
pub fn submit(submissions: &[&'static Submission]) -> Result<(), RegisterError> {
    catalog().submit(submissions)
}

/// Calls [`Catalog::unregister`] on the process-wide catalog.
pub fn unregister(name: &str) -> bool {
    catalog().unregister(name)
}

/// Calls [`Catalog::get`] on the process-wide catalog.
pub fn get(name: &str) -> Result<Arc<Entry>, ToolError> {
    catalog().get(name)
}

/// Calls [`Catalog::contains`] on the process-wide catalog.
pub fn contains(name: &str) -> bool {
    catalog().contains(name)
}

/// Calls [`Catalog::list`] on the process-wide catalog.
pub fn list() -> Vec<Arc<Entry>> {
    catalog().list()
}

/// Calls [`Catalog::validate`] on the process-wide catalog.
pub fn validate(name: &str, arguments: impl Into<Arguments>) -> Result<(), ToolError> {
    catalog().validate(name, arguments)
}

/// Calls [`Catalog::execute`] on the process-wide catalog.
///
/// The future completes by the call's deadline if the tool yields. An async tool is polled with this future and cannot be interrupted
/// between two awaits. There are two ways to run a tool that may not yield:
///
/// - Spawn the call on a multi-thread runtime and stop waiting at the deadline, as the driver of `toolcrib-agent` does.
/// - Make the tool [blocking](crate::handler::blocking).
///
/// A panic ends only the call. The module [`call`](crate::call) lists the faults that end the process.
pub fn execute(cx: &ToolContext, name: &str, arguments: impl Into<Arguments>) -> Execution {
    catalog().execute(cx, name, arguments)
}

/// Calls [`Catalog::conflicts`] on the process-wide catalog.
pub fn conflicts() -> Vec<Conflict> {
    catalog().conflicts()
}

/// Calls [`Catalog::problems`] on the process-wide catalog.
pub fn problems() -> Vec<Problem> {
    catalog().problems()
}

/// Calls [`Catalog::subscribe`] on the process-wide catalog.
pub fn subscribe() -> Subscription {
    catalog().subscribe()
}

/// Returns a copy of the process-wide catalog.
pub fn snapshot() -> Catalog {
    catalog().snapshot()
}
