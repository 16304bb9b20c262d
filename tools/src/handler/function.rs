//! Closures and functions as handlers.

use std::future::Future;

use serde_json::Value;

use super::{Handler, HandlerFuture, IntoToolResult};
use crate::ToolContext;

impl<F, Fut> Handler for F
where
    F: Fn(ToolContext, Value) -> Fut + Send + Sync + 'static,
    Fut: Future<Output: IntoToolResult> + Send + 'static,
{
    fn call<'a>(&'a self, cx: ToolContext, arguments: Value) -> HandlerFuture<'a> {
        let future = self(cx.clone(), arguments);
        Box::pin(async move { future.await.into_tool_result(&cx) })
    }
}
