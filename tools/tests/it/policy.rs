//! Policies and rules.

use proptest::prelude::*;
use serde_json::{Value, json};
use tools::policy::{InvalidRule, Rule, Verdict};
use tools::{Grant, Host, Policy, Target, ToolName};

fn rule(value: Value) -> Rule {
    serde_json::from_value(value).unwrap()
}

fn refused(value: Value) -> String {
    serde_json::from_value::<Rule>(value)
        .unwrap_err()
        .to_string()
}

/// Returns the verdict about a call with all permissions, so that the policy decides.
fn judged(policy: &Policy, tool: &str, targets: &[Target]) -> Verdict {
    let cx = Host::new()
        .with_grant(Grant::all())
        .with_policy(policy.clone());
    cx.rulings(&ToolName::new(tool).unwrap(), targets)
        .next()
        .unwrap()
        .verdict
}

fn verdict(policy: &Policy, tool: &str, target: &str) -> Verdict {
    judged(policy, tool, &[target.parse().unwrap()])
}

#[test]
fn by_effects_reading_runs_and_all_else_asks() {
    let policy = Policy::by_effects();
    for target in ["fs:read:a", "search:read:web"] {
        assert_eq!(verdict(&policy, "t", target), Verdict::Allow, "{target}");
    }
    for target in [
        "fs:write:a",
        "fs:destroy:a",
        "world:write:t",
        "world:read:t",
    ] {
        assert_eq!(verdict(&policy, "t", target), Verdict::Ask, "{target}");
        assert_eq!(
            verdict(&Policy::new(), "t", target),
            Verdict::Allow,
            "{target}"
        );
    }
    assert_eq!(judged(&policy, "add", &[]), Verdict::Allow);
}

#[test]
fn the_strictest_rule_wins_in_any_order() {
    let rules = [
        rule(json!({"verdict": "allow", "tool": "fs.*", "target": "fs:write:**"})),
        rule(json!({"verdict": "ask", "target": "fs:write:src/**"})),
        rule(json!({"verdict": "deny", "tool": "fs.write", "target": "fs:*:src/secret"})),
    ];
    let forwards = Policy::by_effects().with_rules(rules.clone());
    let backwards = Policy::by_effects().with_rules(rules.into_iter().rev());
    for policy in [forwards, backwards] {
        assert_eq!(
            verdict(&policy, "fs.write", "fs:write:docs/a"),
            Verdict::Allow
        );
        assert_eq!(verdict(&policy, "fs.write", "fs:write:src/a"), Verdict::Ask);
        assert_eq!(
            verdict(&policy, "fs.write", "fs:write:src/secret"),
            Verdict::Deny
        );
        assert_eq!(
            verdict(&policy, "fs.edit", "fs:write:src/secret"),
            Verdict::Ask
        );
        assert_eq!(
            verdict(&policy, "other", "fs:write:docs/a"),
            Verdict::Ask,
            "the default where no rule applies"
        );
    }
}

#[test]
fn destruction_is_allowed_only_by_an_explicit_rule() {
    for broad in [
        json!({"tool": "fs.remove"}),
        json!({"target": "fs:*:tmp/**"}),
        json!({"target": "*:destroy:**"}),
    ] {
        let mut broad = broad;
        broad["verdict"] = json!("allow");
        let policy = Policy::by_effects().with_rules([rule(broad)]);
        assert_eq!(
            verdict(&policy, "fs.remove", "fs:destroy:tmp/a"),
            Verdict::Ask
        );
    }
    let clear = rule(json!({"verdict": "allow", "target": "fs:destroy:tmp/**"}));
    let policy = Policy::by_effects().with_rules([clear]);
    assert_eq!(
        verdict(&policy, "fs.remove", "fs:destroy:tmp/a"),
        Verdict::Allow
    );
    assert_eq!(
        verdict(&policy, "fs.remove", "fs:destroy:src/a"),
        Verdict::Ask
    );
    let shell = Policy::by_effects().with_rules([rule(
        json!({"verdict": "allow", "target": "world:write:shell"}),
    )]);
    assert_eq!(
        verdict(&shell, "shell", "world:write:shell"),
        Verdict::Allow
    );
    // Rules that ask or deny may have wildcards.
    let deny = Policy::new().with_rules([rule(json!({"verdict": "deny", "tool": "fs.*"}))]);
    assert_eq!(
        verdict(&deny, "fs.remove", "fs:destroy:tmp/a"),
        Verdict::Deny
    );
}

#[test]
fn a_rule_without_a_target_is_about_calls_that_touch_nothing_as_well() {
    let policy = Policy::new()
        .with_rules([rule(json!({"verdict": "deny", "tool": "calc.*"}))])
        .with_rules([rule(json!({"verdict": "ask", "target": "*:*:**"}))]);
    assert_eq!(
        (
            judged(&policy, "calc.add", &[]),
            judged(&policy, "text.count", &[])
        ),
        (Verdict::Deny, Verdict::Allow)
    );
}

