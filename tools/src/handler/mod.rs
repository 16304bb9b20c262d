//! [`Handler`]: the code that runs a tool.
//!
//! A handler is *async*, and then must yield: it is polled on the caller's task, and between two polls its deadline and its
//! cancellation are looked at. Or it is *blocking*, and then runs on a bounded pool and is told to stop through the token
//! of its context.

pub(crate) mod blocking;
mod function;
mod future;
mod input;
mod output;
mod typed;

use crate::{Input, Need, ToolContext};

pub use blocking::{blocking, blocking_typed};
pub use future::HandlerFuture;
pub(crate) use input::deserialized;
pub use output::IntoToolResult;
pub(crate) use output::result_from_value;
pub use typed::typed;

/// The code that runs a tool. Object-safe.
///
/// Closures and functions `Fn(ToolContext, serde_json::Value) -> impl Future<Output = impl IntoToolResult>` are handlers, and so are
/// [`typed`], [`blocking`] and [`blocking_typed`] ones; a struct with state implements the trait.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no handler of a tool",
    note = "write `async |cx: ToolContext, arguments: Value| Ok::<_, String>(…)`, or wrap it in `handler::typed`, \
            `handler::blocking` or `handler::blocking_typed`, or implement `tools::Handler` for a struct"
)]
pub trait Handler: Send + Sync + 'static {
    /// Runs the tool. The arguments have passed its schema, the call its grant.
    ///
    /// The future must yield. A panic in it, or in making it, becomes [`ToolErrorKind::Panicked`](crate::ToolErrorKind::Panicked).
    fn call<'a>(&'a self, cx: ToolContext, arguments: Input) -> HandlerFuture<'a>;

    /// The services it needs to find in the context. Without them it is not called.
    fn needs(&self) -> &[Need] {
        &[]
    }

    /// The path of the type that the code was written as, from which its crate is read for errors about names. What wraps
    /// another handler gives that one's.
    fn origin(&self) -> &'static str {
        std::any::type_name::<Self>()
    }
}
