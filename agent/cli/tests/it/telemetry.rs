//! The export of spans to a collector on the loopback.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};

use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::common::v1::{AnyValue, KeyValue};
use opentelemetry_proto::tonic::trace::v1::Span;
use opentelemetry_proto::tonic::trace::v1::span::SpanKind;
use opentelemetry_proto::tonic::trace::v1::status::StatusCode;
use prost::Message as _;

use crate::config::write_user;
use crate::model::{ANSWER, serve};
use crate::{Crib, Ended};

/// A key that no export may have.
const CANARY: &str = "sk-canary-7Yt";

const SPAWN: &str = concat!(
    "data: {\"id\":\"x\",\"model\":\"m-2026\",\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"s\",",
    "\"type\":\"function\",\"function\":{\"name\":\"agent__spawn\",\"arguments\":",
    "\"{\\\"name\\\":\\\"helper\\\",\\\"task\\\":\\\"read it\\\"}\"}}]},\"finish_reason\":\"tool_calls\"}]}\n\n",
    "data: [DONE]\n\n",
);
const READ: &str = concat!(
    "data: {\"id\":\"x\",\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"c\",\"type\":\"function\",",
    "\"function\":{\"name\":\"fs__read\",\"arguments\":\"{\\\"path\\\":\\\"missing\\\"}\"}}]},\"finish_reason\":\"tool_calls\"}]}\n\n",
    "data: [DONE]\n\n",
);
/// A refusal that repeats the key, as some services do.
const REFUSED: &str = concat!(
    "HTTP/1.1 401 No\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: 54\r\n\r\n",
    "{\"error\":{\"message\":\"wrong key sk-canary-7Yt\"}}       ",
);

type HeadAndBody = (String, Vec<u8>);

/// A collector that answers each export with the same status.
struct Collector {
    url: String,
    requests: Arc<Mutex<Vec<HeadAndBody>>>,
}

impl Collector {
    fn new(status: &'static str) -> Self {
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
                received.lock().unwrap().push((head, body));
                write!(stream.get_mut(), "HTTP/1.1 {status}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n")
                    .unwrap();
            }
        });
        Self { url, requests }
    }

    fn exports(&self) -> Vec<ExportTraceServiceRequest> {
        let requests = self.requests.lock().unwrap();
        requests.iter().map(|(_, body)| ExportTraceServiceRequest::decode(&body[..]).unwrap()).collect()
    }

    /// Returns the spans in the order of their start.
    fn spans(&self) -> Vec<Span> {
        let resources = self.exports().into_iter().flat_map(|export| export.resource_spans);
        let scopes = resources.flat_map(|resource| resource.scope_spans);
        let mut spans: Vec<_> = scopes.flat_map(|scope| scope.spans).collect();
        spans.sort_by_key(|span| span.start_time_unix_nano);
        spans
    }

    fn service_name(&self) -> String {
        let resource = self.exports()[0].resource_spans[0].resource.clone().unwrap();
        text(&resource.attributes, "service.name").unwrap()
    }

    /// Returns true if a request has these bytes.
    fn has(&self, needle: &str) -> bool {
        let requests = self.requests.lock().unwrap();
        requests.iter().any(|(head, body)| {
            head.contains(needle) || body.windows(needle.len()).any(|bytes| bytes == needle.as_bytes())
        })
    }
}

fn value(attributes: &[KeyValue], key: &str) -> Option<Value> {
    attributes.iter().find(|attribute| attribute.key == key)?.value.clone()?.value
}

fn text(attributes: &[KeyValue], key: &str) -> Option<String> {
    match value(attributes, key)? {
        Value::StringValue(text) => Some(text),
        other => panic!("{key}: {other:?}"),
    }
}

fn number(span: &Span, key: &str) -> Option<i64> {
    match value(&span.attributes, key)? {
        Value::IntValue(number) => Some(number),
        other => panic!("{key}: {other:?}"),
    }
}

fn is_failed(span: &Span) -> bool {
    span.status.as_ref().is_some_and(|status| status.code() == StatusCode::Error)
}