#[test]
fn examples_are_checked_when_a_rule_is_read() {
    let rule = |examples: Value| {
        let mut rule = json!({"verdict": "allow", "tool": "fs.*", "target": "fs:*:src/**"});
        rule.as_object_mut()
            .unwrap()
            .extend(examples.as_object().unwrap().clone());
        rule
    };
    serde_json::from_value::<Rule>(rule(json!({
        "match": ["fs.write fs:write:src/a b", "fs.read fs:read:src"],
        "not_match": ["fs.write fs:write:docs/a", "time.now clock:read:now", "fs.list"],
    })))
    .unwrap();
    let error = refused(rule(json!({"match": ["fs.write fs:write:docs/a"]})));
    assert_eq!(
        error,
        "the rule `allow fs.* on fs:*:src/**` does not apply to its example \"fs.write fs:write:docs/a\"; change the rule or the example"
    );
    let error = refused(rule(
        json!({"not_match": ["fs.write fs:write:src/../src/a"]}),
    ));
    assert!(
        error.contains("applies to its counterexample \"fs.write fs:write:src/../src/a\""),
        "{error}"
    );
    let error = refused(rule(json!({"match": ["fs.remove fs:destroy:src/a"]})));
    assert!(
        error.contains("allowed only by a target without `*`"),
        "{error}"
    );
    for example in [
        "",
        "fs.read fs",
        "fs read fs:read:a",
        "fs.read fs:read:../a",
        "fs.read ",
    ] {
        let error = refused(rule(json!({"match": [example]})));
        assert!(error.contains("cannot be read"), "{example}: {error}");
    }
}

#[test]
fn an_invalid_rule_is_refused_with_the_reason() {
    assert_eq!(
        refused(json!({"verdict": "ask"})),
        InvalidRule::Empty.to_string()
    );
    for (rule, part) in [
        (json!({"tool": "a"}), "missing field `verdict`"),
        (
            json!({"verdict": "permit", "tool": "a"}),
            "unknown variant `permit`",
        ),
        (json!({"verdict": "ask", "tool": ""}), "it is empty"),
        (json!({"verdict": "ask", "tool": "a["}), "not a glob"),
        (
            json!({"verdict": "ask", "target": "fs:**"}),
            "scheme:access:pattern",
        ),
        (
            json!({"verdict": "ask", "targets": ["fs:*:**"]}),
            "unknown field `targets`",
        ),
    ] {
        let error = refused(rule);
        assert!(error.contains(part), "{part:?} is not in {error}");
    }
}

#[test]
fn a_policy_as_data_is_its_rules_and_by_effects() {
    let policy: Policy = serde_json::from_value(json!([{"verdict": "deny", "tool": "x"}])).unwrap();
    let by_hand = Rule::new(Verdict::Deny, Some("x"), None).unwrap();
    assert_eq!(policy, Policy::by_effects().with_rules([by_hand]));
}

#[test]
fn rules_are_equal_when_all_their_parts_are() {
    let parts = json!({"verdict": "deny", "tool": "fs.*", "target": "fs:write:**", "reason": "no"});
    assert_eq!(rule(parts.clone()), rule(parts.clone()));
    for (part, other) in [
        ("verdict", "ask"),
        ("tool", "fs.?"),
        ("target", "fs:read:**"),
        ("reason", "never"),
    ] {
        let mut parts_of_other = parts.clone();
        parts_of_other[part] = json!(other);
        assert_ne!(rule(parts.clone()), rule(parts_of_other), "{part}");
    }
}

#[test]
fn equal_rules_are_one_with_the_origins_of_all() {
    let deny = |origin: &str| {
        Rule::new(Verdict::Deny, Some("x"), None)
            .unwrap()
            .with_origin(origin)
    };
    let policy = Policy::new()
        .with_rules([deny("a:1"), deny("b:2")])
        .with_rules([deny("a:1")]);
    let [only] = policy.rules() else {
        panic!("{policy:?}")
    };
    assert_eq!(
        (only.origins().to_string(), only),
        ("a:1, b:2".to_owned(), &deny("c:3"))
    );
}

#[test]
fn a_policy_tells_its_rules_and_a_rule_its_parts() {
    let target = Rule::for_target(Verdict::Allow, "fs:write:a".parse().unwrap());
    let mut reasoned = Rule::new(Verdict::Deny, Some("x"), None).unwrap();
    reasoned.reason = Some("it is slow".to_owned());
    let policy = Policy::new().with_rules([target.clone(), reasoned.clone()]);
    assert_eq!(policy.rules(), [target.clone(), reasoned.clone()]);
    assert_eq!(
        (target.reason.as_deref(), reasoned.reason.as_deref()),
        (None, Some("it is slow"))
    );
    assert_eq!(
        (target.verdict, reasoned.verdict),
        (Verdict::Allow, Verdict::Deny)
    );
    assert_eq!(
        [target, reasoned].map(|rule| rule.to_string()),
        ["allow every tool on fs:write:a", "deny x"]
    );
    assert_eq!(Verdict::Ask.to_string(), "ask");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn another_rule_that_is_no_permission_makes_nothing_laxer(
        rules in prop::collection::vec((0_u8..3, "fs[.](read|write|[*])", "(fs|\\*):(write|\\*|destroy):(a|\\*\\*)"), 0..5),
        verdict in 0_u8..3,
        clause in "(fs|\\*):(read|write|\\*):(a|b|\\*\\*)",
        target in "fs:(read|write|destroy):(a|b)",
    ) {
        let verdicts = [Verdict::Allow, Verdict::Ask, Verdict::Deny];
        let make = |verdict: u8, tool: Option<&str>, clause: &str| {
            Rule::new(verdicts[usize::from(verdict)], tool, Some(clause.parse().unwrap())).unwrap()
        };
        let before = Policy::by_effects().with_rules(rules.iter().map(|(v, tool, clause)| make(*v, Some(tool), clause)));
        let after = before.clone().with_rules([make(verdict, None, &clause)]);
        let (tool, parsed) = (ToolName::new("fs.write").unwrap(), target.parse::<Target>().unwrap());
        let (was, is) = (self::verdict(&before, "fs.write", &target), self::verdict(&after, "fs.write", &target));
        // An allowing rule replaces the default. No rule weakens another one.
        let is_default = !before.rules().iter().any(|rule| rule.applies(&tool, Some(&parsed)));
        prop_assert!(is >= was || is_default && verdict == 0, "{was:?} became {is:?}");
    }
}
