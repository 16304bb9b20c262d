//! Hosts that a call reads, and which the grant or a rule has to name.

use std::sync::Arc;

use serde_json::{Value, json};
use tools::policy::{Reason, Verdict};
use tools::{
    Access, Catalog, Effects, ErrorCode, Policy, Target, Tool, ToolContext, ToolError,
    ToolErrorKind, ToolName, ToolResult,
};

use crate::sample::{Yes, echo, granted};

/// Tools that read the host of a URL. `follow` discovers a second one while it runs, like a redirect.
fn catalog() -> Catalog {
    let mut catalog = Catalog::new();
    let parameters =
        json!({"type": "object", "properties": {"url": {"type": "string"}}, "required": ["url"]});
    let tool = |name: &str| {
        let effects: Effects =
            serde_json::from_value(json!({"reads": ["net:{url|host}"], "open_world": true}))
                .unwrap();
        Tool::new(name, "Reads a page.", parameters.clone())
            .unwrap()
            .with_effects(effects)
    };
    catalog.register(tool("fetch"), echo).unwrap();
    let follow = async |cx: ToolContext, arguments: Value| {
        cx.require(Access::Read, "net", arguments["to"].as_str().unwrap())?;
        Ok::<_, ToolError>("read")
    };
    catalog.register(tool("follow"), follow).unwrap();
    catalog
}

async fn fetch(cx: &ToolContext, url: &str) -> Result<ToolResult, ToolError> {
    catalog().execute(cx, "fetch", json!({"url": url})).await
}

fn policy(rules: Value) -> Policy {
    serde_json::from_value(rules).unwrap()
}

#[tokio::test]
async fn a_host_that_only_a_wildcard_covers_is_asked_about_with_and_without_a_policy() {
    let contexts = [
        granted(&["net:read:**"]),
        granted(&["*:*:**"]).with_policy(Policy::new()),
        granted(&["net:read:*.example"]).with_policy(Policy::by_effects()),
    ];
    for cx in contexts {
        let error = fetch(&cx, "https://a.example/?q=1").await.unwrap_err();
        let expected: Vec<Target> = vec!["net:read:a.example".parse().unwrap()];
        let ToolErrorKind::Unapproved {
            needed,
            sensitive,
            unnamed,
            concern: None,
            waited: None,
        } = error.kind()
        else {
            panic!("{error}")
        };
        assert_eq!(
            (&needed[..], &unnamed[..], sensitive.len()),
            (&expected[..], &expected[..], 0)
        );
        assert!(
            error
                .to_string()
                .contains("names it, such as net:read:a.example"),
            "{error}"
        );
        assert_eq!(
            ToolResult::from(&error).structured.unwrap().value()["error"]["unnamed"],
            json!(expected)
        );
        let approver = Arc::new(Yes::default());
        fetch(&cx.with_approver(approver.clone()), "https://a.example/")
            .await
            .unwrap();
        assert_eq!(approver.asked(), ["net:read:a.example"]);
    }
}

#[tokio::test]
async fn a_named_host_is_read_and_its_other_ports_are_not_named() {
    let cx = granted(&[
        "net:read:**",
        "net:read:a.example",
        "net:read:localhost:*",
        r"net:*:\[::1\]:8080",
    ]);
    for url in [
        "https://a.example/",
        "http://A.example:80/x",
        "http://localhost:8080/",
        "http://[0::1]:8080/",
    ] {
        fetch(&cx, url).await.unwrap();
    }
    for url in [
        "http://a.example:8080/",
        "http://localhost/",
        "http://[::1]/",
        "https://b.a.example/",
    ] {
        assert_eq!(
            fetch(&cx, url).await.unwrap_err().code(),
            ErrorCode::Unapproved,
            "{url}"
        );
    }
    let error = fetch(&granted(&["net:read:a.example"]), "http://a.example:8080/")
        .await
        .unwrap_err();
    assert_eq!(
        error.code(),
        ErrorCode::PermissionDenied,
        "a clause for a host does not cover its other ports"
    );
}

