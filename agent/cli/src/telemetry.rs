//! The export of a session's spans. In the lean build, nothing is exported.

#[cfg(not(feature = "default"))]
mod absent;
#[cfg(feature = "default")]
mod client;
#[cfg(feature = "default")]
mod endpoint;
#[cfg(feature = "default")]
mod exporter;
#[cfg(feature = "default")]
mod open_spans;
#[cfg(feature = "default")]
mod otlp;

#[cfg(not(feature = "default"))]
pub(crate) use absent::Telemetry;
#[cfg(feature = "default")]
pub(crate) use otlp::Telemetry;
