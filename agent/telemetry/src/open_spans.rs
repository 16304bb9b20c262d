//! [`OpenSpans`]: ends the spans that are still open at the end of the program.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::SystemTime;

use opentelemetry::trace::TraceContextExt as _;
use tools::IgnorePoison as _;
use tracing::dispatcher::WeakDispatch;
use tracing::span::{Attributes, Id};
use tracing::{Dispatch, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Context;

/// A layer above that of OpenTelemetry.
///
/// A call that does not yield never leaves its span, which keeps the spans of its run and of the calls above open. A closed span alone is
/// exported.
#[derive(Clone, Default)]
pub(super) struct OpenSpans(Arc<Shared>);

#[derive(Default)]
struct Shared {
    dispatch: OnceLock<WeakDispatch>,
    spans: Mutex<HashMap<Id, OpenSpan>>,
}

struct OpenSpan {
    context: opentelemetry::Context,
    /// The last time that the span was left. `None` while it is entered.
    left: Option<SystemTime>,
}

impl OpenSpans {
    /// Ends the open spans, each when it was left, and those entered now.
    pub(super) fn end(&self) {
        let spans = std::mem::take(&mut *self.spans());
        for OpenSpan { context, left } in spans.into_values() {
            match left {
                Some(left) => context.span().end_with_timestamp(left),
                None => context.span().end(),
            }
        }
    }

    fn spans(&self) -> std::sync::MutexGuard<'_, HashMap<Id, OpenSpan>> {
        self.0.spans.lock().ignore_poison()
    }

    fn set_left(&self, id: &Id, left: Option<SystemTime>) {
        if let Some(span) = self.spans().get_mut(id) {
            span.left = left;
        }
    }
}

impl<S: Subscriber> Layer<S> for OpenSpans {
    fn on_register_dispatch(&self, dispatch: &Dispatch) {
        let _ = self.0.dispatch.set(dispatch.downgrade());
    }

    fn on_new_span(&self, _: &Attributes<'_>, id: &Id, _: Context<'_, S>) {
        let dispatch = self.0.dispatch.get().and_then(WeakDispatch::upgrade);
        let context =
            dispatch.and_then(|dispatch| tracing_opentelemetry::get_otel_context(id, &dispatch));
        if let Some(context) = context {
            self.spans().insert(
                id.clone(),
                OpenSpan {
                    context,
                    left: None,
                },
            );
        }
    }

    fn on_enter(&self, id: &Id, _: Context<'_, S>) {
        self.set_left(id, None);
    }

    fn on_exit(&self, id: &Id, _: Context<'_, S>) {
        self.set_left(id, Some(SystemTime::now()));
    }

    fn on_close(&self, id: Id, _: Context<'_, S>) {
        self.spans().remove(&id);
    }
}
