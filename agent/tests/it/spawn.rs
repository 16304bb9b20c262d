//! Sub-agents.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use agent::{
    Budget, BudgetLimits, Driver, Event, FailureKind, Outcome, Plan, Price, ProviderError, Request,
    RunOptions, Selection, Session, SubAgents, ToolFinder, ToolSet, Turn, TurnFuture, Usage,
};
use serde_json::{Value, json};
use tools::protocol::{Part, Role};
use tools::{Catalog, Content, Grant, Host, OutputStore, ToolCall, ToolResult};
use tools_testkit::HouseRules;

use crate::workshop::{EventLog, add, answer, kind, playing, playing_at, results};

const TOOL: &str = "agent.spawn";

/// The tools of this crate.
pub(crate) fn catalog() -> Catalog {
    let mut catalog = Catalog::new();
    agent::tool::register(&mut catalog).unwrap();
    catalog
}

pub(crate) fn context() -> Host {
    Host::new()
        .with_grant(Grant::all())
        .with_service(SubAgents::default())
}

pub(crate) fn session(catalog: &Catalog, cx: Host) -> Session {
    Session::new(catalog.list(), Selection::new(), cx)
}

pub(crate) fn spawning(id: &str, arguments: Value) -> ToolCall {
    ToolCall::new(id, TOOL, arguments)
}

/// A driver whose agents play the turns that the function returns for their task and their number of earlier turns.
pub(crate) fn agents(turn: impl Fn(&str, usize) -> Turn + Send + Sync + 'static) -> Driver {
    agents_at(None, turn)
}

/// Agents as those above, with a price of their tokens.
pub(crate) fn agents_at(
    price: Option<Price>,
    turn: impl Fn(&str, usize) -> Turn + Send + Sync + 'static,
) -> Driver {
    playing_at(price, move |request| {
        let turn = turn(&task(&request), turns(&request));
        Box::pin(async { Ok(turn) })
    })
}

pub(crate) fn task(request: &Request<'_>) -> String {
    let prompt = request
        .messages
        .iter()
        .find(|message| message.role == Role::User);
    prompt.map(|prompt| prompt.to_text()).unwrap_or_default()
}

pub(crate) fn turns(request: &Request<'_>) -> usize {
    request
        .messages
        .iter()
        .filter(|message| message.role == Role::Assistant)
        .count()
}

/// Runs an agent whose first turn makes these calls and whose sub-agents play `turn`. Returns the results of the calls.
pub(crate) async fn delegated(session: &mut Session, driver: Driver) -> Vec<ToolResult> {
    let summary = driver.run(session, "lead").await.unwrap();
    assert_eq!(answer(&summary.outcome), "finished");
    results(session.messages())
        .into_iter()
        .map(|(_, result)| result)
        .collect()
}

/// A lead that makes these calls in its first turn, and sub-agents that play `turn`.
pub(crate) fn lead(
    calls: Vec<ToolCall>,
    turn: impl Fn(&str, usize) -> Turn + Send + Sync + 'static,
) -> Driver {
    agents(move |task, number| match (task, number) {
        ("lead", 0) => Turn::calls(calls.clone()),
        ("lead", _) => Turn::answer("finished"),
        _ => turn(task, number),
    })
}

#[test]
fn the_tools_keep_the_house_rules() {
    let cx = context()
        .with_service(OutputStore::default())
        .with_service(Plan::new());
    let cx = cx.with_service(ToolFinder::new(ToolSet::default()));
    let faults = HouseRules::new().with_host(cx).check(agent::tool::register);
    // There is no output to read in an example.
    let faults: Vec<_> = faults
        .iter()
        .filter(|fault| fault.tool != OutputStore::READER)
        .collect();
    assert!(faults.is_empty(), "{faults:?}");
}

