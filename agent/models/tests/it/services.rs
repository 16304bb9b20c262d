//! The five formats: the calls, results and fields of each one on the wire.

use std::sync::{Arc, Mutex};

use agent::{Driver, Provider, ProviderOptions, Request, Selection, Session, StopReason};
use serde_json::{Value, json};
use tools::protocol::wire::{Format, Strictness, WireResult};
use tools::protocol::{Message, Part, Role};
use tools::{
    CancellationToken, Catalog, Content, Effects, Host, Tool, ToolCall, ToolContext, ToolResult,
};

use crate::judge::Judge;
use crate::service::Service;
use crate::service::sent;
use crate::service::wire::{ALL, Block, SIGNATURE, options, remote, reply, two_calls};
use crate::workshop::{answer, prompt, run, session};

const PNG: &str = "iVBORw0KGgo=";

#[tokio::test]
async fn parallel_calls_and_their_results_go_over_each_format() {
    for format in ALL {
        for (streaming, piece) in [(false, 97), (true, 1), (true, 7), (true, 97)] {
            let replies = [two_calls().to_vec(), vec![Block::Text("done")]];
            let replies = replies.map(|blocks| reply(format, streaming, &blocks).in_pieces(piece));
            let service = Service::new(replies).await;
            let model = remote(format, &options(format, &service, streaming));
            let (summary, session, ran) = run(model, &["fs.read"]).await;
            assert_eq!(answer(&summary), ("done", &StopReason::Answer), "{format}");
            let arguments = |path: &str| json!({"path": path, "n": 12_345_678_901_234_567_u64});
            let expected = [arguments("a"), arguments("色")]
                .map(|arguments| ("fs.read".to_owned(), arguments));
            assert_eq!(*ran.lock().unwrap(), expected, "{format}");
            assert_eq!(
                session.messages()[1].to_text().trim(),
                "I look: é.",
                "{format}"
            );

            let body = service.body(1);
            let calls = sent::calls(format, &body);
            let calls: Vec<_> = calls
                .iter()
                .map(|call| (call.id.as_str(), call.name.as_str()))
                .collect();
            assert_eq!(
                calls,
                [("c1", "fs__read"), ("c2", "fs__read")],
                "{format}: {body:#}"
            );
            let results = sent::results(format, &body);
            assert_eq!(
                results
                    .iter()
                    .map(|result| result.id.as_str())
                    .collect::<Vec<_>>(),
                ["c1", "c2"],
                "{format}"
            );
            assert!(
                results
                    .iter()
                    .all(|result| result.result.to_text().contains("ran fs.read")),
                "{format}: {body:#}"
            );

            let usage = summary.usage.unwrap();
            assert_eq!(
                (
                    usage.input_tokens,
                    usage.output_tokens,
                    usage.cached_input_tokens
                ),
                (140, 6, 128),
                "{format}"
            );
        }
    }
}

#[tokio::test]
async fn the_definitions_in_a_body_keep_the_rules_of_the_service() {
    let properties = json!({"path": {"type": "string"}, "$filter": {"const": "a"}, "limit": {"type": ["integer", "null"]}});
    let schema = json!({"properties": properties, "oneOf": [{"required": ["path"]}, {"required": ["$filter"]}]});
    for format in ALL {
        for strictness in [Strictness::Relaxed, Strictness::Strict] {
            let mut catalog = Catalog::new();
            for (name, schema) in [
                ("fs.find", &schema),
                ("fs.read", &json!({"type": "object", "properties": {}})),
            ] {
                let tool = Tool::new(name, "A tool.", schema.clone())
                    .unwrap()
                    .with_effects(Effects::Pure);
                catalog
                    .register(tool, async |_: ToolContext, _: Value| "ok")
                    .unwrap();
            }
            let service = Service::new([reply(format, false, &[Block::Text("ok")])]).await;
            let model = remote(
                format,
                &ProviderOptions {
                    strictness: Some(strictness),
                    ..options(format, &service, false)
                },
            );
            let mut session = Session::new(catalog.list(), Selection::new(), Host::new());
            Driver::new(Arc::new(model))
                .run(&mut session, "go")
                .await
                .unwrap();
            let body = service.body(0);
            let sent = sent::definitions(format, &body);
            assert_eq!(sent.len(), 2, "{format}: {body:#}");
            for (definition, wire) in sent
                .iter()
                .zip(session.tools().wire(format, strictness).list())
            {
                let mode = if wire.strict.is_ok() {
                    Strictness::Strict
                } else {
                    Strictness::Relaxed
                };
                assert_eq!(
                    Judge::new(format, mode).violations(definition),
                    [],
                    "{format}: {definition:#}"
                );
                let own = serde_json::from_str::<Value>(&wire.definition).unwrap();
                assert!(is_within(&own, definition), "{format}: {own} {definition}");
            }
        }
    }
}

