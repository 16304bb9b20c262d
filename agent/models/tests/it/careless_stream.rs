//! Streams of careless services: their events, their types, their ends and their errors.

use agent::{ProviderError, StopReason};
use serde_json::{Value, json};
use tools::protocol::wire::Format;

use crate::service::wire::{self, ALL, Block, options, remote};
use crate::service::{Reply, Service, events, json as whole};
use crate::workshop::{answer, ask, run};

const CALL: &[(&str, &str)] = &[("c1", "é \"data: \" [DONE] {}")];

fn blocks() -> Vec<Block> {
    CALL.iter()
        .map(|(id, path)| Block::Call(id, "fs__read", json!({"path": path})))
        .collect()
}

/// Returns the documents of a usual stream, and its marks.
fn documents(format: Format) -> Vec<String> {
    let (body, _) = wire::body_and_end(format, &blocks());
    let lines = body
        .lines()
        .map(|line| line.strip_prefix("data: ").unwrap_or(line));
    lines
        .filter(|line| line.starts_with(['{', '[']))
        .map(str::to_owned)
        .collect()
}

fn reply_of(kind: &str, body: String) -> Reply {
    let headers = if kind.is_empty() {
        String::new()
    } else {
        format!("content-type: {kind}\r\n")
    };
    Reply::Answer {
        status: 200,
        headers,
        body,
        piece: 7,
    }
}

fn kind_of(format: Format) -> &'static str {
    if format == Format::Ollama {
        "application/x-ndjson"
    } else {
        "text/event-stream"
    }
}

fn ok(format: Format) -> Reply {
    wire::reply(format, true, &[Block::Text("ok")])
}

#[tokio::test]
async fn a_service_that_refuses_to_stream_is_asked_without() {
    let message = "Your organization must be verified to stream this model.";
    let refusal = json!({"error": {"message": message, "param": "stream"}});
    let reply = wire::reply(Format::OpenAiChat, false, &[Block::Text("ok")]);
    let service = Service::new([whole(400, refusal), reply]).await;
    let (summary, ..) = run(service.openai(true), &[]).await;
    assert_eq!(answer(&summary), ("ok", &StopReason::Answer));
    assert_eq!(service.body(0)["stream"], true);
    assert_ne!(service.body(1)["stream"], true);
}

/// Checks that the call of this reply runs with its arguments, and that no request is repeated.
async fn assert_read(format: Format, reply: Reply, name: &str) {
    let service = Service::new([reply, ok(format)]).await;
    let (summary, _, ran) = run(
        remote(format, &options(format, &service, true)),
        &["fs.read"],
    )
    .await;
    assert_eq!(
        (answer(&summary).0, service.requests()),
        ("ok", 2),
        "{format} {name}"
    );
    assert_eq!(
        *ran.lock().unwrap(),
        [("fs.read".to_owned(), json!({"path": CALL[0].1}))],
        "{format} {name}"
    );
}

#[tokio::test]
async fn events_are_read_however_they_are_separated() {
    for format in ALL {
        let documents = documents(format);
        let each = |written: &dyn Fn(&str) -> String| {
            documents
                .iter()
                .map(|text| written(text))
                .collect::<String>()
        };
        for (name, body) in [
            ("one line break", each(&|text| format!("data: {text}\n"))),
            ("no field", each(&|text| format!("{text}\n"))),
            (
                "twice the field",
                each(&|text| format!("data: data: {text}\n\n")),
            ),
            ("spaces", each(&|text| format!("data:   {text}  \r\n\r\n"))),
            (
                "carriage returns",
                each(&|text| format!("data: {text}\r\r")),
            ),
            (
                "a mark of the order of bytes",
                format!("\u{feff}{}", each(&|text| format!("data: {text}\n\n"))),
            ),
            (
                "words",
                each(&|text| {
                    format!(": note\n\nevent: ping\ndata: ping\n\ndata:\n\ndata: {text}\n\n")
                }),
            ),
            ("one event", format!("data: {}\n\n", documents.concat())),
        ] {
            // A line of Ollama is no event.
            if format != Format::Ollama || !["words", "carriage returns"].contains(&name) {
                assert_read(format, reply_of(kind_of(format), body), name).await;
            }
        }
    }
}

#[tokio::test]
async fn a_stream_or_json_is_read_whatever_else_its_type_says() {
    for format in ALL {
        let streamed = wire::body_and_end(format, &blocks()).0;
        let Reply::Answer { body: in_one, .. } = wire::reply(format, false, &blocks()) else {
            unreachable!()
        };
        let lines = documents(format).join("\n");
        for kind in [
            "text/plain",
            "application/octet-stream",
            "application/json",
            "application/x-ndjson",
            "",
        ] {
            for body in [&streamed, &in_one, &lines] {
                assert_read(format, reply_of(kind, body.clone()), kind).await;
            }
        }
    }
}

