//! The counter: the one way from a call to its result.
//!
//! [`execute`](crate::execute), [`Catalog::execute`](crate::Catalog::execute), a session's tool set and
//! [`ToolContext::execute`] differ only in where they look the name up. All of them pass these stages, in this order, each in
//! a file of its own:
//!
//! 1. *resolve*: the name, before the future is made, so that no lock is held while waiting;
//! 2. *supply*: the services that the tool needs;
//! 3. *parse*: text strictly, sizes and depth in any case;
//! 4. *replay*: a call that the [journal](crate::journal) knows is not run a second time;
//! 5. *validate*: the arguments against the schema, and what the call would touch;
//! 6. *authorize*: these concrete targets against the grant, the policy where there is one, and the
//!    [sensitive paths](crate::policy::SensitivePaths);
//! 7. *approve*: what the grant does not cover and what the policy asks about, where somebody can be asked;
//! 8. *admit*: limits and conflicts with other calls, see [`Admission`](crate::Admission);
//! 9. *record intent*: the journal, where the context has one, knows of the call before it is run;
//! 10. *retry*: one more attempt after a failure that passes, where the effects allow it;
//! 11. *run*: deadline, cancellation, isolation of panics, and inside of these the [`Layer`](crate::Layer)s of the host around
//!     the handler;
//! 12. *check output*: the structured result against the output schema;
//! 13. *bound*: what is over its limit is cut, errors included, and can be read where the host offers an
//!     [`OutputStore`](crate::OutputStore);
//! 14. *record outcome*: the journal knows how the call ended, also where an earlier stage refused it.
//!
//! Around them all is a span of `tracing`, for calls that are refused as well. It has the name `execute_tool`, the level `INFO`,
//! the target `tools` and the attributes of OpenTelemetry's conventions for generative AI; a call that a tool makes has its span
//! in that of the tool. Arguments and results are in it only where
//! [`with_recorded_content`](crate::ToolContext::with_recorded_content) says so. Without a subscriber it costs a look at the level.
//!
//! # For drivers
//!
//! The items of this module are for programs that drive calls themselves, as `toolcrib-agent` does: [`execute`] and [`validate`] with
//! a [`Resolve`] of their own, [`CallPlace`] for the place of a call in a conversation, [`refuse`] for calls that are not run, and
//! [`Isolated`] for other code that may panic. Tools and most hosts need none of them.
//!
//! # What a misbehaving tool can do
//!
//! | a tool that … | ends for its caller | what is left of it |
//! |---|---|---|
//! | waits for ever | at its deadline, [`ToolErrorKind::Timeout`] | nothing: its future is dropped |
//! | blocks, and says so ([`handler::blocking`](crate::handler::blocking)) | at its deadline | its thread, until it returns or looks at its token; 64 at most |
//! | ignores its token | at its deadline | nothing if it is async, its thread if it blocks |
//! | panics, also while it is made or dropped | at once, [`ToolErrorKind::Panicked`] | nothing, where the build [unwinds](ISOLATES_PANICS) |
//! | returns too much | when it returns, cut by *bound* | nothing |
//! | writes without end | at its deadline | nothing; its memory is bounded if it writes into a [`BoundedText`](crate::BoundedText) |
//! | calls itself | at its deadline, or 16 calls deep | nothing |
//! | is async and never yields | **not**, where its call is awaited; in a task of its own, when somebody watches that task | a thread of the runtime, until it yields |
//! | panics while it panics, uses up its stack or all memory, aborts or exits | **not**: the process ends | whatever the process held outside of itself |
//!
//! The last but one needs a watch from outside of the task: the driver of `toolcrib-agent` is one, and [`DeadlineObserver`]
//! tells others when the clock of a call starts. Against the last only a process of its own helps, such as one behind MCP.
//!
//! # Secrets
//!
//! An argument of the type [`Secret`](crate::Secret), and any other that its schema calls `writeOnly`, reaches the tool, with the
//! layers around it, and nothing else: whatever shows or keeps arguments has them [masked](crate::Entry::masked). This holds for
//! values, and not for the names of properties; for what the counter does, and not for a tool that writes what it [exposes](crate::Secret::expose) into its result,
//! its error or its panic; and not for the conversation with a model, which wrote the arguments itself, nor for the checkpoints of a
//! session, which keep it. Where a model should not see a secret at all, put it into the services of the context and not among the
//! arguments.