#[tokio::test]
async fn a_rule_that_names_the_host_or_the_tool_answers_the_question_and_another_one_does_not() {
    let wild = granted(&["net:read:**"]);
    for (rule, expected) in [
        (
            json!({"verdict": "allow", "target": "net:read:a.example"}),
            true,
        ),
        (
            json!({"verdict": "allow", "tool": "fetch", "target": "net:read:**"}),
            true,
        ),
        (json!({"verdict": "allow", "target": "net:read:**"}), false),
        (
            json!({"verdict": "allow", "tool": "f*", "target": "net:read:**"}),
            false,
        ),
        (json!({"verdict": "allow", "tool": "fetch"}), false),
        (
            json!({"verdict": "allow", "tool": "follow", "target": "net:read:**"}),
            false,
        ),
        (
            json!({"verdict": "ask", "target": "net:read:a.example"}),
            false,
        ),
    ] {
        let cx = wild.clone().with_policy(policy(json!([rule])));
        assert_eq!(
            fetch(&cx, "http://a.example/").await.is_ok(),
            expected,
            "{rule}"
        );
    }
}

#[test]
fn a_ruling_names_the_rules_that_name_the_host_and_says_that_none_does() {
    let rules = json!([
        {"verdict": "allow", "target": "net:read:**"},
        {"verdict": "allow", "target": "net:read:a.example"},
    ]);
    let cx = granted(&["net:read:**", "net:read:b.example"]).with_policy(policy(rules));
    let targets = ["a.example", "b.example", "c.example"]
        .map(|host| Target::new(Access::Read, "net", host).unwrap());
    let tool = ToolName::new("fetch").unwrap();
    let rulings: Vec<_> = cx.rulings(&tool, &targets).collect();
    let reasons: Vec<_> = rulings.iter().map(|ruling| ruling.to_string()).collect();
    assert!(
        reasons[0].contains("`allow every tool on net:read:a.example`"),
        "{reasons:?}"
    );
    assert!(!reasons[0].contains("on net:read:**`"), "{reasons:?}");
    assert!(
        !reasons[1].contains("rule") && reasons[1].contains("`net:read:b.example`"),
        "{reasons:?}"
    );
    assert_eq!(
        (rulings[2].verdict, rulings[2].reasons()),
        (Verdict::Ask, vec![Reason::UnnamedHost])
    );
    assert!(rulings[2].is_granted_but_unnamed() && !rulings[1].is_granted_but_unnamed());
    assert_eq!(
        serde_json::to_value(rulings[2]).unwrap()["reasons"],
        json!([{"kind": "unnamed_host"}])
    );
    let ungranted = granted(&[]);
    let ruling = ungranted.rulings(&tool, &targets[..1]).next().unwrap();
    assert_eq!(ruling.reasons(), [Reason::Ungranted, Reason::UnnamedHost]);
    assert_eq!(ruling.shown_reasons(), [Reason::Ungranted]);
    assert!(!ruling.is_granted_but_unnamed());
}

#[tokio::test]
async fn a_host_that_the_running_call_discovers_has_to_be_named_too() {
    let follow = async |cx: &ToolContext, url: &str, to: &str| {
        catalog()
            .execute(cx, "follow", json!({"url": url, "to": to}))
            .await
    };
    let cx = granted(&["net:read:**", "net:read:a.example"]);
    follow(&cx, "http://a.example/", "a.example").await.unwrap();
    let error = follow(&cx, "http://a.example/", "b.example")
        .await
        .unwrap_err();
    assert!(
        matches!(error.kind(), ToolErrorKind::Unapproved { unnamed, .. } if unnamed.len() == 1),
        "{error}"
    );

    // An approval of a host holds for that host in the running call, and for no other.
    let approver = Arc::new(Yes::default());
    let asking = cx.with_approver(approver.clone());
    follow(&asking, "http://b.example/", "b.example")
        .await
        .unwrap();
    let error = follow(&asking, "http://b.example/", "b.example:8080")
        .await
        .unwrap_err();
    assert_eq!(error.code(), ErrorCode::Unapproved);
    assert_eq!(approver.asked(), ["net:read:b.example"; 2]);
    let error = follow(
        &granted(&["net:read:a.example"]),
        "http://a.example/",
        "b.example",
    )
    .await
    .unwrap_err();
    assert_eq!(error.code(), ErrorCode::PermissionDenied);
}
