//! [`Export`]: exports the spans of runs, model requests and calls over OTLP.

use std::sync::Arc;
use std::time::Duration;
use std::{env, thread};

use host::program;
use host::settings::Settings;
use once_cell::sync::OnceCell;
use opentelemetry::KeyValue;
use opentelemetry::trace::TracerProvider as _;
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::SdkTracerProvider;
use tracing::dispatcher;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::filter::filter_fn;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::registry;

use crate::endpoint::{Collector, collector};
use crate::exporter::Exporter;
use crate::open_spans::OpenSpans;

/// The targets of the exported spans. Spans of other libraries could hold content and keys, and those of the HTTP client would cause
/// further exports.
const TARGETS: [&str; 2] = ["agent", "tools"];

/// The longest wait for the collector at the end.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(5);

/// The name of the service, unless the environment has another.
const SERVICE_NAME: &str = "service.name";

/// The running export. Dropping it sends the remaining spans. A failure is a warning and never ends a session.
pub(crate) struct Export {
    provider: SdkTracerProvider,
    open_spans: OpenSpans,
    failure: Arc<OnceCell<String>>,
}

impl Export {
    /// Starts the export if the settings or the environment name an endpoint. A program with a subscriber of its own gets the spans
    /// there.
    pub(crate) fn start(settings: &Settings) -> Option<Self> {
        let collector = match collector(settings, |name| env::var(name).ok()) {
            Ok(found) => found?,
            Err(error) => {
                program::warn(&format!("no traces are exported: {error}"));
                return None;
            }
        };
        if dispatcher::has_been_set() {
            if !collector.is_of_environment {
                program::warn(
                    "this program exports no traces, because its own tracing subscriber gets them; remove telemetry.endpoint",
                );
            }
            return None;
        }
        Self::new(&collector).map_err(|reason| warn(&reason)).ok()
    }

    fn new(collector: &Collector) -> Result<Self, String> {
        let failure = Arc::new(OnceCell::new());
        // The client must not be created on a thread of a runtime.
        let exporter = thread::scope(|scope| {
            scope
                .spawn(|| Exporter::new(collector, failure.clone()))
                .join()
        });
        let exporter = exporter
            .map_err(|_| "the HTTP client panicked".to_owned())?
            .map_err(|error| error.to_string())?;
        let provider = SdkTracerProvider::builder()
            .with_batch_exporter(exporter)
            .with_resource(resource())
            .build();
        let export = Self {
            provider,
            open_spans: OpenSpans::default(),
            failure,
        };
        let is_exported = filter_fn(|span| span.is_span() && TARGETS.contains(&span.target()))
            .with_max_level_hint(LevelFilter::INFO);
        let layer = tracing_opentelemetry::layer()
            .with_tracer(export.provider.tracer(env!("CARGO_PKG_NAME")))
            .with_location(false)
            .with_target(false)
            .with_tracked_inactivity(false)
            .with_threads(false);
        tracing::subscriber::set_global_default(
            registry()
                .with(is_exported)
                .with(layer)
                .with(export.open_spans.clone()),
        )
        .map_err(|_| "this program has a tracing subscriber of its own".to_owned())?;
        Ok(export)
    }
}

impl Drop for Export {
    fn drop(&mut self) {
        self.open_spans.end();
        let ended = self.provider.shutdown_with_timeout(FLUSH_TIMEOUT);
        match self.failure.get() {
            Some(reason) => warn(reason),
            None if ended.is_err() => warn(&format!(
                "the collector did not answer in {FLUSH_TIMEOUT:?}"
            )),
            None => {}
        }
    }
}

/// Returns the description of this process: its name and version, and the attributes of the environment.
fn resource() -> Resource {
    let of_environment = Resource::builder().build();
    let name = of_environment.get(&SERVICE_NAME.into());
    let is_named = name.is_some_and(|name| !name.as_str().starts_with("unknown_service"));
    let builder =
        Resource::builder().with_attribute(KeyValue::new("service.version", program::version()));
    if is_named {
        builder
    } else {
        builder.with_service_name(program::name())
    }
    .build()
}

fn warn(reason: &str) {
    program::warn(&format!(
        "not all traces were exported: {reason}; check telemetry.endpoint or OTEL_EXPORTER_OTLP_ENDPOINT"
    ));
}