mod admit;
mod approve;
mod authorize;
mod bound;
mod clock;
mod convention;
pub(crate) mod execution;
mod overflow;
mod parse;

mod record;
mod retry;
mod run;
#[cfg(all(test, shuttle))]
mod shuttle_tests;
pub(crate) mod span;
mod supply;
mod validate;
mod verify;

use std::sync::Arc;
use std::time::Duration;

use protocol::ToolResult;
use tokio::time::Instant;

use self::overflow::Overflow;
use self::record::Record;
use crate::context::CallScope;
use crate::{Arguments, Entry, Input, Scope, ToolContext, ToolError, ToolErrorKind, schema};

pub use crate::context::{CallOrder, CallPlace, DeadlineObserver};
pub use crate::isolate::{ISOLATES_PANICS, Isolated, Panic};
pub use crate::resolve::Resolve;
pub(crate) use execution::Execution;
pub use record::refuse;
pub use retry::delays;

/// Looks a tool up and runs it, through every stage. The future owns what it needs. `scope` is an `Arc` of a [`Resolve`], or one that
/// is `'static`.
///
/// With the context of a running call, tools outside of the scope that this call was looked up in are not found, nor by calls
/// that come of it: a session's tools do not get out of the session by way of another catalog.
pub fn execute(scope: impl Into<Scope>, cx: &ToolContext, name: &str, arguments: impl Into<Arguments>) -> Execution {
    let scope = match cx.call() {
        Some(call) => call.scope.intersect(scope.into()),
        None => scope.into(),
    };
    execute_in(scope, cx, name, arguments)
}

/// Checks the arguments of a call as [`execute`] would, without running it: that they parse, that they fit the schema, and that
/// it can be told what the call would touch. Whether that is granted is not looked at.
///
/// # Errors
/// Returns [`ToolErrorKind::InvalidArguments`] with every violation, and [`ToolErrorKind::Timeout`] if the tool's own time limit
/// passes.
pub fn validate(entry: &Entry, arguments: Arguments) -> Result<(), ToolError> {
    let validated = parse::parse(entry, arguments)
        .and_then(|arguments| in_time(ToolContext::new().deadline_for(entry), || validate::validate(entry, &arguments)));
    validated.map(drop).map_err(|kind| ToolError::new(entry.name().as_str(), kind))
}

/// [`execute`] in a scope that is known to be within that of the running call, if there is one.
pub(crate) fn execute_in(scope: Scope, cx: &ToolContext, name: &str, arguments: impl Into<Arguments>) -> Execution {
    let record = Record::for_call(cx, name);
    let found = scope.resolve(name);
    let span = span::open(cx, name, found.as_ref().ok().map(Arc::as_ref));
    let execution = match (found, record) {
        (Ok(entry), record) => Execution::new(pass(entry, scope, cx.clone(), arguments.into(), record)),
        (Err(error), Some(record)) => Execution::new(record.close(Err(error))),
        (Err(error), None) => Execution::refused(error),
    };
    span::around(span, execution)
}

impl ToolContext {
    /// Runs another tool from inside this one. It is looked up where this one was, may touch no more, and has to end no
    /// later.
    ///
    /// # Errors
    /// The future gives a [`ToolError`] when the tool could not be run or failed, or when nothing is running in this
    /// context.
    pub fn execute(&self, name: &str, arguments: impl Into<Arguments>) -> Execution {
        let Some(call) = self.call() else {
            let message = "no call is running in this context; use the execute of a catalog or a tool set".to_owned();
            return Execution::refused(ToolError::new(name, ToolErrorKind::Internal { message }));
        };
        execute_in(call.scope.clone(), self, name, arguments)
    }
}

/// Runs all stages. Errors pass the last one as well, and get the name of the tool here.
async fn pass(
    entry: Arc<Entry>,
    scope: Scope,
    caller: ToolContext,
    arguments: Arguments,
    mut record: Option<Box<Record>>,
) -> Result<ToolResult, ToolError> {
    let mut call = None;
    let outcome = run_stages(&entry, scope, caller, arguments, record.as_deref_mut(), &mut call).await;
    let overflow = Overflow { entry: &entry, from: call.as_deref().map(|call| (&call.caller, &call.scope)) };
    let outcome = outcome.map_err(|mut error| {
        bound::bound_error(overflow, error.kind_mut());
        error.named(entry.name())
    });
    match record {
        Some(record) => Box::pin(record.close(outcome)).await,
        None => outcome,
    }
}

