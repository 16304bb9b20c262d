//! Handlers with typed arguments.

use std::future::Future;
use std::marker::PhantomData;

use serde::de::DeserializeOwned;

use super::{Handler, HandlerFuture, IntoToolResult, deserialized};
use crate::{Input, ToolContext};

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
            let arguments = deserialized(cx.entry(), arguments)?;
            (self.function)(cx, arguments).await.into_tool_result()
        })
    }

    fn origin(&self) -> &'static str {
        std::any::type_name::<F>()
    }
}
