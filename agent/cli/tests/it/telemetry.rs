//! The export of spans to a collector on the loopback.

use std::process::{Command, Stdio};

use opentelemetry_proto::tonic::common::v1::AnyValue;
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::trace::v1::Span;
use opentelemetry_proto::tonic::trace::v1::span::SpanKind;

use crate::collector::{Collector, text, value};
use crate::config::write_user;
use crate::interrupt::interrupt;
use crate::model::{ANSWER, serve};
use crate::{Crib, Ended};

/// The attributes that spans may have: those of the conventions, and our own.
const ATTRIBUTES: [&str; 25] = [
    "error.type",
    "gen_ai.agent.name",
    "gen_ai.conversation.id",
    "gen_ai.operation.name",
    "gen_ai.input.messages",
    "gen_ai.output.messages",
    "gen_ai.provider.name",
    "gen_ai.request.max_tokens",
    "gen_ai.request.model",
    "gen_ai.request.temperature",
    "gen_ai.response.finish_reasons",
    "gen_ai.response.id",
    "gen_ai.response.model",
    "gen_ai.system_instructions",
    "gen_ai.tool.call.arguments",
    "gen_ai.tool.call.id",
    "gen_ai.tool.call.result",
    "gen_ai.tool.description",
    "gen_ai.tool.name",
    "gen_ai.tool.type",
    "gen_ai.usage.cache_creation.input_tokens",
    "gen_ai.usage.cache_read.input_tokens",
    "gen_ai.usage.input_tokens",
    "gen_ai.usage.output_tokens",
    "toolcrib.correlation.id",
];

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

fn number(span: &Span, key: &str) -> Option<i64> {
    match value(&span.attributes, key)? {
        Value::IntValue(number) => Some(number),
        other => panic!("{key}: {other:?}"),
    }
}

fn owned((name, parent, error): (&str, &str, &str)) -> (String, String, String) {
    (name.to_owned(), parent.to_owned(), error.to_owned())
}

/// Runs a prompt with a model at this URL and exports its spans.
fn exported(crib: &Crib, service: &str, collector: &str, more: &[&str]) -> Ended {
    exporting(crib, service, collector, more)
        .output()
        .unwrap()
        .into()
}

/// Returns the command of [`exported`].
fn exporting(crib: &Crib, service: &str, collector: &str, more: &[&str]) -> Command {
    let key = crib.write("key", CANARY);
    let arguments = [
        "run",
        "what is in it?",
        "--provider",
        "openai",
        "--model",
        "m",
        "--base-url",
        service,
    ];
    let arguments = [
        &arguments[..],
        &["--key-file", &key, "--grant", "agent:write:**"],
        more,
    ]
    .concat();
    let mut command = crib.command(&arguments);
    command.env("TOOLCRIB_TELEMETRY_ENDPOINT", collector);
    command
}

