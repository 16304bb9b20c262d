//! Approvals of sub-agents and of their calls.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use agent::consent::{ApprovalAnswer, ApprovalAnswerFuture, ApprovalQuestion, Asker};
use agent::{SessionConsent, Turn};
use serde_json::{Value, json};
use tools::{Effects, Grant, Policy, Tasks, Tool, ToolCall, ToolContext};

use crate::digging::Digging;
use crate::spawn::{agents, catalog, context, delegated, lead, session, spawning};
use crate::spawn_background::{background, with_tasks};
use crate::workshop::kind;

/// Approves all calls and keeps the questions.
#[derive(Clone, Default)]
struct Clerk(Arc<Mutex<Vec<String>>>);

impl Asker for Clerk {
    fn ask<'a>(&'a self, question: ApprovalQuestion<'a>) -> ApprovalAnswerFuture<'a> {
        self.0.lock().unwrap().push(
            question
                .to_string()
                .lines()
                .next()
                .unwrap_or_default()
                .to_owned(),
        );
        Box::pin(async { ApprovalAnswer::Session })
    }
}

#[tokio::test]
async fn an_approval_of_an_agent_does_not_cover_its_sub_agents() {
    let mut catalog = catalog();
    let effects: Effects = serde_json::from_value(json!({"writes": ["page:{title}"]})).unwrap();
    let parameters = json!({"type": "object", "properties": {"title": {"type": "string"}}, "required": ["title"]});
    let publish = Tool::new("publish", "Publishes.", parameters)
        .unwrap()
        .with_effects(effects);
    catalog
        .register(publish, async |_: ToolContext, _: Value| "published")
        .unwrap();
    let published = |id: &str| ToolCall::new(id, "publish", json!({"title": "news"}));
    let driver = agents(move |task, number| match (task, number) {
        ("lead", 0 | 1) => Turn::calls([published("p")]),
        ("lead", 2) => Turn::calls([spawning("a", json!({"name": "one", "task": "publish"}))]),
        ("lead", 3) => Turn::calls([spawning("b", json!({"name": "two", "task": "publish"}))]),
        ("lead", _) => Turn::answer("finished"),
        (_, 0 | 1) => Turn::calls([published("p")]),
        _ => Turn::answer("done"),
    });
    let clerk = Clerk::default();
    let cx = context()
        .with_policy(Policy::by_effects())
        .with_approver(Arc::new(SessionConsent::new(clerk.clone())));
    let results = delegated(&mut session(&catalog, cx), driver).await;
    assert!(results.iter().all(|result| !result.is_error), "{results:?}");
    let asked = clerk.0.lock().unwrap().clone();
    let expected = [
        "publish asks for:",
        "agent.spawn asks for:",
        "publish of the sub-agent one asks for:",
        "agent.spawn asks for:",
        "publish of the sub-agent two asks for:",
    ];
    assert_eq!(asked, expected);
}

#[tokio::test]
async fn a_sub_agent_is_asked_about_and_refused_without_a_person() {
    let driver = || {
        lead(
            vec![spawning("s", json!({"name": "n", "task": "talk"}))],
            |_, _| Turn::answer("said"),
        )
    };
    let cx = context().with_policy(Policy::by_effects());
    let results = delegated(&mut session(&catalog(), cx), driver()).await;
    assert_eq!(kind(&results[0]), "unapproved");
    let cx = context().with_grant(Grant::parse(["fs:read:**"]).unwrap());
    let results = delegated(&mut session(&catalog(), cx), driver()).await;
    assert_eq!(kind(&results[0]), "permission_denied");
}

/// Approves all calls after a while, and notes whether two questions are open at once.
#[derive(Clone, Default)]
struct Desk {
    asked: Arc<Mutex<Vec<String>>>,
    open: Arc<AtomicUsize>,
}

impl Asker for Desk {
    fn ask<'a>(&'a self, question: ApprovalQuestion<'a>) -> ApprovalAnswerFuture<'a> {
        let name = question
            .to_string()
            .lines()
            .next()
            .unwrap_or_default()
            .to_owned();
        Box::pin(async move {
            assert_eq!(
                self.open.fetch_add(1, Ordering::SeqCst),
                0,
                "one question at a time"
            );
            self.asked.lock().unwrap().push(name);
            for _ in 0..100 {
                tokio::task::yield_now().await;
            }
            self.open.fetch_sub(1, Ordering::SeqCst);
            ApprovalAnswer::Once
        })
    }
}

#[tokio::test]
async fn a_background_sub_agent_queues_for_the_person_with_its_agent_and_asks_without_a_run_too() {
    let mut catalog = catalog();
    let digging = Digging::new(&mut catalog);
    let effects: Effects = serde_json::from_value(json!({"writes": ["page:{title}"]})).unwrap();
    let parameters = json!({"type": "object", "properties": {"title": {"type": "string"}}, "required": ["title"]});
    let publish = Tool::new("publish", "Publishes.", parameters)
        .unwrap()
        .with_effects(effects);
    catalog
        .register(publish, async |_: ToolContext, _: Value| "published")
        .unwrap();
    let published = |title: &str| ToolCall::new(title, "publish", json!({"title": title}));
    let driver = agents(move |task, number| match (task, number) {
        ("lead", 0) => Turn::calls([background("s", "one", "publish")]),
        ("lead", 1) => Turn::calls([published("a"), published("b")]),
        ("lead", _) => Turn::answer("finished"),
        (_, 0) => Turn::calls([published("c"), published("d")]),
        (_, 1) => Turn::calls([ToolCall::new("e", "dig", json!({}))]),
        (_, 2) => Turn::calls([published("f")]),
        _ => Turn::answer("done"),
    });
    let desk = Desk::default();
    let cx = with_tasks(context()).with_policy(Policy::by_effects());
    let cx = cx.with_approver(Arc::new(SessionConsent::new(desk.clone())));
    let mut session = session(&catalog, cx);
    let results = delegated(&mut session, driver).await;
    assert!(results.iter().all(|result| !result.is_error), "{results:?}");
    digging.permits.add_permits(1);
    let tasks = session.context().service::<Tasks>().unwrap();
    assert_eq!(
        tasks.next_ended().await.state.to_string(),
        "answered: 4 steps, 4 calls"
    );
    let asked = desk.asked.lock().unwrap().clone();
    let count = |line: &str| asked.iter().filter(|asked| *asked == line).count();
    let counts = [
        "agent.spawn asks for:",
        "publish asks for:",
        "publish of the sub-agent one asks for:",
    ]
    .map(count);
    assert_eq!(counts, [1, 2, 3], "{asked:?}");
}
