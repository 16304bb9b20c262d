//! The counter: the one way from a call to its result.
//!
//! [`execute`](crate::execute), [`Catalog::execute`](crate::Catalog::execute), a session's tool set and
//! [`ToolContext::execute`] differ only in where they look the name up. All of them pass these stages, in this order, each in
//! a file of its own:
//!
//! 1. *resolve*: the name, before the future is made, so that no lock is held while waiting;
//! 2. *supply*: the services that the tool needs;
//! 3. *parse*: text strictly, sizes and depth in any case;
//! 4. *validate*: the arguments against the schema, and what the call would touch;
//! 5. *authorize*: these concrete targets against the grant;
//! 6. *approve*: what the grant does not cover, where somebody can be asked;
//! 7. *run*: deadline, cancellation, isolation of panics;
//! 8. *check output*: the structured result against the output schema;
//! 9. *bound*: what is over its limit is cut, errors included.
//!
//! Around them all is a span of `tracing`, for calls that are refused as well. It has the name `execute_tool`, the level `INFO`,
//! the target `tools` and the attributes of OpenTelemetry's conventions for generative AI; a call that a tool makes has its span
//! in that of the tool. Arguments and results are in it only where
//! [`with_recorded_content`](crate::ToolContext::with_recorded_content) says so. Without a subscriber it costs a look at the level.
//!
//! # Secrets
//!
//! An argument of the type [`Secret`](crate::Secret), and any other that its schema calls `writeOnly`, reaches the tool and nothing
//! else: whatever shows or keeps arguments has them [masked](crate::Entry::masked). This holds for values, and not for the names of
//! properties; for what the counter does, and not for a tool that writes what it [exposes](crate::Secret::expose) into its result,
//! its error or its panic; and not for the conversation with a model, which wrote the arguments itself. Where a model should not
//! see a secret at all, put it into the services of the context and not among the arguments.

mod approve;
mod authorize;
mod bound;
mod convention;
mod execution;
mod isolate;
mod parse;
mod run;
pub(crate) mod span;
mod supply;
mod validate;

use std::sync::Arc;

use protocol::ToolResult;

use crate::{Arguments, Entry, Resolve, Scope, ToolContext, ToolError};

pub use crate::strict::MAX_DEPTH;
pub use bound::{DEFAULT_MAX_OUTPUT_BYTES, MAX_BINARY_BYTES, MAX_PIECES};
pub use execution::Execution;
pub(crate) use validate::validate as validated;

pub use isolate::{Isolated, Panic, guarded, panic_message};
pub use parse::MAX_ARGUMENT_BYTES;

/// Looks a tool up and runs it, through every stage. The future owns what it needs.
///
/// With the context of a running call, tools outside of the scope that this call was looked up in are not found, nor by calls
/// that come of it: a session's tools do not get out of the session by way of another catalog.
pub fn execute(scope: impl Into<Scope>, cx: &ToolContext, name: &str, arguments: impl Into<Arguments>) -> Execution {
    let scope = match cx.call() {
        Some(call) => call.scope.within(scope.into()),
        None => scope.into(),
    };
    execute_in(scope, cx, name, arguments)
}

/// Checks the arguments of a call as [`execute`] would, without running it: that they parse, that they fit the schema, and that
/// it can be told what the call would touch. Whether that is granted is not looked at.
///
/// # Errors
/// [`ToolError::InvalidArguments`] with every violation.
pub fn validate(entry: &Entry, arguments: Arguments) -> Result<(), ToolError> {
    let arguments = parse::parse(entry.name(), arguments)?;
    validate::validate(entry, &arguments).map(drop)
}

/// [`execute`] in a scope that is known to be within that of the running call, if there is one.
pub(crate) fn execute_in(scope: Scope, cx: &ToolContext, name: &str, arguments: impl Into<Arguments>) -> Execution {
    let resolved = scope.resolve(name);
    let span = span::open(cx, name, resolved.as_deref().ok());
    let execution = match resolved {
        Ok(entry) => Execution::new(pass(entry, scope, cx.clone(), arguments.into())),
        Err(error) => Execution::refused(error),
    };
    span::around(span, execution)
}

/// All stages. Errors pass the last one as well.
async fn pass(
    entry: Arc<Entry>,
    scope: Scope,
    caller: ToolContext,
    arguments: Arguments,
) -> Result<ToolResult, ToolError> {
    let outcome = run_stages(&entry, scope, caller, arguments).await;
    outcome.map_err(|error| bound::bound_error(&entry, error))
}

async fn run_stages(
    entry: &Arc<Entry>,
    scope: Scope,
    caller: ToolContext,
    arguments: Arguments,
) -> Result<ToolResult, ToolError> {
    if caller.is_cancelled() {
        return Err(ToolError::Cancelled { tool: entry.name().to_string() });
    }
    supply::supply(entry, &caller)?;
    let mut arguments = parse::parse(entry.name(), arguments)?;
    arguments.set_tool(entry);
    span::record_arguments(&caller, entry, &arguments);
    let targets = validate::validate(entry, &arguments)?;
    let uncovered = authorize::uncovered(caller.grant(), targets);
    let approved = approve::approve(entry, &caller, &arguments, uncovered).await?;
    // The clock of the call starts here: a person's thinking is not the tool's time.
    let cx = caller.enter(entry, scope, approved)?;
    let result = run::run(entry, cx, arguments).await?;
    if !result.is_error {
        entry.check_output(result.structured.as_ref())?;
    }
    bound::bound(entry, result)
}