/// Runs a prompt with a model at this URL and exports its spans.
fn exported(crib: &Crib, service: &str, collector: &str, more: &[&str]) -> Ended {
    let key = crib.write("key", CANARY);
    let arguments = ["run", "what is in it?", "--provider", "openai", "--model", "m", "--base-url", service];
    let arguments = [&arguments[..], &["--key-file", &key, "--grant", "agent:write:**"], more].concat();
    crib.command(&arguments).env("TOOLCRIB_TELEMETRY_ENDPOINT", collector).output().unwrap().into()
}

#[test]
fn a_session_is_exported_as_one_tree_after_the_conventions() {
    let (crib, collector) = (Crib::new(), Collector::new("200 OK"));
    let (service, _) = serve([Some(SPAWN), Some(READ), Some(ANSWER), Some(ANSWER)]);
    let ended = exported(&crib, &service, &collector.url, &[]).expect(0);
    assert!(!ended.stderr.contains("warning"), "{ended:#?}");

    let spans = collector.spans();
    let parent = |span: &Span| spans.iter().find(|other| other.span_id == span.parent_span_id);
    let lines =
        spans.iter().map(|span| (span.name.as_str(), parent(span).map_or("", |parent| &parent.name), span.kind()));
    let expected = [
        ("invoke_agent toolcrib", "", SpanKind::Internal),
        ("chat m", "invoke_agent toolcrib", SpanKind::Client),
        ("execute_tool agent.spawn", "invoke_agent toolcrib", SpanKind::Internal),
        ("invoke_agent helper", "execute_tool agent.spawn", SpanKind::Internal),
        ("chat m", "invoke_agent helper", SpanKind::Client),
        ("execute_tool fs.read", "invoke_agent helper", SpanKind::Internal),
        ("chat m", "invoke_agent helper", SpanKind::Client),
        ("chat m", "invoke_agent toolcrib", SpanKind::Client),
    ];
    assert_eq!(lines.collect::<Vec<_>>(), expected);

    let session = text(&spans[0].attributes, "gen_ai.conversation.id").unwrap();
    for span in &spans {
        let text = |key| text(&span.attributes, key);
        assert_eq!(span.trace_id, spans[0].trace_id);
        assert_eq!(text("gen_ai.conversation.id").as_ref(), Some(&session));
        let operation = text("gen_ai.operation.name").unwrap();
        assert_eq!(span.name.split(' ').next(), Some(operation.as_str()));
        // The call of a missing file failed, and no other work.
        let is_missing = span.name == "execute_tool fs.read";
        assert_eq!((is_failed(span), text("error.type").is_some()), (is_missing, is_missing), "{span:?}");
        if operation != "execute_tool" {
            assert_eq!(text("gen_ai.provider.name").as_deref(), Some("openai"));
            assert_eq!(text("gen_ai.request.model").as_deref(), Some("m"));
        }
        let has = |key: &str| span.attributes.iter().any(|attribute| attribute.key == key);
        assert!(span.attributes.iter().all(|attribute| !attribute.key.starts_with("otel.")), "{span:?}");
        for content in ["gen_ai.input.messages", "gen_ai.output.messages", "gen_ai.tool.call.arguments"] {
            assert!(!has(content), "{span:?}");
        }
    }
    assert_eq!(text(&spans[0].attributes, "gen_ai.agent.name").as_deref(), Some("toolcrib"));
    assert_eq!(text(&spans[3].attributes, "gen_ai.agent.name").as_deref(), Some("helper"));
    assert_eq!(text(&spans[1].attributes, "gen_ai.response.model").as_deref(), Some("m-2026"));
    let reasons = |span: &Span| match value(&span.attributes, "gen_ai.response.finish_reasons") {
        Some(Value::ArrayValue(reasons)) => reasons.values,
        other => panic!("{other:?}"),
    };
    let reason = |text: &str| vec![AnyValue { value: Some(Value::StringValue(text.to_owned())) }];
    assert_eq!((reasons(&spans[1]), reasons(&spans[7])), (reason("tool_call"), reason("stop")));
    assert_eq!(number(&spans[7], "gen_ai.usage.input_tokens"), Some(12));
    assert_eq!(number(&spans[7], "gen_ai.usage.output_tokens"), Some(3));
    assert_eq!(text(&spans[2].attributes, "gen_ai.tool.call.id").as_deref(), Some("s"));
    assert_eq!(collector.service_name(), "toolcrib");
    for content in ["what is in it?", "It says", "read it", CANARY] {
        assert!(!collector.has(content), "{content}");
    }
}

