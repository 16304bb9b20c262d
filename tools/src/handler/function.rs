//! Closures and functions as handlers.

use std::future::Future;

use serde_json::Value;

use super::input::value;
use super::{Handler, HandlerFuture, IntoToolResult};
use crate::context::Need;
use crate::handler::{ConnectFuture, KeptCall, PreviewFuture};
use crate::{Concern, Input, Targets, ToolContext, ToolError};

impl Handler for Box<dyn Handler> {
    fn call<'a>(&'a self, cx: ToolContext, arguments: Input) -> HandlerFuture<'a> {
        (**self).call(cx, arguments)
    }

    fn needs(&self) -> &[Need] {
        (**self).needs()
    }

    fn targets(&self, arguments: Input) -> Option<Targets> {
        (**self).targets(arguments)
    }

    fn check(&self, cx: &ToolContext, arguments: &Input) -> Result<(), ToolError> {
        (**self).check(cx, arguments)
    }

    fn concerns(&self, cx: &ToolContext, arguments: &Input) -> Vec<Concern> {
        (**self).concerns(cx, arguments)
    }

    fn connect<'a>(&'a self, cx: &'a ToolContext) -> Option<ConnectFuture<'a>> {
        (**self).connect(cx)
    }

    fn preview<'a>(&'a self, cx: ToolContext, arguments: Input) -> Option<PreviewFuture<'a>> {
        (**self).preview(cx, arguments)
    }

    fn kept_call(&self) -> Option<KeptCall> {
        (**self).kept_call()
    }

    fn is_remote(&self) -> bool {
        (**self).is_remote()
    }

    fn origin(&self) -> &'static str {
        (**self).origin()
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
