//! Consent of a person to calls.

mod basis;
mod commands;
mod hosts;

use std::sync::Arc;
use std::time::Duration;

use agent::WorkspaceDomain;
use agent::consent::{
    ApprovalAnswer, ApprovalAnswerFuture, ApprovalQuestion, Asker, SessionConsent,
    rules_from_grant, rules_from_typed,
};
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};
use tools::context::Exposure;
use tools::policy::{Rule, Verdict};
use tools::{
    Catalog, Clause, Effects, ErrorCode, Grant, Host, Policy, Target, Tool, ToolContext, ToolError,
    ToolName, ToolResult,
};

/// A question as text, and the way to answer it.
struct Asked {
    text: String,
    may_last: bool,
    answer: oneshot::Sender<ApprovalAnswer>,
}

/// Hands its questions to the test.
struct Desk(mpsc::UnboundedSender<Asked>);

impl Asker for Desk {
    fn ask<'a>(&'a self, question: ApprovalQuestion<'a>) -> ApprovalAnswerFuture<'a> {
        let (answer, answered) = oneshot::channel();
        let asked = Asked {
            text: question.to_string(),
            may_last: question.may_last(),
            answer,
        };
        self.0
            .send(asked)
            .unwrap_or_else(|_| panic!("the test has ended"));
        Box::pin(async { answered.await.unwrap() })
    }
}

struct Person(mpsc::UnboundedReceiver<Asked>);

impl Person {
    /// Answers the next question. Returns its text and whether it offered an approval for the session.
    async fn answers(&mut self, answer: ApprovalAnswer) -> (String, bool) {
        let asked = self.0.recv().await.unwrap();
        asked.answer.send(answer).unwrap();
        (asked.text, asked.may_last)
    }

    fn is_idle(&mut self) -> bool {
        self.0.try_recv().is_err()
    }
}

/// A context whose calls ask a person about everything but reads, and the person.
fn asking() -> (Host, Person) {
    let (questions, asked) = mpsc::unbounded_channel();
    let cx = Host::new()
        .with_grant(Grant::parse(["fs:*:**", "world:*:**"]).unwrap())
        .with_policy(Policy::by_effects())
        .with_approver(Arc::new(SessionConsent::new(Desk(questions))));
    (cx, Person(asked))
}

