//! Observers of the start of a call's deadline.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::sample::{Log, echoing, holding, pure};
use serde_json::{Value, json};
use tools::call::{CallPlace, DeadlineObserver};
use tools::context::ApprovalFuture;
use tools::{Approval, Approver, Decision, Effects, Host, Tool, ToolContext, ToolResult};

const LIMIT: Duration = Duration::from_secs(7);

impl DeadlineObserver for Log {
    fn on_start(&self, cx: &ToolContext, limit: Duration) {
        let left = cx
            .deadline()
            .unwrap()
            .saturating_duration_since(Instant::now());
        assert!(left <= limit && left > limit / 2, "{left:?} of {limit:?}");
        self.note(format!("{} has {limit:?}", cx.tool().unwrap()));
    }
}

impl Approver for Log {
    fn approve<'a>(&'a self, approval: Approval<'a>) -> ApprovalFuture<'a> {
        self.note(format!("{} is asked about", approval.tool));
        Box::pin(async { Decision::Allow })
    }
}

fn undeclared(name: &str) -> Tool {
    pure(name).with_effects(Effects::Undeclared)
}

#[tokio::test]
async fn the_clock_starts_after_the_questions_and_once_for_a_call_and_those_that_it_makes() {
    let log = Log::default();
    let mut catalog = echoing([pure("inner")]);
    let makes_calls = async |cx: ToolContext, _: Value| {
        cx.execute("inner", json!({})).await?;
        // A tool cannot replace the observer.
        CallPlace::default()
            .with_observer(Arc::new(Log::default()))
            .enter(cx)
            .execute("inner", json!({}))
            .await
    };
    catalog.register(undeclared("outer"), makes_calls).unwrap();
    let cx = Host::new()
        .with_timeout(LIMIT)
        .with_approver(Arc::new(log.clone()));
    let cx = cx.with_place(CallPlace::default().with_observer(Arc::new(log.clone())));
    catalog.execute(&cx, "outer", json!({})).await.unwrap();
    assert_eq!(log.taken(), ["outer is asked about", "outer has 7s"]);
}

#[tokio::test]
async fn the_clock_of_a_call_that_is_refused_never_starts() {
    let log = Log::default();
    let catalog = echoing([undeclared("t")]);
    let cx = Host::new().with_place(CallPlace::default().with_observer(Arc::new(log.clone())));
    catalog.execute(&cx, "t", json!({})).await.unwrap_err();
    assert!(log.taken().is_empty());
}

#[tokio::test]
async fn an_observer_that_panics_does_not_touch_the_call() {
    struct Panics;
    impl DeadlineObserver for Panics {
        fn on_start(&self, _: &ToolContext, _: Duration) {
            panic!("on purpose")
        }
    }
    let catalog = holding(pure("t"), async |_: ToolContext, _: Value| {
        "done".to_owned()
    });
    let cx = Host::new().with_place(CallPlace::default().with_observer(Arc::new(Panics)));
    assert_eq!(
        catalog.execute(&cx, "t", json!({})).await.unwrap(),
        ToolResult::text("done")
    );
}