#[tokio::test]
async fn a_mark_ends_the_stream_of_another_format_too() {
    for format in [Format::OpenAiResponses, Format::Anthropic, Format::Gemini] {
        let (body, _) = wire::body_and_end(format, &blocks());
        assert_read(format, events(body + "data: [DONE]\n\n"), "after the end").await;
    }
    let (body, end) = wire::body_and_end(Format::Anthropic, &blocks());
    let open = &body[..body[..end].rfind("data: ").unwrap()];
    let open = &open[..open
        .rfind("event: ")
        .filter(|at| *at + 60 > open.len())
        .unwrap_or(open.len())];
    assert_read(
        Format::Anthropic,
        events(format!("{open}data: [DONE]\n\n")),
        "instead of the end",
    )
    .await;
}

#[tokio::test]
async fn the_words_of_an_error_are_told_wherever_they_are() {
    for format in ALL {
        for body in [
            json!({"detail": "full of eels"}).to_string(),
            json!({"object": "error", "message": "full of eels", "type": "BadRequestError"}).to_string(),
            json!({"message": "full of eels"}).to_string(),
            json!([{"error": {"message": "full of eels"}}]).to_string(),
            json!({"choices": [{"delta": {}, "finish_reason": "error", "error": {"message": "full of eels"}}]})
                .to_string(),
            "[ERROR] full of eels".to_owned(),
        ] {
            let field = if format == Format::Ollama { "" } else { "data: " };
            let streamed = reply_of(kind_of(format), format!("{field}{body}\n\n"));
            let json = body.starts_with(['{']).then(|| reply_of("application/json", body.clone()));
            for reply in [streamed].into_iter().chain(json) {
                let service = Service::new([reply]).await;
                let error = ask(&remote(format, &options(format, &service, true))).await.unwrap_err();
                assert!(error.to_string().contains("full of eels"), "{format} {body}: {error}");
            }
        }
    }
    let named = events("event: error\ndata: {\"code\": 503, \"message\": \"full of eels\"}\n\n");
    for format in ALL.into_iter().filter(|format| *format != Format::Ollama) {
        let service = Service::new([named.clone(), named.clone(), named.clone()]).await;
        let error = ask(&remote(format, &options(format, &service, true)))
            .await
            .unwrap_err();
        assert!(
            matches!(&error, ProviderError::Reported { message, .. } if message == "full of eels"),
            "{format}: {error}"
        );
        assert_eq!(service.requests(), 3, "{format}");
        let service = Service::new([events("event: error\ndata: full of eels\n\n")]).await;
        let error = ask(&remote(format, &options(format, &service, true)))
            .await
            .unwrap_err();
        assert!(
            error.to_string().contains("full of eels"),
            "{format}: {error}"
        );
    }
}

#[tokio::test]
async fn a_garbled_event_is_repeated_like_a_reset() {
    for format in ALL {
        let mut documents = documents(format);
        documents[0].truncate(20);
        let field = if format == Format::Ollama {
            ""
        } else {
            "data: "
        };
        let body: String = documents
            .iter()
            .map(|text| format!("{field}{text}\n\n"))
            .collect();
        let service = Service::new([reply_of(kind_of(format), body), ok(format)]).await;
        let turn = ask(&remote(format, &options(format, &service, true)))
            .await
            .unwrap();
        assert_eq!(
            (turn.message.to_text().trim(), service.requests()),
            ("ok", 2),
            "{format}"
        );
    }
}

#[tokio::test]
async fn a_reply_that_the_service_ends_with_an_error_is_repeated() {
    let broken = |choice: Value| {
        events(format!(
            "data: {}\n\ndata: [DONE]\n\n",
            json!({"id": "x", "choices": [choice]})
        ))
    };
    let broken =
        broken(json!({"index": 0, "delta": {"content": "half"}, "finish_reason": "error"}));
    let service = Service::new([broken, ok(Format::OpenAiChat)]).await;
    let (summary, ..) = run(service.openai(true), &[]).await;
    assert_eq!(
        (answer(&summary), service.requests()),
        (("ok", &StopReason::Answer), 2)
    );
}

#[tokio::test]
async fn a_whole_message_without_its_type_or_its_blocks_is_read() {
    for streaming in [false, true] {
        for message in [
            json!({"role": "assistant", "content": [{"type": "text", "text": "ok"}], "stop_reason": "end_turn"}),
            json!({"type": "message", "role": "assistant", "content": "ok", "stop_reason": "end_turn"}),
        ] {
            let service = Service::new([whole(200, &message)]).await;
            let turn = ask(&service.anthropic(streaming)).await.unwrap();
            assert_eq!(turn.message.to_text(), "ok", "{streaming} {message}");
        }
    }
}

