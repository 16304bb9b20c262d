//! [`Layer`]: code of a host around the code of a tool.

use std::fmt;
use std::sync::Arc;

use serde_json::Value;

use crate::{Handler, HandlerFuture, Input, Need, ToolContext, ToolErrorKind};

/// Code around a handler: it sees the call before the tool does, and the result after it, and can answer in its place.
///
/// A layer runs inside of the stage *run*: what it sees has passed the schema, the grant, the policy and whoever approves; its time is
/// that of the call, and its panic that of the tool. It cannot change the arguments, and it cannot run the tool twice. What it
/// returns is checked and bounded like what the tool returns.
///
/// The order, from the outside:
///
/// 1. the layers of the context, [`ToolContext::with_layer`], the first one added first, for every call that is made with it, and for
///    the calls that those make;
/// 2. the layers of the registration, [`layered`], the outermost first;
/// 3. the handler.
///
/// ```
/// use std::sync::Arc;
/// use std::sync::atomic::{AtomicU64, Ordering};
///
/// use serde_json::json;
/// use tools::{Catalog, Effects, HandlerFuture, Layer, Next, Tool, ToolContext};
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
/// let cx = ToolContext::new().with_layer(counter.clone());
/// catalog.execute(&cx, "ping", json!({})).await?;
/// assert_eq!(counter.0.load(Ordering::Relaxed), 1);
/// # Ok(())
/// # }
/// ```
pub trait Layer: Send + Sync + 'static {
    /// Does what it does around one call. Without [`Next::call`] the tool does not run. An error of the tool's own has no
    /// [name](crate::ToolError::tool_name) yet.
    fn call<'a>(&'a self, cx: ToolContext, next: Next<'a>) -> HandlerFuture<'a>;
}

/// What is inside of a layer: further layers, and the handler.
pub struct Next<'a> {
    layers: &'a [Arc<dyn Layer>],
    handler: &'a dyn Handler,
    arguments: Input,
    /// The context that the layer was given.
    cx: ToolContext,
}

/// A handler with a layer around it.
struct Layered<L, H> {
    layer: L,
    handler: H,
}

/// Puts a layer around a handler, for registering both under one name.
///
/// ```
/// # use tools::{HandlerFuture, Layer, Next, ToolContext};
/// # struct Quiet;
/// # impl Layer for Quiet {
/// #     fn call<'a>(&'a self, cx: ToolContext, next: Next<'a>) -> HandlerFuture<'a> { next.call(cx) }
/// # }
/// use tools::{Catalog, Effects, Tool, layered};
///
/// let tool = Tool::new("ping", "Says pong.", serde_json::json!({"type": "object"}))?.with_effects(Effects::Pure);
/// let ping = async |_cx: ToolContext, _arguments: serde_json::Value| "pong".to_owned();
/// Catalog::new().register(tool, layered(Quiet, ping))?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn layered<L: Layer, H: Handler>(layer: L, handler: H) -> impl Handler {
    Layered { layer, handler }
}

impl<'a> Next<'a> {
    /// The arguments of the call, as the tool is given them, secrets included: [`Entry::masked`](crate::Entry::masked) gives them as they
    /// may be shown.
    pub fn arguments(&self) -> &Value {
        self.arguments.value()
    }

    /// Goes on inwards, with the context that the layer was given or one made of it: a layer may narrow the grant or add a service. A
    /// context of another call is refused, since it is not the one that was authorised.
    pub fn call(self, cx: ToolContext) -> HandlerFuture<'a> {
        if !cx.is_of_same_call(&self.cx) {
            let message = "a layer went on with the context of another call".to_owned();
            return HandlerFuture::ready(Err(ToolErrorKind::Internal { message }.into()));
        }
        call(self.layers, self.handler, cx, self.arguments)
    }
}

impl fmt::Debug for Next<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Next").field("layers", &self.layers.len()).finish_non_exhaustive()
    }
}

impl<L: Layer, H: Handler> Handler for Layered<L, H> {
    fn call<'a>(&'a self, cx: ToolContext, arguments: Input) -> HandlerFuture<'a> {
        let next = Next { layers: &[], handler: &self.handler, arguments, cx: cx.clone() };
        self.layer.call(cx, next)
    }

    fn needs(&self) -> &[Need] {
        self.handler.needs()
    }

    fn origin(&self) -> &'static str {
        self.handler.origin()
    }
}

/// Runs a handler inside of these layers, the first of which is the outermost.
pub(crate) fn call<'a>(
    layers: &'a [Arc<dyn Layer>],
    handler: &'a dyn Handler,
    cx: ToolContext,
    arguments: Input,
) -> HandlerFuture<'a> {
    match layers.split_first() {
        None => handler.call(cx, arguments),
        Some((layer, layers)) => {
            let next = Next { layers, handler, arguments, cx: cx.clone() };
            layer.call(cx, next)
        }
    }
}
