//! A `tracing` subscriber that records all spans of the process.
#![allow(
    dead_code,
    missing_docs,
    unreachable_pub,
    reason = "each program of tests uses a part of it"
)]

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::{Mutex, OnceLock};

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Subscriber};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt as _};
use tracing_subscriber::registry::LookupSpan;

static SPANS: Mutex<BTreeMap<u64, Seen>> = Mutex::new(BTreeMap::new());

/// A recorded span.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    pub name: &'static str,
    pub target: String,
    pub parent: Option<u64>,
    pub fields: BTreeMap<&'static str, String>,
    pub events: Vec<String>,
    pub is_closed: bool,
}

/// The number of a span. A registry reuses its own ids.
struct Number(u64);

struct Listener;

/// Installs the subscriber for the whole process.
pub fn listen() {
    static LISTENING: OnceLock<()> = OnceLock::new();
    LISTENING.get_or_init(|| {
        tracing::subscriber::set_global_default(tracing_subscriber::registry().with(Listener))
            .unwrap();
    });
}

/// Returns the call spans of a session with their numbers, in the order of their start.
pub fn spans_of(session: &str) -> Vec<(u64, Seen)> {
    let spans = SPANS.lock().unwrap();
    let of_session = |seen: &Seen| {
        seen.fields
            .get("gen_ai.conversation.id")
            .is_some_and(|id| id == session)
    };
    spans
        .iter()
        .filter(|(_, seen)| of_session(seen))
        .map(|(number, seen)| (*number, seen.clone()))
        .collect()
}

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for Listener {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let mut spans = SPANS.lock().unwrap();
        let number = spans.len() as u64 + 1;
        let span = context.span(id).unwrap();
        let parent = span
            .parent()
            .and_then(|parent| parent.extensions().get::<Number>().map(|number| number.0));
        span.extensions_mut().insert(Number(number));
        let metadata = attributes.metadata();
        let mut seen = Seen {
            name: metadata.name(),
            target: metadata.target().to_owned(),
            parent,
            ..Seen::default()
        };
        attributes.record(&mut Fields(&mut seen.fields));
        spans.insert(number, seen);
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, context: Context<'_, S>) {
        change(id, &context, |seen| {
            values.record(&mut Fields(&mut seen.fields))
        });
    }

    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        let Some(span) = context.event_span(event) else {
            return;
        };
        let mut fields = BTreeMap::new();
        event.record(&mut Fields(&mut fields));
        change(&span.id(), &context, |seen| {
            seen.events.extend(fields.into_values())
        });
    }

    fn on_close(&self, id: Id, context: Context<'_, S>) {
        change(&id, &context, |seen| seen.is_closed = true);
    }
}

fn change<S: Subscriber + for<'a> LookupSpan<'a>>(
    id: &Id,
    context: &Context<'_, S>,
    change: impl FnOnce(&mut Seen),
) {
    let number = context
        .span(id)
        .and_then(|span| span.extensions().get::<Number>().map(|number| number.0));
    if let Some(number) = number {
        change(SPANS.lock().unwrap().get_mut(&number).unwrap());
    }
}

struct Fields<'a>(&'a mut BTreeMap<&'static str, String>);

impl Visit for Fields<'_> {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.0.insert(field.name(), value.to_owned());
    }

    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.0.insert(field.name(), format!("{value:?}"));
    }
}
