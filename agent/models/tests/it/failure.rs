//! Services that fail: retries, error messages, and the key that no message holds.

use crate::service;
use std::time::{Duration, Instant};

use crate::service::reply::{Api, Way};
use crate::service::{KEY, Reply, Service, events, key_file, retry_policy, timeouts};
use agent::provider;
use agent::{
    FailureKind, KeySource, Provider, ProviderError, ProviderOptions, Request, RetryCause,
    TextSink, ToolSet, Turn,
};
use agent_models::{Remote, RetryPolicy};
use serde_json::json;
use tools::CancellationToken;
use tools::protocol::{Message, Role};

#[tokio::test]
async fn transient_errors_are_retried() {
    let limited = service::json(429, json!({"error": {"message": "slow down"}}))
        .with_header("retry-after: 0.05");
    for first in [limited, service::json(503, "busy"), Reply::Reset] {
        let service = Service::new([first, answer()]).await;
        assert_eq!(
            ask(&service.openai(false)).await.unwrap().message.to_text(),
            "ok"
        );
        assert_eq!(service.requests(), 2);
    }
}

#[tokio::test]
async fn retries_end_and_the_last_error_is_returned() {
    let limited = || {
        service::json(429, json!({"error": {"message": "slow down"}}))
            .with_header("retry-after: 0.02")
    };
    let service = Service::new([limited(), limited(), limited(), answer()]).await;
    let error = ask(&service.openai(true)).await.unwrap_err();
    let ProviderError::Status {
        status: 429,
        message,
        retry_after,
        ..
    } = &error
    else {
        panic!("{error:?}")
    };
    assert_eq!(
        (message.as_str(), *retry_after),
        ("slow down", Some(Duration::from_millis(20)))
    );
    assert_eq!(service.requests(), 3);

    let service = Service::new([
        service::json(429, "later").with_header("retry-after: 3600"),
        answer(),
    ])
    .await;
    assert!(matches!(
        ask(&service.openai(false)).await,
        Err(ProviderError::Status { status: 429, .. })
    ));
    assert_eq!(service.requests(), 1, "an hour is not waited");
}

#[tokio::test]
async fn each_retry_is_reported_with_its_cause_and_wait() {
    let limited = service::json(
        429,
        json!({"error": {"message": format!("slow down, {KEY}")}}),
    );
    let service = Service::new([
        limited.with_header("retry-after: 0.05"),
        Reply::Reset,
        answer(),
    ])
    .await;
    let retries = std::sync::Mutex::new(Vec::new());
    let send = |retry| retries.lock().unwrap().push(retry);
    let (messages, tools) = ([Message::text(Role::User, "go")], ToolSet::default());
    let token = CancellationToken::new();
    let request = Request {
        retry_sink: Some(&send),
        ..Request::new(&messages, &tools, &token)
    };
    service.openai(false).complete(request).await.unwrap();
    let retries = retries.into_inner().unwrap();
    let [limited, reset] = &retries[..] else {
        panic!("{retries:?}")
    };
    assert_eq!(
        (limited.cause, limited.status, limited.kind),
        (RetryCause::Status, Some(429), Some(FailureKind::RateLimit))
    );
    assert!(
        limited.message.starts_with("slow down") && !limited.message.contains(KEY),
        "{limited:?}"
    );
    assert_eq!(
        (limited.retry, limited.max_retries, limited.wait_ms),
        (1, 2, 50)
    );
    assert!(
        reset.cause == RetryCause::Connection && reset.retry == 2,
        "{reset:?}"
    );

    let service = Service::new([service::json(400, "no")]).await;
    let request = Request {
        retry_sink: Some(&|retry| panic!("{retry:?}")),
        ..Request::new(&messages, &tools, &token)
    };
    service.openai(false).complete(request).await.unwrap_err();
}