#[tokio::test]
async fn a_whole_reply_is_read_with_other_text_around_it_or_twice() {
    for format in wire::ALL {
        let Reply::Answer { body: whole, .. } = wire::reply(format, false, &[Block::Text("ok")])
        else {
            unreachable!()
        };
        for around in [
            format!("\u{feff}{whole}"),
            format!("gateway: route 7\n{whole}"),
            format!("{whole}\nbye"),
            whole.repeat(2),
        ] {
            let mut reply = wire::reply(format, false, &[Block::Text("ok")]);
            let Reply::Answer { body, .. } = &mut reply else {
                unreachable!()
            };
            body.clone_from(&around);
            let service = Service::new([reply]).await;
            let turn = ask(&wire::remote(
                format,
                &wire::options(format, &service, false),
            ))
            .await;
            assert_eq!(turn.unwrap().message.to_text(), "ok", "{format} {around}");
        }
    }
}

#[tokio::test]
async fn an_array_of_documents_is_a_stream_however_it_is_cut_into_lines() {
    for format in [Format::Gemini, Format::OpenAiChat, Format::Ollama] {
        let (body, _) = wire::body_and_end(format, &["one ", "two ", "three"].map(Block::Text));
        let documents = body
            .lines()
            .map(|line| line.strip_prefix("data: ").unwrap_or(line))
            .filter(|line| line.starts_with('{'));
        let documents: Vec<_> = documents.collect();
        for separator in [",", ",\n", "\n,\r\n", "\n,"] {
            let array = format!("[{}]\n", documents.join(separator));
            let service = Service::new([wire::stream_of(format, array)]).await;
            let turn = ask(&remote(format, &options(format, &service, true))).await;
            assert_eq!(
                turn.unwrap().message.to_text(),
                "one two three",
                "{format} {separator:?}"
            );
        }
    }
}

#[tokio::test]
async fn a_rate_limit_that_a_reply_names_is_waited_for_in_each_format() {
    for format in wire::ALL {
        for streaming in [false, true] {
            let limited = whole(200, json!({"code": 1302, "msg": "too many requests"}));
            let end = wire::reply(format, streaming, &[Block::Text("ok")]);
            let service = Service::new([limited, end]).await;
            let turn = ask(&wire::remote(
                format,
                &wire::options(format, &service, streaming),
            ))
            .await;
            assert_eq!(
                (turn.unwrap().message.to_text(), service.requests()),
                ("ok".to_owned(), 2),
                "{format} {streaming}"
            );
        }
    }
}

/// Stand for the halves of a surrogate pair.
const HALVES: [(char, &str); 2] = [('\u{e000}', "\\ud83d"), ('\u{e001}', "\\ude00")];

/// Returns a reply with halves of a surrogate pair as they are escaped.
fn halved(mut reply: Reply) -> Reply {
    let Reply::Answer { headers, body, .. } = &mut reply else {
        unreachable!()
    };
    *body = HALVES
        .iter()
        .fold(std::mem::take(body), |body, (stand_in, half)| {
            body.replace(*stand_in, half)
        });
    // The length is another one.
    *headers = headers
        .lines()
        .filter(|line| !line.starts_with("content-length"))
        .map(|line| format!("{line}\r\n"))
        .collect();
    reply
}

#[tokio::test]
async fn half_of_a_character_joins_its_other_half_or_is_replaced_and_ends_no_run() {
    for format in ALL {
        for (text, expected) in [
            ("a\u{e000}\u{e001}b", "a\u{1f600}b"),
            ("a\u{e000}", "a\u{fffd}"),
            ("a\u{e001}b", "a\u{fffd}b"),
        ] {
            for streaming in [false, true] {
                let reply = halved(wire::reply(format, streaming, &[Block::Text(text)]));
                let service = Service::new([reply]).await;
                let (summary, ..) =
                    run(remote(format, &options(format, &service, streaming)), &[]).await;
                assert_eq!(
                    (answer(&summary).0, service.requests()),
                    (expected, 1),
                    "{format} {streaming}"
                );
            }
        }
    }
}

