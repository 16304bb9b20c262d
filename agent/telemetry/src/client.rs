//! [`CollectorClient`]: the HTTP client of the export.

use std::time::Duration;

use opentelemetry_http::{Bytes, HttpClient, HttpError, Request, Response};
use reqwest::blocking::Client;
use reqwest::header::{CONTENT_ENCODING, CONTENT_TYPE, USER_AGENT};
use reqwest::redirect::Policy;

use crate::endpoint::Collector;

/// The longest time for one request to the collector.
const TIMEOUT: Duration = Duration::from_secs(10);

/// A client that sends the headers of `OTEL_EXPORTER_OTLP_HEADERS` only to the collector of the environment.
pub(super) struct CollectorClient {
    http: Client,
    sends_headers: bool,
}

impl CollectorClient {
    /// Creates a client. It blocks, so a runtime must not call it.
    pub(super) fn new(collector: &Collector) -> Result<Self, reqwest::Error> {
        // reqwest brings no cryptography of its own here. A provider that the program installed earlier stays.
        let _ = rustls::crypto::ring::default_provider().install_default();
        // A redirect could send spans and headers to another host.
        let http = Client::builder()
            .timeout(TIMEOUT)
            .redirect(Policy::none())
            .no_proxy();
        // Reading the certificates of the machine takes longer than a local request.
        let http = if collector.url.starts_with("https:") {
            http
        } else {
            http.tls_certs_only([])
        };
        Ok(Self {
            http: http.build()?,
            sends_headers: collector.is_of_environment,
        })
    }
}

impl HttpClient for CollectorClient {
    // The signature that the macro of the trait makes.
    fn send_bytes<'a, 'b>(
        &'a self,
        mut request: Request<Bytes>,
    ) -> std::pin::Pin<Box<dyn Future<Output = Result<Response<Bytes>, HttpError>> + Send + 'b>>
    where
        'a: 'b,
        Self: 'b,
    {
        if !self.sends_headers {
            let kept = [CONTENT_TYPE, CONTENT_ENCODING, USER_AGENT];
            let headers = std::mem::take(request.headers_mut());
            let own = kept
                .into_iter()
                .filter_map(|name| headers.get(&name).map(|value| (name, value.clone())));
            request.headers_mut().extend(own);
        }
        self.http.send_bytes(request)
    }
}

// Shows no headers, because they may be secret.
tools::debug_fields!(self: CollectorClient { sends_headers });
