//! Consent to commands.

use tools::{Access, Handler, HandlerFuture, Input, Targets};

use super::*;

/// A tool whose argument is a command.
struct RunCommand;

impl Handler for RunCommand {
    fn call<'a>(&'a self, _: ToolContext, _: Input) -> HandlerFuture<'a> {
        HandlerFuture::ready(Ok(ToolResult::text("done")))
    }

    fn targets(&self, arguments: Input) -> Option<Targets> {
        let command = arguments.value()["path"].as_str().unwrap_or_default();
        Some(Ok(vec![
            Target::new(Access::Write, "exec", command).unwrap(),
        ]))
    }
}

/// Returns the tool, a context with a grant and rules for every command, and the person who is asked.
fn running(allowed: &[&str]) -> (Catalog, Host, Person) {
    let parameters =
        json!({"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]});
    let tool = Tool::new("run", "Runs.", parameters).unwrap();
    let effects: Effects = serde_json::from_value(json!({"writes": ["exec:{*}"]})).unwrap();
    let mut catalog = Catalog::new();
    catalog
        .register(tool.with_effects(effects), RunCommand)
        .unwrap();
    let (cx, person) = asking();
    let allowed = allowed
        .iter()
        .map(|clause| Rule::for_target(Verdict::Allow, clause.parse().unwrap()));
    let policy = Policy::by_effects().with_rules(allowed);
    (
        catalog,
        cx.with_grant(Grant::all()).with_policy(policy),
        person,
    )
}

#[tokio::test]
async fn a_command_with_unknown_words_is_asked_about_each_time_whatever_the_rules_say() {
    let (catalog, cx, mut person) = running(&["exec:write:**", "*:*:**"]);
    call(&catalog, &cx, "run", "echo a").await.unwrap();
    for command in [
        "echo $x",
        "echo \"$x\"",
        "\"$program\"",
        "bash -c \"$script\"",
    ] {
        for _ in 0..2 {
            let (_, may_last, ended) = answered(
                &catalog,
                &cx,
                &mut person,
                ("run", command),
                ApprovalAnswer::Session,
            )
            .await;
            assert!(!may_last && ended.is_ok(), "{command}");
        }
        let refused = answered(&catalog, &cx, &mut person, ("run", command), no())
            .await
            .2
            .unwrap_err();
        assert_eq!(refused.code(), ErrorCode::Denied);
    }
}

#[tokio::test]
async fn a_rule_denies_unknown_words_that_its_pattern_covers() {
    let (catalog, cx, person) = running(&["exec:write:**"]);
    let denying = Rule::for_target(Verdict::Deny, "exec:write:rm **".parse().unwrap());
    let cx = cx.with_policy(Policy::new().with_rules([denying]));
    for command in ["rm a", "rm $x", "rm \"$x\" a"] {
        assert_eq!(
            call(&catalog, &cx, "run", command)
                .await
                .unwrap_err()
                .code(),
            ErrorCode::Denied,
            "{command}"
        );
    }
    drop(person);
}

#[tokio::test]
async fn an_approval_covers_the_exact_words_also_of_a_command_that_is_known_by_its_digest() {
    let (catalog, cx, mut person) = running(&[]);
    let long = format!("echo {}", "word ".repeat(4_000));
    for command in ["cargo test", &long] {
        let (text, may_last, ended) = answered(
            &catalog,
            &cx,
            &mut person,
            ("run", command),
            ApprovalAnswer::Session,
        )
        .await;
        assert!(
            may_last && ended.is_ok() && text.contains(command.trim()),
            "the question shows all words"
        );
        call(&catalog, &cx, "run", command).await.unwrap();
        for other in [
            format!("{command} more"),
            command.replacen(' ', " 'a b' ", 1),
            format!("env A=b {command}"),
        ] {
            answered(&catalog, &cx, &mut person, ("run", &other), no())
                .await
                .2
                .unwrap_err();
        }
    }
    let (text, ..) = answered(
        &catalog,
        &cx,
        &mut person,
        ("run", &format!("{long} x")),
        no(),
    )
    .await;
    assert!(text.contains("#sha256:"), "{text}");
}

#[tokio::test]
async fn a_question_says_that_a_command_runs_other_programs() {
    let (catalog, cx, mut person) = running(&[]);
    for (command, expected) in [
        ("sh -c ls", true),
        ("find . -exec rm '{}' +", true),
        ("ls", false),
    ] {
        let (text, ..) = answered(&catalog, &cx, &mut person, ("run", command), no()).await;
        assert_eq!(
            text.contains("(it runs other programs)"),
            expected,
            "{text}"
        );
    }
}
