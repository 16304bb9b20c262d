//! Retry: which calls are repeated, how often, and for how long.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use crate::sample::{MAX_BLOCKING, holding, pure, unlimited as cx};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};
use tools::handler::blocking;
use tools::protocol::Rate;
use tools::{
    CancellationToken, Catalog, ErrorCode, Limits, Tool, ToolContext, ToolError, ToolErrorKind,
    ToolResult,
};

fn tool(effects: Value) -> Tool {
    pure("t").with_effects(serde_json::from_value(effects).unwrap())
}

fn reads() -> Tool {
    tool(json!({"reads": ["fs:a"]}))
}

fn retries(max_retries: u32) -> Limits {
    Limits {
        max_retries: Some(max_retries),
        ..Limits::default()
    }
}

/// Fails with a transient error the given number of times, then returns the number of the attempt. Counts its calls.
fn flaky(tool: Tool, failures: u32) -> (Catalog, Arc<AtomicU32>) {
    let runs = Arc::new(AtomicU32::new(0));
    let counted = runs.clone();
    let handler = move |cx: ToolContext, _: Value| {
        let run = counted.fetch_add(1, Ordering::SeqCst);
        async move {
            if run < failures {
                Err(ToolError::transient("busy"))
            } else {
                Ok(json!(cx.attempt()))
            }
        }
    };
    let catalog = holding(tool, handler);
    (catalog, runs)
}

async fn run(catalog: &Catalog, cx: &ToolContext) -> Result<ToolResult, ToolError> {
    catalog.execute(cx, "t", json!({})).await
}

#[tokio::test(start_paused = true)]
async fn a_read_that_fails_in_passing_is_repeated_twice() {
    let (catalog, runs) = flaky(reads(), 2);
    let start = Instant::now();
    assert_eq!(
        run(&catalog, &cx()).await.unwrap().structured,
        Some(json!(3).into())
    );
    // 100 and 200 ms, each with up to 100 % jitter, and 1 ms of timer precision.
    assert!(
        (300..=602).contains(&start.elapsed().as_millis()),
        "{:?}",
        start.elapsed()
    );

    let (catalog, _) = flaky(reads(), 3);
    assert_eq!(runs.load(Ordering::SeqCst), 3);
    let error = run(&catalog, &cx()).await.unwrap_err();
    assert_eq!(
        error,
        ToolError::new(
            "t",
            ToolErrorKind::Transient {
                message: "busy".into(),
                retry_after: None
            }
        )
    );
    assert!(
        error.is_recoverable() && error.to_string().contains("try again"),
        "{error}"
    );
}

