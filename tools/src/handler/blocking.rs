//! Handlers that block a thread.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::Ordering;
use std::time::Instant;

use protocol::ToolResult;
use serde_json::Value;
use tokio::runtime::Handle;
use tokio::sync::Semaphore;

use super::{Handler, HandlerFuture, IntoToolResult, value};
use crate::context::ToolContext;
use crate::entry::Entry;
use crate::handler::PreviewFuture;
use crate::input::Input;
use crate::preview::Preview;
use crate::tool_error::{ToolError, ToolErrorKind};

/// The maximum number of blocking tools that run at once in a process. A tool that ignores its token keeps its permit until it returns.
const MAX_BLOCKING: usize = 64;

// A tool that never returns holds its thread. Without a limit, such tools would take all threads of tokio's pool, which the host uses too.
static PERMITS: Semaphore = Semaphore::const_new(MAX_BLOCKING);

/// A blocking handler.
struct Blocking<F>(F);

/// Creates a handler from a function that may block its thread. It runs on tokio's blocking pool.
///
/// - At most 64 such calls run at once in a process. Further calls wait, which counts against their deadlines.
/// - At the deadline or on cancellation the caller continues at once. The function must check `cx.is_cancelled()` and return, because a
///   thread cannot be stopped from outside.
pub fn blocking<F, R>(function: F) -> impl Handler
where
    F: Fn(&ToolContext, Value) -> R + Clone + Send + Sync + 'static,
    R: IntoToolResult,
{
    Blocking(function)
}

impl<F, R> Handler for Blocking<F>
where
    F: Fn(&ToolContext, Value) -> R + Clone + Send + Sync + 'static,
    R: IntoToolResult,
{
    fn call<'a>(&'a self, cx: ToolContext, arguments: Input) -> HandlerFuture<'a> {
        let function = self.0.clone();
        run_blocking(cx, move |cx| {
            function(cx, value(arguments)?).into_tool_result()
        })
    }

    fn origin(&self) -> &'static str {
        std::any::type_name::<F>()
    }
}

/// Runs a function on the blocking pool when a permit is free. The permit is held until the function returns, even if the call has
/// ended.
pub fn run_blocking<F>(cx: ToolContext, function: F) -> HandlerFuture<'static>
where
    F: FnOnce(&ToolContext) -> Result<ToolResult, ToolError> + Send + 'static,
{
    HandlerFuture::new(on_blocking_pool(cx, function))
}

/// Runs a short function on the caller's task, or on the blocking pool once a call of its tool took too long.
pub fn run_short(
    cx: ToolContext,
    arguments: Input,
    function: fn(&ToolContext, Input) -> Result<ToolResult, ToolError>,
) -> HandlerFuture<'static> {
    let is_slow = cx.entry().is_some_and(Entry::is_slow);
    if !is_slow || Handle::try_current().is_err() {
        return HandlerFuture::ready(function(&cx, arguments));
    }
    run_blocking(cx, move |cx| {
        let since = Instant::now();
        let outcome = function(cx, arguments);
        // A lint tells a slow tool from a busy machine by the second call.
        if let Some(entry) = cx.entry() {
            entry.note_elsewhere(since.elapsed());
        }
        outcome
    })
}

/// Makes a preview as [`run_blocking`] runs a tool.
pub fn preview_blocking<F>(cx: ToolContext, function: F) -> PreviewFuture<'static>
where
    F: FnOnce(&ToolContext) -> Result<Preview, ToolError> + Send + 'static,
{
    Box::pin(on_blocking_pool(cx, function))
}

async fn on_blocking_pool<F, T>(cx: ToolContext, function: F) -> Result<T, ToolError>
where
    F: FnOnce(&ToolContext) -> Result<T, ToolError> + Send + 'static,
    T: Send + 'static,
{
    let Ok(runtime) = Handle::try_current() else {
        return Err(ToolErrorKind::internal(
            "a blocking tool needs a tokio runtime; call it from one",
        )
        .into());
    };
    // A nested call shares the permit of its outer call. If it waited for its own, outer calls that hold all permits would
    // deadlock. The semaphore is never closed, so `acquire` does not fail.
    let permit = if cx.has_blocking_permit() {
        None
    } else {
        PERMITS.acquire().await.ok()
    };
    if let Some(call) = cx.call() {
        call.has_blocking_permit.store(true, Ordering::Relaxed);
    }
    let thread_cx = cx.clone();
    let outcome = runtime.spawn_blocking(move || {
        let _permit = permit;
        // The span of a task does not follow to another thread.
        let _span = thread_cx.call().map(|call| call.span.get().entered());
        // The runtime may have queued the function, and the call may have ended by now. Then the tool must not start.
        if let Err(error) = thread_cx.check_cancelled() {
            return Ok(Err(error));
        }
        // Caught here, because tokio's `JoinError` would wrap the payload.
        catch_unwind(AssertUnwindSafe(|| function(&thread_cx)))
    });
    match outcome.await {
        Ok(Ok(result)) => result,
        Ok(Err(panic)) => resume_unwind(panic),
        Err(error) => Err(ToolErrorKind::internal(format!(
            "the runtime dropped a blocking tool: {error}"
        ))
        .into()),
    }
}
