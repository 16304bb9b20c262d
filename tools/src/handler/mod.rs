//! [`Handler`]: the code that runs a tool.
//!
//! - An *async* handler is polled on the caller's task and must yield: deadline and cancellation are checked between two polls.
//! - A *blocking* handler runs on a bounded thread pool. The token of its context asks it to stop.
//!
//! Both of these compile. The first stops every call of its thread, and no deadline ends it:
//!
//! ```text
//! async |cx: ToolContext, _: Value| { std::thread::sleep(HOUR); Ok::<_, String>(()) }          // wrong: never yields
//! handler::blocking(|cx: &ToolContext, _: Value| { while !cx.is_cancelled() { step()?; } … })  // right
//! ```

pub(crate) mod blocking;
mod output;

use std::future::{self, Future};
use std::marker::PhantomData;
use std::pin::Pin;
use std::task::{Context, Poll};

use protocol::{Target, TargetError, ToolResult};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::concern::Concern;
use crate::context::{Need, ServiceField, ToolContext};
use crate::entry::Entry;
use crate::input::Input;
use crate::schema::Violation;
use crate::tool_error::{ToolError, ToolErrorKind};

pub use crate::preview::PreviewFuture;
pub use blocking::blocking;
pub use output::IntoToolResult;
pub(crate) use output::result_from_value;

/// The targets of a call, or the reason why there are none.
pub type Targets = Result<Vec<Target>, TargetError>;

/// The names of two arguments that are a call of another tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeptCall {
    /// The argument with the name of the tool.
    pub tool: &'static str,
    /// The argument with the arguments of the tool.
    pub arguments: &'static str,
}

/// The future that [`Handler::connect`] returns.
pub type ConnectFuture<'a> = Pin<Box<dyn Future<Output = Result<(), ToolError>> + Send + 'a>>;

