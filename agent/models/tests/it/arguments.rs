//! Arguments that a lenient reader would repair or change.

use std::sync::{Arc, Mutex};

use crate::service::reply::{Api, Way, completion};
use crate::service::{Reply, Service, wire};
use crate::workshop::{result, run};
use agent::{Driver, Selection, Session};
use agent_models::Remote;
use serde_json::{Value, json};
use tools::handler::typed;
use tools::protocol::Message;
use tools::protocol::wire::Format;
use tools::{Catalog, Effects, Host, Tool, ToolContext};

#[derive(serde::Deserialize)]
struct Integer {
    n: u128,
}

/// Returns each way in which a format sends a call with these arguments and one without: as a whole, as a stream, and as a whole to a
/// stream request.
fn replies(format: Format, arguments: &str) -> [(Reply, bool); 3] {
    let calls = [("a", json!({"n": 0})), ("b", json!({}))];
    let blocks = calls.map(|(id, arguments)| wire::Block::Call(id, "fs__read", arguments));
    let [whole, stream] =
        [false, true].map(|streaming| written(wire::reply(format, streaming, &blocks), arguments));
    [(whole.clone(), false), (stream, true), (whole, true)]
}

/// Writes these arguments in the place of `{"n":0}`. A `Value` would lose repeated keys and long integers.
fn written(reply: Reply, arguments: &str) -> Reply {
    let Reply::Answer {
        status,
        headers,
        body,
        piece,
    } = reply
    else {
        panic!("no answer")
    };
    let escaped = |text: &str| text.replace('\\', "\\\\").replace('"', "\\\"");
    let changed = body
        .replace(&escaped("{\"n\":0}"), &escaped(arguments))
        .replace("{\"n\":0}", arguments);
    assert_ne!(changed, body);
    Reply::Answer {
        status,
        headers,
        body: changed,
        piece,
    }
}

/// Returns the arguments with which the first call of a reply and one without any ran.
async fn ran(format: Format, reply: Reply, streaming: bool) -> Vec<Value> {
    let end = wire::reply(format, streaming, &[wire::Block::Text("ok")]);
    let service = Service::new([reply, end]).await;
    let model = wire::remote(format, &wire::options(format, &service, streaming));
    let (_, _, ran) = run(model, &["fs.read"]).await;
    let mut ran: Vec<_> = ran.lock().unwrap().drain(..).map(|(_, it)| it).collect();
    ran.sort_by_key(Value::to_string);
    ran
}

#[tokio::test]
async fn arguments_in_further_quotes_are_read_in_each_format() {
    let quoted = json!({"n": 1}).to_string();
    for (arguments, read) in [
        (json!("").to_string(), json!({})),
        (json!("null").to_string(), json!({})),
        (json!(quoted).to_string(), json!({"n": 1})),
        (
            json!(json!(quoted).to_string()).to_string(),
            json!({"n": 1}),
        ),
    ] {
        for format in wire::ALL {
            for (reply, streaming) in replies(format, &arguments) {
                let ran = ran(format, reply, streaming).await;
                assert_eq!(
                    (ran.len(), &ran[0]),
                    (2, &read),
                    "{format} {streaming} {arguments}"
                );
            }
        }
    }
}

#[tokio::test]
async fn arguments_under_the_name_of_another_format_are_those_of_the_call() {
    for (format, own) in [
        (Format::OpenAiChat, "arguments"),
        (Format::Anthropic, "input"),
        (Format::Gemini, "args"),
        (Format::Ollama, "arguments"),
    ] {
        for other in ["arguments", "parameters", "input", "args"] {
            for (mut reply, streaming) in replies(format, "{\"n\":1}") {
                // The pieces of these streams have no names.
                let has_pieces = matches!(format, Format::OpenAiChat | Format::Anthropic);
                let Reply::Answer { body, .. } = &mut reply else {
                    panic!("no answer")
                };
                if has_pieces && body.starts_with(['d', 'e']) {
                    continue;
                }
                *body = body.replace(&format!("\"{own}\":"), &format!("\"{other}\":"));
                assert_eq!(
                    ran(format, reply, streaming).await,
                    [json!({"n": 1}), json!({})],
                    "{format} {streaming} {other}"
                );
            }
        }
    }
}

