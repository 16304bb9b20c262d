//! The decision about a call and its explanation.

mod property;

use std::sync::LazyLock;

use serde_json::json;
use tools::policy::{Rule, Verdict};
use tools::{Clause, Effects, Grant, Host, Policy, Target, Tool, ToolErrorKind, ToolName};

use crate::sample::{echo, granted, holding};

static TOOL: LazyLock<ToolName> = LazyLock::new(|| ToolName::new("fs.tool").unwrap());

/// A tool with these targets, whatever its arguments.
fn touching(targets: &[Target]) -> Tool {
    let with = |access: &str| {
        let of_access = targets
            .iter()
            .filter(|target| target.access().as_str() == access);
        of_access
            .map(|target| format!("{}:{}", target.scheme(), target.value()))
            .collect::<Vec<_>>()
    };
    let effects = match targets {
        [] => Effects::Pure,
        _ => serde_json::from_value(
            json!({"reads": with("read"), "writes": with("write"), "destroys": with("destroy")}),
        )
        .unwrap(),
    };
    Tool::new("fs.tool", "Touches files.", json!({"type": "object"}))
        .unwrap()
        .with_effects(effects)
}

#[test]
fn a_ruling_names_what_decides() {
    let rules = json!([
        {"verdict": "allow", "tool": "fs.*", "target": "fs:write:src/**"},
        {"verdict": "deny", "target": "fs:*:src/secret", "reason": "it is private"},
        {"verdict": "ask", "tool": "x.*"},
    ]);
    let policy: Policy = serde_json::from_value(rules).unwrap();
    let cx = granted(&["fs:read:**", "fs:*:src/**", "fs:write:.git/**"]).with_policy(policy);
    let text = |tool: &str, target: &str| {
        let targets: Vec<Target> = (!target.is_empty())
            .then(|| target.parse().unwrap())
            .into_iter()
            .collect();
        cx.rulings(&ToolName::new(tool).unwrap(), &targets)
            .next()
            .unwrap()
            .to_string()
    };
    for (tool, target, parts) in [
        (
            "fs.write",
            "fs:write:src/a",
            &[
                "is allowed",
                "by `fs:*:src/**`",
                "`allow fs.* on fs:write:src/**`",
            ][..],
        ),
        (
            "fs.read",
            "fs:read:src/a",
            &["is allowed", "by `fs:*:src/**` or `fs:read:**`"],
        ),
        (
            "fs.read",
            "fs:read:src/secret",
            &["is denied", "`deny every tool on fs:*:src/secret`"],
        ),
        (
            "fs.write",
            "fs:write:b",
            &["is asked about", "no clause", "asks by default"],
        ),
        (
            "fs.write",
            "fs:write:toolcrib.toml",
            &["is asked about", "the sensitive path `toolcrib.toml`"],
        ),
        (
            "x.y",
            "",
            &["the call is asked about", "the rule `ask x.*`"],
        ),
        ("fs.x", "", &["the call is allowed", "it touches nothing"]),
    ] {
        let text = text(tool, target);
        assert!(parts.iter().all(|part| text.contains(part)), "{text}");
    }
    assert!(
        !text("fs.read", "fs:read:src/a").contains("rule"),
        "{}",
        text("fs.read", "fs:read:src/a")
    );
}

#[test]
fn a_ruling_as_json_has_its_reasons_by_kind() {
    let policy: Policy =
        serde_json::from_value(json!([{"verdict": "allow", "target": "fs:write:src/**"}])).unwrap();
    let cx = granted(&["fs:*:src/**", "fs:destroy:a"]).with_policy(policy);
    let targets = ["fs:write:src/a", "fs:destroy:a", "fs:write:.git/config"]
        .map(|target| target.parse().unwrap());
    let rulings: Vec<_> = cx
        .rulings(&*TOOL, &targets)
        .map(|ruling| serde_json::to_value(ruling).unwrap())
        .collect();
    let [allowed, asked, sensitive] = &rulings[..] else {
        panic!()
    };
    let clauses = json!({"kind": "granted", "clauses": [{"clause": "fs:*:src/**"}]});
    let rules =
        json!({"kind": "rules", "rules": [{"rule": "allow every tool on fs:write:src/**"}]});
    assert_eq!(
        *allowed,
        json!({"target": "fs:write:src/a", "verdict": "allow", "reasons": [clauses, rules]})
    );
    assert_eq!(
        asked["reasons"],
        json!([{"kind": "default", "default": "always_ask"}])
    );
    assert_eq!(
        (&sensitive["verdict"], &sensitive["reasons"][0]["kind"]),
        (&json!("ask"), &json!("ungranted"))
    );
    let path = sensitive["reasons"].as_array().unwrap().last().unwrap();
    assert_eq!(
        (&path["kind"], &path["sensitivity"]),
        (&json!("sensitive"), &json!("runs_by_itself"))
    );
    let untouched: Vec<_> = cx.rulings(&*TOOL, &[]).collect();
    let expected =
        json!([{"target": null, "verdict": "allow", "reasons": [{"kind": "untouched"}]}]);
    assert_eq!(serde_json::to_value(&untouched).unwrap(), expected);
}

