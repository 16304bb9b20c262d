//! Errors inside replies with the status of success, and replies of another type than was asked for.

use std::sync::Mutex;

use crate::service::reply::completion;
use crate::service::sent;
use crate::service::wire::{self, ALL, Block, options, remote};
use crate::service::{Reply, Service, events, json as reply};
use crate::workshop::{answer, ask, ask_into, result, run};
use agent::{FailureKind, ProviderError, RetryCause, StopReason, ToolSet};
use agent::{Provider as _, Request};
use agent_models::Remote;
use serde_json::{Value, json};
use tools::CancellationToken;
use tools::protocol::wire::Format;
use tools::protocol::{Message, Role};

/// An error as the service of OpenAI, Anthropic and others write it, with its kind, and true if it is retried.
fn errors() -> Vec<(Value, FailureKind, bool)> {
    vec![
        (
            json!({"type": "error", "error": {"type": "overloaded_error", "message": "x"}}),
            FailureKind::Overloaded,
            true,
        ),
        (
            json!({"type": "error", "error": {"type": "api_error", "message": "x"}}),
            FailureKind::Internal,
            true,
        ),
        (
            json!({"error": {"message": "x", "code": 503}}),
            FailureKind::Overloaded,
            true,
        ),
        (
            json!({"error": {"message": "x", "type": "rate_limit_error"}}),
            FailureKind::RateLimit,
            true,
        ),
        (
            json!({"error": {"message": "x", "code": "insufficient_quota"}}),
            FailureKind::Quota,
            false,
        ),
        (
            json!({"error": {"message": "x", "code": 429, "type": "insufficient_quota"}}),
            FailureKind::Quota,
            false,
        ),
        (
            json!({"error": {"message": "x", "type": "authentication_error"}}),
            FailureKind::Authentication,
            false,
        ),
        (
            json!({"error": {"message": "x", "code": 400, "type": "invalid_request_error"}}),
            FailureKind::BadRequest,
            false,
        ),
        (
            json!({"error": {"message": "x"}}),
            FailureKind::Internal,
            false,
        ),
        (json!({"error": "x"}), FailureKind::Internal, false),
        // OpenRouter's error of a stream comes with a choice.
        (
            json!({"error": {"code": 502, "message": "x"}, "choices": [{"delta": {"content": ""}, "finish_reason": "error"}]}),
            FailureKind::Internal,
            true,
        ),
        // Google's own form.
        (
            json!({"error": {"code": 503, "status": "UNAVAILABLE", "message": "x"}}),
            FailureKind::Overloaded,
            true,
        ),
        // GPUStack's.
        (
            json!({"error": "x", "error_type": "overloaded"}),
            FailureKind::Overloaded,
            true,
        ),
    ]
}

#[tokio::test]
async fn an_error_as_the_first_event_of_a_stream_is_retried_like_its_status() {
    for format in ALL {
        let service = Service::new([]).await;
        let model = remote(format, &options(format, &service, true));
        for (body, kind, is_retried) in errors() {
            let event = if format == Format::Ollama {
                format!("{body}\n")
            } else {
                format!("event: error\ndata: {body}\n\n")
            };
            for first in [event, format!("error: {body}\n\n")] {
                for piece in [1, 997] {
                    let first = wire::stream_of(format, first.as_str()).in_pieces(piece);
                    assert_reported(
                        &service,
                        &model,
                        [first, answer_of(format, true)],
                        kind,
                        is_retried,
                    )
                    .await;
                }
            }
        }
    }
}

#[tokio::test]
async fn an_error_body_under_status_200_is_retried_like_its_status() {
    for format in ALL {
        for streaming in [false, true] {
            let service = Service::new([]).await;
            let model = remote(format, &options(format, &service, streaming));
            for (body, kind, is_retried) in errors() {
                let replies = [reply(200, &body), answer_of(format, streaming)];
                assert_reported(&service, &model, replies, kind, is_retried).await;
            }
        }
    }
}

/// The Responses API has an event for a failed response, and an error without an object around it.
#[tokio::test]
async fn the_errors_of_the_responses_api_have_their_kind() {
    let format = Format::OpenAiResponses;
    let service = Service::new([]).await;
    let model = remote(format, &options(format, &service, true));
    for (code, kind, is_retried) in [
        ("server_error", FailureKind::Internal, true),
        ("rate_limit_exceeded", FailureKind::RateLimit, true),
        ("insufficient_quota", FailureKind::Quota, false),
        ("context_length_exceeded", FailureKind::ContextLength, false),
        ("invalid_prompt", FailureKind::ContentPolicy, false),
    ] {
        let error = json!({"code": code, "message": "x"});
        let response = json!({"id": "r", "object": "response", "status": "failed", "error": error, "output": []});
        let failed = json!({"type": "response.failed", "sequence_number": 1, "response": response});
        let flat = json!({"type": "error", "code": code, "message": "x", "param": null, "sequence_number": 1});
        let created = json!({"type": "response.created", "sequence_number": 0, "response": {"id": "r", "error": null}});
        for body in [failed, flat] {
            for events in [vec![body.clone()], vec![created.clone(), body]] {
                let replies = [wire::stream(format, &events), answer_of(format, true)];
                assert_reported(&service, &model, replies, kind, is_retried).await;
            }
        }
    }
}

