//! A collector of spans on the loopback.

use std::io::Read as _;

use flate2::read::GzDecoder;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::KeyValue;
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::trace::v1::Span;
use opentelemetry_proto::tonic::trace::v1::status::StatusCode;
use prost::Message as _;
use tools_testkit::http::TestServer;

use crate::loopback::Loopback;

/// A collector that answers each export with the same status.
pub(crate) struct Collector {
    pub(crate) url: String,
    server: Loopback,
}

impl Collector {
    pub(crate) fn new(status: &'static str) -> Self {
        let server = Loopback::new(move |_| TestServer::head(status, &[("connection", "close")]));
        Self {
            url: server.url(""),
            server,
        }
    }

    /// Returns the heads of the requests in small letters.
    pub(crate) fn heads(&self) -> Vec<String> {
        self.server
            .received()
            .iter()
            .map(|request| request.head.to_lowercase())
            .collect()
    }

    fn bodies(&self) -> impl Iterator<Item = Vec<u8>> {
        self.server.received().into_iter().map(|request| {
            if request.header("content-encoding") != Some("gzip") {
                return request.body;
            }
            let mut body = Vec::new();
            GzDecoder::new(&request.body[..])
                .read_to_end(&mut body)
                .unwrap();
            body
        })
    }

    fn exports(&self) -> Vec<ExportTraceServiceRequest> {
        self.bodies()
            .map(|body| ExportTraceServiceRequest::decode(&body[..]).unwrap())
            .collect()
    }

    /// Returns the spans in the order of their start.
    pub(crate) fn spans(&self) -> Vec<Span> {
        let resources = self
            .exports()
            .into_iter()
            .flat_map(|export| export.resource_spans);
        let scopes = resources.flat_map(|resource| resource.scope_spans);
        let mut spans: Vec<_> = scopes.flat_map(|scope| scope.spans).collect();
        spans.sort_by_key(|span| span.start_time_unix_nano);
        spans
    }

    /// Returns the name of each span, that of its parent and its error, in the order of their start. A span whose parent was not
    /// exported is a fault.
    pub(crate) fn lines(&self) -> Vec<(String, String, String)> {
        let spans = self.spans();
        let parent = |span: &Span| match &span.parent_span_id[..] {
            [] => String::new(),
            id => spans
                .iter()
                .find(|other| other.span_id == id)
                .expect("the parent is exported")
                .name
                .clone(),
        };
        spans
            .iter()
            .map(|span| (span.name.clone(), parent(span), error(span)))
            .collect()
    }

    pub(crate) fn service_name(&self) -> String {
        let resource = self.exports()[0].resource_spans[0]
            .resource
            .clone()
            .unwrap();
        text(&resource.attributes, "service.name").unwrap()
    }

    /// Returns true if a request has these bytes.
    pub(crate) fn has(&self, needle: &str) -> bool {
        self.heads().iter().any(|head| head.contains(needle))
            || self.bodies().any(|body| {
                body.windows(needle.len())
                    .any(|bytes| bytes == needle.as_bytes())
            })
    }
}

pub(crate) fn value(attributes: &[KeyValue], key: &str) -> Option<Value> {
    let mut found = attributes.iter().filter(|attribute| attribute.key == key);
    let first = found.next()?;
    assert!(found.next().is_none(), "{key} is there twice");
    first.value.clone()?.value
}

pub(crate) fn text(attributes: &[KeyValue], key: &str) -> Option<String> {
    match value(attributes, key)? {
        Value::StringValue(text) => Some(text),
        other => panic!("{key}: {other:?}"),
    }
}

/// Returns the type of the error. It is empty if the work did not fail.
fn error(span: &Span) -> String {
    let error = text(&span.attributes, "error.type");
    let is_failed = span
        .status
        .as_ref()
        .is_some_and(|status| status.code() == StatusCode::Error);
    assert_eq!(is_failed, error.is_some(), "{span:?}");
    error.unwrap_or_default()
}