#[test]
fn a_session_is_exported_as_one_tree_after_the_conventions() {
    let (crib, collector) = (Crib::new(), Collector::new("200 OK"));
    let (service, _) = serve([Some(SPAWN), Some(READ), Some(ANSWER), Some(ANSWER)]);
    let ended = exported(&crib, &service, &collector.url, &[]).expect(0);
    assert!(!ended.stderr.contains("warning"), "{ended:#?}");

    let spans = collector.spans();
    let expected = [
        ("invoke_agent toolcrib", "", ""),
        ("chat m", "invoke_agent toolcrib", ""),
        ("execute_tool agent.spawn", "invoke_agent toolcrib", ""),
        ("invoke_agent helper", "execute_tool agent.spawn", ""),
        ("chat m", "invoke_agent helper", ""),
        (
            "execute_tool fs.read",
            "invoke_agent helper",
            "execution_failed",
        ),
        ("chat m", "invoke_agent helper", ""),
        ("chat m", "invoke_agent toolcrib", ""),
    ];
    assert_eq!(collector.lines(), expected.map(owned));

    let session = text(&spans[0].attributes, "gen_ai.conversation.id").unwrap();
    for span in &spans {
        let text = |key| text(&span.attributes, key);
        assert_eq!(span.trace_id, spans[0].trace_id);
        assert_eq!(text("gen_ai.conversation.id").as_ref(), Some(&session));
        let operation = text("gen_ai.operation.name").unwrap();
        assert_eq!(span.name.split(' ').next(), Some(operation.as_str()));
        let kind = if operation == "chat" {
            SpanKind::Client
        } else {
            SpanKind::Internal
        };
        assert_eq!(span.kind(), kind);
        if operation != "execute_tool" {
            assert_eq!(text("gen_ai.provider.name").as_deref(), Some("openai"));
            assert_eq!(text("gen_ai.request.model").as_deref(), Some("m"));
        }
        let has = |key: &str| span.attributes.iter().any(|attribute| attribute.key == key);
        let is_known = |key: &str| ATTRIBUTES.contains(&key) || key.starts_with("server.");
        assert!(
            span.attributes
                .iter()
                .all(|attribute| is_known(&attribute.key)),
            "{span:?}"
        );
        for content in [
            "gen_ai.input.messages",
            "gen_ai.output.messages",
            "gen_ai.tool.call.arguments",
        ] {
            assert!(!has(content), "{span:?}");
        }
    }
    assert_eq!(
        text(&spans[0].attributes, "gen_ai.agent.name").as_deref(),
        Some("toolcrib")
    );
    assert_eq!(
        text(&spans[3].attributes, "gen_ai.agent.name").as_deref(),
        Some("helper")
    );
    assert_eq!(
        text(&spans[1].attributes, "gen_ai.response.model").as_deref(),
        Some("m-2026")
    );
    assert_eq!(
        text(&spans[1].attributes, "gen_ai.response.id").as_deref(),
        Some("x")
    );
    assert_eq!(
        text(&spans[1].attributes, "server.address").as_deref(),
        Some("127.0.0.1")
    );
    assert_eq!(
        number(&spans[1], "server.port"),
        service
            .split([':', '/'])
            .nth(4)
            .and_then(|port| port.parse().ok())
    );
    let reasons = |span: &Span| match value(&span.attributes, "gen_ai.response.finish_reasons") {
        Some(Value::ArrayValue(reasons)) => reasons.values,
        other => panic!("{other:?}"),
    };
    let reason = |text: &str| {
        vec![AnyValue {
            value: Some(Value::StringValue(text.to_owned())),
        }]
    };
    assert_eq!(
        (reasons(&spans[1]), reasons(&spans[7])),
        (reason("tool_call"), reason("stop"))
    );
    assert_eq!(number(&spans[7], "gen_ai.usage.input_tokens"), Some(12));
    assert_eq!(number(&spans[7], "gen_ai.usage.output_tokens"), Some(3));
    assert_eq!(
        text(&spans[2].attributes, "gen_ai.tool.call.id").as_deref(),
        Some("s")
    );
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
    for content in [
        "what is in it?",
        "It says ",
        "read it",
        "gen_ai.tool.call.arguments",
    ] {
        assert!(collector.has(content), "{content}");
    }
    assert!(!collector.has(CANARY));

    let collector = Collector::new("200 OK");
    let (service, _) = serve([Some(REFUSED)]);
    let ended = exported(&crib, &service, &collector.url, &[]).expect(1);
    let expected = [
        ("invoke_agent toolcrib", "", "authentication"),
        ("chat m", "invoke_agent toolcrib", "authentication"),
    ];
    assert_eq!(collector.lines(), expected.map(owned));
    let chat = &collector.spans()[1];
    assert!(
        chat.status.as_ref().unwrap().message.contains("wrong key"),
        "{chat:?}"
    );
    assert!(!collector.has(CANARY) && !format!("{ended:?}").contains(CANARY));
}

#[test]
fn the_standard_variables_configure_the_export_too() {
    let (crib, collector) = (Crib::new(), Collector::new("200 OK"));
    let mut command = crib.command(&["call", "time.now"]);
    command
        .env("OTEL_EXPORTER_OTLP_ENDPOINT", &collector.url)
        .env("OTEL_SERVICE_NAME", "crib-7");
    let ended: Ended = command
        .env("OTEL_EXPORTER_OTLP_HEADERS", "x-token=sesame")
        .output()
        .unwrap()
        .into();
    ended.expect(0);
    let names: Vec<_> = collector
        .spans()
        .into_iter()
        .map(|span| span.name)
        .collect();
    assert_eq!(
        (names, collector.service_name()),
        (
            vec!["execute_tool time.now".to_owned()],
            "crib-7".to_owned()
        )
    );
    let head = &collector.heads()[0];
    assert!(
        head.starts_with("post /v1/traces ") && head.contains("x-token: sesame"),
        "{head}"
    );

    let ended: Ended = command
        .env("OTEL_SDK_DISABLED", "true")
        .output()
        .unwrap()
        .into();
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
    let ended: Ended = command
        .env("OTEL_EXPORTER_OTLP_ENDPOINT", "http://me:sesame@h")
        .output()
        .unwrap()
        .into();
    let ended = ended.expect(0);
    assert!(
        ended.stderr.contains("OTEL_EXPORTER_OTLP_ENDPOINT") && !ended.stderr.contains("sesame"),
        "{ended:#?}"
    );
}

#[test]
fn an_interrupted_session_is_exported_as_cancelled() {
    let (crib, collector) = (Crib::new(), Collector::new("200 OK"));
    let (service, requests) = serve([Some(SPAWN), None]);
    let mut command = exporting(&crib, &service, &collector.url, &[]);
    let mut child = command
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    // The sub-agent's own request has no answer.
    requests.recv().unwrap();
    requests.recv().unwrap();
    interrupt(&child);
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let expected = [
        ("invoke_agent toolcrib", "", "cancelled"),
        ("chat m", "invoke_agent toolcrib", ""),
        (
            "execute_tool agent.spawn",
            "invoke_agent toolcrib",
            "cancelled",
        ),
        (
            "invoke_agent helper",
            "execute_tool agent.spawn",
            "cancelled",
        ),
        ("chat m", "invoke_agent helper", "cancelled"),
    ];
    assert_eq!(collector.lines(), expected.map(owned));
}

