//! Sub-agents in the background.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};

use agent::{Budget, BudgetLimits, Event, Outcome, RunOptions, Session, SubAgents, Turn, Usage};
use serde_json::{Value, json};
use tools::tasks::TaskInfo;
use tools::{
    CancellationToken, Grant, Host, Services, Tasks, Tool, ToolCall, ToolContext, ToolResult,
};

use crate::digging::{Digging, until};
use crate::spawn::{agents, catalog, context, delegated, lead, session, spawning};
use crate::workshop::{EventLog, add, kind, results, tool};

/// A context with the tasks of a session.
pub(crate) fn with_tasks(cx: Host) -> Host {
    let mut services: Services = cx.services().clone();
    Tasks::offer(&mut services);
    cx.with_services(services)
}

/// A call that starts a sub-agent in the background.
pub(crate) fn background(id: &str, name: &str, task: &str) -> ToolCall {
    spawning(id, json!({"name": name, "task": task, "background": true}))
}

pub(crate) fn reading(id: &str, task: &str) -> ToolCall {
    ToolCall::new(id, "task.result", json!({"task": task, "wait": 300}))
}

fn call(name: &str) -> ToolCall {
    ToolCall::new(name, name, json!({}))
}

/// A sub-agent that digs once.
fn digger(number: usize) -> Turn {
    if number == 0 {
        Turn::calls([call("dig")])
    } else {
        Turn::answer("It is deep.")
    }
}

fn tasks(session: &Session) -> Vec<TaskInfo> {
    session.context().service::<Tasks>().unwrap().list()
}

/// The names of events, those of sub-agents after their path.
fn names(log: &EventLog) -> Vec<String> {
    fn name(event: &Event) -> String {
        match event {
            Event::CallStarted { name, .. } => format!("started {name}"),
            Event::Result { name, .. } => format!("result {name}"),
            Event::TaskEnded { task, state, .. } => format!("{task} {state}"),
            Event::SubAgent { agent, call, event } => format!("{agent} of {call}: {}", name(event)),
            Event::Text { .. } => "text".to_owned(),
            Event::Done(_) => "done".to_owned(),
            other => format!("{other:?}"),
        }
    }
    log.events().iter().map(name).collect()
}

#[tokio::test]
async fn a_sub_agent_goes_on_beside_the_next_calls_and_its_answer_is_read_by_its_handle() {
    let mut catalog = catalog();
    Digging::new(&mut catalog);
    let log = EventLog::default();
    // The sub-agent cannot end before the second turn.
    let driver = agents(|task, number| match (task, number) {
        ("lead", 0) => Turn::calls([background("s", "mole", "dig\nin the garden")]),
        ("lead", 1) => Turn::calls([call("permit")]),
        ("lead", 2) => Turn::calls([reading("r", "t1")]),
        ("lead", 3) => Turn::calls([call("task.list")]),
        ("lead", _) => Turn::answer("finished"),
        _ => digger(number),
    });
    let mut session = session(&catalog, with_tasks(context()));
    let results = delegated(&mut session, driver.with_events(log.clone())).await;
    assert_eq!(results[0].task.as_deref(), Some("t1"));
    assert!(
        results[0].to_text().contains("task.result with task=t1"),
        "{results:?}"
    );
    let read = results[2].to_text();
    assert_eq!(
        read,
        "[t1: answered: 2 steps, 1 call]\nIt is deep.\n[sub-agent mole: 2 steps, 1 call]"
    );
    assert_eq!(
        results[3].to_text(),
        "t1: answered: 2 steps, 1 call: agent.spawn: mole: dig…"
    );

    let names = names(&log);
    let of = |wanted: &str| {
        names
            .iter()
            .position(|name| name == wanted)
            .unwrap_or_else(|| panic!("{wanted}: {names:?}"))
    };
    let own =
        ["started dig", "result dig", "text", "done"].map(|name| of(&format!("mole of s: {name}")));
    assert!(own.is_sorted(), "{names:?}");
    assert!(
        of("result agent.spawn") < own[1] && own[3] < of("t1 answered: 2 steps, 1 call"),
        "{names:?}"
    );
    assert_eq!(of("done"), names.len() - 1);
}