/// The code that runs a tool. Object-safe.
///
/// Closures and functions `Fn(ToolContext, serde_json::Value) -> impl Future<Output = impl IntoToolResult>` are handlers.
/// [`typed`] and [`blocking`] wrap other functions. A struct with state implements the trait.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a tool handler",
    note = "write `async |cx: ToolContext, arguments: Value| Ok::<_, String>(…)`, or wrap it in `handler::typed` or \
            `handler::blocking`, or implement `tools::Handler` for a struct"
)]
pub trait Handler: Send + Sync + 'static {
    /// Runs the tool. The arguments are validated and the call is authorised.
    ///
    /// The future must yield. A panic in it or in this method becomes [`ToolErrorKind::Panicked`].
    fn call<'a>(&'a self, cx: ToolContext, arguments: Input) -> HandlerFuture<'a>;

    /// Returns the services that the handler requires. Calls without them fail before the handler runs.
    fn needs(&self) -> &[Need] {
        &[]
    }

    /// Returns the fields of services that the templates of the tool name, as `net:{Tracker.base_url|host}` does.
    fn service_fields(&self) -> &[ServiceField] {
        &[]
    }

    /// Returns the targets of a call, for a tool with a template such as `exec:{*}`. Returns `None` if the handler cannot, and then
    /// every call of such a tool is refused.
    ///
    /// The pipeline calls it in the stage *validate*, after the check against the schema, and when events are observed before it. It
    /// must be quick and depend on the arguments alone. A target that no template of the tool covers refuses the call.
    fn targets(&self, arguments: Input) -> Option<Targets> {
        let _ = arguments;
        None
    }

    /// Checks that the services of the context have what the arguments name, such as a channel of the user, before anybody is asked.
    ///
    /// The pipeline calls it in the stage *validate*, with the context of the caller. It must be quick and change nothing. The call is not
    /// authorised yet, so the error must contain only what the model may know without a grant.
    ///
    /// # Errors
    /// Returns an error with the next step if the call cannot succeed.
    fn check(&self, cx: &ToolContext, arguments: &Input) -> Result<(), ToolError> {
        let _ = (cx, arguments);
        Ok(())
    }

    /// Returns the reasons to ask a person about a call that its targets do not show, such as the text of a file that is new.
    ///
    /// The pipeline calls it in the stage *authorize*, with the context of the caller. It must be quick and change nothing. The call is not
    /// authorised yet. A person reads the reasons, and the model reads them if there is no approver.
    fn concerns(&self, cx: &ToolContext, arguments: &Input) -> Vec<Concern> {
        let _ = (cx, arguments);
        Vec::new()
    }

    /// Waits until a call can be handed over at once, such as for the connection to a server. Returns `None` if there is nothing to wait for.
    ///
    /// The pipeline waits in the stage *connect*, before the intent is recorded. A process that ends meanwhile has surely not made the call, so
    /// a resumed session makes it. The future must change nothing that the call is for.
    fn connect<'a>(&'a self, cx: &'a ToolContext) -> Option<ConnectFuture<'a>> {
        let _ = cx;
        None
    }

    /// Describes the effect of a call to the person who is asked about it. Returns `None` if the tool declares no preview.
    ///
    /// The preview must not change anything. The pipeline makes it only if the approver asks for it with
    /// [`Approval::preview`](crate::Approval::preview), and these limits hold:
    ///
    /// - `cx` has the caller's grant, but for reading only: [`require`](ToolContext::require) refuses writes, and no other tool can be
    ///   called.
    /// - The time limit is two seconds. Then the future is dropped and the token of `cx` is cancelled.
    /// - The text is truncated to [`Preview::MAX_LINES`](crate::Preview::MAX_LINES) and
    ///   [`Preview::MAX_BYTES`](crate::Preview::MAX_BYTES).
    /// - A failure or a panic does not affect the call. The question then says why there is no preview.
    ///
    /// The arguments contain secrets, which the preview must not show.
    fn preview<'a>(&'a self, cx: ToolContext, arguments: Input) -> Option<PreviewFuture<'a>> {
        let _ = (cx, arguments);
        None
    }

    /// Returns the arguments that are a call of another tool, which this tool keeps for later. They are
    /// [shown and recorded](crate::Entry::masked_in) as those of that tool, and the preview gets them so. Returns `None` if there are none.
    fn kept_call(&self) -> Option<KeptCall> {
        None
    }

    /// Returns true if another program runs the tool. If its structured result does not fit the output schema, the result is kept without it,
    /// because the call has run and an error would invite its repetition.
    fn is_remote(&self) -> bool {
        false
    }

    /// Returns the type path of the handler's code, from which errors about names take the crate. A wrapper returns the path of the
    /// inner handler.
    fn origin(&self) -> &'static str {
        std::any::type_name::<Self>()
    }
}

/// A handler with typed arguments.
struct Typed<A, F> {
    function: F,
    arguments: PhantomData<fn(A)>,
}

/// Creates a handler from a function with typed arguments. [`schema_of`](crate::schema_of) returns the schema of the type.
///
/// ```
/// use serde::Deserialize;
/// use tools::{Catalog, Effects, JsonSchema, Tool, ToolContext, handler, schema_of};
///
/// #[derive(Deserialize, JsonSchema)]
/// struct Add {
///     /// The first.
///     a: i64,
///     /// The second.
///     b: i64,
/// }
///
/// let tool = Tool::new("add", "Adds two integers.", schema_of::<Add>())?.with_effects(Effects::Pure);
/// Catalog::new().register(tool, handler::typed(async |_cx: ToolContext, Add { a, b }| {
///     a.checked_add(b).ok_or("the sum does not fit into 64 bits")
/// }))?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn typed<A, F, Fut>(function: F) -> impl Handler
where
    A: DeserializeOwned + Send + 'static,
    F: Fn(ToolContext, A) -> Fut + Send + Sync + 'static,
    Fut: Future<Output: IntoToolResult> + Send + 'static,
{
    Typed {
        function,
        arguments: PhantomData,
    }
}

