//! Closures and functions as handlers.

use std::future::Future;

use serde_json::Value;

use super::input::value;
use super::{Handler, HandlerFuture, IntoToolResult};
use crate::{Input, ToolContext};

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
