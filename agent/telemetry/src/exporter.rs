//! [`Exporter`]: sends spans over OTLP and remembers the first failure.

use std::sync::Arc;
use std::time::Duration;

use once_cell::sync::OnceCell;
use opentelemetry::{Array, KeyValue, StringValue, Value};
use opentelemetry_otlp::{
    ExporterBuildError, Protocol, SpanExporter as OtlpExporter, WithExportConfig as _,
    WithHttpConfig as _,
};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::{OTelSdkError, OTelSdkResult};
use opentelemetry_sdk::trace::{SpanData, SpanExporter};

use crate::client::CollectorClient;
use crate::endpoint::Collector;

/// The attribute that is an array, but a JSON text in `tracing`.
const FINISH_REASONS: &str = "gen_ai.response.finish_reasons";

/// An exporter over HTTP.
#[derive(Debug)]
pub(super) struct Exporter {
    otlp: OtlpExporter,
    failure: Arc<OnceCell<String>>,
}

/// An error in creating the exporter.
#[derive(Debug, thiserror::Error)]
pub(super) enum ExporterError {
    #[error("cannot create an HTTP client: {0}")]
    Client(#[from] reqwest::Error),
    #[error(transparent)]
    Otlp(#[from] ExporterBuildError),
}

impl Exporter {
    /// Creates an exporter to this collector. It sets `failure` once an export fails. It blocks, so a runtime must not call it.
    pub(super) fn new(
        collector: &Collector,
        failure: Arc<OnceCell<String>>,
    ) -> Result<Self, ExporterError> {
        let otlp = OtlpExporter::builder()
            .with_http()
            .with_http_client(CollectorClient::new(collector)?)
            .with_protocol(Protocol::HttpBinary)
            .with_endpoint(&collector.url)
            .build()?;
        Ok(Self { otlp, failure })
    }
}

impl SpanExporter for Exporter {
    async fn export(&self, mut batch: Vec<SpanData>) -> OTelSdkResult {
        batch
            .iter_mut()
            .flat_map(|span| &mut span.attributes)
            .for_each(as_array);
        let ended = self.otlp.export(batch).await;
        if let Err(error) = &ended {
            let reason = match error {
                OTelSdkError::InternalFailure(reason) => reason.clone(),
                error => error.to_string(),
            };
            // Only the first failure is shown.
            let _ = self.failure.set(reason);
        }
        ended
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.otlp.shutdown_with_timeout(timeout)
    }

    fn force_flush(&self) -> OTelSdkResult {
        self.otlp.force_flush()
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.otlp.set_resource(resource);
    }
}

/// Makes an array of the JSON text of finish reasons.
fn as_array(attribute: &mut KeyValue) {
    if attribute.key.as_str() == FINISH_REASONS
        && let Ok(reasons) = serde_json::from_str::<Vec<String>>(&attribute.value.as_str())
    {
        attribute.value = Value::Array(Array::String(
            reasons.into_iter().map(StringValue::from).collect(),
        ));
    }
}
