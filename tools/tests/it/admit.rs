//! Admission: which calls run side by side, which wait, and which fail with a time to retry.

use std::sync::Arc;
use std::time::Duration;

use crate::sample::{Log, echo, echoing, holding, pure, unlimited as cx};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};
use tools::call::{CallOrder, CallPlace};
use tools::protocol::Rate;
use tools::{
    Admission, CancellationToken, Catalog, Effects, ErrorCode, Host, Limits, RegisterError, Tool,
    ToolContext, ToolError, ToolErrorKind,
};

const STEP: Duration = Duration::from_millis(100);

fn tool(name: &str, effects: Value) -> Tool {
    let parameters =
        json!({"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]});
    Tool::new(name, "Works on a file.", parameters)
        .unwrap()
        .with_effects(serde_json::from_value(effects).unwrap())
}

/// Tools that run for one [`STEP`]: `read` and `write` a path, `undeclared`, and `limited` to one call at a time.
fn catalog(log: &Log) -> Catalog {
    let mut catalog = Catalog::new();
    for (name, effects, limits) in [
        ("read", json!({"reads": ["fs:{path}"]}), Limits::default()),
        ("write", json!({"writes": ["fs:{path}"]}), Limits::default()),
        ("undeclared", json!(null), Limits::default()),
        (
            "limited",
            json!("pure"),
            Limits {
                max_concurrency: Some(1),
                ..Limits::default()
            },
        ),
    ] {
        let log = log.clone();
        let work = move |_: ToolContext, arguments: Value| {
            let (log, what) = (
                log.clone(),
                format!("{name} {}", arguments["path"].as_str().unwrap()),
            );
            async move {
                log.note(format!("+{what}"));
                sleep(STEP).await;
                log.note(format!("-{what}"));
            }
        };
        catalog
            .register(tool(name, effects).with_limits(limits), work)
            .unwrap();
    }
    catalog
}

fn workshop() -> (Log, Catalog, Host) {
    let log = Log::default();
    (log.clone(), catalog(&log), cx())
}

async fn call(
    catalog: &Catalog,
    cx: &ToolContext,
    name: &str,
    path: &str,
) -> Result<(), ToolError> {
    catalog
        .execute(cx, name, json!({"path": path}))
        .await
        .map(drop)
}

#[tokio::test(start_paused = true)]
async fn writers_of_one_path_go_one_by_one_in_the_order_of_arrival() {
    let (log, catalog, cx) = workshop();
    let (a, b, c) = tokio::join!(
        call(&catalog, &cx, "write", "a"),
        call(&catalog, &cx, "write", "./a/b/"),
        call(&catalog, &cx, "read", "a"),
    );
    a.and(b).and(c).unwrap();
    assert_eq!(
        log.taken(),
        [
            "+write a",
            "-write a",
            "+write ./a/b/",
            "-write ./a/b/",
            "+read a",
            "-read a"
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn calls_without_conflict_run_side_by_side() {
    let (_, catalog, cx) = workshop();
    let start = Instant::now();
    let (a, b, c, d) = tokio::join!(
        call(&catalog, &cx, "read", "a"),
        call(&catalog, &cx, "read", "a"),
        call(&catalog, &cx, "write", "ab"),
        call(&catalog, &cx, "write", "b/c"),
    );
    a.and(b).and(c).and(d).unwrap();
    assert_eq!(start.elapsed().as_millis(), STEP.as_millis());
}

#[tokio::test(start_paused = true)]
async fn a_writer_that_waits_is_not_overtaken_by_readers_but_by_those_it_does_not_concern() {
    let (log, catalog, cx) = workshop();
    let _ = tokio::join!(
        call(&catalog, &cx, "read", "a"),
        call(&catalog, &cx, "write", "a"),
        call(&catalog, &cx, "read", "a"),
        call(&catalog, &cx, "write", "b"),
    );
    let log = log.taken();
    let at = |what: &str| log.iter().position(|line| line == what).unwrap();
    assert_eq!(log[..2], ["+read a", "+write b"]);
    assert!(
        at("-write a") < log.iter().rposition(|line| line == "+read a").unwrap(),
        "{log:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn sessions_share_the_queue_of_their_catalog_and_its_copies() {
    let log = Log::default();
    let catalog = catalog(&log);
    let copy = catalog.clone();
    let start = Instant::now();
    let (one, two) = (cx().with_session("1"), cx().with_session("2"));
    let (a, b) = tokio::join!(
        call(&catalog, &one, "write", "a"),
        call(&copy, &two, "write", "a")
    );
    a.and(b).unwrap();
    assert_eq!(start.elapsed().as_millis(), 2 * STEP.as_millis());

    // In another domain the same path is another file. The latter of two counts.
    let (one, two) = (
        one.with_domain("fs", "root 2").with_domain("fs", "root 1"),
        two.with_domain("fs", "root 2"),
    );
    let start = Instant::now();
    let (a, b) = tokio::join!(
        call(&catalog, &one, "write", "a"),
        call(&copy, &two, "write", "a")
    );
    a.and(b).unwrap();
    assert_eq!(start.elapsed().as_millis(), STEP.as_millis());
}

#[tokio::test(start_paused = true)]
async fn catalogs_can_share_one_admission() {
    let log = Log::default();
    let admission = Arc::new(Admission::default());
    let with = |log: &Log| {
        let mut shared = Catalog::new().with_admission(admission.clone());
        let log = log.clone();
        let work = move |_: ToolContext, _: Value| {
            let log = log.clone();
            async move {
                log.note("+".to_owned());
                sleep(STEP).await;
                log.note("-".to_owned());
            }
        };
        shared
            .register(tool("write", json!({"writes": ["fs:{path}"]})), work)
            .unwrap();
        shared
    };
    let (one, two, cx) = (with(&log), with(&log), cx());
    let (a, b) = tokio::join!(call(&one, &cx, "write", "a"), call(&two, &cx, "write", "a"));
    a.and(b).unwrap();
    assert_eq!(log.taken(), ["+", "-", "+", "-"]);
}

#[tokio::test(start_paused = true)]
async fn a_tool_with_undeclared_effects_conflicts_with_itself() {
    let (log, catalog, cx) = workshop();
    let (a, b, c) = tokio::join!(
        call(&catalog, &cx, "undeclared", "a"),
        call(&catalog, &cx, "undeclared", "b"),
        call(&catalog, &cx, "write", "a"),
    );
    a.and(b).and(c).unwrap();
    let expected = [
        "+undeclared a",
        "+write a",
        "-undeclared a",
        "-write a",
        "+undeclared b",
        "-undeclared b",
    ]
    .map(str::to_owned);
    let mut log = log.taken();
    // The first two end at the same moment, in an order that the runtime chooses.
    log[2..4].sort();
    assert_eq!((&log[..4], &log[4..]), (&expected[..4], &expected[4..]));
}

#[tokio::test(start_paused = true)]
async fn a_tools_own_limit_holds_for_all_callers() {
    let (log, catalog, cx) = workshop();
    let (a, b) = tokio::join!(
        call(&catalog, &cx, "limited", "a"),
        call(&catalog, &cx, "limited", "b")
    );
    a.and(b).unwrap();
    assert_eq!(
        log.taken(),
        ["+limited a", "-limited a", "+limited b", "-limited b"]
    );
}

#[tokio::test(start_paused = true)]
async fn a_full_queue_is_an_error_at_once() {
    let log = Log::default();
    let admission = Arc::new(
        Admission::default()
            .with_max_concurrency(1)
            .with_max_waiting(1),
    );
    let mut catalog = Catalog::new().with_admission(admission.clone());
    catalog
        .register(pure("t"), async |_: ToolContext, _: Value| {
            sleep(STEP).await
        })
        .unwrap();
    let (catalog, cx) = (&catalog, &cx());
    let start = Instant::now();
    let one = async || {
        (
            call(catalog, cx, "t", "").await,
            start.elapsed().as_millis(),
        )
    };
    let ((a, _), (b, end), (c, refused)) = tokio::join!(one(), one(), one());
    a.and(b).unwrap();
    assert!(
        matches!(&c, Err(error) if error.code() == ErrorCode::Overloaded && error.retry_after().is_some()),
        "{c:?}"
    );
    assert_eq!((end, refused), (2 * STEP.as_millis(), 0));
    assert_eq!((admission.running(), admission.waiting()), (0, 0));
    assert_eq!(log.taken(), [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn waiting_counts_against_the_deadline() {
    let log = Log::default();
    let catalog = catalog(&log);
    let (patient, hasty) = (cx(), cx().with_timeout(STEP / 2));
    let (a, b, c) = tokio::join!(
        call(&catalog, &patient, "write", "a"),
        call(&catalog, &hasty, "write", "a"),
        call(&catalog, &patient, "write", "a"),
    );
    a.and(c).unwrap();
    assert_eq!(
        b,
        Err(ToolError::new(
            "write",
            ToolErrorKind::Timeout { limit: STEP / 2 }
        ))
    );
    assert_eq!(
        log.taken(),
        ["+write a", "-write a", "+write a", "-write a"]
    );
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_waiter_blocks_no_other_call() {
    let log = Log::default();
    let catalog = catalog(&log);
    let (cx, token) = (cx(), CancellationToken::new());
    let cancelled = cx.clone().with_cancellation(token.clone());
    let start = Instant::now();
    let (a, b, c, dropped, ()) = tokio::join!(
        call(&catalog, &cx, "read", "a"),
        call(&catalog, &cancelled, "write", "a"),
        call(&catalog, &cx, "read", "a"),
        tokio::time::timeout(STEP / 4, call(&catalog, &cx, "write", "a/b")),
        async {
            sleep(STEP / 2).await;
            token.cancel();
        },
    );
    a.and(c).unwrap();
    assert_eq!(b, Err(ToolError::new("write", ToolErrorKind::Cancelled)));
    assert!(dropped.is_err());
    assert_eq!(
        start.elapsed(),
        STEP + STEP / 2,
        "the second reader began when the writer went away"
    );
}

#[tokio::test]
async fn a_panic_releases_the_permits_of_the_call() {
    let panics = |_: ToolContext, _: Value| async {
        if true {
            panic!("on purpose")
        }
    };
    let limits = Limits {
        max_concurrency: Some(1),
        ..Limits::default()
    };
    let catalog = holding(
        tool("t", json!({"writes": ["fs:{path}"]})).with_limits(limits),
        panics,
    );
    for _ in 0..3 {
        assert_eq!(
            call(&catalog, &cx(), "t", "a").await.unwrap_err().code(),
            ErrorCode::Panicked
        );
    }
    assert_eq!(
        (catalog.admission().running(), catalog.admission().waiting()),
        (0, 0)
    );
}

#[tokio::test(start_paused = true)]
async fn a_rate_limit_delays_calls_and_an_error_says_when_to_retry() {
    let limits = Limits {
        rate: Some(Rate {
            calls: 2,
            per_ms: 2000,
        }),
        ..Limits::default()
    };
    let catalog = holding(pure("t").with_limits(limits), echo);
    let (catalog, cx) = (&catalog, &cx());
    let start = Instant::now();
    let one = async || {
        call(catalog, cx, "t", "")
            .await
            .map(|()| start.elapsed().as_millis())
    };
    let hasty = cx.clone().with_timeout(Duration::from_millis(900));
    let (a, b, c, d, refused) =
        tokio::join!(one(), one(), one(), one(), call(catalog, &hasty, "t", ""));
    assert_eq!([a, b, c, d], [Ok(0), Ok(0), Ok(1000), Ok(2000)]);
    let retry_after = refused.unwrap_err().retry_after().unwrap();
    assert_eq!(retry_after, Duration::from_secs(1));
}

#[test]
fn a_limit_that_no_call_could_keep_is_refused() {
    let rate = |calls, per_ms| Limits {
        rate: Some(Rate { calls, per_ms }),
        ..Limits::default()
    };
    let nobody = Limits {
        max_concurrency: Some(0),
        ..Limits::default()
    };
    for limits in [rate(0, 1), rate(1, 0), rate(1, u64::MAX), nobody] {
        let error = Catalog::new()
            .register(pure("t").with_limits(limits), echo)
            .unwrap_err();
        assert!(matches!(error, RegisterError::Limits { .. }), "{error}");
    }
}

#[tokio::test]
async fn a_call_that_needs_nothing_runs_without_a_runtime_to_wait_on() {
    let catalog = echoing([pure("t").with_effects(Effects::Undeclared)]);
    let execution = catalog.execute(&cx(), "t", json!({}));
    std::thread::spawn(move || {
        let mut execution = std::pin::pin!(execution);
        let mut task = std::task::Context::from_waker(std::task::Waker::noop());
        assert!(execution.as_mut().poll(&mut task).is_ready());
    })
    .join()
    .unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_call_that_touches_nothing_does_not_hold_up_its_line() {
    let log = Log::default();
    let mut catalog = catalog(&log);
    catalog
        .register(pure("think"), async |_: ToolContext, _: Value| {
            sleep(STEP).await
        })
        .unwrap();
    let line = CallOrder::new();
    let [first, second] = [(); 2].map(|()| cx().with_place(CallPlace::default().with_order(&line)));
    let start = Instant::now();
    let (a, b) = tokio::join!(
        call(&catalog, &first, "think", "a"),
        call(&catalog, &second, "write", "a")
    );
    a.and(b).unwrap();
    assert_eq!(start.elapsed().as_millis(), STEP.as_millis());
}

#[tokio::test(start_paused = true)]
async fn calls_that_share_a_limit_run_in_the_order_of_their_line() {
    let log = Arc::new(std::sync::Mutex::new(Vec::new()));
    let (mut catalog, ran) = (Catalog::new(), log.clone());
    let one_at_a_time = Limits {
        max_concurrency: Some(1),
        ..Limits::default()
    };
    let run = move |_: ToolContext, arguments: Value| {
        let ran = ran.clone();
        async move { ran.lock().unwrap().push(arguments["n"].as_u64()) }
    };
    catalog
        .register(pure("limited").with_limits(one_at_a_time), run)
        .unwrap();
    let order = CallOrder::new();
    let [first, second] =
        [(); 2].map(|()| cx().with_place(CallPlace::default().with_order(&order)));
    // The order in which they are polled does not matter.
    let later = catalog.execute(&second, "limited", json!({"n": 2}));
    let earlier = catalog.execute(&first, "limited", json!({"n": 1}));
    let (a, b) = tokio::join!(later, earlier);
    a.and(b).unwrap();
    assert_eq!(*log.lock().unwrap(), [Some(1), Some(2)]);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_is_taken_back_when_its_turn_comes_is_not_run() {
    let log = Log::default();
    let (catalog, token) = (catalog(&log), CancellationToken::new());
    let first = async {
        call(&catalog, &cx(), "write", "a").await.unwrap();
        token.cancel();
    };
    let waiting = cx().with_cancellation(token.clone());
    let ((), second) = tokio::join!(first, call(&catalog, &waiting, "write", "a"));
    assert_eq!(second.unwrap_err().code(), ErrorCode::Cancelled);
    assert_eq!(log.taken(), ["+write a", "-write a"]);
}