#[tokio::test]
async fn arguments_with_a_repeated_key_are_a_fault_of_their_call() {
    let nested = r#"{"path":"a","deep":[{"x":1,"x":2}]}"#;
    for format in wire::ALL {
        for arguments in [r#"{"path":"a","path":"b"}"#, nested] {
            for (reply, streaming) in replies(format, arguments) {
                let service = Service::new([
                    reply,
                    wire::reply(format, streaming, &[wire::Block::Text("ok")]),
                ])
                .await;
                let model = wire::remote(format, &wire::options(format, &service, streaming));
                let (summary, session, ran) = run(model, &["fs.read"]).await;
                assert_eq!(
                    *ran.lock().unwrap(),
                    [("fs.read".to_owned(), json!({}))],
                    "{format} {streaming}"
                );
                assert_eq!((summary.calls, summary.failed_calls), (2, 1));
                let text = result(&session.messages()[2].parts[0]);
                assert!(
                    text.contains("is repeated") && text.contains("not a JSON object"),
                    "{format}: {text}"
                );
            }
        }
    }
}

#[tokio::test]
async fn an_integer_of_30_digits_reaches_the_tool_exactly() {
    for format in wire::ALL {
        for digits in ["123456789012345678901234567890", "5"] {
            let arguments = format!("{{\"n\":{digits}}}");
            for (reply, streaming) in replies(format, &arguments) {
                let service = Service::new([
                    reply,
                    wire::reply(format, streaming, &[wire::Block::Text("ok")]),
                ])
                .await;
                let model = wire::remote(format, &wire::options(format, &service, streaming));
                let (catalog, seen) = integers();
                let mut session = Session::new(catalog.list(), Selection::new(), Host::new());
                Driver::new(Arc::new(model))
                    .run(&mut session, "go")
                    .await
                    .unwrap();
                let call = session
                    .messages()
                    .iter()
                    .flat_map(Message::calls)
                    .next()
                    .unwrap()
                    .clone();
                assert_eq!(
                    call.arguments.to_string(),
                    arguments,
                    "{format} {streaming}"
                );
                assert_eq!(
                    *seen.lock().unwrap(),
                    [digits.parse::<u128>().unwrap()],
                    "{format} {streaming}"
                );
            }
        }
    }
}

/// A tool that takes an integer and records it.
fn integers() -> (Catalog, Arc<Mutex<Vec<u128>>>) {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let recorded = seen.clone();
    let mut catalog = Catalog::new();
    let definition = Tool::new("fs.read", "A tool.", json!({"type": "object"}))
        .unwrap()
        .with_effects(Effects::Pure);
    let handler = move |_: ToolContext, Integer { n }: Integer| {
        recorded.lock().unwrap().push(n);
        async { "done".to_owned() }
    };
    catalog.register(definition, typed(handler)).unwrap();
    (catalog, seen)
}

#[tokio::test]
async fn null_arguments_are_none() {
    for format in wire::ALL {
        for streaming in [false, true] {
            let reply = |block| wire::reply(format, streaming, &[block]);
            let replies = [
                wire::Block::Call("a", "fs__read", Value::Null),
                wire::Block::Text("ok"),
            ]
            .map(reply);
            let service = Service::new(replies).await;
            assert_empty(wire::remote(
                format,
                &wire::options(format, &service, streaming),
            ))
            .await;
        }
    }
    for arguments in [Value::Null, json!(""), json!("null")] {
        let call = json!({"id": "a", "type": "function", "function": {"name": "fs__read", "arguments": arguments}});
        let message = json!({"role": "assistant", "content": null, "tool_calls": [call]});
        let reply =
            completion(json!({"index": 0, "message": message, "finish_reason": "tool_calls"}));
        for streaming in [false, true] {
            let way = if streaming { Way::Stream } else { Way::Whole };
            let service = Service::new([reply.clone(), Api::Chat.answer(way)]).await;
            assert_empty(service.openai(streaming)).await;
        }
    }
}