#[tokio::test]
async fn between_two_runs_it_works_without_events_and_the_next_run_tells_its_end() {
    let mut catalog = catalog();
    let digging = Digging::new(&mut catalog);
    let log = EventLog::default();
    let driver = agents(|task, number| match (task, number) {
        ("lead", 0) => Turn::calls([background("s", "mole", "dig")]),
        ("lead", 1) => Turn::answer("finished"),
        ("lead", 2) => Turn::calls([reading("r", "t1")]),
        ("lead", _) => Turn::answer("finished"),
        _ => digger(number),
    });
    let driver = driver.with_events(log.clone());
    let mut session = session(&catalog, with_tasks(context()));
    delegated(&mut session, driver.clone()).await;
    digging.until_begun(1).await;
    assert_eq!(tasks(&session)[0].state.to_string(), "runs: 1 step, 1 call");
    let sent = log.events().len();
    digging.permits.add_permits(1);
    until(|| tasks(&session)[0].state.has_ended()).await;
    assert_eq!(
        log.events().len(),
        sent,
        "nothing is sent after the end of the run"
    );
    driver.run(&mut session, "and?").await.unwrap();
    assert!(
        names(&log)[sent..]
            .iter()
            .any(|name| name == "t1 answered: 2 steps, 1 call"),
        "{:?}",
        names(&log)
    );
    let prompt = session
        .messages()
        .iter()
        .rfind(|message| message.to_text().starts_with("and?"))
        .unwrap();
    assert_eq!(
        prompt.to_text(),
        "and?\n[task t1 (agent.spawn) has ended; task.result reads it]"
    );
    let read = results(session.messages()).last().unwrap().1.to_text();
    assert!(read.contains("It is deep."), "{read}");
}

#[tokio::test]
async fn a_cancelled_one_ends_with_its_calls_and_its_end_is_an_event() {
    let mut catalog = catalog();
    let digging = Digging::new(&mut catalog);
    let log = EventLog::default();
    let begun = digging.clone();
    let wait = move |_: ToolContext, _: Value| {
        let begun = begun.clone();
        async move { begun.until_begun(1).await }
    };
    catalog.register(tool("wait"), wait).unwrap();
    let driver = agents(|task, number| match (task, number) {
        ("lead", 0) => Turn::calls([background("s", "mole", "dig")]),
        ("lead", 1) => Turn::calls([call("wait")]),
        ("lead", 2) => Turn::calls([ToolCall::new("c", "task.cancel", json!({"task": "t1"}))]),
        ("lead", _) => Turn::answer("finished"),
        _ => digger(number),
    });
    let mut session = session(&catalog, with_tasks(context()));
    let results = delegated(&mut session, driver.with_events(log.clone())).await;
    let text = results[2].to_text();
    assert!(
        text.starts_with("[t1: failed: 1 step, 1 call]\nthe sub-agent mole did not finish: "),
        "{text}"
    );
    assert!(tasks(&session).is_empty());
    assert!(
        names(&log)
            .iter()
            .any(|name| name == "t1 failed: 1 step, 1 call"),
        "{:?}",
        names(&log)
    );
    digging.until_gone().await;
    assert_eq!(catalog.admission().running(), 0);
}

#[tokio::test]
async fn it_ends_when_its_session_is_dropped_or_cancelled() {
    for is_dropped in [true, false] {
        let mut catalog = catalog();
        let digging = Digging::new(&mut catalog);
        let token = CancellationToken::new();
        let mut session = session(
            &catalog,
            with_tasks(context()).with_cancellation(token.clone()),
        );
        delegated(
            &mut session,
            lead(vec![background("s", "mole", "dig")], |_, number| {
                digger(number)
            }),
        )
        .await;
        digging.until_begun(1).await;
        let task = session
            .context()
            .service::<Tasks>()
            .unwrap()
            .find("t1")
            .unwrap();
        if is_dropped {
            drop(session);
        } else {
            token.cancel();
        }
        task.wait_end().await;
        digging.until_gone().await;
        assert_eq!(catalog.admission().running(), 0);
    }
}