impl<A, F, Fut> Handler for Typed<A, F>
where
    A: DeserializeOwned + Send + 'static,
    F: Fn(ToolContext, A) -> Fut + Send + Sync + 'static,
    Fut: Future<Output: IntoToolResult> + Send + 'static,
{
    fn call<'a>(&'a self, cx: ToolContext, arguments: Input) -> HandlerFuture<'a> {
        HandlerFuture::new(async move {
            let arguments = deserialize(cx.entry(), arguments)?;
            (self.function)(cx, arguments).await.into_tool_result()
        })
    }

    fn origin(&self) -> &'static str {
        std::any::type_name::<F>()
    }
}

impl<F, Fut> Handler for F
where
    F: Fn(ToolContext, Value) -> Fut + Send + Sync + 'static,
    Fut: Future<Output: IntoToolResult> + Send + 'static,
{
    fn call<'a>(&'a self, cx: ToolContext, arguments: Input) -> HandlerFuture<'a> {
        let future = match value(arguments) {
            Ok(arguments) => self(cx, arguments),
            Err(error) => return HandlerFuture::ready(Err(error.into())),
        };
        HandlerFuture::new(async move { future.await.into_tool_result() })
    }
}

/// Deserializes the arguments of a call.
///
/// # Errors
/// Returns [`ToolErrorKind::InvalidArguments`] if the type is narrower than the schema that the arguments fit.
pub(crate) fn deserialize<A: DeserializeOwned>(
    entry: Option<&Entry>,
    arguments: Input,
) -> Result<A, ToolErrorKind> {
    // A wrapping handler may have replaced the pipeline's arguments with its own, which do not know about secrets.
    let arguments = match entry {
        Some(entry) => arguments.with_secrets(entry.has_masked()),
        None => arguments,
    };
    arguments.deserialize().map_err(|error| {
        Violation::whole("arguments as the description says", error.to_string()).into()
    })
}

/// Converts the arguments into a `Value`, for handlers that take one.
///
/// # Errors
/// Returns [`ToolErrorKind::InvalidArguments`] if an integer exceeds 64 bits, because a `Value` would round it.
pub(super) fn value(arguments: Input) -> Result<Value, ToolErrorKind> {
    if arguments.json().extent().has_big_integer {
        let expected = "integers of at most 64 bits, because this tool supports no larger ones";
        return Err(Violation::whole(expected, "a larger one").into());
    }
    Ok(arguments.into_value())
}

/// The future of a handler's result, which can be ready at once without an allocation.
///
/// ```
/// use tools::{HandlerFuture, ToolResult};
///
/// let at_once = HandlerFuture::ready(Ok(ToolResult::text("done")));
/// let later = HandlerFuture::new(async { Ok(ToolResult::text("done")) });
/// ```
#[must_use = "a handler does nothing until it is awaited"]
pub struct HandlerFuture<'a>(FutureState<'a>);

enum FutureState<'a> {
    /// The result of a synchronous tool, without an allocation.
    Ready(future::Ready<Outcome>),
    Later(Later<'a>),
}

type Outcome = Result<ToolResult, ToolError>;
type Later<'a> = Pin<Box<dyn Future<Output = Outcome> + Send + 'a>>;

impl<'a> HandlerFuture<'a> {
    /// Wraps a future.
    pub fn new(future: impl Future<Output = Result<ToolResult, ToolError>> + Send + 'a) -> Self {
        Self(FutureState::Later(Box::pin(future)))
    }

    /// Wraps a result that is ready.
    pub fn ready(outcome: Result<ToolResult, ToolError>) -> Self {
        Self(FutureState::Ready(future::ready(outcome)))
    }
}

impl<'a> From<Later<'a>> for HandlerFuture<'a> {
    fn from(future: Later<'a>) -> Self {
        Self(FutureState::Later(future))
    }
}

impl Future for HandlerFuture<'_> {
    type Output = Result<ToolResult, ToolError>;

    fn poll(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Self::Output> {
        match &mut self.0 {
            FutureState::Ready(outcome) => Pin::new(outcome).poll(task),
            FutureState::Later(future) => future.as_mut().poll(task),
        }
    }
}
