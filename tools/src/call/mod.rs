//! The pipeline: the stages from a call to its result.
//!
//! [`execute`](crate::execute), [`Catalog::execute`](crate::Catalog::execute), a session's tool set and
//! [`ToolContext::execute`] differ only in how they resolve the name. Every call passes these stages in this order:
//!
//! 1. *resolve* looks up the tool by name, before the future is created, so that no lock is held across an await.
//! 2. *supply* checks that the context offers the services that the tool requires.
//! 3. *parse* reads argument text strictly and checks size and depth.
//! 4. *convert* checks the arguments against the schema. If they do not fit, values of which the schema accepts exactly one reading are
//!    read so, such as `"5"` as an integer. An absolute path below the [root](FileRoot) becomes relative. The result has a note.
//! 5. *replay* returns the recorded result of a call that the [journal](crate::journal) has already.
//! 6. *validate* refuses arguments that do not fit, computes the targets of the call, and lets the handler
//!    [check](crate::Handler::check) what the arguments name.
//! 7. *authorize* compares the targets with the grant, the policy and the [sensitive paths](crate::policy::SensitivePaths), and collects
//!    the [concerns](crate::Concern) about the call: those of the tool, and URLs that may carry data out of a session that has read
//!    text of strangers. Counts the other URLs of such a session.
//! 8. *approve* asks the approver about targets outside of the grant, targets that the policy asks about, sensitive paths,
//!    unnamed hosts and concerns. The approver can show the tool's [preview](crate::Approval::preview) of the call. It is asked again if
//!    that has changed by its answer, and the call is refused if that changes until the tool runs.
//! 9. *admit* waits for concurrency and rate limits and for conflicting calls, see [`Admission`](crate::Admission).
//! 10. *connect* waits until the handler can hand the call over, see [`Handler::connect`](crate::Handler::connect).
//! 11. *record intent* writes the call to the journal, if the context has one.
//! 12. *retry* repeats *run* after a transient failure, if the effects allow it.
//! 13. *run* calls the [`Layer`](crate::layer::Layer)s and the handler, with a deadline, a cancellation token and panic isolation.
//! 14. *check output* checks the structured result against the output schema. If the call goes on as a [task](crate::tasks), the result
//!     of the task is checked when it is read.
//! 15. *bound* truncates results and errors to their limits. An [`OutputStore`](crate::OutputStore) keeps the full text.
//! 16. *note* tells the model about arguments that were converted or that the tool ignored because their names are
//!     misspelt, and about a former name, also if the call failed.
//! 17. *record outcome* writes the outcome to the journal, also if an earlier stage refused the call.
//!
//! Each call, refused or not, is a `tracing` span with the name `execute_tool`, the level `INFO` and the target `tools`. Its attributes
//! follow OpenTelemetry's conventions for generative AI. The span of a nested call is a child of the outer call's span. Arguments and
//! results are recorded only with [`with_recorded_content`](crate::Host::with_recorded_content).
//!
//! # For drivers
//!
//! This module is for programs that drive calls themselves, as `toolcrib-agent` does. Tools and most hosts do not need it.
//!
//! - [`execute`] and [`validate`] work with your own [`Resolve`].
//! - [`CallPlace`] sets the place of a call in a conversation.
//! - [`refuse`] records a call that is not run.
//! - [`Isolated`] catches panics of other code.
//! - [`CallSpan`] is the span of a call that the driver stops waiting for.
//!
//! # Misbehaving tools
//!
//! | fault of the tool | the call ends | remains |
//! |---|---|---|
//! | waits for ever | at its deadline, with [`ToolErrorKind::Timeout`] | nothing: its future is dropped |
//! | blocks in [`handler::blocking`](crate::handler::blocking) | at its deadline | its thread, until it returns or reads its token; at most 64 |
//! | ignores its token | at its deadline | its thread if it blocks, nothing if it is async |
//! | panics, also when its future is created or dropped | at once, with [`ToolErrorKind::Panicked`] | nothing, if the build [unwinds](ISOLATES_PANICS) |
//! | returns too much | when it returns, truncated by *bound* | nothing |
//! | writes without end | at its deadline | nothing: its buffer is dropped. Until then its memory grows, unless it bounds the buffer itself |
//! | calls itself | at its deadline, or 16 calls deep | nothing |
//! | is async and never yields | **never**, unless its caller runs it in a task of its own and stops waiting | a thread of the runtime, until the tool yields |
//! | panics during a panic, overflows the stack, exhausts memory, aborts or exits | **never**: the process ends | external effects |
//!
//! To stop waiting for a tool that never yields, watch its task from outside, as the driver of `toolcrib-agent` does.
//! A [`DeadlineObserver`] is notified when a call's deadline starts running. The last fault needs a separate process, such as an MCP
//! server.
//!
//! # Secrets
//!
//! A secret argument is a [`Secret`](crate::Secret) or any argument that its schema marks `writeOnly`. Only the handler and its layers
//! receive its value; errors, approvals, events, spans and the journal show it [masked](crate::Entry::masked_in). Masking does not cover
//!
//! - the names of properties;
//! - a tool that writes an [exposed](crate::Secret::expose) secret into its result, error or panic;
//! - the conversation with the model, which wrote the arguments, and the checkpoints of a session, which store it.
//!
//! A secret that no model should see belongs in the services of the context.

