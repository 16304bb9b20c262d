//! Calls that a driver makes inside of a call, for a sub-agent.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::Barrier;
use tools::call::{CallPlace, DeadlineObserver, PersonClock};
use tools::context::{AgentError, ApprovalFuture};
use tools::protocol::Limits;
use tools::{
    Approval, Approver, Catalog, Decision, Effects, Grant, Host, Tool, ToolContext, ToolError,
};

use crate::sample::{Log, pure};

fn tool(name: &str, effects: Value) -> Tool {
    let parameters =
        json!({"type": "object", "properties": {"name": {"type": "string", "default": "n"}}});
    let effects: Effects = serde_json::from_value(effects).unwrap();
    Tool::new(name, "A tool.", parameters)
        .unwrap()
        .with_effects(effects)
}

fn starter(name: &str) -> Tool {
    tool(name, json!({"writes": ["agent:{name}"]})).with_limits(Limits {
        delegates: true,
        ..Limits::default()
    })
}

#[tokio::test]
async fn a_path_only_grows() {
    let mut catalog = Catalog::new();
    catalog
        .register(pure("path"), async |cx: ToolContext, _: Value| {
            cx.agent().unwrap_or("none").to_owned()
        })
        .unwrap();
    let starts = async |cx: ToolContext, _: Value| {
        let own = cx.execute("path", json!({})).await?.to_text();
        let inner = cx
            .clone()
            .with_agent("a")?
            .with_agent("b")?
            .execute("path", json!({}))
            .await?
            .to_text();
        Ok::<_, ToolError>(format!("{own} {inner}"))
    };
    catalog.register(starter("starts"), starts).unwrap();
    let cx = Host::new().with_grant(Grant::all());
    assert_eq!(
        catalog
            .execute(&cx, "starts", json!({}))
            .await
            .unwrap()
            .to_text(),
        "none a/b"
    );
    let cx = cx.with_agent("outer").unwrap();
    assert_eq!(
        catalog
            .execute(&cx, "starts", json!({}))
            .await
            .unwrap()
            .to_text(),
        "outer outer/a/b"
    );
}

#[test]
fn a_name_adds_one_level_to_the_path() {
    for name in [
        "",
        "a/b",
        "a b",
        "ä",
        "a\n",
        &"a".repeat(ToolContext::MAX_AGENT_NAME + 1),
    ] {
        let error = Host::new().with_agent(name).unwrap_err();
        assert!(matches!(error, AgentError::Name { .. }), "{error}");
    }
    let long = "a".repeat(ToolContext::MAX_AGENT_NAME);
    for name in ["A-1_b.c", &long] {
        assert_eq!(Host::new().with_agent(name).unwrap().agent(), Some(name));
    }
}

/// An approval for the session is given to the agent by name, so no other tool takes the name of a sub-agent.
#[tokio::test]
async fn only_a_tool_that_delegates_can_name_a_sub_agent() {
    let mut catalog = Catalog::new();
    let poses = async |cx: ToolContext, _: Value| {
        let error = cx.with_agent("reader").unwrap_err();
        format!(
            "{}",
            matches!(error, AgentError::Undeclared { tool } if *tool == *"poses")
        )
    };
    catalog.register(pure("poses"), poses).unwrap();
    assert_eq!(
        catalog
            .execute(&Host::new(), "poses", json!({}))
            .await
            .unwrap()
            .to_text(),
        "true"
    );
}

/// The targets of a tool mean what the tool declares, whatever their scheme.
#[tokio::test]
async fn only_calls_that_delegate_do_not_wait_for_each_other() {
    for (scheme, delegates) in [
        ("agent", false),
        ("agent", true),
        ("page", false),
        ("page", true),
    ] {
        let log = Log::default();
        let noted = log.clone();
        let works = move |_: ToolContext, _: Value| {
            let log = noted.clone();
            async move {
                log.note("begin".to_owned());
                tokio::task::yield_now().await;
                log.note("end".to_owned());
            }
        };
        let works_on = tool("works", json!({"writes": [format!("{scheme}:{{name}}")]}));
        let mut catalog = Catalog::new();
        catalog
            .register(
                works_on.with_limits(Limits {
                    delegates,
                    ..Limits::default()
                }),
                works,
            )
            .unwrap();
        let cx = Host::new().with_grant(Grant::all());
        let calls: Vec<_> = (0..2)
            .map(|_| tokio::spawn(catalog.execute(&cx, "works", json!({}))))
            .collect();
        for call in calls {
            call.await.unwrap().unwrap();
        }
        let is_one_by_one = log.taken() == ["begin", "end", "begin", "end"];
        assert_eq!(is_one_by_one, !delegates, "{scheme}");
    }
}