/// Returns true if the other object has all fields of this one.
fn is_within(own: &Value, other: &Value) -> bool {
    own.as_object()
        .unwrap()
        .iter()
        .all(|(name, value)| other[name] == *value)
}

#[tokio::test]
async fn text_is_streamed_in_each_format() {
    for format in ALL {
        let service = Service::new([reply(
            format,
            true,
            &[Block::Text("one "), Block::Text("two")],
        )])
        .await;
        let pieces = Mutex::new(Vec::new());
        let sink = |text: &str| pieces.lock().unwrap().push(text.to_owned());
        let (messages, session, token) = (prompt(), session(&[]), CancellationToken::new());
        let request = Request {
            text_sink: Some(&sink),
            ..Request::new(&messages, session.tools(), &token)
        };
        let turn = remote(format, &options(format, &service, true))
            .complete(request)
            .await
            .unwrap();
        let pieces = pieces.into_inner().unwrap();
        assert_eq!(
            (pieces.concat().as_str(), pieces.len()),
            ("one two", 2),
            "{format}"
        );
        assert_eq!(
            turn.message.to_text().replace('\n', ""),
            "one two",
            "{format}"
        );
    }
}

#[tokio::test]
async fn the_fields_beside_a_call_go_back_unchanged() {
    for format in ALL {
        for streaming in [false, true] {
            let replies = [
                reply(format, streaming, &two_calls()),
                reply(format, streaming, &[Block::Text("done")]),
            ];
            let service = Service::new(replies).await;
            let (_, session, _) = run(
                remote(format, &options(format, &service, streaming)),
                &["fs.read"],
            )
            .await;
            let body = service.body(1);
            let messages = sent::messages(format, &body);
            let ids = |pointer: &str| -> Vec<Value> {
                messages
                    .iter()
                    .filter_map(|item| item.pointer(pointer))
                    .cloned()
                    .collect()
            };
            match format {
                Format::OpenAiChat => {
                    for call in messages[1]["tool_calls"].as_array().unwrap() {
                        assert_eq!(
                            call["extra_content"]["google"]["thought_signature"], SIGNATURE,
                            "{body:#}"
                        );
                    }
                }
                Format::OpenAiResponses => {
                    assert_eq!(ids("/id"), ["rs_1", "msg_1", "fc_c1", "fc_c2"], "{body:#}");
                    assert_eq!(ids("/encrypted_content"), [SIGNATURE], "{body:#}");
                }
                Format::Anthropic => {
                    let calls = &messages[1]["content"];
                    assert!(
                        (1..3).all(|index| calls[index]["caller"]["type"] == "direct"),
                        "{body:#}"
                    );
                }
                Format::Gemini => {
                    let parts = messages[1]["parts"].as_array().unwrap();
                    let signed = parts
                        .iter()
                        .filter(|part| part["thoughtSignature"] == SIGNATURE)
                        .count();
                    assert_eq!(signed, 2, "{body:#}");
                }
                _ => assert_eq!(messages[1]["tool_calls"].as_array().unwrap().len(), 2),
            }
            // The fields are kept without the arguments, which may be secret.
            let kept = session.messages()[1]
                .parts
                .iter()
                .filter_map(|part| match part {
                    Part::Reasoning { opaque, .. } => Some(opaque.to_string()),
                    _ => None,
                });
            assert!(
                kept.into_iter().all(|opaque| !opaque.contains("色")),
                "{format}"
            );
        }
    }
}

#[tokio::test]
async fn a_turn_of_another_model_goes_back_without_its_fields() {
    let service = Service::new([
        reply(Format::Gemini, false, &two_calls()),
        reply(Format::OpenAiResponses, false, &[Block::Text("done")]),
    ])
    .await;
    let mut session = session(&["fs.read"]);
    let first = Driver::new(Arc::new(remote(
        Format::Gemini,
        &options(Format::Gemini, &service, false),
    )));
    first
        .with_max_steps(1)
        .run(&mut session, "go")
        .await
        .unwrap();
    let format = Format::OpenAiResponses;
    Driver::new(Arc::new(remote(format, &options(format, &service, false))))
        .run(&mut session, "on")
        .await
        .unwrap();
    let body = service.body(1);
    assert!(!body.to_string().contains(SIGNATURE), "{body:#}");
    assert_eq!(sent::calls(format, &body).len(), 2);
}

