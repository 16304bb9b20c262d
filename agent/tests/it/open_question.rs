//! The time of a run while a question to a person is open.

use std::sync::Arc;
use std::time::Duration;

use agent::{
    BudgetLimits, BudgetScope, Driver, DriverError, Exhausted, Outcome, Resource, RunOptions,
    Selection, Session, Turn,
};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};
use tools::context::ApprovalFuture;
use tools::policy::{Rule, Verdict};
use tools::protocol::Limits;
use tools::{
    Approval, Approver, Catalog, Decision, Effects, Host, Policy, ToolCall, ToolContext, ToolResult,
};

use crate::spawn::{agents, catalog, context, session, spawning};
use crate::workshop::{answer, results, tool};

/// The time that a person takes for a decision.
const WAIT: Duration = Duration::from_secs(200);

/// The time of a run.
const LIMIT: Duration = Duration::from_secs(60);

/// Approves all calls after a while.
struct Slow;

impl Approver for Slow {
    fn approve<'a>(&'a self, _approval: Approval<'a>) -> ApprovalFuture<'a> {
        Box::pin(async {
            sleep(WAIT).await;
            Decision::Allow
        })
    }
}

/// A catalog with the tool `ask`, whose calls a person approves, and `work`, which takes two thirds of the time of a run.
fn asking() -> Catalog {
    let mut catalog = catalog();
    let effects: Effects = serde_json::from_value(json!({"writes": ["page:news"]})).unwrap();
    catalog
        .register(
            tool("ask").with_effects(effects),
            async |_: ToolContext, _: Value| "asked",
        )
        .unwrap();
    let work = async |_: ToolContext, _: Value| {
        sleep(LIMIT * 2 / 3).await;
        "worked"
    };
    catalog
        .register(tool("work").with_limits(patient()), work)
        .unwrap();
    catalog
}

/// The limits of a tool that takes longer than the run may.
fn patient() -> Limits {
    Limits {
        timeout_ms: Some(3_600_000),
        ..Limits::default()
    }
}

/// A context in which a person approves the calls of `ask`.
fn attended() -> Host {
    let rule = Rule::for_target(Verdict::Ask, "page:write:**".parse().unwrap());
    context()
        .with_policy(Policy::new().with_rules([rule]))
        .with_approver(Arc::new(Slow))
}

fn one(name: &str, number: usize) -> Turn {
    Turn::calls([ToolCall::new(
        format!("{name}{number}"),
        name,
        json!({"number": number}),
    )])
}

/// The turns of an agent that makes a call of each of these tools, one after the other.
fn each(names: &[&str], number: usize) -> Turn {
    names
        .get(number)
        .map_or_else(|| Turn::answer("done"), |name| one(name, number))
}

fn limited(driver: Driver, time: Duration) -> Driver {
    driver.with_options(RunOptions {
        limits: BudgetLimits {
            time: Some(time),
            ..BudgetLimits::default()
        },
        ..RunOptions::default()
    })
}

fn time_over(limit: Duration) -> Outcome {
    let limit = u64::try_from(limit.as_millis()).unwrap();
    Outcome::Budget(Exhausted {
        resource: Resource::Time,
        limit,
        scope: BudgetScope::Run,
    })
}

#[tokio::test(start_paused = true)]
async fn an_open_question_does_not_use_the_time_of_a_run() {
    let run = async |names: &'static [&'static str]| {
        let (begun, driver) = (Instant::now(), agents(|_, number| each(names, number)));
        let summary = limited(driver, LIMIT)
            .run(&mut session(&asking(), attended()), "lead")
            .await
            .unwrap();
        (summary.outcome, begun.elapsed())
    };
    let (outcome, elapsed) = run(&["work", "ask", "ask"]).await;
    assert_eq!(
        (answer(&outcome), elapsed),
        ("done", LIMIT * 2 / 3 + WAIT * 2)
    );
    let (outcome, elapsed) = run(&["work", "ask", "work"]).await;
    assert_eq!(
        (outcome, elapsed),
        (time_over(LIMIT), LIMIT + WAIT),
        "all other time counts"
    );
}

