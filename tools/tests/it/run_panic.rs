//! Tools that panic while they run or are dropped.

use std::panic::panic_any;
use std::task::Poll;

use crate::run::{SHORT, catalog, run};
use crate::sample::{echo, pure};
use serde_json::{Value, json};
use tools::{
    ErrorCode, Handler, HandlerFuture, Host, Input, ToolContext, ToolError, ToolErrorKind,
    ToolResult, handler,
};

#[tokio::test]
async fn a_tool_that_panics_is_contained() {
    let formatted: fn() = || panic!("at {}", "once");
    let literal: fn() = || panic!("literal");
    let other: fn() = || panic_any(7);
    for (panics, message) in [
        (formatted, "at once"),
        (literal, "literal"),
        (other, "without a message"),
    ] {
        let error = run(move |_: ToolContext, _: Value| {
            panics();
            async { Ok::<_, String>(()) }
        })
        .await
        .unwrap_err();
        assert!(
            matches!(error.kind(), ToolErrorKind::Panicked { message: found, .. } if found.contains(message)),
            "{error}"
        );
    }
}

/// Panics on drop, unless the thread is already panicking.
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            panic!("on the way out");
        }
    }
}

#[tokio::test]
async fn a_panic_in_drop_is_contained_whatever_ends_the_call() {
    struct Future(Bomb, bool);
    impl std::future::Future for Future {
        type Output = Result<ToolResult, ToolError>;
        fn poll(
            self: std::pin::Pin<&mut Self>,
            _: &mut std::task::Context<'_>,
        ) -> Poll<Self::Output> {
            if self.1 {
                Poll::Ready(Ok(ToolResult::text("done")))
            } else {
                Poll::Pending
            }
        }
    }
    struct Dropping(bool);
    impl Handler for Dropping {
        fn call<'a>(&'a self, _: ToolContext, _: Input) -> HandlerFuture<'a> {
            HandlerFuture::new(Future(Bomb, self.0))
        }
    }
    assert_eq!(
        run(Dropping(true)).await.unwrap_err().code(),
        ErrorCode::Panicked
    );
    assert_eq!(
        run(Dropping(false)).await.unwrap_err().code(),
        ErrorCode::Timeout
    );

    let abandoned = catalog(Dropping(false)).execute(&Host::new(), "t", json!({}));
    tokio::time::timeout(SHORT, abandoned).await.unwrap_err();
}

#[tokio::test]
async fn a_panic_whose_payload_panics_is_contained() {
    let error = run(async |_: ToolContext, _: Value| -> Result<(), String> { panic_any(Bomb) })
        .await
        .unwrap_err();
    assert_eq!(error.code(), ErrorCode::Panicked, "{error}");
}

#[tokio::test]
async fn a_catalog_works_on_after_a_panic() {
    let mut catalog =
        catalog(async |_: ToolContext, _: Value| -> Result<(), String> { panic!("once") });
    catalog
        .execute(&Host::new(), "t", json!({}))
        .await
        .unwrap_err();
    catalog.register(pure("u"), echo).unwrap();
    catalog.execute(&Host::new(), "u", json!({})).await.unwrap();
}

#[tokio::test]
async fn a_blocking_tool_that_panics_is_contained_with_its_own_message() {
    let panics = handler::blocking(|_: &ToolContext, _: Value| -> Result<(), String> {
        panic!("in a thread")
    });
    let error = catalog(panics)
        .execute(&Host::new(), "t", json!({}))
        .await
        .unwrap_err();
    assert!(
        matches!(error.kind(), ToolErrorKind::Panicked { message, .. } if message == "in a thread"),
        "{error}"
    );
}