mod admit;
mod approve;
mod ask;
mod authorize;
mod bound;
mod clock;
mod concerns;
#[doc(hidden)]
pub mod content;
#[doc(hidden)]
pub mod convention;
mod convert;
pub(crate) mod execution;
mod note;
mod overflow;
mod parse;
mod preview;
mod record;
mod retry;
mod run;
mod sent_texts;
#[cfg(all(test, shuttle))]
mod shuttle_tests;
pub(crate) mod span;
mod targets;
mod validate;
mod verify;

use std::sync::Arc;
use std::time::Duration;

use protocol::{ErrorCode, Json, Target, ToolResult};
use tokio::time::Instant;

use self::convert::Converted;
use self::overflow::Overflow;
use self::record::Record;
use crate::absent_tools::AbsentTools;
use crate::arguments::Arguments;
use crate::context::{CallScope, Host, ToolContext};
use crate::entry::Entry;
use crate::schema;
use crate::tool_error::{ToolError, ToolErrorKind};

pub use crate::context::deadline::DeadlineObserver;
pub use crate::context::order::CallOrder;
pub use crate::context::person_clock::PersonClock;
pub use crate::context::place::CallPlace;
pub use crate::isolate::{ISOLATES_PANICS, Isolated, Panic};
pub use crate::resolve::{Resolve, Scope};
pub use ask::AskError;
pub use convert::FileRoot;
pub(crate) use execution::Execution;
pub use retry::delays;
pub use span::CallSpan;

/// Resolves a tool in `scope` and runs it through the pipeline. `scope` is an `Arc` of a [`Resolve`], or a `&'static` one.
///
/// The future owns its data. With the context of a running call, only tools that the running call's own scope contains too are found.
/// This also holds for calls nested further, so a tool cannot leave its session's tool set through another catalog.
pub fn execute(
    scope: impl Into<Scope>,
    cx: &ToolContext,
    name: &str,
    arguments: impl Into<Arguments>,
) -> Execution {
    let scope = match cx.call() {
        // A tool may have caught hold of a larger catalog, and a session's selection would not hold for its calls.
        Some(call) => call.scope.intersect(scope.into()),
        None => scope.into(),
    };
    execute_in(scope, cx, name, arguments)
}

/// Parses and validates the arguments of a call and returns its targets, as [`execute`] would, without running it. In a context, the
/// handler also [checks](crate::Handler::check) what the arguments name. Does not check whether the targets are granted;
/// [`ToolContext::rulings`] does.
///
/// # Errors
/// - [`ToolErrorKind::InvalidArguments`], with every violation, if the arguments do not parse or do not fit.
/// - [`ToolErrorKind::Timeout`] if validation exceeds the tool's time limit.
/// - [`ToolErrorKind::Unavailable`] if a schema does not compile.
/// - The handler's own error, or [`ToolErrorKind::Panicked`].
pub fn validate(
    entry: &Entry,
    arguments: Arguments,
    cx: Option<&ToolContext>,
) -> Result<Vec<Target>, ToolError> {
    let validated = parse::parse(entry, arguments)
        .map_err(ToolError::from)
        .and_then(|arguments| {
            let time_limit = cx.unwrap_or(&Host::new()).deadline_for(entry);
            in_time(time_limit, || {
                let converted = convert::convert(cx, entry, arguments);
                validate::validate_in(cx, entry, &converted.arguments, converted.checked)
            })
        });
    validated.map_err(|error| error.with_tool(entry.name()))
}

/// Returns the arguments of a call as the tool gets them in this context, after the stage *convert*. Arguments that are refused stay.
pub fn read_arguments(entry: &Entry, arguments: &Json, cx: &ToolContext) -> Json {
    let Ok(input) = parse::parse(entry, arguments.clone().into()) else {
        return arguments.clone();
    };
    let converted = convert::convert(Some(cx), entry, input);
    converted.arguments.json().clone()
}

