//! [`Layer`]: a host's code around a tool's handler.

use std::sync::Arc;

use serde_json::Value;

use crate::context::ToolContext;
use crate::handler::{Handler, HandlerFuture, PreviewFuture};
use crate::input::Input;
use crate::isolate::{Isolated, Panic};
use crate::preview::Preview;
use crate::tool_error::ToolErrorKind;

/// Code around a handler. It sees the call before the tool, sees the result after it, and can answer instead of the tool.
///
/// Layers run in the pipeline's stage *run*:
///
/// - The call was validated, authorised and approved before.
/// - The layer's time counts against the call's deadline, and its panic counts as the tool's.
/// - Its result is checked and truncated like a tool's result.
/// - It cannot change the arguments or run the tool twice.
///
/// A context has layers ([`Host::with_layer`](crate::Host::with_layer)), and nested calls inherit them. The layer that was added first is
/// outermost.
/// [`ToolContext::tool`] tells a layer which tool is called.
///
/// The order decides what a layer sees. Here a cache answers without its inner layers:
///
/// ```text
/// host.with_layer(cache).with_layer(count) // counts the calls that reach a tool
/// host.with_layer(count).with_layer(cache) // counts all calls
/// ```
///
/// ```
/// use std::sync::Arc;
/// use std::sync::atomic::{AtomicU64, Ordering};
///
/// use serde_json::json;
/// use tools::layer::{Layer, Next};
/// use tools::{Catalog, Effects, HandlerFuture, Host, Tool, ToolContext};
///
/// /// Counts calls.
/// #[derive(Default)]
/// struct Counter(AtomicU64);
///
/// impl Layer for Counter {
///     fn call<'a>(&'a self, cx: ToolContext, next: Next<'a>) -> HandlerFuture<'a> {
///         self.0.fetch_add(1, Ordering::Relaxed);
///         next.call(cx)
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut catalog = Catalog::new();
/// let tool = Tool::new("ping", "Says pong.", json!({"type": "object"}))?.with_effects(Effects::Pure);
/// catalog.register(tool, async |_cx: ToolContext, _arguments: serde_json::Value| "pong".to_owned())?;
///
/// let counter = Arc::new(Counter::default());
/// let cx = Host::new().with_layer(counter.clone());
/// catalog.execute(&cx, "ping", json!({})).await?;
/// assert_eq!(counter.0.load(Ordering::Relaxed), 1);
/// # Ok(())
/// # }
/// ```
pub trait Layer: Send + Sync + 'static {
    /// Handles one call. The tool runs only if this calls [`Next::call`]. The tool's own errors have no
    /// [name](crate::ToolError::tool_name) yet.
    fn call<'a>(&'a self, cx: ToolContext, next: Next<'a>) -> HandlerFuture<'a>;
}

/// The rest of a call, seen from a layer: the inner layers and the handler.
pub struct Next<'a> {
    layers: &'a [Arc<dyn Layer>],
    handler: &'a dyn Handler,
    arguments: Input,
    /// The context that the layer received.
    cx: ToolContext,
}

impl<'a> Next<'a> {
    /// Returns the arguments of the call, including secrets. To show or store them, use [`Entry::mask`](crate::Entry::mask).
    pub fn arguments(&self) -> &Value {
        self.arguments.value()
    }

    /// Makes the tool's preview of the call as it is now, for a layer that shows what a call does about which nobody was asked. Returns
    /// `None` if the tool declares no preview, or if the call is one that the tool keeps for later.
    ///
    /// The preview can read what the call can read without a question, and changes nothing. It uses the call's time, so the layer limits
    /// it.
    pub fn preview(&self) -> Option<PreviewFuture<'a>> {
        if self.handler.kept_call().is_some() {
            return None;
        }
        let made = Panic::catch(|| {
            self.handler
                .preview(self.cx.for_preview(), self.arguments.clone())
        });
        let preview = made.ok().flatten()?;
        Some(Box::pin(async {
            match Isolated::new(|| preview).await {
                Ok(made) => made.map(Preview::truncate),
                Err(Panic(message)) => Err(ToolErrorKind::Panicked { message }.into()),
            }
        }))
    }

    /// Runs the inner layers and the handler. Pass the context that the layer received, or one derived from it with a narrower grant or
    /// an additional service.
    ///
    /// The future returns [`ToolErrorKind::Internal`] if `cx` belongs to another call, because only this one was authorised.
    pub fn call(self, cx: ToolContext) -> HandlerFuture<'a> {
        if !cx.is_of_same_call(&self.cx) {
            let message =
                "a layer passed the context of another call to Next::call; pass its own".to_owned();
            return HandlerFuture::ready(Err(ToolErrorKind::Internal { message }.into()));
        }
        call(self.layers, self.handler, cx, self.arguments)
    }
}

crate::debug_fields!(self: Next<'_> { layers = self.layers.len() });

/// Runs a handler inside `layers`, the outermost first.
pub(crate) fn call<'a>(
    layers: &'a [Arc<dyn Layer>],
    handler: &'a dyn Handler,
    cx: ToolContext,
    arguments: Input,
) -> HandlerFuture<'a> {
    match layers.split_first() {
        None => handler.call(cx, arguments),
        Some((layer, layers)) => {
            let next = Next {
                layers,
                handler,
                arguments,
                cx: cx.clone(),
            };
            layer.call(cx, next)
        }
    }
}