#[tokio::test]
async fn a_pause_until_a_date_is_kept_by_the_clock_of_the_service() {
    let until = |date: &str| {
        let limited = service::json(429, json!({"error": {"message": "slow down"}}));
        limited
            .with_header("date: Sun, 06 Nov 1994 08:49:37 GMT")
            .with_header(&format!("retry-after: {date}"))
    };
    let service = Service::new([until("Sun, 06 Nov 1994 08:49:37 GMT"), answer()]).await;
    assert_eq!(
        ask(&service.openai(false)).await.unwrap().message.to_text(),
        "ok"
    );

    let service = Service::new([until("Sun, 06 Nov 1994 09:49:37 GMT"), answer()]).await;
    let error = ask(&service.anthropic(true)).await.unwrap_err();
    let ProviderError::Status { retry_after, .. } = &error else {
        panic!("{error:?}")
    };
    assert_eq!(*retry_after, Some(Duration::from_secs(3600)));
    assert_eq!(service.requests(), 1, "an hour is not waited");
}

#[tokio::test]
async fn other_errors_are_returned_at_once_and_without_the_key() {
    for status in [400, 401, 403, 404, 422] {
        let body = json!({"error": {"message": format!("not with {KEY}"), "type": "t"}});
        let service =
            Service::new([service::json(status, &body), service::json(status, &body)]).await;
        for provider in [service.openai(false), service.anthropic(true)] {
            let error = ask(&provider).await.unwrap_err();
            assert!(
                matches!(error, ProviderError::Status { status: actual, .. } if actual == status),
                "{error:?}"
            );
            let text = format!("{error} {error:?} {provider:?}");
            assert!(!text.contains(KEY) && text.contains("[key]"), "{text}");
        }
        assert_eq!(service.requests(), 2);
    }
}

#[tokio::test]
async fn a_key_does_not_follow_a_redirect() {
    let elsewhere = Service::new([answer()]).await;
    let moved = service::json(307, "moved")
        .with_header(&format!("location: {}/v1/messages", elsewhere.url));
    let service = Service::new([moved]).await;
    let error = ask(&service.anthropic(false)).await.unwrap_err();
    assert!(
        matches!(error, ProviderError::Status { status: 307, .. }),
        "{error:?}"
    );
    assert_eq!(elsewhere.requests(), 0);
}

#[tokio::test]
async fn silence_ends_in_time() {
    let (mut silent, mut stalled) = (timeouts(), timeouts());
    (silent.first_byte, stalled.idle) = (Duration::from_millis(80), Duration::from_millis(80));
    let service = Service::new([
        Reply::Silence,
        Reply::Silence,
        Reply::Stall(TEXT.to_owned()),
    ])
    .await;
    for (streaming, timeouts, expected) in [
        (false, silent, "80 ms"),
        (true, silent, "80 ms"),
        (true, stalled, ""),
    ] {
        let error = ask(&service.limited_openai(streaming, timeouts, once()))
            .await
            .unwrap_err();
        assert!(
            matches!(&error, ProviderError::Timeout { message, .. } if message.contains(expected)),
            "{error:?}"
        );
    }
    assert_eq!(service.requests(), 3);
}

#[tokio::test]
async fn a_pause_without_end_is_past_every_deadline() {
    let mut endless = retry_policy();
    (endless.first_delay, endless.longest_delay) = (Duration::MAX, Duration::MAX);
    let service = Service::new([service::json(503, "busy"), answer()]).await;
    let provider = service.limited_openai(false, timeouts(), endless);
    let deadline = Instant::now() + Duration::from_secs(60);
    let error = ask_until(&provider, Some(deadline), None)
        .await
        .unwrap_err();
    assert!(
        matches!(error, ProviderError::Status { status: 503, .. }),
        "{error:?}"
    );
}

#[tokio::test]
async fn no_request_is_sent_after_the_deadline() {
    // The service requests a pause that ends after the deadline.
    let busy = || service::json(503, "busy").with_header("retry-after: 50");
    let service = Service::new([busy(), busy(), Reply::Silence]).await;
    let provider = service.openai(false);
    let deadline = Instant::now() + Duration::from_secs(30);
    let error = ask_until(&provider, Some(deadline), None)
        .await
        .unwrap_err();
    assert!(
        matches!(error, ProviderError::Status { status: 503, .. }),
        "{error:?}"
    );
    assert_eq!(service.requests(), 1);

    let service = Service::new([Reply::Silence]).await;
    let deadline = Instant::now() + Duration::from_millis(50);
    let error = ask_until(&service.openai(true), Some(deadline), None)
        .await
        .unwrap_err();
    assert!(matches!(error, ProviderError::Timeout { .. }), "{error:?}");
}