/// A question that ends without an answer is as open as any other.
#[tokio::test(start_paused = true)]
async fn an_unanswered_question_does_not_use_the_time_of_a_run() {
    let driver = limited(agents(|_, number| each(&["ask", "work"], number)), LIMIT);
    let cx = attended().with_approval_timeout(WAIT / 2);
    let summary = driver
        .run(&mut session(&asking(), cx), "lead")
        .await
        .unwrap();
    assert_eq!(
        (answer(&summary.outcome), summary.failed_calls),
        ("done", 1)
    );
}

/// Runs an agent whose sub-agent makes a call of each of these tools.
async fn delegated(budget: Value, names: &'static [&'static str]) -> ToolResult {
    let arguments = json!({"name": "n", "task": "do", "budget": budget});
    let driver = agents(move |task, number| match (task, number) {
        ("lead", 0) => Turn::calls([spawning("s", arguments.clone())]),
        ("lead", _) => Turn::answer("finished"),
        _ => each(names, number),
    });
    let mut session = session(&asking(), attended());
    driver.run(&mut session, "lead").await.unwrap();
    results(session.messages()).remove(0).1
}

#[tokio::test(start_paused = true)]
async fn an_open_question_does_not_use_the_time_of_a_sub_agent() {
    let seconds = json!({"seconds": LIMIT.as_secs()});
    let result = delegated(seconds.clone(), &["ask", "work"]).await;
    assert!(
        !result.is_error && result.to_text().starts_with("done"),
        "{result:?}"
    );
    let result = delegated(seconds, &["ask", "work", "work"]).await;
    assert!(
        result.is_error && result.to_text().contains("budget of 60s"),
        "{result:?}"
    );
    // The questions take longer than the call that starts the sub-agent may.
    let result = delegated(Value::Null, &["ask"; 20]).await;
    assert!(
        !result.is_error && result.to_text().starts_with("done"),
        "{result:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_question_of_one_sub_agent_does_not_stop_the_time_of_another() {
    let seconds = json!({"seconds": LIMIT.as_secs()});
    let driver = agents(move |task, number| match (task, number) {
        ("lead", 0) => Turn::calls(
            ["asks", "works"]
                .map(|name| spawning(name, json!({"name": name, "task": name, "budget": seconds}))),
        ),
        ("lead", _) => Turn::answer("finished"),
        ("asks", _) => each(&["ask", "work"], number),
        _ => each(&["work", "work"], number),
    });
    let mut session = session(&asking(), attended());
    driver.run(&mut session, "lead").await.unwrap();
    let is_error: Vec<_> = results(session.messages())
        .iter()
        .map(|(_, result)| result.is_error)
        .collect();
    assert_eq!(is_error, [false, true]);
}

/// A tool can run a session of its own in the context of its call, also without being an agent's.
#[tokio::test(start_paused = true)]
async fn an_open_question_does_not_use_the_time_of_a_run_inside_of_a_tool() {
    let mut catalog = asking();
    let offered = catalog.list();
    let nested = move |cx: ToolContext, _: Value| {
        let mut session = Session::new(offered.clone(), Selection::new(), cx);
        async move {
            let driver = limited(agents(|_, number| each(&["ask", "work"], number)), LIMIT);
            Ok::<_, DriverError>(format!(
                "{:?}",
                driver.run(&mut session, "lead").await?.outcome
            ))
        }
    };
    catalog
        .register(tool("nested").with_limits(patient()), nested)
        .unwrap();
    let mut session = session(&catalog, attended());
    agents(|_, number| each(&["nested"], number))
        .run(&mut session, "lead")
        .await
        .unwrap();
    let result = results(session.messages()).remove(0).1;
    assert!(result.to_text().contains("Answer"), "{result:?}");
}