/// Runs a call in a scope that is the running call's scope or a part of it.
pub(crate) fn execute_in(
    scope: Scope,
    cx: &ToolContext,
    name: &str,
    arguments: impl Into<Arguments>,
) -> Execution {
    let found = scope.resolve(name);
    let entry = found.as_ref().ok().map(Arc::as_ref);
    // A renamed tool is recorded by its present name.
    let present = entry.map_or(name, |entry| entry.name().as_str());
    let former = entry
        .filter(|entry| *entry.name() != *name && cx.depth() == 0)
        .map(|_| name.into());
    let record = Record::for_call(cx, present);
    let span = span::open(cx, present, entry);
    let execution = match (found, record) {
        (Ok(entry), record) => Execution::new(pass(
            entry,
            former,
            scope,
            cx.clone(),
            arguments.into(),
            record,
            span.clone(),
        )),
        (Err(error), record) => match (AbsentTools::for_error(cx, &error), record) {
            (Some(absent), record) => Execution::new(async move {
                let error = absent.explain(error).await;
                match record {
                    Some(record) => record.close(Err(error)).await,
                    None => Err(error),
                }
            }),
            (None, Some(record)) => Execution::new(record.close(Err(error))),
            (None, None) => Execution::refused(error),
        },
    };
    execution::in_span(span, execution)
}

/// Records that a host refused a call instead of passing it to the pipeline: in a span of its own, and in the journal if the context has
/// one.
///
/// # Errors
/// Returns [`ToolErrorKind::Internal`] if the journal failed.
pub async fn refuse(
    cx: &ToolContext,
    name: &str,
    code: ErrorCode,
    reason: &str,
) -> Result<(), ToolError> {
    span::open(cx, name, None).fail(code, &reason);
    match record::refuse(cx, name, code, reason) {
        Some(written) => written.await,
        None => Ok(()),
    }
}

impl ToolContext {
    /// Runs another tool from the running one.
    ///
    /// The nested call is resolved in the scope of the running call, has at most its grant, and ends by its deadline.
    ///
    /// # Errors
    /// The future returns a [`ToolError`] if the tool was not run or failed, or if no call is running in this context.
    pub fn execute(&self, name: &str, arguments: impl Into<Arguments>) -> Execution {
        let Some(call) = self.call() else {
            let message =
                "no call is running in this context; use the execute of a catalog or a tool set"
                    .to_owned();
            return Execution::refused(ToolError::new(name, ToolErrorKind::Internal { message }));
        };
        execute_in(call.scope.clone(), self, name, arguments)
    }
}

/// Runs all stages. Errors are bounded and recorded too, and get the name of the tool here. `former` is the name of the call if it is a
/// former one and the caller is no tool.
async fn pass(
    entry: Arc<Entry>,
    former: Option<Box<str>>,
    scope: Scope,
    caller: ToolContext,
    arguments: Arguments,
    mut record: Option<Box<Record>>,
    span: CallSpan,
) -> Result<ToolResult, ToolError> {
    let mut call = None;
    let place = (scope, span);
    let outcome = run_stages(
        &entry,
        former.as_deref(),
        place,
        caller,
        arguments,
        record.as_deref_mut(),
        &mut call,
    )
    .await;
    let overflow = Overflow {
        entry: &entry,
        from: call.as_deref().map(|call| (&call.caller, &call.scope)),
    };
    // Errors are bounded here and not in the stages, because each stage has its own.
    let outcome = outcome.map_err(|mut error| {
        bound::bound_error(overflow, error.kind_mut());
        error
            .with_tool(entry.name())
            .with_former_name(former, entry.name())
    });
    match record {
        Some(record) => Box::pin(record.close(outcome)).await,
        None => outcome,
    }
}