#[tokio::test]
async fn a_sub_agent_works_with_the_tools_of_its_agent_and_answers() {
    let mut catalog = catalog();
    add(&mut catalog, "look");
    let log = EventLog::default();
    let calls = vec![spawning("s", json!({"name": "reader", "task": "read"}))];
    let driver = lead(calls, |_, number| match number {
        0 => Turn::calls([ToolCall::new("c", "look", json!({}))]),
        _ => Turn::answer("It is blue."),
    });
    let mut session = session(&catalog, context());
    let results = delegated(&mut session, driver.with_events(log.clone())).await;
    let text = results[0].to_text();
    assert!(
        text.starts_with("It is blue.") && text.contains("2 steps, 1 call"),
        "{text}"
    );

    let of = |event: &Event| match event {
        Event::SubAgent { agent, call, event } => {
            assert_eq!((agent.as_str(), call.as_str()), ("reader", "s"));
            format!("reader: {}", name_of(event))
        }
        event => name_of(event),
    };
    let order: Vec<_> = log.events().iter().map(of).collect();
    let of_agent =
        ["started look", "result look", "text", "done"].map(|event| format!("reader: {event}"));
    let expected = ["started agent.spawn".to_owned()]
        .into_iter()
        .chain(of_agent);
    let expected: Vec<_> = expected
        .chain(["result agent.spawn", "text", "done"].map(str::to_owned))
        .collect();
    assert_eq!(order, expected);
}

fn name_of(event: &Event) -> String {
    match event {
        Event::CallStarted { name, .. } => format!("started {name}"),
        Event::Result { name, .. } => format!("result {name}"),
        Event::Text { .. } => "text".to_owned(),
        Event::Done(_) => "done".to_owned(),
        other => format!("{other:?}"),
    }
}

#[tokio::test]
async fn the_summary_of_an_agent_has_the_amounts_of_its_sub_agents() {
    let used = |input_tokens| Usage {
        input_tokens,
        ..Usage::default()
    };
    let driver = agents(move |task, number| match (task, number) {
        ("lead", 0) => Turn {
            usage: Some(used(10)),
            ..Turn::calls([spawning("s", json!({"name": "n", "task": "work"}))])
        },
        ("lead", _) => Turn::answer("finished"),
        ("work", 0) => Turn {
            usage: Some(used(2000)),
            ..Turn::calls([ToolCall::new("c", "todo.read", json!({}))])
        },
        _ => Turn {
            usage: Some(used(3000)),
            ..Turn::answer("worked")
        },
    });
    let limits = RunOptions {
        limits: BudgetLimits {
            tokens: Some(5000),
            ..BudgetLimits::default()
        },
        ..RunOptions::default()
    };
    let summary = driver
        .with_options(limits)
        .run(&mut session(&catalog(), context()), "lead")
        .await
        .unwrap();
    assert!(
        matches!(&summary.outcome, Outcome::Budget(_)),
        "{summary:?}"
    );
    assert_eq!(
        (summary.steps, summary.calls, summary.usage),
        (1, 1, Some(used(10)))
    );
    assert_eq!(
        (
            summary.spent.steps,
            summary.spent.calls,
            summary.spent.tokens
        ),
        (3, 2, 5010)
    );
}

#[tokio::test]
async fn a_session_without_the_service_has_no_such_tool() {
    let session = session(&catalog(), Host::new().with_grant(Grant::all()));
    assert!(!session.tools().contains(TOOL) && session.tools().contains("todo.write"));
}

#[tokio::test]
async fn the_tools_of_a_sub_agent_are_a_part_of_those_of_its_agent() {
    let mut catalog = catalog();
    ["look", "listen", "secret"]
        .iter()
        .for_each(|name| add(&mut catalog, name));
    let offered = Arc::new(Mutex::new(Vec::new()));
    let seen = offered.clone();
    let driver = playing(move |request: Request<'_>| -> TurnFuture<'_> {
        let names: Vec<_> = request
            .tools
            .list()
            .iter()
            .map(|entry| entry.name().to_string())
            .collect();
        seen.lock().unwrap().push((task(&request), names));
        let turn = match (task(&request).as_str(), turns(&request)) {
            ("lead", 0) => Turn::calls([
                spawning(
                    "a",
                    json!({"name": "a", "task": "do", "tools": ["look", "todo.*", "!todo.read"]}),
                ),
                spawning(
                    "b",
                    json!({"name": "b", "task": "never", "tools": ["secret"]}),
                ),
            ]),
            ("lead", _) => Turn::answer("finished"),
            (_, 0) => {
                Turn::calls(["listen", "secret"].map(|name| ToolCall::new(name, name, json!({}))))
            }
            _ => Turn::answer("done"),
        };
        Box::pin(async { Ok(turn) })
    });
    let selection = Selection::parse(["agent.*", "todo.*", "look", "listen"]).unwrap();
    let mut session = Session::new(catalog.list(), selection, context());
    let results = delegated(&mut session, driver).await;
    assert!(
        results[0].to_text().contains("2 calls (2 failed)"),
        "{results:?}"
    );
    assert!(
        results[1].is_error && results[1].to_text().contains("secret"),
        "{results:?}"
    );
    let offered = offered.lock().unwrap();
    let of = |wanted: &str| {
        offered
            .iter()
            .find(|(task, _)| task == wanted)
            .map(|(_, names)| names.clone())
    };
    assert_eq!(of("do").unwrap(), ["look", "todo.write"]);
    assert_eq!(of("never"), None);
}