#[test]
fn a_ruling_names_the_places_that_set_its_clauses_and_rules() {
    let clause = |text: &str, origin: &str| text.parse::<Clause>().unwrap().with_origin(origin);
    let grant = Grant::new([
        clause("fs:read:**", "a:1"),
        clause("fs:read:*", "a:2"),
        clause("fs:write:**", "a:3"),
    ]);
    let rules = ["b:1", "b:2"]
        .map(|origin| Rule::for_target(Verdict::Allow, clause("fs:write:**", origin)));
    let policy = Policy::by_effects()
        .with_rules(rules)
        .with_rules([Rule::new(
            Verdict::Deny,
            Some("fs.*"),
            Some("fs:*:secret".parse().unwrap()),
        )
        .unwrap()
        .with_origin("b:3")]);
    let cx = Host::new().with_grant(grant).with_policy(policy);
    let targets =
        ["fs:read:a", "fs:write:a", "fs:read:secret"].map(|target| target.parse().unwrap());
    let rulings: Vec<_> = cx.rulings(&*TOOL, &targets).collect();
    let texts: Vec<_> = rulings.iter().map(ToString::to_string).collect();
    assert!(
        texts[0].contains("`fs:read:*` (a:2) or `fs:read:**` (a:1)"),
        "{texts:?}"
    );
    assert!(
        texts[1].contains("`fs:write:**` (a:3)") && texts[1].contains("on fs:write:**` (b:1, b:2)"),
        "{texts:?}"
    );
    assert!(
        texts[2].contains("`deny fs.* on fs:*:secret` (b:3)"),
        "{texts:?}"
    );
    let reasons = serde_json::to_value(rulings[1]).unwrap()["reasons"].take();
    assert_eq!(
        reasons[0]["clauses"],
        json!([{"clause": "fs:write:**", "origins": ["a:3"]}])
    );
    assert_eq!(
        reasons[1]["rules"],
        json!([{"rule": "allow every tool on fs:write:**", "origins": ["b:1", "b:2"]}])
    );
}

#[tokio::test]
async fn a_model_does_not_read_where_a_rule_is_set() {
    let deny = Rule::for_target(Verdict::Deny, "fs:read:**".parse().unwrap())
        .with_origin("/home/me/settings.toml:3");
    let cx = granted(&["fs:*:**"]).with_policy(Policy::new().with_rules([deny]));
    let catalog = holding(touching(&["fs:read:a".parse().unwrap()]), echo);
    let error = catalog
        .execute(&cx, "fs.tool", json!({}))
        .await
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("`deny every tool on fs:read:**`") && !error.contains("settings.toml"),
        "{error}"
    );
}

#[tokio::test]
async fn the_denial_of_a_call_names_every_rule_that_denies_it() {
    let policy: Policy = serde_json::from_value(json!([
        {"verdict": "deny", "tool": "fs.tool", "reason": "one"},
        {"verdict": "deny", "target": "fs:read:**", "reason": "two"},
        {"verdict": "deny", "tool": "other"},
    ]))
    .unwrap();
    let cx = granted(&["fs:*:**"]).with_policy(policy);
    let catalog = holding(touching(&["fs:read:a".parse().unwrap()]), echo);
    let error = catalog
        .execute(&cx, "fs.tool", json!({}))
        .await
        .unwrap_err();
    let ToolErrorKind::Denied { reason, .. } = error.kind() else {
        panic!("{error}")
    };
    for part in [
        "`deny fs.tool`",
        "`deny every tool on fs:read:**`",
        "one",
        "two",
    ] {
        assert!(reason.contains(part), "{part} is not in {reason}");
    }
    assert!(!reason.contains("other"), "{reason}");
}