#[tokio::test]
async fn a_dropped_run_leaves_it_to_the_session_and_sends_no_events() {
    let mut catalog = catalog();
    let digging = Digging::new(&mut catalog);
    let log = EventLog::default();
    let driver = agents(|task, number| match (task, number) {
        ("lead", 0) => Turn::calls([background("s", "mole", "dig")]),
        ("lead", _) => Turn::calls([call("dig")]),
        _ => digger(number),
    });
    let driver = driver.with_events(log.clone());
    let mut session = session(&catalog, with_tasks(context()));
    tokio::select! {
        ended = driver.run(&mut session, "lead") => panic!("{ended:?}"),
        () = digging.until_begun(2) => {}
    }
    let sent = log.events().len();
    until(|| digging.alive.load(Ordering::SeqCst) == 1).await;
    digging.permits.add_permits(1);
    until(|| tasks(&session)[0].state.has_ended()).await;
    assert_eq!(
        tasks(&session)[0].state.to_string(),
        "answered: 2 steps, 1 call"
    );
    assert_eq!(log.events().len(), sent);
}

#[tokio::test]
async fn it_has_at_most_the_tools_the_grant_and_the_level_of_one_in_the_foreground() {
    let mut catalog = catalog();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let grants = seen.clone();
    let look = move |cx: ToolContext, _: Value| {
        let may = |target: &str| cx.grant().permits(&target.parse().unwrap());
        grants.lock().unwrap().push((
            cx.agent().unwrap().to_owned(),
            may("fs:read:a"),
            may("fs:write:a"),
            may("net:read:a"),
        ));
        async { "seen" }
    };
    catalog.register(tool("look"), look).unwrap();
    add(&mut catalog, "secret");
    let spawn = |id: &str, name: &str, grant: Value| {
        spawning(
            id,
            json!({"name": name, "task": "look", "grant": grant, "background": true, "tools": ["look"]}),
        )
    };
    let driver = agents(move |task, number| match (task, number) {
        ("lead", 0) => Turn::calls([
            spawn("a", "reader", json!(["fs:read:**", "net:read:**"])),
            spawning(
                "b",
                json!({"name": "deep", "task": "delegate", "background": true}),
            ),
            spawn("c", "same", Value::Null),
        ]),
        ("lead", 1) => Turn::calls(["t1", "t2", "t3"].map(|task| reading(task, task))),
        ("lead", _) => Turn::answer("finished"),
        ("delegate", 0) => Turn::calls([background("d", "deeper", "look")]),
        (_, 0) => Turn::calls([call("look"), call("secret")]),
        _ => Turn::answer("done"),
    });
    let grant = Grant::parse(["fs:*:**", "agent:write:**", "task:*:**"]).unwrap();
    let cx = with_tasks(context())
        .with_grant(grant)
        .with_service(SubAgents { max_depth: 1 });
    let results = delegated(&mut session(&catalog, cx), driver).await;
    let mut seen = seen.lock().unwrap().clone();
    seen.sort();
    let expected = [("reader", true, false, false), ("same", true, true, false)];
    assert_eq!(
        seen,
        expected.map(|(name, read, write, net)| (name.to_owned(), read, write, net))
    );
    assert!(
        results[3].to_text().contains("2 calls (1 failed)"),
        "{results:?}"
    );
    assert!(
        results[4].to_text().contains("1 call (1 failed)"),
        "a level too deep: {results:?}"
    );
}