#[tokio::test]
async fn a_stream_that_ends_early_is_no_turn() {
    let service = Service::new([events(TEXT), events(TEXT), events(TEXT)]).await;
    let error = ask(&service.openai(true)).await.unwrap_err();
    assert!(
        matches!(error, ProviderError::Malformed { .. }),
        "{error:?}"
    );
    assert_eq!(service.requests(), 3, "it is repeated like a reset");
}

#[tokio::test]
async fn a_turn_whose_text_was_sent_is_retried_and_its_text_withdrawn() {
    let error = "data: {\"error\":{\"message\":\"overloaded\",\"code\":503}}\n\n";
    let service = Service::new([events(format!("{TEXT}{error}")), answer()]).await;
    let sent = std::sync::Mutex::new(String::new());
    let send = |text: &str| sent.lock().unwrap().push_str(text);
    let outcome = ask_until(&service.openai(true), None, Some(&send)).await;
    assert_eq!(outcome.unwrap().message.to_text(), "ok");
    assert_eq!(
        (sent.lock().unwrap().as_str(), service.requests()),
        ("sook", 2)
    );
}

#[test]
fn options_that_cannot_work_are_refused_with_what_to_give() {
    let options = || ProviderOptions {
        key: Some(key_file()),
        ..ProviderOptions::default()
    };
    let refusal = |options: &ProviderOptions| Remote::openai(options).unwrap_err().to_string();
    let text = refusal(&options());
    assert!(
        text.contains("name of a model") && text.contains("--model"),
        "{text}"
    );
    for url in [
        "localhost",
        "http://user:word@host",
        "http://host/?key=x",
        "ftp://host",
        "http://",
    ] {
        let text = refusal(&ProviderOptions {
            model: Some("m".into()),
            base_url: Some(url.into()),
            ..options()
        });
        assert!(
            text.contains("base URL") && !text.contains("word"),
            "{text}"
        );
    }
    let unset = KeySource::Environment("TOOLCRIB_NO_SUCH_KEY".to_owned());
    assert!(
        refusal(&ProviderOptions {
            model: Some("m".into()),
            key: Some(unset),
            ..options()
        })
        .contains("TOOLCRIB_NO_SUCH_KEY")
    );
    let missing = KeySource::File("no/such/file".into());
    assert!(
        refusal(&ProviderOptions {
            model: Some("m".into()),
            key: Some(missing),
            ..options()
        })
        .contains("no/such/file")
    );
}

#[test]
fn every_provider_is_linked() {
    let names: Vec<_> = provider::list()
        .iter()
        .map(|submission| submission.name)
        .collect();
    assert_eq!(
        names,
        [
            "anthropic",
            "direct",
            "gemini",
            "ollama",
            "openai",
            "openai-responses",
            "scripted"
        ]
    );
}

async fn ask(provider: &Remote) -> Result<Turn, ProviderError> {
    ask_until(provider, None, None).await
}

async fn ask_until(
    provider: &Remote,
    deadline: Option<Instant>,
    text_sink: Option<TextSink<'_>>,
) -> Result<Turn, ProviderError> {
    let (messages, tools) = ([Message::text(Role::User, "go")], ToolSet::default());
    let token = CancellationToken::new();
    let mut request = Request {
        deadline,
        ..Request::new(&messages, &tools, &token)
    };
    request.text_sink = text_sink;
    provider.complete(request).await
}

/// A policy without retries.
fn once() -> RetryPolicy {
    let mut policy = retry_policy();
    policy.max_retries = 0;
    policy
}

fn answer() -> Reply {
    Api::Chat.answer(Way::Whole)
}

const TEXT: &str = "data: {\"id\":\"y\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"so\"},\"finish_reason\":null}]}\n\n";