#[tokio::test]
async fn a_character_that_two_events_share_is_joined_in_texts_and_arguments() {
    let chunk = |delta: Value| {
        format!(
            "data: {}\n\n",
            json!({"choices": [{"index": 0, "delta": delta}]})
        )
    };
    let call = |fields: Value| chunk(json!({"tool_calls": [fields]}));
    let end = |reason: &str| {
        let choice = json!({"index": 0, "delta": {}, "finish_reason": reason});
        format!("data: {}\n\ndata: [DONE]\n\n", json!({"choices": [choice]}))
    };
    let read = [
        call(
            json!({"index": 0, "id": "c1", "function": {"name": "fs__read", "arguments": "{\"path\":\"\u{e000}"}}),
        ),
        call(json!({"index": 0, "function": {"arguments": "\u{e001}\"}"}})),
        end("tool_calls"),
    ];
    let text = [
        chunk(json!({"content": "a\u{e000}"})),
        chunk(json!({"content": "\u{e001}b"})),
        end("stop"),
    ];
    let service = Service::new([read, text].map(|body| halved(events(body.concat())))).await;
    let options = options(Format::OpenAiChat, &service, true);
    let (summary, _, ran) = run(remote(Format::OpenAiChat, &options), &["fs.read"]).await;
    assert_eq!(answer(&summary).0, "a\u{1f600}b");
    assert_eq!(
        *ran.lock().unwrap(),
        [("fs.read".to_owned(), json!({"path": "\u{1f600}"}))]
    );
}

#[tokio::test]
async fn a_text_that_the_responses_api_states_at_its_end_alone_arrives_once() {
    let item = json!({"type": "message", "id": "m1", "role": "assistant", "status": "completed",
        "content": [{"type": "output_text", "text": "hello", "annotations": []}]});
    let mut begun = item.clone();
    begun["content"] = json!([]);
    let added = json!({"type": "response.output_item.added", "output_index": 0, "item": begun});
    let text = json!({"type": "response.output_text.done", "item_id": "m1", "output_index": 0, "content_index": 0, "text": "hello"});
    let delta = json!({"type": "response.output_text.delta", "item_id": "m1", "output_index": 0, "content_index": 0, "delta": "hel"});
    let done = json!({"type": "response.output_item.done", "output_index": 0, "item": item});
    let end = |output: Value| json!({"type": "response.completed", "response": {"id": "r", "object": "response", "status": "completed", "output": output}});
    let full = end(json!([item]));
    let bare = end(json!([]));
    for documents in [
        vec![&added, &text, &bare],
        vec![&added, &text, &done, &full],
        vec![&text, &bare],
        vec![&text, &done, &bare],
        vec![&done, &bare],
        vec![&done, &full],
        vec![&added, &done, &bare],
        vec![&added, &delta, &text, &bare],
        vec![&added, &delta, &text, &done, &full],
        vec![&added, &delta, &done, &full],
        vec![&full],
    ] {
        let documents: Vec<_> = documents.into_iter().cloned().collect();
        let reply = wire::stream(Format::OpenAiResponses, &documents);
        let service = Service::new([reply]).await;
        let options = options(Format::OpenAiResponses, &service, true);
        let (summary, ..) = run(remote(Format::OpenAiResponses, &options), &[]).await;
        assert_eq!(
            (answer(&summary).0, service.requests()),
            ("hello", 1),
            "{documents:#?}"
        );
    }
}

#[tokio::test]
async fn chunks_with_the_whole_message_so_far_are_read_once() {
    let chunk = |kind: &str, said: &str, piece: &str, reason: Option<&str>| {
        let choice = json!({"index": 0, "message": {"role": "assistant", "content": said}, "delta": {"content": piece},
            "finish_reason": reason});
        format!(
            "data: {}\n\n",
            json!({"id": "x", "object": kind, "choices": [choice]})
        )
    };
    let stream = chunk("chat.completion.chunk", "one", "one", None)
        + &chunk("chat.completion.chunk", "one two", " two", Some("stop"));
    let service = Service::new([events(stream)]).await;
    let turn = ask(&service.openai(true)).await.unwrap();
    assert_eq!(turn.message.to_text(), "one two");
    let last = chunk("chat.completion", "one", "", Some("stop"));
    let service = Service::new([events(last)]).await;
    let turn = ask(&service.openai(true)).await.unwrap();
    assert_eq!(turn.message.to_text(), "one");
}

#[tokio::test]
async fn arguments_of_no_known_block_are_asked_for_again() {
    let start = |index: u64| {
        json!({"type": "content_block_start", "index": index,
            "content_block": {"type": "tool_use", "id": "a", "name": "fs__read", "input": {}}})
    };
    let message = json!({"id": "m", "type": "message", "role": "assistant", "model": "m", "content": [], "usage": {}});
    let stream = [
        json!({"type": "message_start", "message": message}),
        start(0),
        start(1),
        json!({"type": "content_block_delta", "index": 7, "delta": {"type": "input_json_delta", "partial_json": "{\"a\":1}"}}),
        json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {}}),
        json!({"type": "message_stop"}),
    ];
    let format = Format::Anthropic;
    let service = Service::new([wire::stream(format, &stream), ok(format)]).await;
    let (summary, _, ran) = run(
        remote(format, &options(format, &service, true)),
        &["fs.read"],
    )
    .await;
    assert_eq!((answer(&summary).0, ran.lock().unwrap().len()), ("ok", 0));
}