async fn assert_empty(model: Remote) {
    let shown = format!("{model:?}");
    let (summary, _, ran) = run(model, &["fs.read"]).await;
    assert_eq!((summary.calls, summary.failed_calls), (1, 0), "{shown}");
    assert_eq!(
        *ran.lock().unwrap(),
        [("fs.read".to_owned(), json!({}))],
        "{shown}"
    );
}

#[tokio::test]
async fn a_string_that_holds_an_object_is_the_object_and_any_other_is_a_fault_of_its_call() {
    for format in wire::ALL {
        for streaming in [false, true] {
            let calls = [("a", json!("[1]")), ("b", json!("{\"path\":\"a\"}"))];
            let calls = calls.map(|(id, arguments)| wire::Block::Call(id, "fs__read", arguments));
            let replies = [calls.to_vec(), vec![wire::Block::Text("ok")]];
            let service =
                Service::new(replies.map(|blocks| wire::reply(format, streaming, &blocks))).await;
            let model = wire::remote(format, &wire::options(format, &service, streaming));
            let (summary, session, ran) = run(model, &["fs.read"]).await;
            assert_eq!(
                *ran.lock().unwrap(),
                [("fs.read".to_owned(), json!({"path": "a"}))],
                "{format} {streaming}"
            );
            assert_eq!((summary.calls, summary.failed_calls), (2, 1));
            let text = result(&session.messages()[2].parts[0]);
            assert!(text.contains("a string"), "{format} {streaming}: {text}");
        }
    }
}

#[tokio::test]
async fn arguments_that_a_service_restates_at_the_end_of_a_call_are_the_ones_that_count() {
    let format = Format::OpenAiResponses;
    let item = |index: usize, arguments: &str| {
        let id = format!("c{index}");
        json!({"type": "function_call", "id": format!("fc_{id}"), "call_id": id, "name": "fs__read", "arguments": arguments})
    };
    for (index, (streamed, restated)) in [
        (r#"{"path":"a"}"#, r#"{"path":"b"}"#),
        (r#"{"path":"a"#, r#"{"path":"b"}"#),
        (r#"{"path":"b"}]"#, r#"{"path":"b"}"#),
        (r#"{"path":"a","path":"a"}"#, r#"{"path":"b"}"#),
        (r#"{"path":"b"}"#, r#"{"path":"b"}"#),
    ]
    .into_iter()
    .enumerate()
    {
        // The calls take turns, and the second one begins first.
        let other = r#"{"n":123456789012345678901234567890}"#;
        let added =
            [1, 0].map(|at| json!({"type": "response.output_item.added", "output_index": at, "item": item(at, "")}));
        let deltas = [(0, streamed), (1, other)].map(|(at, delta)| {
            json!({"type": "response.function_call_arguments.delta", "item_id": format!("fc_c{at}"), "output_index": at, "delta": delta})
        });
        let items = [item(0, restated), item(1, other)];
        let done = [0, 1].map(|at| json!({"type": "response.output_item.done", "output_index": at, "item": items[at]}));
        let end = json!({"type": "response.completed", "response": {"id": "r", "status": "completed", "output": items}});
        let events: Vec<_> = added
            .into_iter()
            .chain(deltas)
            .chain(done)
            .chain([end])
            .collect();
        let answer = wire::reply(format, true, &[wire::Block::Text("ok")]);
        let service = Service::new([wire::stream(format, &events), answer]).await;
        let model = wire::remote(format, &wire::options(format, &service, true));
        let (_, session, _) = run(model, &["fs.read"]).await;
        let calls: Vec<_> = session.messages()[1]
            .calls()
            .map(|call| call.arguments.to_string())
            .collect();
        assert_eq!(calls, [restated, other], "{index}");
    }
}