fn answer_of(format: Format, streaming: bool) -> Reply {
    wire::reply(format, streaming, &[Block::Text("ok")])
}

async fn assert_reported(
    service: &Service,
    model: &Remote,
    replies: [Reply; 2],
    kind: FailureKind,
    is_retried: bool,
) {
    service.serve(replies);
    let before = service.requests();
    let causes = Mutex::new(Vec::new());
    let send = |retry: agent::RequestRetry| causes.lock().unwrap().push((retry.cause, retry.kind));
    let (messages, tools, token) = (
        [Message::text(Role::User, "go")],
        ToolSet::default(),
        CancellationToken::new(),
    );
    let request = Request {
        retry_sink: Some(&send),
        ..Request::new(&messages, &tools, &token)
    };
    let outcome = model.complete(request).await;
    assert_eq!(
        service.requests() - before,
        if is_retried { 2 } else { 1 },
        "{model:?} {outcome:?}"
    );
    match outcome {
        Ok(turn) => assert_eq!(turn.message.to_text().trim(), "ok"),
        Err(error) => assert!(
            matches!(&error, ProviderError::Reported { kind: actual, message, .. } if *actual == kind && message == "x"),
            "{model:?} {error:?}"
        ),
    }
    for cause in causes.into_inner().unwrap() {
        assert_eq!(cause, (RetryCause::Reported, Some(kind)));
    }
}

#[tokio::test]
async fn an_error_of_a_stream_is_retried_also_if_its_text_was_sent() {
    for format in ALL {
        let (body, end) = wire::body_and_end(format, &[Block::Text("so"), Block::Text("on")]);
        let begun = &body[..=body[..end].rfind('\n').unwrap()];
        for field in if format == Format::Ollama {
            ["", "error: "]
        } else {
            ["data: ", "error: "]
        } {
            let error =
                json!({"type": "error", "error": {"type": "overloaded_error", "message": "x"}});
            let cut = wire::stream_of(format, format!("{begun}{field}{error}\n\n"));
            let service = Service::new([cut, answer_of(format, true)]).await;
            let sent = Mutex::new(String::new());
            let send = |text: &str| sent.lock().unwrap().push_str(text);
            let model = remote(format, &options(format, &service, true));
            let turn = ask_into(&model, &send).await.unwrap();
            assert_eq!(
                (turn.message.to_text().as_str(), service.requests()),
                ("ok", 2),
                "{format}"
            );
            let sent = sent.lock().unwrap();
            assert!(
                sent.starts_with("so") && sent.ends_with("ok"),
                "{format} {sent}"
            );
        }
    }
}

#[tokio::test]
async fn an_error_is_not_sought_in_the_text_of_the_model() {
    let text = r#"{"error": {"message": "x"}} "error""#;
    let message = json!({"role": "assistant", "content": text, "error": null});
    let service = Service::new([completion(
        json!({"index": 0, "message": message, "finish_reason": "stop"}),
    )])
    .await;
    assert_eq!(
        ask(&service.openai(false)).await.unwrap().message.to_text(),
        text
    );
}

#[tokio::test]
async fn the_explanation_of_the_service_is_kept() {
    let openrouter = json!({"error": {"message": "Provider returned error", "code": 400,
        "metadata": {"raw": "{\"error\":\"temperature too high\"}"}}});
    let groq = json!({"error": {"message": "Failed to call a function.", "type": "invalid_request_error",
        "code": "tool_use_failed", "failed_generation": "<function=fs.read>"}});
    let gpustack = events("error: {\"code\": 400, \"message\": \"the instance is gone\"}\n\n");
    for (first, words, kind) in [
        (
            reply(400, openrouter),
            "temperature too high",
            FailureKind::BadRequest,
        ),
        (
            reply(400, groq),
            "<function=fs.read>",
            FailureKind::MalformedReply,
        ),
        (gpustack, "the instance is gone", FailureKind::BadRequest),
        (
            events("error: the instance is gone\n\n"),
            "the instance is gone",
            FailureKind::Internal,
        ),
    ] {
        let service = Service::new([first]).await;
        let error = ask(&service.openai(true)).await.unwrap_err();
        assert!(error.to_string().contains(words), "{error}");
        assert_eq!(error.kind(), Some(kind), "{error}");
    }
}

