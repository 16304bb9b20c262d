//! Spans and events of `tracing` never hold the key. Alone in this file, because the subscriber is process-wide.

#![allow(clippy::unwrap_used)]

#[path = "it/service/mod.rs"]
mod service;

use std::fmt::{Debug, Write as _};
use std::sync::{Arc, Mutex};

use agent::{Provider, Request, ToolSet};
use serde_json::json;
use service::{KEY, Service, wire};
use tools::CancellationToken;
use tools::protocol::wire::Format;
use tools::protocol::{Message, Role};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

/// Writes down all spans and events of every level, with their fields.
#[derive(Clone, Default)]
struct Recorder(Arc<Mutex<String>>);

struct Fields<'a>(&'a mut String);

impl Visit for Fields<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        let _ = write!(self.0, " {field}={value:?}");
    }
}

impl Subscriber for Recorder {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        let mut log = self.0.lock().unwrap();
        let _ = write!(log, "\nspan {}", span.metadata().name());
        span.record(&mut Fields(&mut log));
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, values: &Record<'_>) {
        values.record(&mut Fields(&mut self.0.lock().unwrap()));
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut log = self.0.lock().unwrap();
        let _ = write!(log, "\nevent {}", event.metadata().name());
        event.record(&mut Fields(&mut log));
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

#[tokio::test]
async fn no_span_and_no_event_has_the_key() {
    let recorder = Recorder::default();
    tracing::subscriber::set_global_default(recorder.clone()).unwrap();
    let refused = service::json(
        401,
        json!({"error": {"message": format!("not with {KEY}"), "type": "t"}}),
    );
    let error = json!({"error": {"message": KEY}});
    // The data of an event may span lines.
    let broken = service::events(format!(
        "data: {{\"error\":\ndata: {{\"message\":\"{KEY}\"}}}}\n\n"
    ));
    for streaming in [false, true] {
        let broken = |format| match (format, streaming) {
            (_, false) => service::json(200, &error),
            (Format::Ollama, _) => wire::stream(format, std::slice::from_ref(&error)),
            _ => broken.clone(),
        };
        let replies = wire::ALL
            .iter()
            .flat_map(|format| [refused.clone(), broken(*format)]);
        let service = Service::new(replies).await;
        for format in wire::ALL {
            let provider = wire::remote(format, &wire::options(format, &service, streaming));
            for _ in 0..2 {
                let (messages, tools, token) = (
                    [Message::text(Role::User, "go")],
                    ToolSet::default(),
                    CancellationToken::new(),
                );
                let error = provider
                    .complete(Request::new(&messages, &tools, &token))
                    .await
                    .unwrap_err();
                let text = format!("{error} {error:?}");
                assert!(text.contains("[key]") && !text.contains(KEY), "{text}");
            }
        }
        assert_eq!(service.requests(), 10);
        assert!(
            (0..10).all(|index| service.head(index).contains(KEY)),
            "the key was not sent"
        );
    }
    let log = recorder.0.lock().unwrap();
    assert!(log.contains("\nevent "), "no event was recorded");
    assert!(!log.contains(KEY), "{log}");
}