struct Watch(Log, &'static str);

impl DeadlineObserver for Watch {
    fn on_start(&self, cx: &ToolContext, _limit: Duration) {
        self.0
            .note(format!("{} sees {}", self.1, cx.tool().unwrap()));
    }

    fn on_move(&self, cx: &ToolContext) {
        self.0
            .note(format!("{} sees {} move", self.1, cx.tool().unwrap()));
    }
}

/// The time that the slow approver takes.
const WAIT: Duration = Duration::from_millis(20);

/// Approves all calls after a while.
struct Slow;

impl Approver for Slow {
    fn approve<'a>(&'a self, _approval: Approval<'a>) -> ApprovalFuture<'a> {
        Box::pin(async {
            tokio::time::sleep(WAIT).await;
            Decision::Allow
        })
    }
}

/// The driver of the sub-agent watches its calls, and that of the session goes on to watch the call that started it.
#[tokio::test]
async fn each_driver_observes_its_own_calls() {
    let log = Log::default();
    let clock = Arc::new(PersonClock::default());
    let mut catalog = Catalog::new();
    catalog
        .register(
            tool("asks", json!({"writes": ["page:{name}"]})),
            async |_: ToolContext, _: Value| "done",
        )
        .unwrap();
    let (inner_log, inner_clock) = (log.clone(), clock.clone());
    let starts = move |cx: ToolContext, _: Value| {
        let place = CallPlace::default().with_observer(Arc::new(Watch(inner_log.clone(), "inner")));
        let place = place.with_person_clock(inner_clock.clone());
        let cx = place.enter(cx.with_agent("a").unwrap());
        async move { cx.execute("asks", json!({})).await }
    };
    catalog.register(starter("starts"), starts).unwrap();
    let outer_clock = Arc::new(PersonClock::default());
    let place = CallPlace::default().with_observer(Arc::new(Watch(log.clone(), "outer")));
    let cx = Host::new()
        .with_grant(Grant::parse(["agent:*:**"]).unwrap())
        .with_approver(Arc::new(Slow))
        .with_place(place.with_person_clock(outer_clock.clone()));
    catalog.execute(&cx, "starts", json!({})).await.unwrap();
    let moves = ["outer sees starts move"; 2];
    assert_eq!(
        log.taken(),
        ["outer sees starts", moves[0], moves[1], "inner sees asks"]
    );
    assert!(clock.total() >= WAIT && outer_clock.total() >= WAIT);
}

/// A call that starts a sub-agent holds nothing, so conflicting calls of two sub-agents wait for each other.
#[tokio::test]
async fn conflicting_calls_of_sub_agents_run_one_after_the_other() {
    const AGENTS: usize = 8;
    let mut catalog = Catalog::new();
    let times = Log::default();
    let log = times.clone();
    let writes = move |_: ToolContext, _: Value| {
        let log = log.clone();
        async move {
            log.note("begin".to_owned());
            tokio::task::yield_now().await;
            log.note("end".to_owned());
            "done"
        }
    };
    catalog
        .register(tool("writes", json!({"writes": ["page:news"]})), writes)
        .unwrap();
    let barrier = Arc::new(Barrier::new(AGENTS));
    let starts = move |cx: ToolContext, _: Value| {
        let barrier = barrier.clone();
        async move {
            barrier.wait().await;
            cx.with_agent("n")?.execute("writes", json!({})).await
        }
    };
    catalog.register(starter("starts"), starts).unwrap();
    let cx = Host::new().with_grant(Grant::all());
    let calls: Vec<_> = (0..AGENTS)
        .map(|_| tokio::spawn(catalog.execute(&cx, "starts", json!({}))))
        .collect();
    for call in calls {
        call.await.unwrap().unwrap();
    }
    assert_eq!(times.taken(), ["begin", "end"].repeat(AGENTS));
    assert_eq!(catalog.admission().running(), 0);
}
