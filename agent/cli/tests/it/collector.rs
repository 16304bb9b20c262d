//! A collector of spans on the loopback.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};

use flate2::read::GzDecoder;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::KeyValue;
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::trace::v1::Span;
use opentelemetry_proto::tonic::trace::v1::status::StatusCode;
use prost::Message as _;

type HeadAndBody = (String, Vec<u8>);

/// A collector that answers each export with the same status.
pub(crate) struct Collector {
    pub(crate) url: String,
    requests: Arc<Mutex<Vec<HeadAndBody>>>,
}

impl Collector {
    pub(crate) fn new(status: &'static str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let requests = Arc::<Mutex<Vec<_>>>::default();
        let received = requests.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = BufReader::new(stream.unwrap());
                let mut head = String::new();
                while !head.ends_with("\r\n\r\n") {
                    assert!(stream.read_line(&mut head).unwrap() > 0, "{head}");
                }
                let head = head.to_lowercase();
                let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap();
                let mut body = vec![0; length.parse().unwrap()];
                stream.read_exact(&mut body).unwrap();
                if head.contains("content-encoding: gzip") {
                    let packed = std::mem::take(&mut body);
                    GzDecoder::new(&packed[..]).read_to_end(&mut body).unwrap();
                }
                received.lock().unwrap().push((head, body));
                write!(stream.get_mut(), "HTTP/1.1 {status}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n")
                    .unwrap();
            }
        });
        Self { url, requests }
    }

    /// Returns the heads of the requests in small letters.
    pub(crate) fn heads(&self) -> Vec<String> {
        self.requests.lock().unwrap().iter().map(|(head, _)| head.clone()).collect()
    }

    fn exports(&self) -> Vec<ExportTraceServiceRequest> {
        let requests = self.requests.lock().unwrap();
        requests.iter().map(|(_, body)| ExportTraceServiceRequest::decode(&body[..]).unwrap()).collect()
    }

    /// Returns the spans in the order of their start.
    pub(crate) fn spans(&self) -> Vec<Span> {
        let resources = self.exports().into_iter().flat_map(|export| export.resource_spans);
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
            id => spans.iter().find(|other| other.span_id == id).expect("the parent is exported").name.clone(),
        };
        spans.iter().map(|span| (span.name.clone(), parent(span), error(span))).collect()
    }

    pub(crate) fn service_name(&self) -> String {
        let resource = self.exports()[0].resource_spans[0].resource.clone().unwrap();
        text(&resource.attributes, "service.name").unwrap()
    }

    /// Returns true if a request has these bytes.
    pub(crate) fn has(&self, needle: &str) -> bool {
        let requests = self.requests.lock().unwrap();
        requests.iter().any(|(head, body)| {
            head.contains(needle) || body.windows(needle.len()).any(|bytes| bytes == needle.as_bytes())
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
    let is_failed = span.status.as_ref().is_some_and(|status| status.code() == StatusCode::Error);
    assert_eq!(is_failed, error.is_some(), "{span:?}");
    error.unwrap_or_default()
}
