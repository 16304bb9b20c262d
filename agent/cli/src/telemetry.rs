//! The export of a session's spans. Without the feature `otel`, nothing is exported.

#[cfg(not(feature = "otel"))]
mod absent;
#[cfg(feature = "otel")]
mod client;
#[cfg(feature = "otel")]
mod endpoint;
#[cfg(feature = "otel")]
mod exporter;
#[cfg(feature = "otel")]
mod open_spans;
#[cfg(feature = "otel")]
mod otlp;

#[cfg(not(feature = "otel"))]
pub(crate) use absent::Telemetry;
#[cfg(feature = "otel")]
pub(crate) use otlp::Telemetry;
