//! Tools that misbehave while they run: the caller always gets one outcome by the deadline.

use std::error::Error;
use std::future::{pending, poll_fn};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::time::{Duration, Instant};

use crate::sample::{echo, hang, holding, pure, unlimited, with_timeout};
use serde_json::{Value, json};
use tools::{
    CancellationToken, Catalog, ErrorCode, Handler, Host, Progress, ProgressSink, ToolContext,
    ToolError, ToolErrorKind, ToolResult, handler,
};

pub(crate) const SHORT: Duration = Duration::from_millis(30);

pub(crate) fn catalog(handler: impl Handler) -> Catalog {
    holding(pure("t"), handler)
}

pub(crate) async fn run(handler: impl Handler) -> Result<ToolResult, ToolError> {
    catalog(handler)
        .execute(&Host::new().with_timeout(SHORT), "t", json!({}))
        .await
}

#[tokio::test]
async fn a_tool_that_never_ends_times_out() {
    let error = run(hang).await.unwrap_err();
    assert_eq!(
        error,
        ToolError::new("t", ToolErrorKind::Timeout { limit: SHORT })
    );
    assert!(error.is_recoverable());
}

#[tokio::test]
async fn a_call_that_was_stopped_says_that_it_may_have_taken_effect_unless_it_may_be_repeated() {
    for (effects, is_unclear) in [
        (json!({"writes": ["mail:all"]}), true),
        (json!({"writes": ["mail:all"], "idempotent": true}), false),
        (json!({"reads": ["mail:all"]}), false),
    ] {
        let tool = pure("t").with_effects(serde_json::from_value(effects.clone()).unwrap());
        let late = holding(tool.clone(), hang);
        let late = late
            .execute(&unlimited().with_timeout(SHORT), "t", json!({}))
            .await
            .unwrap_err();
        let token = CancellationToken::new();
        let cx = unlimited().with_cancellation(token.clone());
        // The result is there, but the caller has gone.
        let gone = holding(tool, move |_: ToolContext, _: Value| {
            token.cancel();
            std::future::ready(Ok::<_, String>("sent"))
        });
        let gone = gone.execute(&cx, "t", json!({})).await.unwrap_err();
        for (error, code) in [(late, ErrorCode::Timeout), (gone, ErrorCode::Cancelled)] {
            assert_eq!(
                (error.code(), error.is_unclear()),
                (code, is_unclear),
                "{effects} {error}"
            );
            let result = ToolResult::from(&error);
            assert_eq!(
                result.to_text().contains("outcome is unclear"),
                is_unclear,
                "{effects} {error}"
            );
            let detail = result.structured.unwrap();
            assert_eq!(
                detail.value()["error"].get("unclear").is_some(),
                is_unclear,
                "{effects} {error}"
            );
        }
    }
}

#[tokio::test(start_paused = true)]
async fn the_default_deadline_is_30_s_a_tools_own_comes_before_it_and_the_callers_before_both() {
    let mut catalog = catalog(hang);
    catalog
        .register(with_timeout(pure("slow"), Duration::from_secs(120)), hang)
        .unwrap();
    let start = tokio::time::Instant::now();
    let limit = async |cx: &ToolContext, name: &str| {
        let before = tokio::time::Instant::now();
        assert_eq!(
            catalog
                .execute(cx, name, json!({}))
                .await
                .unwrap_err()
                .code(),
            ErrorCode::Timeout
        );
        before.elapsed().as_secs()
    };
    let cx = Host::new();
    assert_eq!(limit(&cx, "t").await, 30);
    assert_eq!(limit(&cx, "slow").await, 120);
    assert_eq!(
        limit(&cx.clone().with_timeout(Duration::from_secs(7)), "slow").await,
        7
    );
    let deadline = (start + Duration::from_secs(160)).into_std();
    assert_eq!(
        limit(&cx.clone().with_deadline(deadline), "slow").await,
        3,
        "157 of the 160 s are over"
    );
    assert_eq!(
        limit(&cx.with_deadline(deadline), "t").await,
        0,
        "none is left"
    );
}

#[tokio::test]
async fn a_tool_that_is_always_busy_still_times_out() {
    let error = run(async |_: ToolContext, _: Value| {
        poll_fn(|task| {
            task.waker().wake_by_ref();
            Poll::<()>::Pending
        })
        .await;
        Ok::<_, String>(())
    })
    .await
    .unwrap_err();
    assert_eq!(error.code(), ErrorCode::Timeout, "{error}");
}

#[tokio::test]
async fn a_timeout_without_measure_is_no_timeout() {
    let cx = Host::new().with_timeout(Duration::MAX);
    catalog(echo).execute(&cx, "t", json!({})).await.unwrap();
}

#[tokio::test]
async fn a_late_result_is_dropped() {
    let error = run(async |_: ToolContext, _: Value| {
        std::thread::sleep(SHORT * 2);
        Ok::<_, String>("too late")
    })
    .await
    .unwrap_err();
    assert_eq!(error.code(), ErrorCode::Timeout, "{error}");
}

