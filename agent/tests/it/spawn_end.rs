//! Agents that end before their sub-agents.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use agent::{BudgetLimits, Driver, RunOptions, Turn};
use serde_json::{Value, json};
use tools::{Catalog, ToolCall, ToolContext};

use crate::spawn::{agents, catalog, context, session, spawning};
use crate::workshop::{EventLog, tool};

/// The time that an agent has for its sub-agents.
const LIMIT: Duration = Duration::from_secs(5);

/// A call that is alive until this is dropped.
struct Alive(Arc<AtomicUsize>);

impl Drop for Alive {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

/// A catalog with the tool `wait`, whose calls never end, and the number of its living calls.
fn waiting() -> (Catalog, Arc<AtomicUsize>) {
    let (mut catalog, alive) = (catalog(), Arc::new(AtomicUsize::new(0)));
    let count = alive.clone();
    let wait = move |_: ToolContext, _: Value| {
        count.fetch_add(1, Ordering::SeqCst);
        let alive = Alive(count.clone());
        async move {
            let _alive = alive;
            std::future::pending::<String>().await
        }
    };
    let limits = tools::protocol::Limits {
        timeout_ms: Some(86_400_000),
        ..Default::default()
    };
    catalog
        .register(tool("wait").with_limits(limits), wait)
        .unwrap();
    (catalog, alive)
}

/// An agent with a sub-agent, whose sub-agent waits for ever.
fn chain(budget: Value) -> Driver {
    agents(move |task, number| match (task, number) {
        ("lead", 0) => Turn::calls([spawning(
            "s",
            json!({"name": "one", "task": "delegate", "budget": budget}),
        )]),
        ("delegate", 0) => Turn::calls([spawning("t", json!({"name": "two", "task": "wait"}))]),
        ("wait", 0) => Turn::calls([ToolCall::new("c", "wait", json!({}))]),
        _ => Turn::answer("finished"),
    })
}

/// A service of which each agent has its own. A drop adds its owner to the list.
struct Desk {
    owner: String,
    left: Arc<Mutex<Vec<String>>>,
}

impl Desk {
    fn for_sub_agent(&self) -> Self {
        Self {
            owner: format!("{}'s", self.owner),
            left: self.left.clone(),
        }
    }
}

impl Drop for Desk {
    fn drop(&mut self) {
        self.left.lock().unwrap().push(self.owner.clone());
    }
}

async fn until(is_reached: impl Fn() -> bool) {
    while !is_reached() {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn an_agent_that_is_dropped_leaves_no_sub_agent_behind() {
    let (catalog, alive) = waiting();
    let log = EventLog::default();
    let mut session = session(&catalog, context());
    let driver = chain(Value::Null).with_events(log.clone());
    tokio::select! {
        ended = driver.run(&mut session, "lead") => panic!("{ended:?}"),
        () = until(|| alive.load(Ordering::SeqCst) == 1) => {}
    }
    let sent = log.events().len();
    until(|| alive.load(Ordering::SeqCst) == 0 && catalog.admission().running() == 0).await;
    assert_eq!(log.events().len(), sent);
}

/// The time ends at the first, at the second and above both agents.
#[tokio::test(start_paused = true)]
async fn an_agent_out_of_time_leaves_no_sub_agent_behind() {
    let seconds = json!({"seconds": LIMIT.as_secs()});
    let limits = BudgetLimits {
        time: Some(LIMIT),
        ..BudgetLimits::default()
    };
    let whole = || {
        chain(Value::Null).with_options(RunOptions {
            limits,
            ..RunOptions::default()
        })
    };
    let soon = || context().with_deadline(Instant::now() + LIMIT);
    for (driver, cx) in [
        (chain(seconds), context()),
        (whole(), context()),
        (chain(Value::Null), soon()),
    ] {
        let (catalog, alive) = waiting();
        let begun = tokio::time::Instant::now();
        driver
            .run(&mut session(&catalog, cx), "lead")
            .await
            .unwrap();
        assert!(begun.elapsed() < LIMIT * 2, "{:?}", begun.elapsed());
        until(|| alive.load(Ordering::SeqCst) == 0 && catalog.admission().running() == 0).await;
    }
}

#[tokio::test]
async fn a_service_per_agent_ends_with_its_agent() {
    let (left, used) = (
        Arc::new(Mutex::new(Vec::new())),
        Arc::new(Mutex::new(Vec::new())),
    );
    let mut catalog = catalog();
    let uses = used.clone();
    let work = move |cx: ToolContext, _: Value| {
        uses.lock()
            .unwrap()
            .push(cx.service::<Desk>().unwrap().owner.clone());
        async { "done" }
    };
    catalog.register(tool("work"), work).unwrap();
    let cx = context();
    let mut services = cx.services().clone();
    services.insert_per_agent(
        Desk {
            owner: "lead".to_owned(),
            left: left.clone(),
        },
        Desk::for_sub_agent,
    );
    let mut session = session(&catalog, cx.with_services(services));
    let working = |id: &str| ToolCall::new(id, "work", json!({}));
    let driver = agents(move |task, number| match (task, number) {
        ("lead", 0) => Turn::calls([
            spawning("s", json!({"name": "one", "task": "delegate"})),
            working("a"),
        ]),
        ("lead", 1) => Turn::calls([spawning("s2", json!({"name": "one", "task": "work"}))]),
        ("delegate", 0) => Turn::calls([working("b")]),
        ("delegate", 1) => Turn::calls([spawning("t", json!({"name": "two", "task": "work"}))]),
        ("work", 0) => Turn::calls([working("c")]),
        _ => Turn::answer("finished"),
    });
    driver.run(&mut session, "lead").await.unwrap();
    let mut used = used.lock().unwrap().clone();
    used.sort();
    assert_eq!(used, ["lead", "lead's", "lead's", "lead's's"]);
    assert_eq!(*left.lock().unwrap(), ["lead's's", "lead's", "lead's"]);
    drop(session);
    assert_eq!(left.lock().unwrap().last().unwrap(), "lead");
}