#[test]
fn a_sub_agent_that_fails_is_marked_and_its_run_goes_on() {
    let (crib, collector) = (Crib::new(), Collector::new("200 OK"));
    let (service, _) = serve([Some(SPAWN), Some(REFUSED), Some(ANSWER)]);
    exported(&crib, &service, &collector.url, &[]).expect(0);
    let lines = collector.lines();
    let [.., call, helper, chat, _] = &lines[..] else {
        panic!("{lines:?}")
    };
    assert_eq!(call.0, "execute_tool agent.spawn");
    assert!(!call.2.is_empty(), "{lines:?}");
    assert_eq!(
        (helper.0.as_str(), helper.2.as_str()),
        ("invoke_agent helper", "authentication")
    );
    assert_eq!(
        (chat.1.as_str(), chat.2.as_str()),
        ("invoke_agent helper", "authentication")
    );
    assert_eq!(lines[0].2, "");
}

#[cfg(feature = "default")]
#[test]
fn a_resumed_session_is_a_second_trace_of_the_same_conversation() {
    let (crib, collector) = (Crib::new(), Collector::new("200 OK"));
    let (service, _) = serve([Some(READ), Some(ANSWER)]);
    exported(&crib, &service, &collector.url, &["--max-steps", "1"]).expect(7);
    let mut resumed = crib.command(&["run", "--resume", "--base-url", &service]);
    let ended: Ended = resumed
        .env("TOOLCRIB_TELEMETRY_ENDPOINT", &collector.url)
        .output()
        .unwrap()
        .into();
    ended.expect(0);
    let expected = [
        ("invoke_agent toolcrib", "", "budget"),
        ("chat m", "invoke_agent toolcrib", ""),
        (
            "execute_tool fs.read",
            "invoke_agent toolcrib",
            "execution_failed",
        ),
        ("invoke_agent toolcrib", "", ""),
        ("chat m", "invoke_agent toolcrib", ""),
    ];
    assert_eq!(collector.lines(), expected.map(owned));
    let spans = collector.spans();
    let session = |span: &Span| text(&span.attributes, "gen_ai.conversation.id").unwrap();
    assert_eq!(session(&spans[0]), session(&spans[3]));
    assert_ne!(spans[0].trace_id, spans[3].trace_id);
}

#[test]
fn headers_of_the_environment_go_only_to_its_collector() {
    let (crib, [own, other]) = (Crib::new(), [(); 2].map(|()| Collector::new("200 OK")));
    let mut command = crib.command(&["call", "time.now"]);
    command
        .env("OTEL_EXPORTER_OTLP_ENDPOINT", &other.url)
        .env("OTEL_EXPORTER_OTLP_HEADERS", "x-token=sesame");
    command
        .env("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")
        .env("TOOLCRIB_TELEMETRY_ENDPOINT", &own.url);
    let ended: Ended = command.output().unwrap().into();
    assert!(!ended.expect(0).stderr.contains("warning"));
    assert_eq!((own.spans().len(), other.spans().len()), (1, 0));
    assert!(!own.has("sesame") && own.heads()[0].contains("content-type: application/x-protobuf"));
}

#[test]
fn exports_are_compressed_on_request_and_pass_by_proxies() {
    let (crib, collector) = (Crib::new(), Collector::new("200 OK"));
    let mut command = crib.command(&["call", "time.now"]);
    command
        .env("OTEL_EXPORTER_OTLP_ENDPOINT", &collector.url)
        .env("OTEL_EXPORTER_OTLP_COMPRESSION", "gzip");
    command
        .env("HTTP_PROXY", "http://127.0.0.1:1")
        .env("http_proxy", "http://127.0.0.1:1");
    let ended: Ended = command.output().unwrap().into();
    assert!(!ended.expect(0).stderr.contains("warning"));
    assert_eq!(collector.spans().len(), 1);
    assert!(collector.heads()[0].contains("content-encoding: gzip"));
}

#[test]
fn another_protocol_costs_one_warning_and_nothing_is_sent() {
    let (crib, collector) = (Crib::new(), Collector::new("200 OK"));
    let mut command = crib.command(&["call", "time.now"]);
    command
        .env("OTEL_EXPORTER_OTLP_ENDPOINT", &collector.url)
        .env("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc");
    let ended: Ended = command.output().unwrap().into();
    let stderr = ended.expect(0).stderr;
    assert_eq!(
        (stderr.matches("warning").count(), collector.heads().len()),
        (1, 0)
    );
    assert!(stderr.contains("OTEL_EXPORTER_OTLP_PROTOCOL"), "{stderr}");
}
