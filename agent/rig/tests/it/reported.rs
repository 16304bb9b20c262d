//! Errors inside replies with the status of success, and replies of another type than was asked for.

use std::sync::Mutex;

use crate::service::reply::{Api, Block, Way, completion};
use crate::service::{Reply, Service, events, json as reply, wire};
use crate::workshop::{answer, ask, ask_into, result, run};
use agent::{FailureKind, ProviderError, RetryCause, RetrySink, StopReason, TextSink, ToolSet};
use agent::{Provider as _, Request};
use agent_rig::Remote;
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
        (json!({"type": "error", "error": {"type": "api_error", "message": "x"}}), FailureKind::Internal, true),
        (json!({"error": {"message": "x", "code": 503}}), FailureKind::Overloaded, true),
        (json!({"error": {"message": "x", "type": "rate_limit_error"}}), FailureKind::RateLimit, true),
        (json!({"error": {"message": "x", "code": "insufficient_quota"}}), FailureKind::Quota, false),
        (json!({"error": {"message": "x", "code": 429, "type": "insufficient_quota"}}), FailureKind::Quota, false),
        (json!({"error": {"message": "x", "type": "authentication_error"}}), FailureKind::Authentication, false),
        (
            json!({"error": {"message": "x", "code": 400, "type": "invalid_request_error"}}),
            FailureKind::BadRequest,
            false,
        ),
        (json!({"error": {"message": "x"}}), FailureKind::Internal, false),
        (json!({"error": "x"}), FailureKind::Internal, false),
        // OpenRouter's error of a stream comes with a choice.
        (
            json!({"error": {"code": 502, "message": "x"}, "choices": [{"delta": {"content": ""}, "finish_reason": "error"}]}),
            FailureKind::Internal,
            true,
        ),
    ]
}

#[tokio::test]
async fn an_error_as_the_first_event_of_a_stream_is_retried_like_its_status() {
    for api in Api::ALL {
        let service = Service::new([]).await;
        let model = api.model(&service, true);
        for (body, kind, is_retried) in errors() {
            for first in [format!("event: error\ndata: {body}\n\n"), format!("error: {body}\n\n")] {
                for piece in [1, 997] {
                    let first = events(first.as_str()).in_pieces(piece);
                    assert_reported(&service, &model, [first, api.answer(Way::Stream)], kind, is_retried).await;
                }
            }
        }
    }
}

#[tokio::test]
async fn an_error_body_under_status_200_is_retried_like_its_status() {
    for api in Api::ALL {
        for (streaming, way) in [(false, Way::Whole), (true, Way::Stream)] {
            let service = Service::new([]).await;
            let model = api.model(&service, streaming);
            for (body, kind, is_retried) in errors() {
                assert_reported(&service, &model, [reply(200, &body), api.answer(way)], kind, is_retried).await;
            }
        }
    }
}

async fn assert_reported(service: &Service, model: &Remote, replies: [Reply; 2], kind: FailureKind, is_retried: bool) {
    service.serve(replies);
    let before = service.requests();
    let causes = Mutex::new(Vec::new());
    let send = |retry: agent::RequestRetry| causes.lock().unwrap().push(retry.cause);
    let (messages, tools, token) = ([Message::text(Role::User, "go")], ToolSet::default(), CancellationToken::new());
    let request = Request::new(&messages, &tools, &token).with_retry_sink(RetrySink::new(&send));
    let outcome = model.complete(request).await;
    assert_eq!(service.requests() - before, if is_retried { 2 } else { 1 }, "{model:?} {outcome:?}");
    match outcome {
        Ok(turn) => assert_eq!(turn.message.to_text(), "ok"),
        Err(error) => assert!(
            matches!(&error, ProviderError::Reported { kind: actual, message, .. } if *actual == kind && message == "x"),
            "{model:?} {error:?}"
        ),
    }
    for cause in causes.into_inner().unwrap() {
        assert!(matches!(&cause, RetryCause::Reported { kind: actual, .. } if *actual == kind), "{cause:?}");
    }
}