async fn run_stages(
    entry: &Arc<Entry>,
    scope: Scope,
    caller: ToolContext,
    arguments: Arguments,
    mut record: Option<&mut Record>,
    entered: &mut Option<Arc<CallScope>>,
) -> Result<ToolResult, ToolError> {
    let ticket = caller.take_ticket();
    ready(entry, &caller)?;
    let arguments = read(entry, &caller, arguments)?;
    if let Some(record) = record.as_deref_mut()
        && let Some(result) = Box::pin(record.replay(entry, &caller, arguments.json())).await?
    {
        return Ok(result);
    }
    let mut time_limit = caller.deadline_for(entry);
    let targets = in_time(time_limit, || validate::validate(entry, &arguments))?;
    let keys = admit::keys(&caller, &targets);
    let asked = authorize::authorize(entry, &caller, targets)?;
    // Whoever has to be asked about arrives when the answer does: others do not wait for a person.
    let ticket = ticket.filter(|_| asked.is_none());
    // In boxes, here and below, what most calls do not come to: a call need not carry the room for it.
    let approved = match asked {
        None => Vec::new(),
        Some(targets) => {
            let approved = Box::pin(approve::approve(entry, &scope, &caller, &arguments, targets)).await?;
            // A person's thinking is not the tool's time.
            time_limit = caller.deadline_for(entry);
            approved
        }
    };
    let mut cx = caller.enter(entry, scope, approved, time_limit, span::current())?;
    let call = &**entered.insert(cx.running()?.clone());
    cx.notify_observer();
    let admitted = match admit::enter(entry, call, &keys) {
        Some(admitted) => admitted,
        None => {
            if let Some(ticket) = &ticket {
                Box::pin(clock::before_deadline(call, ticket.wait_turn())).await?;
            }
            admit::register(entry, call, keys)?
        }
    };
    // It has arrived: those behind it in a line do not wait for its end.
    drop(ticket);
    if !admitted.is_running() {
        Box::pin(admit::wait(call, &admitted)).await?;
    }
    if let Some(record) = record {
        cx = Box::pin(record.begin(call, cx)).await?;
    }
    let again = retry::may_retry(entry).then(|| (cx.clone(), arguments.clone()));
    let mut result = run::run(entry, call, cx, arguments).await;
    if let Some((cx, arguments)) = again
        && retry::is_transient(&result)
    {
        result = Box::pin(retry::run(entry, cx, arguments, result)).await;
    }
    drop(admitted);
    let overflow = Overflow { entry, from: Some((&call.caller, &call.scope)) };
    let result = result?;
    if !result.is_error && entry.tool().output.is_some() {
        in_time((call.deadline, call.limit), || entry.check_output(result.structured.as_ref()))?;
    }
    Ok(bound::bound(overflow, result)?)
}

/// Runs a stage that computes, until the deadline.
///
/// # Errors
/// Returns the stage's own error, or [`ToolErrorKind::Timeout`] if the deadline passed.
fn in_time<T, E: From<ToolErrorKind>>(
    (deadline, limit): (Instant, Duration),
    stage: impl FnOnce() -> Result<T, E>,
) -> Result<T, E> {
    let timeout = || Err(ToolErrorKind::Timeout { limit }.into());
    schema::within(deadline, stage).unwrap_or_else(timeout)
}

/// The stage *supply*, for a call that somebody waits for.
fn ready(entry: &Entry, caller: &ToolContext) -> Result<(), ToolErrorKind> {
    if caller.is_cancelled() {
        return Err(ToolErrorKind::Cancelled);
    }
    supply::supply(entry, caller)
}

/// The stage *parse*.
fn read(entry: &Entry, caller: &ToolContext, arguments: Arguments) -> Result<Input, ToolErrorKind> {
    let arguments = parse::parse(entry, arguments)?;
    span::record_arguments(caller, entry, &arguments);
    Ok(arguments)
}