#[tokio::test(start_paused = true)]
async fn only_repeatable_calls_are_retried() {
    let many = retries(9);
    for (effects, may_be) in [
        (json!({"reads": ["fs:a"]}), true),
        (json!({"writes": ["fs:a"], "idempotent": true}), true),
        (json!({"destroys": ["fs:a"], "idempotent": true}), true),
        (json!({"writes": ["fs:a"]}), false),
        (json!({"reads": ["fs:a"], "writes": ["fs:b"]}), false),
        (json!({"open_world": true}), false),
        (json!(null), false),
        (json!("pure"), false),
    ] {
        let (catalog, runs) = flaky(tool(effects.clone()).with_limits(many.clone()), 1);
        assert_eq!(run(&catalog, &cx()).await.is_ok(), may_be, "{effects}");
        assert_eq!(
            runs.load(Ordering::SeqCst),
            1 + u32::from(may_be),
            "{effects}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_tools_limits_say_how_often() {
    for count in [0, 1, 5] {
        let (catalog, runs) = flaky(reads().with_limits(retries(count)), u32::MAX);
        run(&catalog, &cx()).await.unwrap_err();
        assert_eq!(runs.load(Ordering::SeqCst), 1 + count);
    }
}

#[tokio::test(start_paused = true)]
async fn other_failures_are_final() {
    let runs = Arc::new(AtomicU32::new(0));
    let counted = runs.clone();
    let fails = move |_: ToolContext, _: Value| {
        counted.fetch_add(1, Ordering::SeqCst);
        async { Err::<(), _>("no such file") }
    };
    let catalog = holding(reads(), fails);
    assert_eq!(
        run(&catalog, &cx()).await.unwrap_err().code(),
        ErrorCode::ExecutionFailed
    );
    assert_eq!(runs.load(Ordering::SeqCst), 1);
}

#[tokio::test(start_paused = true)]
async fn a_tool_says_when_and_the_deadline_says_whether() {
    let busy = |cx: ToolContext, _: Value| async move {
        match cx.attempt() {
            1 => Err(ToolError::transient("busy").with_retry_after(Duration::from_secs(3))),
            attempt => Ok(attempt),
        }
    };
    let catalog = holding(reads(), busy);
    let start = Instant::now();
    run(&catalog, &cx()).await.unwrap();
    assert_eq!(start.elapsed().as_secs(), 3);

    let start = Instant::now();
    let error = run(&catalog, &cx().with_timeout(Duration::from_secs(3)))
        .await
        .unwrap_err();
    assert_eq!(
        (error.retry_after(), start.elapsed().as_millis()),
        (Some(Duration::from_secs(3)), 0)
    );
    assert_eq!(
        ToolResult::from(&error).structured.unwrap()["error"]["retry_after_ms"],
        json!(3000)
    );
}

#[tokio::test(start_paused = true)]
async fn all_attempts_have_one_deadline() {
    let (catalog, runs) = flaky(reads().with_limits(retries(u32::MAX)), u32::MAX);
    let start = Instant::now();
    let error = run(&catalog, &cx().with_timeout(Duration::from_secs(20)))
        .await
        .unwrap_err();
    assert_eq!(error.code(), ErrorCode::Transient, "{error}");
    assert!(start.elapsed().as_secs() <= 20 && runs.load(Ordering::SeqCst) > 5);
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_call_does_not_wait_for_its_next_attempt() {
    let (catalog, runs) = flaky(reads(), u32::MAX);
    let token = CancellationToken::new();
    let cx = cx().with_cancellation(token.clone());
    let start = Instant::now();
    let (outcome, ()) = tokio::join!(run(&catalog, &cx), async {
        sleep(Duration::from_millis(50)).await;
        token.cancel();
    });
    assert_eq!(outcome, Err(ToolError::new("t", ToolErrorKind::Cancelled)));
    assert_eq!(
        (start.elapsed().as_millis(), runs.load(Ordering::SeqCst)),
        (50, 1)
    );
}

#[tokio::test(start_paused = true)]
async fn no_call_gets_between_two_attempts() {
    let effects = json!({"writes": ["fs:a"], "idempotent": true});
    let (mut catalog, _) = flaky(tool(effects), 1);
    let ends = Arc::new(AtomicU32::new(0));
    let seen = ends.clone();
    let other = move |_: ToolContext, _: Value| {
        let seen = seen.clone();
        async move { json!(seen.load(Ordering::SeqCst)) }
    };
    catalog
        .register(
            pure("other").with_effects(tool(json!({"writes": ["fs:a"]})).effects),
            other,
        )
        .unwrap();
    let cx = cx();
    let ((), second) = tokio::join!(
        async {
            run(&catalog, &cx).await.unwrap();
            ends.store(1, Ordering::SeqCst);
        },
        async { catalog.execute(&cx, "other", json!({})).await.unwrap() },
    );
    assert_eq!(
        second.structured,
        Some(json!(1).into()),
        "the other one began after both attempts"
    );
}

#[tokio::test(start_paused = true)]
async fn every_attempt_takes_a_token_of_the_rate() {
    let limits = Limits {
        rate: Some(Rate {
            calls: 1,
            per_ms: 4000,
        }),
        ..Limits::default()
    };
    let (catalog, _) = flaky(reads().with_limits(limits), 1);
    let start = Instant::now();
    run(&catalog, &cx()).await.unwrap();
    assert_eq!(start.elapsed().as_secs(), 4);
}

#[tokio::test(start_paused = true)]
async fn a_task_left_running_ends_with_its_attempt() {
    let leftover = Arc::new(AtomicU32::new(0));
    let seen = leftover.clone();
    let leaves = move |cx: ToolContext, _: Value| {
        let seen = seen.clone();
        async move {
            if cx.attempt() > 1 {
                return Ok(cx.is_cancelled());
            }
            let token = cx.cancellation().clone();
            tokio::spawn(async move {
                token.cancelled().await;
                seen.fetch_add(1, Ordering::SeqCst);
            });
            Err(ToolError::transient("busy"))
        }
    };
    let catalog = holding(reads(), leaves);
    assert_eq!(
        run(&catalog, &cx()).await.unwrap().structured,
        Some(json!(false).into())
    );
    assert_eq!(leftover.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn each_attempt_of_a_blocking_tool_takes_a_place_of_its_own() {
    let (live, most) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0)));
    let (counted, seen) = (live.clone(), most.clone());
    let blocks = move |cx: &ToolContext, _: Value| {
        if cx.attempt() == 1 {
            return Err(ToolError::transient("busy"));
        }
        seen.fetch_max(counted.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
        std::thread::sleep(Duration::from_millis(250));
        counted.fetch_sub(1, Ordering::SeqCst);
        Ok("done")
    };
    let catalog = holding(reads(), blocking(blocks));
    let catalog = Arc::new(catalog);
    let call = |_| tokio::spawn(tools::call::execute(catalog.clone(), &cx(), "t", json!({})));
    let calls: Vec<_> = (0..2 * MAX_BLOCKING).map(call).collect();
    for call in calls {
        assert_eq!(call.await.unwrap().unwrap().to_text(), "done");
    }
    let most = usize::try_from(most.load(Ordering::SeqCst)).unwrap();
    assert!(most <= MAX_BLOCKING, "{most} at once");
}
