//! Refused calls, for people.

use std::time::Duration;

use agent::WorkspaceDomain;
use agent::refusal::{Refusal, Remedy, for_person, remedies};
use serde_json::{Value, json};
use tools::policy::{Rule, Verdict};
use tools::{
    Catalog, Effects, Grant, Host, Policy, Target, Tool, ToolContext, ToolError, ToolErrorKind,
};

fn rule(verdict: Verdict, clause: &str) -> Rule {
    Rule::for_target(verdict, clause.parse().unwrap())
}

/// Calls a tool that writes the path, which is refused. Returns the error and the refusal.
async fn refused(cx: &ToolContext, path: &str) -> (ToolError, Refusal) {
    let parameters =
        json!({"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]});
    let effects: Effects = serde_json::from_value(json!({"writes": ["fs:{path}"]})).unwrap();
    let mut catalog = Catalog::new();
    catalog
        .register(
            Tool::new("write", "Writes.", parameters)
                .unwrap()
                .with_effects(effects),
            async |_: ToolContext, _: Value| "done",
        )
        .unwrap();
    let arguments = json!({"path": path});
    let touched = catalog
        .get("write")
        .unwrap()
        .targets(&arguments.clone().into(), &Host::new())
        .unwrap();
    let error = catalog.execute(cx, "write", arguments).await.unwrap_err();
    let refusal = Refusal::from_error(&error, &touched).unwrap();
    (error, refusal)
}

fn targets(texts: &[&str]) -> Vec<Target> {
    texts.iter().map(|text| text.parse().unwrap()).collect()
}

fn granted(clauses: &[&str]) -> Host {
    Host::new().with_grant(Grant::parse(clauses).unwrap())
}

#[tokio::test]
async fn targets_outside_the_grant_are_named_once_and_sorted() {
    let cx = granted(&["fs:read:**"]);
    let mut refusals = Vec::new();
    for path in ["b", "a", "b"] {
        refusals.push(refused(&cx, path).await.1);
    }
    let remedies = remedies(&refusals, []);
    assert_eq!(
        remedies,
        [Remedy::Grant(targets(&["fs:write:a", "fs:write:b"]))]
    );
    assert!(
        remedies[0].to_string().contains("fs:write:a, fs:write:b"),
        "{}",
        remedies[0]
    );
}

#[test]
fn a_command_with_unknown_words_is_approved_and_never_granted() {
    let needed = targets(&["exec:write:id", r#"exec:write:sh "$stdin""#]);
    let granted = Grant::parse(["fs:read:**"]).unwrap();
    let error = ToolError::new(
        "exec.run",
        ToolErrorKind::PermissionDenied {
            needed: needed.clone(),
            granted,
        },
    );
    let refusal = Refusal::from_error(&error, &needed).unwrap();
    let remedies = remedies(&[refusal], []);
    assert_eq!(
        remedies,
        [
            Remedy::Grant(needed[..1].to_vec()),
            Remedy::Approve(needed[1].clone())
        ]
    );
    assert!(
        remedies[1].to_string().contains("not known before it runs"),
        "{}",
        remedies[1]
    );
    assert!(error.to_string().contains("use plain commands"), "{error}");
}

#[tokio::test]
async fn a_rule_that_decides_is_the_remedy_and_not_the_grant() {
    for (verdict, words) in [
        (Verdict::Ask, "asks about it"),
        (Verdict::Deny, "denies it"),
    ] {
        let rules = [
            (Verdict::Allow, "fs:write:**"),
            (verdict, "fs:write:a"),
            (verdict, "fs:write:*"),
        ];
        let rules = rules.map(|(verdict, clause)| {
            rule(verdict, clause).with_origin(format!("{clause} is here"))
        });
        let cx = granted(&["fs:*:**"]).with_policy(Policy::from(rules.to_vec()));
        let (error, refusal) = refused(&cx, "a").await;
        assert_ne!(
            for_person(&error),
            error.to_string(),
            "the message for a model"
        );
        let remedies = remedies(&[refusal.clone(), refusal], &rules);
        let [remedy @ Remedy::ChangeRule(rule)] = &remedies[..] else {
            panic!("{remedies:?}")
        };
        assert_eq!(*rule, &rules[1]);
        let text = remedy.to_string();
        assert!(
            text.contains(&format!("at fs:write:a is here {words}")),
            "{text}"
        );
    }
}

#[tokio::test]
async fn without_a_rule_an_unapproved_call_can_be_granted() {
    let (error, refusal) = refused(
        &granted(&["fs:*:**"]).with_policy(Policy::by_effects()),
        "a",
    )
    .await;
    assert!(
        matches!(error.kind(), ToolErrorKind::Unapproved { .. }),
        "{error}"
    );
    assert_eq!(
        remedies(&[refusal], []),
        [Remedy::Grant(targets(&["fs:write:a"]))]
    );
}

#[tokio::test]
async fn an_unnamed_host_can_be_granted_by_its_name() {
    let mut catalog = Catalog::new();
    let parameters =
        json!({"type": "object", "properties": {"url": {"type": "string"}}, "required": ["url"]});
    let effects: Effects = serde_json::from_value(json!({"reads": ["net:{url|host}"]})).unwrap();
    let tool = Tool::new("fetch", "Reads a page.", parameters)
        .unwrap()
        .with_effects(effects);
    catalog
        .register(tool, async |_: ToolContext, _: Value| "read")
        .unwrap();
    let cx = granted(&["net:read:**"]);
    let error = catalog
        .execute(&cx, "fetch", json!({"url": "http://[::1]:8080/"}))
        .await
        .unwrap_err();
    assert!(
        for_person(&error).contains("names the host `[::1]:8080`"),
        "{}",
        for_person(&error)
    );
    let target = targets(&["net:read:[::1]:8080"]);
    let remedies = remedies(&[Refusal::from_error(&error, &target).unwrap()], []);
    assert_eq!(remedies, [Remedy::Grant(target)]);
    let text = remedies[0].to_string();
    let clause = text.rsplit(' ').next().unwrap();
    let named = granted(&["net:read:**", clause]);
    catalog
        .execute(&named, "fetch", json!({"url": "http://[::1]:8080/"}))
        .await
        .unwrap();
}

#[tokio::test]
async fn no_grant_allows_a_control_file() {
    let cx = WorkspaceDomain::new("here")
        .with_control_files(["rules"])
        .enter(granted(&["fs:write:**"]));
    let (error, refusal) = refused(&cx, "rules").await;
    assert!(
        for_person(&error).contains("`rules` is a control file"),
        "{}",
        for_person(&error)
    );
    assert_eq!(
        remedies(&[refusal], []),
        [Remedy::Approve(targets(&["fs:write:rules"])[0].clone())]
    );
}

#[test]
fn a_late_answer_and_a_missing_approver_differ() {
    let unapproved = |waited| {
        ToolError::new(
            "t",
            ToolErrorKind::Unapproved {
                needed: vec![],
                sensitive: [].into(),
                unnamed: [].into(),
                concern: None,
                waited,
            },
        )
    };
    let late = for_person(&unapproved(Some(Duration::from_secs(3))));
    assert!(late.contains("timed out after 3s"), "{late}");
    assert_ne!(late, for_person(&unapproved(None)));
}

#[test]
fn other_failures_are_not_refusals() {
    let failed = ToolError::execution_failed("the disk is full");
    assert_eq!(
        Refusal::from_error(&failed, &targets(&["fs:write:a"])),
        None
    );
    assert_eq!(for_person(&failed), failed.to_string());
}
