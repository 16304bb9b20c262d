//! The approval default and the ceiling of effects.

use proptest::collection::vec;
use proptest::prelude::*;
use protocol::{ApprovalDefault, Clause, Declared, Effects, Target, Template, ToolName};
use serde_json::{Value, json};

use crate::sample::config;

#[test]
fn effects_decide_the_default_approval() {
    let approval = |effects: Value| {
        serde_json::from_value::<Effects>(effects)
            .unwrap()
            .approval_default()
    };
    assert_eq!(approval(json!("pure")), ApprovalDefault::Run);
    assert_eq!(
        approval(json!({"reads": ["fs:{path}"], "open_world": true})),
        ApprovalDefault::Run
    );
    assert_eq!(
        approval(json!({"reads": ["a:b"], "writes": ["fs:{path}"]})),
        ApprovalDefault::Ask
    );
    for worst in [
        json!(null),
        json!({"open_world": true}),
        json!({"destroys": ["a:b"]}),
        json!({"writes": ["world:x"]}),
    ] {
        assert_eq!(
            approval(worst.clone()),
            ApprovalDefault::AlwaysAsk,
            "{worst}"
        );
    }
}

#[test]
fn the_default_approval_of_a_tool_is_that_of_its_strictest_call() {
    let schema = json!({"properties": {"p": {"type": "string"}}, "required": ["p"]});
    let tool = ToolName::new("t").unwrap();
    for effects in [
        json!(null),
        json!({"open_world": true}),
        json!({"reads": ["a:{p}"], "destroys": ["fs:{p}"]}),
    ] {
        let effects: Effects = serde_json::from_value(effects).unwrap();
        let targets = effects.targets(&tool, &schema, &json!({"p": "x"})).unwrap();
        assert_eq!(
            targets.iter().map(Target::approval_default).max(),
            Some(effects.approval_default())
        );
    }
}

#[test]
fn the_ceiling_is_below_the_text_that_no_field_steps_out_of() {
    let ceiling = |effects: Value| {
        let effects: Effects = serde_json::from_value(effects).unwrap();
        let clauses = effects.ceiling(&ToolName::new("x.y").unwrap());
        clauses
            .iter()
            .map(|clause| clause.as_str().to_owned())
            .collect::<Vec<_>>()
    };
    for (template, clause) in [
        ("fs:{p}", "fs:read:**"),
        ("fs:src/{p}", "fs:read:**"),
        ("fs:src/{p|path}", "fs:read:src/**"),
        ("fs:./a[/{p|path}", r"fs:read:a\[/**"),
        ("fs:./{p|path}", "fs:read:**"),
        ("fs:a/../b/{p|path}", "fs:read:b/**"),
        ("fs:src{p|path}", "fs:read:**"),
        ("fs:src/.{p|path}", "fs:read:**"),
        ("fs:src/{p|path}.", "fs:read:**"),
        ("fs:src/{p|path}/../x", "fs:read:**"),
        ("fs:src/main.rs", "fs:read:src/main.rs"),
        ("net:{p|host}", "net:read:**"),
        ("git:a/b{p}", "git:read:a/**"),
        ("git:a/{p|path}", "git:read:a/**"),
        ("clock:now", "clock:read:now"),
    ] {
        assert_eq!(
            ceiling(json!({"reads": [template]})),
            [clause],
            "{template}"
        );
    }
    assert_eq!(ceiling(json!("pure")), [""; 0]);
    for unbounded in [json!(null), json!({"open_world": true}), json!({})] {
        assert_eq!(ceiling(unbounded), ["world:write:x.y"]);
    }
    assert_eq!(
        ceiling(json!({"reads": ["a:{p}"], "writes": ["a:{p}", "a:{p}"]})),
        ["a:read:**", "a:write:**"]
    );
}

proptest! {
    #![proptest_config(config(512))]

    #[test]
    fn no_call_touches_what_is_above_the_ceiling(
        scheme in "fs|git|net",
        parts in vec("[./a]{1,3}|\\{[pq]\\}|\\{[pq]\\|path\\}", 1..5),
        p in "[./a]{1,5}",
        q in "[./a]{1,5}",
    ) {
        let Ok(template) = format!("{scheme}:{}", parts.concat()).parse::<Template>() else { return Ok(()) };
        let effects = Effects::Declared(Declared { reads: vec![template], ..Declared::default() });
        let tool = ToolName::new("t").unwrap();
        let ceiling = effects.ceiling(&tool);
        for target in effects.targets(&tool, &json!({}), &json!({"p": p, "q": q})).unwrap_or_default() {
            prop_assert!(ceiling.iter().any(|clause| clause.matches(&target)), "{target} is above {ceiling:?}");
        }
        for clause in ceiling {
            prop_assert_eq!(clause.as_str().parse::<Clause>().unwrap(), clause);
        }
    }
}