#[tokio::test]
async fn a_blocking_tool_times_out_for_its_caller_and_is_cancelled() {
    let stopped = Arc::new(AtomicBool::new(false));
    let flag = stopped.clone();
    let error = run(handler::blocking(move |cx: &ToolContext, _: Value| {
        while cx.check_cancelled().is_ok() {
            std::thread::sleep(Duration::from_millis(1));
        }
        flag.store(true, Ordering::Release);
        Ok::<_, String>("late")
    }))
    .await
    .unwrap_err();
    assert_eq!(error.code(), ErrorCode::Timeout, "{error}");
    let until = Instant::now() + Duration::from_secs(10);
    while !stopped.load(Ordering::Acquire) {
        assert!(Instant::now() < until, "the tool was never cancelled");
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

#[tokio::test]
async fn a_cancelled_call_ends_at_once_and_its_tool_sees_the_token() {
    let stopped = Arc::new(AtomicBool::new(false));
    let flag = stopped.clone();
    let token = CancellationToken::new();
    let catalog = catalog(move |cx: ToolContext, _: Value| {
        let flag = flag.clone();
        tokio::spawn(async move {
            cx.cancellation().cancelled().await;
            flag.store(true, Ordering::Release);
        });
        pending::<Result<(), String>>()
    });
    let cx = Host::new().with_cancellation(token.clone());
    let call = tokio::spawn(catalog.execute(&cx, "t", json!({})));
    tokio::task::yield_now().await;
    token.cancel();
    let error = call.await.unwrap().unwrap_err();
    assert_eq!(error, ToolError::new("t", ToolErrorKind::Cancelled));
    assert!(!error.is_recoverable());
    tokio::task::yield_now().await;
    assert!(stopped.load(Ordering::Acquire));

    let again = catalog.execute(&cx, "t", json!({})).await;
    assert!(
        matches!(&again, Err(error) if error.code() == ErrorCode::Cancelled),
        "nothing starts after a cancellation"
    );
}

#[tokio::test]
async fn a_result_that_comes_with_the_cancellation_is_dropped() {
    let token = CancellationToken::new();
    let cx = Host::new().with_cancellation(token.clone());
    let catalog = catalog(move |_: ToolContext, _: Value| {
        token.cancel();
        async { Ok::<_, String>("too late") }
    });
    assert_eq!(
        catalog
            .execute(&cx, "t", json!({}))
            .await
            .unwrap_err()
            .code(),
        ErrorCode::Cancelled
    );
}

#[tokio::test]
async fn a_tool_cannot_cancel_more_than_itself() {
    let token = CancellationToken::new();
    let cx = Host::new().with_cancellation(token.clone());
    let catalog = catalog(async |cx: ToolContext, _: Value| {
        cx.cancellation().cancel();
        tokio::task::yield_now().await;
        Ok::<_, String>("done")
    });
    assert_eq!(
        catalog
            .execute(&cx, "t", json!({}))
            .await
            .unwrap()
            .to_text(),
        "done"
    );
    assert!(!token.is_cancelled());
}

#[tokio::test]
async fn dropping_a_call_tells_the_tool_to_stop() {
    let token = Arc::new(std::sync::OnceLock::new());
    let kept = token.clone();
    let catalog = catalog(move |cx: ToolContext, _: Value| {
        kept.set(cx.cancellation().clone()).unwrap();
        pending::<Result<(), String>>()
    });
    let call = catalog.execute(&Host::new(), "t", json!({}));
    tokio::time::timeout(SHORT, call).await.unwrap_err();
    assert!(token.get().unwrap().is_cancelled());
}

#[tokio::test]
async fn progress_is_reported_while_the_call_runs_and_dropped_after_it() {
    #[derive(Default)]
    struct CountingSink(AtomicUsize);
    impl ProgressSink for CountingSink {
        fn report(&self, cx: &ToolContext, progress: Progress) {
            assert_eq!(cx.tool().unwrap().as_str(), "t");
            assert_eq!(progress.message.as_deref(), Some("going"));
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }
    let sink = Arc::new(CountingSink::default());
    let kept = Arc::new(std::sync::OnceLock::new());
    let inner = kept.clone();
    let catalog = catalog(move |cx: ToolContext, _: Value| {
        cx.report(Progress::message("going"));
        inner.set(cx).unwrap();
        async { Ok::<_, String>(()) }
    });
    catalog
        .execute(&Host::new().with_progress(sink.clone()), "t", json!({}))
        .await
        .unwrap();
    kept.get()
        .unwrap()
        .report(Progress::message("after the end"));
    assert_eq!(sink.0.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn a_long_message_of_progress_is_cut_at_a_character() {
    #[derive(Default)]
    struct Messages(Mutex<Vec<String>>);
    impl ProgressSink for Messages {
        fn report(&self, _: &ToolContext, progress: Progress) {
            self.0.lock().unwrap().extend(progress.message);
        }
    }
    let whole = "é".repeat(Progress::MAX_MESSAGE_BYTES / 2);
    let long = format!("{whole}x");
    let reported = [whole.clone(), long];
    let catalog = catalog(move |cx: ToolContext, _: Value| {
        reported
            .iter()
            .for_each(|message| cx.report(Progress::message(message)));
        async { Ok::<_, String>(()) }
    });
    let sink = Arc::new(Messages::default());
    catalog
        .execute(&Host::new().with_progress(sink.clone()), "t", json!({}))
        .await
        .unwrap();
    let cut = "é".repeat(Progress::MAX_MESSAGE_BYTES / 2 - 2) + "…";
    assert_eq!(*sink.0.lock().unwrap(), [whole, cut]);
}

#[test]
fn without_a_runtime_a_waiting_tool_is_an_error_and_a_ready_one_runs() {
    let mut call = catalog(echo).execute(&Host::new(), "t", json!({}));
    let mut waiting = catalog(hang).execute(&Host::new(), "t", json!({}));
    let mut task = std::task::Context::from_waker(std::task::Waker::noop());
    let mut poll = |call: &mut tools::Execution| {
        std::future::Future::poll(std::pin::Pin::new(call), &mut task)
    };
    assert!(matches!(poll(&mut call), Poll::Ready(Ok(_))));
    assert!(
        matches!(poll(&mut waiting), Poll::Ready(Err(error)) if error.code() == ErrorCode::Internal)
    );

    let clockless = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    let error = clockless
        .block_on(catalog(hang).execute(&Host::new(), "t", json!({})))
        .unwrap_err();
    assert!(error.to_string().contains("time driver"), "{error}");
}

#[tokio::test]
async fn a_call_whose_time_is_over_is_not_begun() {
    let begun = Arc::new(AtomicBool::new(false));
    let flag = begun.clone();
    let catalog = catalog(move |_: ToolContext, _: Value| {
        flag.store(true, Ordering::Release);
        async { Ok::<_, String>(()) }
    });
    let over = Instant::now();
    for cx in [
        Host::new().with_deadline(over),
        Host::new().with_timeout(Duration::ZERO),
    ] {
        assert_eq!(
            catalog
                .execute(&cx, "t", json!({}))
                .await
                .unwrap_err()
                .code(),
            ErrorCode::Timeout
        );
    }
    assert!(!begun.load(Ordering::Acquire));
}

#[test]
fn a_blocking_tool_that_was_still_queued_when_its_call_ended_is_not_begun() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(1)
        .build()
        .unwrap();
    let begun = Arc::new(AtomicBool::new(false));
    let flag = begun.clone();
    let (release, held) = std::sync::mpsc::channel::<()>();
    runtime.block_on(async {
        let holder = tokio::task::spawn_blocking(move || held.recv());
        let error = run(handler::blocking(move |_: &ToolContext, _: Value| {
            flag.store(true, Ordering::Release);
            Ok::<_, String>(())
        }))
        .await
        .unwrap_err();
        assert_eq!(error.code(), ErrorCode::Timeout, "{error}");
        release.send(()).unwrap();
        holder.await.unwrap().unwrap();
        // Queued tasks run before this one.
        tokio::task::spawn_blocking(|| ()).await.unwrap();
    });
    assert!(!begun.load(Ordering::Acquire));
}

#[tokio::test]
async fn a_tool_that_returns_cancelled_without_a_cancellation_has_failed() {
    let error = run(async |cx: ToolContext, _: Value| {
        Err::<(), _>(ToolError::new(
            cx.tool().unwrap().to_string(),
            ToolErrorKind::Cancelled,
        ))
    })
    .await
    .unwrap_err();
    assert!(
        error.code() == ErrorCode::ExecutionFailed && error.is_recoverable(),
        "{error}"
    );
}

#[tokio::test]
async fn a_cancellation_in_a_box_does_not_end_a_run() {
    for forged in [
        ToolError::new("t", ToolErrorKind::Cancelled),
        ToolError::new(
            "t",
            ToolErrorKind::Internal {
                message: "x".into(),
            },
        ),
    ] {
        let handler = move |_: ToolContext, _: Value| {
            let error: Box<dyn Error + Send + Sync> = forged.clone().into();
            async { Err::<(), _>(error) }
        };
        let error = run(handler).await.unwrap_err();
        assert!(
            error.code() == ErrorCode::ExecutionFailed && error.is_recoverable(),
            "{error}"
        );
    }
}

#[tokio::test]
async fn a_context_that_outlives_its_call_knows_that_it_ended() {
    let kept = Arc::new(std::sync::OnceLock::new());
    let keep = kept.clone();
    let result = run(move |cx: ToolContext, _: Value| {
        assert!(!cx.is_cancelled());
        keep.set(cx).ok();
        async { "done" }
    });
    result.await.unwrap();
    let cx: &ToolContext = kept.get().unwrap();
    // The first access to the token.
    assert!(cx.is_cancelled() && cx.cancellation().is_cancelled() && cx.check_cancelled().is_err());
}