async fn run_stages(
    entry: &Arc<Entry>,
    former: Option<&str>,
    (scope, span): (Scope, CallSpan),
    caller: ToolContext,
    arguments: Arguments,
    mut record: Option<&mut Record>,
    entered: &mut Option<Arc<CallScope>>,
) -> Result<ToolResult, ToolError> {
    // Taken before anything can fail: the ticket of a refused call is dropped, and its order goes on.
    let ticket = caller.take_ticket();
    ready(entry, &caller)?;
    let mut time_limit = caller.deadline_for(entry);
    let Converted {
        arguments,
        checked,
        readings,
    } = in_time(time_limit, || read(entry, &scope, &caller, arguments))?;
    if let Some(record) = record.as_deref_mut() {
        let replayed = Box::pin(record.replay(entry, &scope, &caller, arguments.json())).await;
        if !matches!(replayed, Ok(None)) {
            // The calls that were made inside of this one may have read anything.
            caller.record_exposure();
        }
        if let Some(result) = replayed? {
            return Ok(result);
        }
        // The wait for the journal does not count against the call's deadline.
        time_limit = caller.deadline_for(entry);
    }
    let targets = in_time(time_limit, || {
        validate::validate_in(Some(&caller), entry, &arguments, checked)
    })?;
    let keys = admit::keys(entry, &caller, &targets);
    let concerns = concerns::concerns(entry, &caller, &arguments, &targets)?;
    let rulings = caller.rulings(entry.tool(), &targets);
    let unapproved = match record.as_deref_mut() {
        None => authorize::authorize(rulings),
        Some(record) => authorize::authorize(record.set_rulings(rulings)),
    }?;
    let unapproved = concerns::join(unapproved, &concerns);
    // A call that needs an approval gives up its place in the call order, so that later calls do not wait for a person.
    let ticket = ticket.filter(|_| unapproved.is_none());
    // Futures that most calls do not need are boxed, here and below, to keep the future of a call small.
    let mut shown = None;
    if let Some(unapproved) = &unapproved {
        let question = approve::approve(
            entry,
            &scope,
            &caller,
            &arguments,
            (unapproved, &concerns),
            &span,
        );
        shown = Some(Box::new(Box::pin(question).await?));
        // The wait for an approval does not count against the call's deadline.
        time_limit = caller.deadline_for(entry);
    }
    concerns::record_urls(entry, &caller, &arguments, &targets, &concerns);
    let mut cx = caller.enter(
        entry,
        scope,
        unapproved.unwrap_or_default(),
        time_limit,
        span.scope(),
    )?;
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
    // The call is enqueued, so later calls of its order need not wait for its end.
    drop(ticket);
    let mut has_waited = !admitted.is_running();
    if has_waited {
        Box::pin(admit::wait(call, &admitted)).await?;
    }
    if let Some(connecting) = entry.handler().connect(&cx) {
        Box::pin(clock::connect(call, connecting)).await?;
        has_waited = true;
    }
    // Other calls can change meanwhile what was approved.
    if let Some(shown) = shown.filter(|_| has_waited)
        && !Box::pin(shown.holds()).await
    {
        return Err(ToolErrorKind::Outdated.into());
    }
    if let Some(record) = record {
        cx = Box::pin(record.begin(call, cx)).await?;
    }
    let notes = note::notes(entry, &call.caller, former, &arguments, &readings);
    let again = retry::may_retry(entry).then(|| (cx.clone(), arguments.clone()));
    // Such a tool may read anything, whatever it returns.
    if entry.tool().effects.is_open_world() {
        cx.record_exposure();
    }
    let mut result = run::run(entry, call, cx, arguments).await;
    if let Some((cx, arguments)) = again
        && retry::is_transient(&result)
    {
        result = Box::pin(retry::run(entry, cx, arguments, result)).await;
    }
    // Others may run before the output is checked and cut, which touches nothing.
    drop(admitted);
    let overflow = Overflow {
        entry,
        from: Some((&call.caller, &call.scope)),
    };
    let mut result = result?;
    // A call that goes on as a task has no structured result yet.
    // An error need not keep the promise of the definition: it has no output.
    if !result.is_error
        && entry.tool().output.is_some()
        && (result.task.is_none() || result.structured.is_some())
    {
        in_time((call.deadline.at(), call.limit), || {
            entry.check_output(&mut result)
        })?;
    }
    let mut result = bound::bound(overflow, result);
    if !notes.is_empty() {
        note::add(&mut result, notes);
    }
    Ok(result)
}

/// Runs a synchronous stage until the deadline.
///
/// # Errors
/// Returns the stage's own error, or [`ToolErrorKind::Timeout`] if the deadline passed.
pub(crate) fn in_time<T, E: From<ToolErrorKind>>(
    (deadline, limit): (Instant, Duration),
    stage: impl FnOnce() -> Result<T, E>,
) -> Result<T, E> {
    schema::with_deadline(deadline, stage)
        .unwrap_or_else(|| Err(ToolErrorKind::Timeout { limit }.into()))
}

/// Runs the stage *supply*, unless the call is cancelled.
fn ready(entry: &Entry, caller: &ToolContext) -> Result<(), ToolErrorKind> {
    if caller.is_cancelled() {
        return Err(ToolErrorKind::Cancelled);
    }
    admit::supply(entry, caller)
}

/// Runs the stages *parse* and *convert*, and records the arguments in the span.
fn read(
    entry: &Entry,
    scope: &Scope,
    caller: &ToolContext,
    arguments: Arguments,
) -> Result<Converted, ToolErrorKind> {
    let converted = convert::convert(Some(caller), entry, parse::parse(entry, arguments)?);
    span::record_arguments(caller, entry, scope, &converted.arguments);
    Ok(converted)
}
