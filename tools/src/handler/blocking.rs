//! Handlers that block a thread.

use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::Ordering;

use protocol::ToolResult;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::runtime::Handle;
use tokio::sync::Semaphore;

use super::input::value;
use super::{Handler, HandlerFuture, IntoToolResult, deserialized};
use crate::{Input, ToolContext, ToolError, ToolErrorKind};

/// How many blocking tools run at once in a process. More wait, and their waiting counts against their deadlines. A tool
/// that ignores its token holds its place until it returns.
const MAX_BLOCKING: usize = 64;

static PERMITS: Semaphore = Semaphore::const_new(MAX_BLOCKING);

/// A blocking handler.
struct Blocking<F>(F);

/// A handler that may block its thread. It runs on a pool of tokio's runtime, which runs at most 64 such calls at once in a process;
/// more wait, and their waiting counts against their deadlines. When its deadline passes or its call
/// is taken back, the caller goes on at once, and the handler is told through `cx.is_cancelled()`: nothing can stop a
/// thread from outside.
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
        run_blocking(cx, move |cx| function(cx, value(arguments)?).into_tool_result())
    }

    fn origin(&self) -> &'static str {
        std::any::type_name::<F>()
    }
}

/// A blocking handler over a type of arguments.
struct BlockingTyped<A, F> {
    function: F,
    arguments: PhantomData<fn(A)>,
}

/// [`blocking`], with a type of arguments as in [`typed`](super::typed).
pub fn blocking_typed<A, F, R>(function: F) -> impl Handler
where
    A: DeserializeOwned + Send + 'static,
    F: Fn(&ToolContext, A) -> R + Clone + Send + Sync + 'static,
    R: IntoToolResult,
{
    BlockingTyped { function, arguments: PhantomData }
}

impl<A, F, R> Handler for BlockingTyped<A, F>
where
    A: DeserializeOwned + Send + 'static,
    F: Fn(&ToolContext, A) -> R + Clone + Send + Sync + 'static,
    R: IntoToolResult,
{
    fn call<'a>(&'a self, cx: ToolContext, arguments: Input) -> HandlerFuture<'a> {
        let function = self.function.clone();
        run_blocking(cx, move |cx| {
            let arguments = deserialized(cx.entry(), arguments)?;
            function(cx, arguments).into_tool_result()
        })
    }

    fn origin(&self) -> &'static str {
        std::any::type_name::<F>()
    }
}

/// Runs a function on the pool. It starts when a place is free; the place is taken until the function returns, even when
/// nobody waits for it any more.
pub fn run_blocking<F>(cx: ToolContext, function: F) -> HandlerFuture<'static>
where
    F: FnOnce(&ToolContext) -> Result<ToolResult, ToolError> + Send + 'static,
{
    HandlerFuture::new(async move {
        let Ok(runtime) = Handle::try_current() else {
            let message = "a blocking tool needs a tokio runtime; call it from one".to_owned();
            return Err(ToolErrorKind::Internal { message }.into());
        };
        // A call made by one that holds a place runs on that one's account: were it to wait for a place of its own, callers that
        // hold them all would wait for each other. The semaphore is never closed, so there always is a place in the end.
        let permit = if cx.has_blocking_permit() { None } else { PERMITS.acquire().await.ok() };
        if let Some(call) = cx.call() {
            call.has_blocking_permit.store(true, Ordering::Relaxed);
        }
        let thread_cx = cx.clone();
        let outcome = runtime.spawn_blocking(move || {
            let _permit = permit;
            let _span = thread_cx.call().map(|call| call.span.enter());
            // The runtime may have queued it, and the call may be over by now; what was answered must not begin.
            if let Err(error) = thread_cx.check_cancelled() {
                return Ok(Err(error));
            }
            // Caught here so that the panic's own payload, and not a wrapper of it, reaches the counter.
            catch_unwind(AssertUnwindSafe(|| function(&thread_cx)))
        });
        match outcome.await {
            Ok(Ok(result)) => result,
            Ok(Err(panic)) => resume_unwind(panic),
            Err(error) => {
                let message = format!("the runtime dropped a blocking tool: {error}");
                Err(ToolErrorKind::Internal { message }.into())
            }
        }
    })
}
