//! Panics of providers, sinks and tools are caught, and the conversation is kept.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::workshop::{EventLog, answer, calling, catalog, playing, scripted, session, tool};
use agent::{
    Driver, DriverError, Event, Outcome, Provider, ProviderError, ProviderInfo, Request, Turn,
    TurnFuture,
};
use serde_json::Value;
use tools::{CancellationToken, Progress, ToolContext};

/// A payload for panics that panics once more when it is thrown away.
struct PanicsWhenDropped;

impl Drop for PanicsWhenDropped {
    fn drop(&mut self) {
        // Two panics at once would end the process.
        if !std::thread::panicking() {
            panic!("dropped");
        }
    }
}

#[tokio::test]
async fn a_provider_that_panics_fails_the_run_alone() {
    let error = playing(|_| panic!("on purpose"))
        .run(&mut session(&catalog(["x"])), "go")
        .await
        .unwrap_err();
    let DriverError::Provider(ProviderError::Panicked { provider, message }) = error else {
        panic!("{error}")
    };
    assert_eq!(
        (provider.as_str(), message.as_str()),
        ("plays", "on purpose")
    );
}

/// A driver whose provider takes one good turn, and panics in a way of its own at the next.
fn panicking_later(how: fn() -> TurnFuture<'static>) -> Driver {
    let first = || Box::pin(std::future::ready(Ok(calling(&["x"]))));
    playing(move |request| {
        if request.messages.len() == 1 {
            first()
        } else {
            how()
        }
    })
}

#[tokio::test]
async fn no_panic_of_a_provider_loses_the_conversation() {
    let ways: [fn() -> TurnFuture<'static>; 4] = [
        || panic!("made"),
        || Box::pin(async { panic!("polled") }),
        || Box::pin(async { std::panic::panic_any(PanicsWhenDropped) }),
        || {
            let remains = PanicsWhenDropped;
            Box::pin(std::future::poll_fn(move |_| {
                let _remains = &remains;
                std::task::Poll::Ready(Ok(Turn::answer("dropped after this")))
            }))
        },
    ];
    for how in ways {
        let mut session = session(&catalog(["x"]));
        let error = panicking_later(how)
            .run(&mut session, "go")
            .await
            .unwrap_err();
        assert!(
            matches!(error, DriverError::Provider(ProviderError::Panicked { .. })),
            "{error}"
        );
        assert_eq!(session.messages().len(), 3);
    }
}

#[tokio::test]
async fn a_provider_that_panics_when_it_is_cancelled_loses_nothing() {
    let (token, log) = (CancellationToken::new(), EventLog::default());
    let how: fn() -> TurnFuture<'static> = || {
        let remains = PanicsWhenDropped;
        Box::pin(async move {
            let _remains = remains;
            std::future::pending().await
        })
    };
    let driver = panicking_later(how)
        .with_cancellation(token.clone())
        .with_events(log.clone());
    let mut session = session(&catalog(["x"]));
    let cancel = async {
        while !log
            .events()
            .iter()
            .any(|event| matches!(event, Event::Result { .. }))
        {
            tokio::task::yield_now().await;
        }
        token.cancel();
    };
    let (summary, ()) = tokio::join!(driver.run(&mut session, "go"), cancel);
    assert_eq!(summary.unwrap().outcome, Outcome::Cancelled);
    assert_eq!(session.messages().len(), 3);
}

#[tokio::test]
async fn a_provider_that_panics_with_its_name_fails_the_run_alone() {
    struct Nameless;
    impl Provider for Nameless {
        fn about(&self) -> &ProviderInfo {
            panic!("no name")
        }
        fn complete<'a>(&'a self, _request: Request<'a>) -> TurnFuture<'a> {
            panic!("on purpose")
        }
    }
    let error = Driver::new(Arc::new(Nameless))
        .run(&mut session(&catalog(["x"])), "go")
        .await
        .unwrap_err();
    assert!(
        matches!(error, DriverError::Provider(ProviderError::Panicked { .. })),
        "{error}"
    );
}

#[tokio::test]
async fn a_sink_that_panics_hears_no_more_and_the_run_goes_on() {
    let mut catalog = catalog(["x"]);
    let reports = async |cx: ToolContext, _: Value| {
        cx.report(Progress::message("half"));
        "done".to_owned()
    };
    catalog.register(tool("reports"), reports).unwrap();
    // The sink panics at each event in turn.
    for fatal in 1..=8 {
        let received = Arc::new(AtomicUsize::new(0));
        let counter = received.clone();
        let sink = move |_: Event| {
            if counter.fetch_add(1, Ordering::Relaxed) + 1 == fatal {
                std::panic::panic_any(PanicsWhenDropped);
            }
        };
        let driver = scripted([
            calling(&["reports", "x"]),
            Turn::answer("ok"),
            Turn::answer("again"),
        ])
        .with_events(sink);
        let mut session = session(&catalog);
        let summary = driver.run(&mut session, "go").await.unwrap();
        assert_eq!((answer(&summary.outcome), summary.failed_calls), ("ok", 0));
        assert_eq!(session.messages().len(), 4);
        assert_eq!(
            received.load(Ordering::Relaxed),
            fatal.min(7),
            "7 events are sent"
        );

        driver.run(&mut session, "go on").await.unwrap();
        assert_eq!(
            received.load(Ordering::Relaxed),
            fatal.min(7) + if fatal == 8 { 1 } else { 2 },
            "a new run"
        );
    }
}