#[tokio::test]
async fn a_failed_call_says_so_in_each_format() {
    for format in ALL {
        let body = sent_with_results(
            format,
            None,
            &[
                ("c1", ToolResult::error("no such file")),
                ("c2", ToolResult::text("fine")),
            ],
        )
        .await;
        let results = sent::results(format, &body);
        let [failed, fine] = &results[..] else {
            panic!("{body:#}")
        };
        let is_told = |result: &WireResult| {
            result.result.is_error || result.result.to_text().to_lowercase().contains("error")
        };
        assert!(is_told(failed) && !is_told(fine), "{format}: {body:#}");
        assert!(
            failed.result.to_text().contains("no such file"),
            "{format}: {body:#}"
        );
    }
}

#[tokio::test]
async fn images_of_parallel_results_are_beside_their_call_or_name_it() {
    let old_gemini = [(Format::Gemini, Some("gemini-2.5-flash"))];
    for (format, model) in ALL
        .map(|format| (format, None))
        .into_iter()
        .chain(old_gemini)
    {
        let image = |suffix: &str| Content::Image {
            data: format!("{PNG}{suffix}"),
            mime_type: "image/png".to_owned(),
        };
        let result = |text: &str| ToolResult {
            content: vec![Content::text(text), image("")],
            ..ToolResult::default()
        };
        let body = sent_with_results(
            format,
            model,
            &[("c1", result("one")), ("c2", result("two"))],
        )
        .await;
        let shown = sent::after_results(format, &body);
        let of = |id: &str| {
            shown
                .iter()
                .position(|content| content.as_text().is_some_and(|text| text.contains(id)))
                .unwrap()
        };
        let images: Vec<_> = shown
            .iter()
            .enumerate()
            .filter(|(_, content)| matches!(content, Content::Image { .. }))
            .map(|(at, _)| at)
            .collect();
        assert_eq!(images.len(), 2, "{format}: {body:#}");
        if (format, model) == (Format::Gemini, None) {
            // The images are in the parts of the response itself.
            let parts = &sent::messages(format, &body)[2]["parts"];
            assert!(
                (0..2).all(
                    |at| parts[at]["functionResponse"]["parts"][0]["inlineData"]["data"] == PNG
                ),
                "{body:#}"
            );
        } else if format == Format::Ollama {
            // The images of a message are a list of their own, in the order of the labels in its text.
            let last = sent::messages(format, &body).pop().unwrap();
            let text = last["content"].as_str().unwrap().to_owned();
            assert!(
                text.find("c1").unwrap() < text.find("c2").unwrap(),
                "{body:#}"
            );
        } else if matches!(format, Format::OpenAiChat | Format::Gemini) {
            let labels: Vec<_> = shown
                .iter()
                .filter_map(Content::as_text)
                .filter(|text| text.starts_with("Images of the result of"))
                .collect();
            assert!(
                labels.len() == 2 && labels[0].contains("c1") && labels[1].contains("c2"),
                "{body:#}"
            );
        } else {
            assert!(
                of("c1") < images[1] && of("one") < images[0] && images[0] < of("two"),
                "{format}: {body:#}"
            );
        }
    }
}

/// Returns the request with two calls of `fs.read` and these results.
async fn sent_with_results(
    format: Format,
    model: Option<&str>,
    results: &[(&str, ToolResult)],
) -> Value {
    let name = "fs.read".to_owned();
    let call = |(id, _): &(&str, ToolResult)| Part::ToolCall(ToolCall::new(*id, &*name, json!({})));
    let result = |(id, result): &(&str, ToolResult)| Part::ToolResult {
        id: (*id).to_owned(),
        name: name.clone(),
        result: result.clone(),
    };
    let messages = [
        Message::text(Role::User, "go"),
        Message {
            role: Role::Assistant,
            parts: results.iter().map(call).collect(),
        },
        Message {
            role: Role::Tool,
            parts: results.iter().map(result).collect(),
        },
    ];
    let service = Service::new([reply(format, false, &[Block::Text("ok")])]).await;
    let mut options = options(format, &service, false);
    if let Some(model) = model {
        options = ProviderOptions {
            model: Some(model.into()),
            ..options
        };
    }
    let (session, token) = (session(&["fs.read"]), CancellationToken::new());
    remote(format, &options)
        .complete(Request::new(&messages, session.tools(), &token))
        .await
        .unwrap();
    service.body(0)
}