#[tokio::test]
async fn it_shares_the_budget_of_the_run_that_started_it() {
    let used = |input_tokens| Usage {
        input_tokens,
        ..Usage::default()
    };
    // The sub-agent goes on when the lead reads its answer.
    let driver = agents(move |task, number| match (task, number) {
        ("lead", 0) => Turn {
            usage: Some(used(10)),
            ..Turn::calls([background("s", "n", "work")])
        },
        ("lead", 1) => Turn {
            usage: Some(used(10)),
            ..Turn::calls([call("permit"), reading("r", "t1")])
        },
        ("lead", _) => Turn::answer("finished"),
        (_, 0) => Turn {
            usage: Some(used(2000)),
            ..Turn::calls([call("dig")])
        },
        (_, number) => {
            let read = ToolCall::new(format!("c{number}"), "todo.read", json!({"number": number}));
            Turn {
                usage: Some(used(2000)),
                ..Turn::calls([read])
            }
        }
    });
    let mut catalog = catalog();
    Digging::new(&mut catalog);
    let money = Budget::new(BudgetLimits {
        tokens: Some(5000),
        ..BudgetLimits::default()
    });
    let mut session = session(&catalog, with_tasks(context()).with_service(money.clone()));
    let driver = driver.with_options(RunOptions {
        limits: BudgetLimits {
            steps: Some(20),
            ..BudgetLimits::default()
        },
        ..RunOptions::default()
    });
    let summary = driver.run(&mut session, "lead").await.unwrap();
    assert!(
        matches!(&summary.outcome, Outcome::Budget(_)),
        "{summary:?}"
    );
    let read = results(session.messages()).last().unwrap().1.to_text();
    assert!(
        read.contains("did not finish") && read.contains("5000"),
        "{read}"
    );
    assert_eq!(
        (
            money.spent().tokens,
            summary.spent.tokens,
            summary.spent.steps
        ),
        (6020, 6020, 5)
    );
}

#[tokio::test]
async fn at_most_eight_run_at_once_and_those_of_a_sub_agent_end_with_it() {
    let mut catalog = catalog();
    let digging = Digging::new(&mut catalog);
    let many = |from: usize, to: usize| {
        Turn::calls((from..to).map(|n| background(&format!("s{n}"), &format!("m{n}"), "dig")))
    };
    let driver = agents(move |task, number| match (task, number) {
        ("lead", 0) => Turn::calls([spawning("s", json!({"name": "outer", "task": "delegate"}))]),
        ("lead", 1) => many(0, 9),
        ("lead", _) => Turn::answer("finished"),
        ("delegate", 0) => many(0, 3),
        ("delegate", _) => Turn::answer("delegated"),
        _ => digger(number),
    });
    let mut session = session(&catalog, with_tasks(context()));
    let results = delegated(&mut session, driver).await;
    let refused: Vec<_> = results[1..]
        .iter()
        .filter(|result| result.is_error)
        .collect();
    assert!(
        refused.len() == 1 && refused[0].to_text().contains("8 tasks run already"),
        "{results:?}"
    );
    assert_eq!(tasks(&session).len(), 8);
    drop(session);
    digging.until_gone().await;
}

#[tokio::test]
async fn without_tasks_there_is_no_background() {
    let driver = || {
        lead(vec![background("s", "n", "work")], |_, _| {
            Turn::answer("done")
        })
    };
    let results = delegated(&mut session(&catalog(), context()), driver()).await;
    assert_eq!(kind(&results[0]), "unavailable");
    let cx = context();
    let mut services = cx.services().clone();
    Tasks::offer_to_clients(&mut services);
    let results = delegated(
        &mut session(&catalog(), cx.with_services(services)),
        driver(),
    )
    .await;
    assert!(
        results[0].is_error && results[0].to_text().contains("leave out `background`"),
        "{results:?}"
    );
}

#[tokio::test]
async fn a_panic_of_its_provider_or_tool_is_a_failed_result() {
    let mut catalog = catalog();
    let panics: Tool = tool("panics");
    catalog
        .register(panics, async |_: ToolContext, _: Value| -> String {
            panic!("on purpose")
        })
        .unwrap();
    let driver = agents(|task, number| match (task, number) {
        ("lead", 0) => Turn::calls([
            background("s", "a", "tool"),
            background("t", "b", "provider"),
        ]),
        ("lead", 1) => Turn::calls([reading("r", "t1"), reading("q", "t2")]),
        ("lead", _) => Turn::answer("finished"),
        ("tool", 0) => Turn::calls([call("panics")]),
        ("provider", _) => panic!("on purpose"),
        _ => Turn::answer("it fell over"),
    });
    let results: Vec<ToolResult> =
        delegated(&mut session(&catalog, with_tasks(context())), driver).await;
    assert!(results[2].to_text().contains("it fell over"), "{results:?}");
    assert!(
        results[3].is_error && results[3].to_text().contains("b did not finish"),
        "{results:?}"
    );
}
