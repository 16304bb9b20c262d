//! Approvals of sub-agents and of their calls.

use std::sync::{Arc, Mutex};

use agent::consent::{ApprovalAnswer, ApprovalAnswerFuture, ApprovalQuestion, Asker};
use agent::{SessionConsent, Turn};
use serde_json::{Value, json};
use tools::{Effects, Grant, Policy, Tool, ToolCall, ToolContext};

use crate::spawn::{agents, catalog, context, delegated, lead, session, spawning};
use crate::workshop::kind;

/// Approves all calls and keeps the questions.
#[derive(Clone, Default)]
struct Clerk(Arc<Mutex<Vec<String>>>);

impl Asker for Clerk {
    fn ask<'a>(&'a self, question: ApprovalQuestion<'a>) -> ApprovalAnswerFuture<'a> {
        self.0.lock().unwrap().push(question.to_string().lines().next().unwrap_or_default().to_owned());
        Box::pin(async { ApprovalAnswer::Session })
    }
}

#[tokio::test]
async fn an_approval_of_an_agent_does_not_cover_its_sub_agents() {
    let mut catalog = catalog();
    let effects: Effects = serde_json::from_value(json!({"writes": ["page:{title}"]})).unwrap();
    let parameters = json!({"type": "object", "properties": {"title": {"type": "string"}}, "required": ["title"]});
    let publish = Tool::new("publish", "Publishes.", parameters).unwrap().with_effects(effects);
    catalog.register(publish, async |_: ToolContext, _: Value| "published").unwrap();
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
    let cx = context().with_policy(Policy::by_effects()).with_approver(Arc::new(SessionConsent::new(clerk.clone())));
    let results = delegated(&mut session(&catalog, cx), driver).await;
    assert!(results.iter().all(|result| !result.is_error), "{results:?}");
    let asked = clerk.0.lock().unwrap().clone();
    let expected = [
        "publish asks for:", "agent.spawn asks for:", "publish of the sub-agent one asks for:",
        "agent.spawn asks for:", "publish of the sub-agent two asks for:",
    ];
    assert_eq!(asked, expected);
}

#[tokio::test]
async fn a_sub_agent_is_asked_about_and_refused_without_a_person() {
    let driver = || lead(vec![spawning("s", json!({"name": "n", "task": "talk"}))], |_, _| Turn::answer("said"));
    let cx = context().with_policy(Policy::by_effects());
    let results = delegated(&mut session(&catalog(), cx), driver()).await;
    assert_eq!(kind(&results[0]), "unapproved");
    let cx = context().with_grant(Grant::parse(["fs:read:**"]).unwrap());
    let results = delegated(&mut session(&catalog(), cx), driver()).await;
    assert_eq!(kind(&results[0]), "permission_denied");
}
