//! Attempts whose reply broke off, which services bill.

use std::sync::atomic::{AtomicUsize, Ordering};

use agent::{Provider, ProviderError, Request, ToolSet, Turn};
use agent_models::Remote;
use serde_json::json;
use tools::CancellationToken;
use tools::protocol::wire::Format;

use crate::service::wire::{self, ALL, Block};
use crate::service::{Reply, Service, json as reply};
use crate::workshop::prompt;

fn ok(format: Format, streaming: bool) -> Reply {
    wire::reply(format, streaming, &[Block::Text("ok")])
}

/// Returns a reply whose connection breaks off, a stream after its text.
fn broken(format: Format, streaming: bool) -> Reply {
    if !streaming {
        return ok(format, false).broken();
    }
    let (body, end) = wire::body_and_end(format, &[Block::Text("so"), Block::Text("on")]);
    wire::stream_of(format, &body[..=body[..end].rfind('\n').unwrap()]).broken()
}

/// Returns the number of requests, the number of replies that broke off, and the outcome.
async fn complete(
    format: Format,
    streaming: bool,
    replies: impl IntoIterator<Item = Reply>,
) -> (usize, usize, Result<Turn, ProviderError>) {
    let service = Service::new(replies).await;
    let model: Remote = wire::remote(format, &wire::options(format, &service, streaming));
    let lost = AtomicUsize::new(0);
    let count = || {
        lost.fetch_add(1, Ordering::Relaxed);
    };
    let (messages, tools, token) = (prompt(), ToolSet::default(), CancellationToken::new());
    let mut request = Request::new(&messages, &tools, &token);
    request.lost_reply_sink = Some(&count);
    let outcome = model.complete(request).await;
    (service.requests(), lost.into_inner(), outcome)
}

#[tokio::test]
async fn each_reply_that_breaks_off_is_reported() {
    for format in ALL {
        for streaming in [false, true] {
            let broken = || broken(format, streaming);
            let (requests, lost, outcome) = complete(
                format,
                streaming,
                [broken(), broken(), ok(format, streaming)],
            )
            .await;
            assert!(outcome.is_ok(), "{format} {streaming} {outcome:?}");
            assert_eq!((requests, lost), (3, 2), "{format} {streaming}");
            let (requests, lost, outcome) =
                complete(format, streaming, (0..20).map(|_| broken())).await;
            assert!(
                matches!(outcome, Err(ProviderError::Connection { .. })),
                "{format} {streaming} {outcome:?}"
            );
            assert!(
                requests > 1 && lost == requests,
                "{format} {streaming} {requests} {lost}"
            );
        }
    }
}

#[tokio::test]
async fn an_attempt_without_a_reply_is_not_reported() {
    for format in ALL {
        for streaming in [false, true] {
            let error =
                json!({"type": "error", "error": {"type": "overloaded_error", "message": "x"}});
            let refused = if streaming {
                wire::stream(format, &[error])
            } else {
                reply(200, error)
            };
            for first in [Reply::Reset, reply(503, "x"), refused] {
                let (requests, lost, outcome) =
                    complete(format, streaming, [first, ok(format, streaming)]).await;
                assert!(outcome.is_ok(), "{format} {streaming} {outcome:?}");
                assert_eq!((requests, lost), (2, 0), "{format} {streaming}");
            }
        }
    }
}