/// A reply in JSON that spreads over several lines.
fn whole(format: Format, blocks: &[Block]) -> Reply {
    let Reply::Answer { body, .. } = wire::reply(format, false, blocks) else {
        unreachable!()
    };
    let body =
        serde_json::to_string_pretty(&serde_json::from_str::<Value>(&body).unwrap()).unwrap();
    let headers = "content-type: Application/JSON; charset=utf-8\r\n".to_owned();
    Reply::Answer {
        status: 200,
        headers,
        body,
        piece: 7,
    }
}

#[tokio::test]
async fn a_whole_reply_to_a_stream_request_is_read_and_its_text_sent() {
    for format in ALL {
        let blocks = [
            Block::Text("I look: é."),
            Block::Call("a", "fs__read", json!({"path": "é"})),
        ];
        let service =
            Service::new([whole(format, &blocks), whole(format, &[Block::Text("ok")])]).await;
        let (summary, session, ran) = run(
            remote(format, &options(format, &service, true)),
            &["fs.read"],
        )
        .await;
        assert_eq!(answer(&summary), ("ok", &StopReason::Answer), "{format}");
        assert_eq!(
            *ran.lock().unwrap(),
            [("fs.read".to_owned(), json!({"path": "é"}))],
            "{format}"
        );
        assert_eq!(session.messages()[1].to_text().trim(), "I look: é.");
        assert!(
            service.body(0)["stream"] == true || service.head(0).contains("alt=sse"),
            "{format}"
        );

        let service = Service::new([whole(format, &[Block::Text("ok")])]).await;
        let sent = Mutex::new(String::new());
        let send = |text: &str| sent.lock().unwrap().push_str(text);
        ask_into(&remote(format, &options(format, &service, true)), &send)
            .await
            .unwrap();
        assert_eq!(sent.lock().unwrap().as_str(), "ok", "{format}");
    }
}

#[tokio::test]
async fn a_page_is_malformed_and_not_retried_whatever_its_type() {
    for format in ALL {
        for kind in ["text/html", "text/plain", "image/png", ""] {
            let headers = if kind.is_empty() {
                String::new()
            } else {
                format!("content-type: {kind}\r\n")
            };
            let page = |body: &str| Reply::Answer {
                status: 200,
                headers: headers.clone(),
                body: body.to_owned(),
                piece: 97,
            };
            let service = Service::new([page("<html>"), page("<html>")]).await;
            for streaming in [true, false] {
                let error = ask(&remote(format, &options(format, &service, streaming)))
                    .await
                    .unwrap_err();
                assert!(
                    matches!(error, ProviderError::Malformed { .. }),
                    "{format} {kind} {error:?}"
                );
            }
            assert_eq!(service.requests(), 2, "{format} {kind}");
        }
    }
}

#[tokio::test]
async fn a_stream_that_is_cut_anywhere_runs_nothing() {
    for format in ALL {
        let blocks = [
            Block::Text("I look: é."),
            Block::Call("a", "fs__read", json!({"path": "é"})),
        ];
        let (body, end) = wire::body_and_end(format, &blocks);
        let service = Service::new([]).await;
        let model = remote(format, &options(format, &service, true));
        for cut in (0..end).filter(|at| body.is_char_boundary(*at)).step_by(11) {
            service.serve(std::iter::repeat_n(
                wire::stream_of(format, &body[..cut]),
                3,
            ));
            let error = ask(&model).await.unwrap_err();
            assert_eq!(
                error.kind(),
                Some(FailureKind::MalformedReply),
                "{format} {cut}: {error:?}"
            );
        }
    }
}

#[tokio::test]
async fn calls_with_equal_ids_are_run_and_answered_apart() {
    for format in ALL {
        for streaming in [false, true] {
            let blocks = ["1", "2"].map(|path| Block::Call("a", "fs__read", json!({"path": path})));
            let service = Service::new([
                wire::reply(format, streaming, &blocks),
                answer_of(format, streaming),
            ])
            .await;
            let model = remote(format, &options(format, &service, streaming));
            let (summary, session, ran) = run(model, &["fs.read"]).await;
            let counts = (
                summary.calls,
                summary.failed_calls,
                ran.lock().unwrap().len(),
            );
            assert_eq!(counts, (2, 0, 2), "{format} {streaming}");
            let ids: Vec<_> = session.messages()[1]
                .calls()
                .map(|call| call.id.clone())
                .collect();
            assert_eq!(
                (ids[0].as_str(), ids[0] == ids[1]),
                ("a", false),
                "{format} {streaming}"
            );
            assert!(
                session.messages()[2]
                    .parts
                    .iter()
                    .all(|part| result(part) == "ran fs.read")
            );
            let body = service.body(1);
            let calls: Vec<_> = sent::calls(format, &body)
                .into_iter()
                .map(|call| call.id)
                .collect();
            let results: Vec<_> = sent::results(format, &body)
                .into_iter()
                .map(|result| result.id)
                .collect();
            assert_eq!(
                (&calls, &results),
                (&ids, &ids),
                "{format} {streaming}: {body:#}"
            );
        }
    }
}