fn add(catalog: &mut Catalog, name: &str, description: &str, effects: Value) {
    let parameters =
        json!({"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]});
    let tool = Tool::new(name, description, parameters).unwrap();
    let tool = tool.with_effects(serde_json::from_value::<Effects>(effects).unwrap());
    catalog
        .replace(tool, async |_: ToolContext, _: Value| "done")
        .unwrap();
}

fn catalog() -> Catalog {
    let mut catalog = Catalog::new();
    add(
        &mut catalog,
        "write",
        "Writes.",
        json!({"writes": ["fs:{path}"]}),
    );
    add(
        &mut catalog,
        "copy",
        "Copies.",
        json!({"writes": ["fs:{path}"]}),
    );
    add(
        &mut catalog,
        "remove",
        "Removes.",
        json!({"destroys": ["fs:{path}"]}),
    );
    catalog
}

async fn call(
    catalog: &Catalog,
    cx: &ToolContext,
    tool: &str,
    path: &str,
) -> Result<ToolResult, ToolError> {
    catalog.execute(cx, tool, json!({"path": path})).await
}

/// Makes a call that asks, and answers it. Returns the question and the result.
async fn answered(
    catalog: &Catalog,
    cx: &ToolContext,
    person: &mut Person,
    (tool, path): (&str, &str),
    answer: ApprovalAnswer,
) -> (String, bool, Result<ToolResult, ToolError>) {
    let (ended, (text, may_last)) =
        tokio::join!(call(catalog, cx, tool, path), person.answers(answer));
    (text, may_last, ended)
}

fn no() -> ApprovalAnswer {
    ApprovalAnswer::No {
        reason: "not now".to_owned(),
    }
}

#[tokio::test]
async fn one_answer_is_for_one_call_and_a_no_has_its_reason() {
    let ((cx, mut person), catalog) = (asking(), catalog());
    for _ in 0..2 {
        answered(
            &catalog,
            &cx,
            &mut person,
            ("write", "a"),
            ApprovalAnswer::Once,
        )
        .await
        .2
        .unwrap();
    }
    let error = answered(&catalog, &cx, &mut person, ("write", "a"), no())
        .await
        .2
        .unwrap_err();
    assert_eq!(error.code(), ErrorCode::Denied);
    assert!(error.to_string().contains("not now"), "{error}");
}

#[tokio::test]
async fn an_answer_for_the_session_holds_for_the_tool_and_the_target() {
    let ((cx, mut person), catalog) = (asking(), catalog());
    answered(
        &catalog,
        &cx,
        &mut person,
        ("write", "a"),
        ApprovalAnswer::Session,
    )
    .await
    .2
    .unwrap();
    call(&catalog, &cx, "write", "a").await.unwrap();
    assert!(person.is_idle());
    for other in [("write", "b"), ("copy", "a")] {
        answered(&catalog, &cx, &mut person, other, no())
            .await
            .2
            .unwrap_err();
    }
}

#[tokio::test]
async fn a_changed_definition_asks_again() {
    let ((cx, mut person), mut catalog) = (asking(), catalog());
    answered(
        &catalog,
        &cx,
        &mut person,
        ("write", "a"),
        ApprovalAnswer::Session,
    )
    .await
    .2
    .unwrap();
    add(
        &mut catalog,
        "write",
        "Writes something else.",
        json!({"writes": ["fs:{path}"]}),
    );
    answered(&catalog, &cx, &mut person, ("write", "a"), no())
        .await
        .2
        .unwrap_err();
}

#[tokio::test]
async fn another_session_principal_or_domain_asks_again() {
    let ((cx, mut person), catalog) = (asking(), catalog());
    answered(
        &catalog,
        &cx,
        &mut person,
        ("write", "a"),
        ApprovalAnswer::Session,
    )
    .await
    .2
    .unwrap();
    let others = [
        cx.clone().with_session("other"),
        cx.clone().with_principal("other"),
        WorkspaceDomain::new("other").enter(cx.clone()),
    ];
    for other in others {
        answered(&catalog, &other, &mut person, ("write", "a"), no())
            .await
            .2
            .unwrap_err();
    }
    call(&catalog, &cx, "write", "a").await.unwrap();
}

#[tokio::test]
async fn a_call_with_a_smaller_grant_or_at_another_depth_asks_again() {
    let ((cx, mut person), mut catalog) = (asking(), catalog());
    answered(
        &catalog,
        &cx,
        &mut person,
        ("write", "a"),
        ApprovalAnswer::Session,
    )
    .await
    .2
    .unwrap();
    let smaller = cx
        .clone()
        .with_grant(Grant::parse(["fs:read:**", "fs:write:b"]).unwrap());
    let (text, ..) = answered(&catalog, &smaller, &mut person, ("write", "a"), no()).await;
    assert!(text.contains("(not granted)"), "{text}");

    let parameters =
        json!({"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]});
    let outer = Tool::new("outer", "Calls write.", parameters)
        .unwrap()
        .with_effects(Effects::Pure);
    catalog
        .replace(outer, async |cx: ToolContext, arguments: Value| {
            cx.execute("write", arguments).await
        })
        .unwrap();
    answered(&catalog, &cx, &mut person, ("outer", "a"), no())
        .await
        .2
        .unwrap_err();
    call(&catalog, &cx, "write", "a").await.unwrap();
}

#[tokio::test]
async fn destroys_unbounded_effects_and_control_files_are_approved_once_only() {
    let ((cx, mut person), mut catalog) = (asking(), catalog());
    catalog
        .register(
            Tool::new("shell", "Runs.", json!({"type": "object"}))
                .unwrap()
                .with_effects(Effects::Undeclared),
            async |_: ToolContext, _: Value| "done",
        )
        .unwrap();
    let domain = WorkspaceDomain::new("here")
        .with_control_files(["conf/rules"])
        .with_control_name("bot.toml");
    let cx = domain.enter(cx);
    for (tool, path, expected) in [
        ("write", "sub/file", true),
        ("write", "other/conf/rules", true),
        ("remove", "file", false),
        ("shell", "file", false),
        ("write", "conf/rules", false),
        ("write", "sub/bot.toml", false),
        ("write", "toolcrib.toml", false),
        ("write", ".git/hooks/pre-commit", false),
        ("write", "Makefile", true),
    ] {
        let (_, may_last, ended) = answered(
            &catalog,
            &cx,
            &mut person,
            (tool, path),
            ApprovalAnswer::Session,
        )
        .await;
        ended.unwrap();
        assert_eq!(may_last, expected, "{tool} {path}");
        let again = call(&catalog, &cx, tool, path);
        if expected {
            again.await.unwrap();
        } else {
            tokio::join!(again, person.answers(no())).0.unwrap_err();
        }
    }
}

#[tokio::test]
async fn parallel_calls_are_asked_about_one_by_one() {
    let ((cx, mut person), catalog) = (asking(), catalog());
    let (first, second) = (
        call(&catalog, &cx, "write", "a"),
        call(&catalog, &cx, "write", "b"),
    );
    let answers = async {
        let open = person.0.recv().await.unwrap();
        assert!(open.text.contains("fs:write:a"), "{}", open.text);
        tokio::task::yield_now().await;
        assert!(person.is_idle(), "the second question waits");
        open.answer.send(ApprovalAnswer::Once).unwrap();
        person.answers(no()).await.0
    };
    let (first, second, text) = tokio::join!(first, second, answers);
    assert!(
        first.is_ok() && second.is_err() && text.contains("fs:write:b"),
        "{text}"
    );
}

#[tokio::test]
async fn an_answer_for_the_session_also_answers_the_calls_that_wait() {
    let ((cx, mut person), catalog) = (asking(), catalog());
    let calls = [(); 2].map(|()| call(&catalog, &cx, "copy", "a"));
    let [first, second] = calls;
    let (first, second, _) = tokio::join!(first, second, person.answers(ApprovalAnswer::Session));
    assert!(first.is_ok() && second.is_ok() && person.is_idle());
}

#[tokio::test]
async fn an_approved_call_does_not_wait_for_the_question_about_another() {
    let ((cx, mut person), catalog) = (asking(), catalog());
    answered(
        &catalog,
        &cx,
        &mut person,
        ("write", "a"),
        ApprovalAnswer::Session,
    )
    .await
    .2
    .unwrap();
    let approved = async {
        let open = person.0.recv().await.unwrap();
        call(&catalog, &cx, "write", "a").await.unwrap();
        open.answer.send(no()).unwrap();
    };
    assert!(
        tokio::join!(call(&catalog, &cx, "write", "b"), approved)
            .0
            .is_err()
    );
}

#[tokio::test]
async fn a_call_that_ends_while_it_asks_lets_the_next_one_ask() {
    let ((cx, mut person), catalog) = (asking(), catalog());
    {
        let mut dropped = Box::pin(call(&catalog, &cx, "write", "a"));
        tokio::select! {
            _ = &mut dropped => panic!("the question is still open"),
            asked = person.0.recv() => assert!(asked.is_some()),
        }
    }
    answered(
        &catalog,
        &cx,
        &mut person,
        ("write", "b"),
        ApprovalAnswer::Once,
    )
    .await
    .2
    .unwrap();
}

#[tokio::test]
async fn a_call_without_targets_is_approved_for_its_tool() {
    let ((cx, mut person), mut catalog) = (asking(), catalog());
    add(&mut catalog, "add", "Adds.", json!("pure"));
    let cx = cx.with_policy(
        Policy::new().with_rules([Rule::new(Verdict::Ask, Some("add"), None).unwrap()]),
    );
    let (text, may_last, ended) = answered(
        &catalog,
        &cx,
        &mut person,
        ("add", "a"),
        ApprovalAnswer::Session,
    )
    .await;
    assert!(
        text.starts_with("add asks to run:") && may_last && ended.is_ok(),
        "{text}"
    );
    call(&catalog, &cx, "add", "b").await.unwrap();
}

#[tokio::test]
async fn the_text_of_a_question_hides_nothing() {
    let ((cx, mut person), catalog) = (asking(), catalog());
    let cx = cx.with_grant(Grant::parse(["fs:write:src/**"]).unwrap());
    let (text, ..) = answered(
        &catalog,
        &cx,
        &mut person,
        ("write", "a\u{202e}b\u{200b}"),
        no(),
    )
    .await;
    assert!(
        text.contains(r"fs:write:a\u{202e}b\u{200b} (not granted)"),
        "{text}"
    );
    assert!(
        !text.contains(|c: char| c != '\n' && tools::protocol::is_invisible(c)),
        "{text}"
    );
    let (text, ..) = answered(
        &catalog,
        &cx,
        &mut person,
        ("write", "src/.git/config"),
        no(),
    )
    .await;
    let remark = text
        .lines()
        .find(|line| line.contains("fs:write:"))
        .unwrap();
    assert!(
        remark.contains(".git/config, ") && !remark.contains("not granted"),
        "{text}"
    );
}

fn verdict(rules: impl Iterator<Item = Rule>, target: &str) -> Verdict {
    let policy = Policy::by_effects().with_rules(rules);
    let cx = Host::new().with_grant(Grant::all()).with_policy(policy);
    cx.rulings(
        &"t".parse::<ToolName>().unwrap(),
        &[target.parse().unwrap()],
    )
    .next()
    .unwrap()
    .verdict
}

#[test]
fn a_grant_is_consent_to_write_and_never_to_destroy() {
    for granted in [
        &["fs:write:src/**", "fs:destroy:**", "world:write:**"][..],
        &["*:*:**"],
    ] {
        let granted: Vec<Clause> = granted
            .iter()
            .map(|clause| clause.parse().unwrap())
            .collect();
        assert_eq!(
            verdict(rules_from_grant(&granted), "fs:write:src/a"),
            Verdict::Allow
        );
        assert_eq!(
            verdict(rules_from_grant(&granted), "fs:destroy:src/a"),
            Verdict::Ask
        );
        assert_eq!(
            verdict(rules_from_grant(&granted), "world:write:t"),
            Verdict::Ask
        );
    }
    assert_eq!(
        verdict(rules_from_grant([]), "fs:write:src/a"),
        Verdict::Ask
    );
}

#[test]
fn a_grant_that_names_tools_of_servers_is_consent_to_their_calls() {
    for (granted, expected) in [
        ("mcp:files/**", Verdict::Allow),
        ("mcp:files/read", Verdict::Allow),
        ("mcp:**", Verdict::Allow),
        ("mcp:mail/**", Verdict::Ask),
        ("world:write:**", Verdict::Ask),
        ("world:write:{mcp:files,a}/**", Verdict::Ask),
        ("world:*:mcp:files/**", Verdict::Ask),
    ] {
        let granted = [granted.parse::<Clause>().unwrap()];
        assert_eq!(
            verdict(rules_from_grant(&granted), "world:write:mcp:files/read"),
            expected,
            "{granted:?}"
        );
    }
}

/// A context without grants whose session has read nothing, a person, and tools with effects without bounds.
fn unbounded() -> (Host, Person, Catalog) {
    let ((cx, person), mut catalog) = (asking(), Catalog::new());
    add(
        &mut catalog,
        "mcp:s/read",
        "Reads.",
        json!({"open_world": true}),
    );
    add(
        &mut catalog,
        "mcp:s/write",
        "Writes.",
        json!({"writes": ["fs:{path}"]}),
    );
    (cx.with_service(Exposure::new()), person, catalog)
}

#[tokio::test]
async fn an_answer_that_a_rule_keeps_holds_for_the_tool() {
    let (cx, mut person, catalog) = unbounded();
    let call = ("mcp:s/read", "a");
    answered(&catalog, &cx, &mut person, call, ApprovalAnswer::Session)
        .await
        .2
        .unwrap();
    let cx = cx.with_service(Exposure::new());
    answered(&catalog, &cx, &mut person, call, ApprovalAnswer::Always)
        .await
        .2
        .unwrap();
    self::call(&catalog, &cx, "mcp:s/read", "b").await.unwrap();
    assert!(person.is_idle());
}

#[tokio::test]
async fn no_rule_keeps_an_answer_of_an_exposed_session_or_about_more_than_the_tool() {
    let (cx, mut person, catalog) = unbounded();
    let rule = Rule::new(Verdict::Ask, Some("mcp:*"), None).unwrap();
    let ruled = cx
        .clone()
        .with_policy(Policy::by_effects().with_rules([rule]));
    let of_agent = cx.clone().with_agent("helper").unwrap();
    let mut kept = Vec::new();
    for (reason, cx, tool, is_exposed) in [
        ("exposed", &*cx, "mcp:s/read", true),
        ("ruled", &*ruled, "mcp:s/read", false),
        ("of an agent", &of_agent, "mcp:s/read", false),
        ("more than the tool", &*cx, "mcp:s/write", false),
    ] {
        for is_first in [true, false] {
            let cx = cx.clone().with_service(Exposure::new());
            if is_exposed {
                cx.record_exposure();
            }
            let asked = answered(
                &catalog,
                &cx,
                &mut person,
                (tool, "a"),
                ApprovalAnswer::Always,
            );
            match tokio::time::timeout(Duration::from_secs(5), asked).await {
                Ok((.., ended)) => drop(ended.unwrap()),
                Err(_) => kept.push((reason, is_first)),
            }
        }
    }
    assert!(kept.is_empty(), "{kept:?}");
}

#[test]
fn typing_a_target_is_consent_to_it_and_the_targets_below() {
    let typed: [Target; 1] = ["fs:destroy:a".parse().unwrap()];
    assert_eq!(
        verdict(rules_from_typed(&typed), "fs:destroy:a"),
        Verdict::Allow
    );
    assert_eq!(
        verdict(rules_from_typed(&typed), "fs:destroy:a/b"),
        Verdict::Allow
    );
    assert_eq!(
        verdict(rules_from_typed(&typed), "fs:destroy:ab"),
        Verdict::Ask
    );
    assert_eq!(
        verdict(rules_from_typed(&typed), "fs:write:a"),
        Verdict::Ask
    );
    let typed: [Target; 1] = ["exec:write:npm test".parse().unwrap()];
    assert_eq!(
        verdict(rules_from_typed(&typed), "exec:write:npm test"),
        Verdict::Allow
    );
    assert_eq!(
        verdict(rules_from_typed(&typed), "exec:write:npm test x"),
        Verdict::Ask
    );
}