#[tokio::test]
async fn levels_of_sub_agents_are_limited() {
    let catalog = catalog();
    let down = |task: &str, number: usize| match number {
        0 => Turn::calls([spawning(
            "s",
            json!({"name": "n", "task": format!("{task}+")}),
        )]),
        _ => Turn::answer(format!("{task} done")),
    };
    let log = EventLog::default();
    let driver =
        lead(vec![spawning("s", json!({"name": "n", "task": "+"}))], down).with_events(log.clone());
    let mut session = session(&catalog, context().with_service(SubAgents { max_depth: 3 }));
    delegated(&mut session, driver).await;
    let paths: BTreeSet<_> = log
        .events()
        .iter()
        .filter_map(|event| match event {
            Event::SubAgent { agent, .. } => Some(agent.clone()),
            _ => None,
        })
        .collect();
    assert_eq!(paths.into_iter().collect::<Vec<_>>(), ["n", "n/n", "n/n/n"]);
    let refused = log.events().into_iter().find_map(|event| match event {
        Event::SubAgent { agent, event, .. } if agent == "n/n/n" => match *event {
            Event::Result { result, .. } => Some(result),
            _ => None,
        },
        _ => None,
    });
    assert_eq!(kind(&refused.unwrap()), "not_found");

    let none = context().with_service(SubAgents { max_depth: 0 });
    let driver = lead(vec![spawning("s", json!({"name": "n", "task": "+"}))], down);
    let results = delegated(
        &mut Session::new(catalog.list(), Selection::new(), none),
        driver,
    )
    .await;
    assert_eq!(kind(&results[0]), "execution_failed");
}

#[tokio::test]
async fn a_long_answer_is_cut_and_kept() {
    let catalog = catalog();
    let driver = lead(
        vec![spawning("s", json!({"name": "n", "task": "talk"}))],
        |_, _| Turn::answer("word ".repeat(20_000)),
    );
    let mut session = session(
        &catalog,
        context()
            .with_service(OutputStore::default())
            .with_session("s"),
    );
    let results = delegated(&mut session, driver).await;
    let text = results[0].to_text();
    assert!(
        text.len() <= 17 * 1024 && text.contains("tools.output") && text.contains("1 step"),
        "{}",
        text.len()
    );
}

#[tokio::test]
async fn a_sub_agent_that_does_not_finish_is_an_error_with_its_last_words() {
    let mut catalog = catalog();
    add(&mut catalog, "look");
    let calls = vec![spawning(
        "s",
        json!({"name": "n", "task": "on and on", "budget": {"steps": 2}}),
    )];
    let driver = lead(calls, |_, number| {
        let mut turn = Turn::calls([ToolCall::new("c", "look", json!({}))]);
        turn.message
            .parts
            .insert(0, Part::Content(Content::text(format!("thought {number}"))));
        turn
    });
    let results = delegated(&mut session(&catalog, context()), driver).await;
    let text = results[0].to_text();
    assert!(
        results[0].is_error && text.contains("2 steps") && text.contains("thought 1"),
        "{text}"
    );
}