#[tokio::test]
async fn every_format_finds_an_error_in_its_reply() {
    let google = json!({"error": {"code": 503, "status": "UNAVAILABLE", "message": "x"}});
    for format in wire::ALL {
        for streaming in [false, true] {
            let service = Service::new([]).await;
            let model = wire::remote(format, &wire::options(format, &service, streaming));
            for error in [&google, &json!({"error": "x", "error_type": "overloaded"})] {
                let first = match streaming {
                    true => wire::stream(format, std::slice::from_ref(error)),
                    false => reply(200, error),
                };
                let answer = wire::reply(format, streaming, &[wire::Block::Text("ok")]);
                assert_reported(&service, &model, [first, answer], FailureKind::Overloaded, true).await;
            }
        }
    }
}

#[tokio::test]
async fn an_error_of_a_stream_is_not_retried_once_its_text_was_sent() {
    for api in Api::ALL {
        for prefix in ["data", "error"] {
            let Reply::Answer { body, .. } = api.reply(Way::Cut, &[Block::Text("so")], None) else { unreachable!() };
            let error = json!({"type": "error", "error": {"type": "overloaded_error", "message": "x"}});
            let service = Service::new([events(format!("{body}{prefix}: {error}\n\n")), api.answer(Way::Stream)]).await;
            let sent = Mutex::new(String::new());
            let send = |text: &str| sent.lock().unwrap().push_str(text);
            let error = ask_into(&api.model(&service, true), TextSink::new(&send)).await.unwrap_err();
            assert_eq!(error.kind(), Some(FailureKind::Overloaded), "{api:?} {error:?}");
            assert_eq!((sent.lock().unwrap().as_str(), service.requests()), ("so", 1), "{api:?}");
        }
    }
}

#[tokio::test]
async fn an_error_is_not_sought_in_the_text_of_the_model() {
    let text = r#"{"error": {"message": "x"}} "error""#;
    let message = json!({"role": "assistant", "content": text, "error": null});
    let service = Service::new([completion(json!({"index": 0, "message": message, "finish_reason": "stop"}))]).await;
    assert_eq!(ask(&service.openai(false)).await.unwrap().message.to_text(), text);
}

#[tokio::test]
async fn the_explanation_of_the_service_is_kept() {
    let openrouter = json!({"error": {"message": "Provider returned error", "code": 400,
        "metadata": {"raw": "{\"error\":\"temperature too high\"}"}}});
    let groq = json!({"error": {"message": "Failed to call a function.", "type": "invalid_request_error",
        "code": "tool_use_failed", "failed_generation": "<function=fs.read>"}});
    let gpustack = events("error: {\"code\": 400, \"message\": \"the instance is gone\"}\n\n");
    for (first, words, kind) in [
        (reply(400, openrouter), "temperature too high", FailureKind::BadRequest),
        (reply(400, groq), "<function=fs.read>", FailureKind::MalformedReply),
        (gpustack, "the instance is gone", FailureKind::BadRequest),
        (events("error: the instance is gone\n\n"), "the instance is gone", FailureKind::Internal),
    ] {
        let service = Service::new([first]).await;
        let error = ask(&service.openai(true)).await.unwrap_err();
        assert!(error.to_string().contains(words), "{error}");
        assert_eq!(error.kind(), Some(kind), "{error}");
    }
}

/// A reply in JSON that spreads over several lines.
fn whole(api: Api, blocks: &[Block]) -> Reply {
    let Reply::Answer { body, .. } = api.reply(Way::Whole, blocks, Some(api.stops(blocks))) else { unreachable!() };
    let body = serde_json::to_string_pretty(&serde_json::from_str::<Value>(&body).unwrap()).unwrap();
    let headers = "content-type: Application/JSON; charset=utf-8\r\n".to_owned();
    Reply::Answer { status: 200, headers, body, piece: 7 }
}