#[test]
fn content_is_exported_on_request_and_the_key_never() {
    let (crib, collector) = (Crib::new(), Collector::new("200 OK"));
    write_user(&crib, "telemetry.content = true");
    let (service, _) = serve([Some(SPAWN), Some(READ), Some(ANSWER), Some(ANSWER)]);
    exported(&crib, &service, &collector.url, &[]).expect(0);
    for content in ["what is in it?", "It says ", "read it", "gen_ai.tool.call.arguments"] {
        assert!(collector.has(content), "{content}");
    }
    assert!(!collector.has(CANARY));

    let collector = Collector::new("200 OK");
    let (service, _) = serve([Some(REFUSED)]);
    let ended = exported(&crib, &service, &collector.url, &[]).expect(1);
    let spans = collector.spans();
    let [run, chat] = &spans[..] else { panic!("{spans:?}") };
    for span in [run, chat] {
        assert!(is_failed(span), "{span:?}");
        assert_eq!(text(&span.attributes, "error.type").as_deref(), Some("authentication"));
    }
    assert!(chat.status.as_ref().unwrap().message.contains("wrong key"), "{chat:?}");
    assert!(!collector.has(CANARY) && !format!("{ended:?}").contains(CANARY));
}

#[test]
fn the_standard_variables_configure_the_export_too() {
    let (crib, collector) = (Crib::new(), Collector::new("200 OK"));
    let mut command = crib.command(&["call", "time.now"]);
    command.env("OTEL_EXPORTER_OTLP_ENDPOINT", &collector.url).env("OTEL_SERVICE_NAME", "crib-7");
    let ended: Ended = command.env("OTEL_EXPORTER_OTLP_HEADERS", "x-token=sesame").output().unwrap().into();
    ended.expect(0);
    let names: Vec<_> = collector.spans().into_iter().map(|span| span.name).collect();
    assert_eq!((names, collector.service_name()), (vec!["execute_tool time.now".to_owned()], "crib-7".to_owned()));
    let (head, _) = collector.requests.lock().unwrap()[0].clone();
    assert!(head.starts_with("post /v1/traces ") && head.contains("x-token: sesame"), "{head}");

    let ended: Ended = command.env("OTEL_SDK_DISABLED", "true").output().unwrap().into();
    ended.expect(0);
    assert_eq!(collector.spans().len(), 1);
}

#[test]
fn a_collector_that_fails_costs_one_warning() {
    let refusing = Collector::new("400 Bad Request");
    for url in [refusing.url.as_str(), "http://127.0.0.1:1"] {
        let crib = Crib::new();
        let (service, _) = serve([Some(SPAWN), Some(READ), Some(ANSWER), Some(ANSWER)]);
        let ended = exported(&crib, &service, url, &[]).expect(0);
        assert!(ended.stdout.contains("It says hello."), "{ended:#?}");
        assert_eq!(ended.stderr.matches("warning").count(), 1, "{ended:#?}");
        assert!(ended.stderr.contains("telemetry.endpoint"), "{ended:#?}");
    }
    let crib = Crib::new();
    let mut command = crib.command(&["call", "time.now"]);
    let ended: Ended = command.env("OTEL_EXPORTER_OTLP_ENDPOINT", "http://me:sesame@h").output().unwrap().into();
    let ended = ended.expect(0);
    assert!(ended.stderr.contains("OTEL_EXPORTER_OTLP_ENDPOINT") && !ended.stderr.contains("sesame"), "{ended:#?}");
}