#[tokio::test]
async fn a_failed_request_of_a_sub_agent_has_its_kind_and_leaves_the_last_words() {
    let mut catalog = catalog();
    add(&mut catalog, "look");
    let log = EventLog::default();
    let driver = playing(|request| {
        let (task, turns) = (task(&request), turns(&request));
        Box::pin(async move {
            match (task.as_str(), turns) {
                ("lead", 0) => Ok(Turn::calls([spawning(
                    "s",
                    json!({"name": "n", "task": "read"}),
                )])),
                ("lead", _) => Ok(Turn::answer("finished")),
                (_, 0) => {
                    let mut turn = Turn::calls([ToolCall::new("c", "look", json!({}))]);
                    turn.message
                        .parts
                        .insert(0, Part::Content(Content::text("a thought")));
                    Ok(turn)
                }
                _ => {
                    let (provider, message) = ("acme".to_owned(), "no credit".to_owned());
                    let (kind, status, retry_after) = (FailureKind::Quota, 429, None);
                    Err(ProviderError::Status {
                        provider,
                        status,
                        kind,
                        message,
                        retry_after,
                    })
                }
            }
        })
    });
    let results = delegated(
        &mut session(&catalog, context()),
        driver.with_events(log.clone()),
    )
    .await;
    let text = results[0].to_text();
    assert!(
        results[0].is_error && text.contains("(quota)") && text.contains("a thought"),
        "{text}"
    );
    let failure = log.events().into_iter().find_map(|event| match event {
        Event::SubAgent { event, .. } => match *event {
            Event::Done(summary) => Some(summary.outcome),
            _ => None,
        },
        _ => None,
    });
    assert!(
        matches!(
            failure,
            Some(Outcome::Failed {
                failure: Some(FailureKind::Quota),
                ..
            })
        ),
        "{failure:?}"
    );
}

/// The budget of each agent is its own and the rest of all agents above.
#[tokio::test]
async fn sub_agents_share_the_budget_of_their_agent() {
    let mut catalog = catalog();
    add(&mut catalog, "look");
    let looking =
        |number: usize| Turn::calls([ToolCall::new("c", "look", json!({"number": number}))]);
    let calls = |budget: &Value| {
        (0..3)
            .map(|n| {
                spawning(
                    &n.to_string(),
                    json!({"name": format!("n{n}"), "task": "look", "budget": budget}),
                )
            })
            .collect()
    };
    let limited = |limits| RunOptions {
        limits,
        ..RunOptions::default()
    };
    // Each of the three may make five calls of its own, but all four agents together ten.
    let driver = lead(calls(&json!({"calls": 5})), move |_, number| {
        looking(number)
    });
    let budget = Budget::default();
    let mut session = session(&catalog, context().with_service(budget.clone()));
    let driver = driver.with_options(limited(BudgetLimits {
        calls: Some(10),
        ..BudgetLimits::default()
    }));
    driver.run(&mut session, "lead").await.unwrap();
    assert_eq!(budget.spent().calls, 10);

    let driver = lead(calls(&json!({"steps": 4})), move |_, number| {
        looking(number)
    });
    let results = delegated(&mut self::session(&catalog, context()), driver).await;
    assert!(
        results
            .iter()
            .all(|result| result.is_error && result.to_text().contains("4 steps, 4 calls")),
        "{results:?}"
    );
}

#[tokio::test]
async fn a_mistake_in_the_arguments_is_explained() {
    let arguments = [
        json!({"name": "n", "task": "t", "tools": ["look"]}),
        json!({"name": "n", "task": "t", "tools": ["["]}),
        json!({"name": "n", "task": "t", "grant": ["fs"]}),
        json!({"name": "a/b", "task": "t"}),
        json!({"name": "n", "task": "t", "colour": "red"}),
    ];
    let calls = arguments
        .iter()
        .enumerate()
        .map(|(n, arguments)| spawning(&n.to_string(), arguments.clone()));
    let driver = lead(calls.collect(), |_, _| Turn::answer("said"));
    let results = delegated(&mut session(&catalog(), context()), driver).await;
    let kinds: Vec<_> = results.iter().map(kind).collect();
    let expected = ["execution_failed"; 3]
        .into_iter()
        .chain(["invalid_arguments"; 2]);
    assert_eq!(kinds, expected.collect::<Vec<_>>());
}