#[tokio::test]
async fn a_whole_reply_to_a_stream_request_is_read_and_its_text_sent() {
    for api in Api::ALL {
        let blocks = [Block::Text("I look: é."), Block::Call("a", r#"{"path":"é"}"#)];
        let service = Service::new([whole(api, &blocks), whole(api, &[Block::Text("ok")])]).await;
        let (summary, session, ran) = run(api.model(&service, true), &["fs.read"]).await;
        assert_eq!(answer(&summary), ("ok", &StopReason::Answer), "{api:?}");
        assert_eq!(*ran.lock().unwrap(), [("fs.read".to_owned(), json!({"path": "é"}))], "{api:?}");
        assert_eq!(session.messages()[1].to_text(), "I look: é.");
        assert_eq!(service.body(0)["stream"], true);

        let service = Service::new([whole(api, &[Block::Text("ok")])]).await;
        let sent = Mutex::new(String::new());
        let send = |text: &str| sent.lock().unwrap().push_str(text);
        ask_into(&api.model(&service, true), TextSink::new(&send)).await.unwrap();
        assert_eq!(sent.lock().unwrap().as_str(), "ok", "{api:?}");
    }
}

#[tokio::test]
async fn a_reply_of_any_other_type_is_malformed_and_not_retried() {
    for api in Api::ALL {
        for headers in ["content-type: text/html\r\n", "content-type: text/plain\r\n", ""] {
            let headers = headers.to_owned();
            let page = Reply::Answer { status: 200, headers, body: "<html>".to_owned(), piece: 97 };
            let service = Service::new([page.clone(), page]).await;
            let error = ask(&api.model(&service, true)).await.unwrap_err();
            assert!(matches!(error, ProviderError::Malformed { .. }), "{api:?} {error:?}");
            let error = ask(&api.model(&service, false)).await.unwrap_err();
            assert!(matches!(error, ProviderError::Malformed { .. }), "{api:?} {error:?}");
            assert_eq!(service.requests(), 2, "{api:?}");
        }
    }
}

#[tokio::test]
async fn a_stream_that_is_cut_anywhere_runs_nothing() {
    for api in Api::ALL {
        let blocks = [Block::Text("I look: é."), Block::Call("a", r#"{"path":"é"}"#)];
        let Reply::Answer { body, .. } = api.reply(Way::Stream, &blocks, Some(api.stops(&blocks))) else {
            unreachable!()
        };
        let end = body.find(api.stops(&blocks)).unwrap();
        let service = Service::new([]).await;
        let model = api.model(&service, true);
        for cut in (0..end).filter(|at| body.is_char_boundary(*at)).step_by(11) {
            service.serve([events(&body[..cut])]);
            let error = ask(&model).await.unwrap_err();
            assert_eq!(error.kind(), Some(FailureKind::MalformedReply), "{api:?} {cut}: {error:?}");
        }
    }
}

#[tokio::test]
async fn calls_with_equal_ids_are_run_and_answered_apart() {
    for api in Api::ALL {
        for way in [Way::Whole, Way::Stream] {
            let blocks = [Block::Call("a", r#"{"path":"1"}"#), Block::Call("a", r#"{"path":"2"}"#)];
            let service = Service::new([api.reply(way, &blocks, Some(api.stops(&blocks))), api.answer(way)]).await;
            let (summary, session, ran) = run(api.model(&service, way == Way::Stream), &["fs.read"]).await;
            assert_eq!((summary.calls, summary.failed_calls, ran.lock().unwrap().len()), (2, 0, 2), "{api:?} {way:?}");
            let ids: Vec<_> = session.messages()[1].calls().map(|call| call.id.clone()).collect();
            assert_eq!((ids[0].as_str(), ids[0] == ids[1]), ("a", false), "{api:?} {way:?}");
            assert!(session.messages()[2].parts.iter().all(|part| result(part) == "ran fs.read"));
            let sent = service.body(1)["messages"].to_string();
            assert!(ids.iter().all(|id| sent.matches(&format!("\"{id}\"")).count() == 2), "{sent}");
        }
    }
}
