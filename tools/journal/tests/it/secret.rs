//! Secret arguments are in no row of the file, even if the host stores arguments.

use std::future::ready;
use std::sync::Arc;

use crate::crib::{Crib, context};
use serde_json::{Value, json};
use tools::call::CallPlace;
use tools::context::ApprovalFuture;
use tools::{Approval, Approver, Catalog, Decision, Effects, Grant, Policy, Tool, ToolContext};
use tools_journal::JournalOptions;

/// Denies everything.
struct No;

impl Approver for No {
    fn approve<'a>(&'a self, _: Approval<'a>) -> ApprovalFuture<'a> {
        Box::pin(ready(Decision::Deny {
            reason: "no".to_owned(),
        }))
    }
}

/// A tool that takes texts at many places. Its results, errors and panics contain none of them.
fn vault(catalog: &mut Catalog, name: &str, text: &Value) {
    let login = json!({"type": "object", "properties": {"user": {"type": "integer"}, "password": text}, "required": ["user"]});
    let parameters = json!({
        "type": "object",
        "required": ["mode"],
        "additionalProperties": false,
        "properties": {
            "mode": {"enum": ["tell", "fail", "panic"]},
            "key": text,
            "keys": {"type": "array", "items": text},
            "by_name": {"type": "object", "additionalProperties": text},
            "login": login,
        },
    });
    let effects: Effects = serde_json::from_value(json!({"writes": ["vault:{mode}"]})).unwrap();
    let open = async |_: ToolContext, arguments: Value| match arguments["mode"].as_str() {
        Some("fail") => Err("it failed"),
        Some("panic") => panic!("it panicked"),
        _ => Ok("done"),
    };
    catalog
        .register(
            Tool::new(name, "Keeps things.", parameters)
                .unwrap()
                .with_effects(effects),
            open,
        )
        .unwrap();
}

/// Arguments with this text at different places. The last ones are invalid.
fn arguments(mode: &str, text: &str) -> [Value; 5] {
    [
        json!({"mode": mode, "key": text}),
        json!({"mode": mode, "keys": ["", text]}),
        json!({"mode": mode, "by_name": {"a": text}}),
        json!({"mode": mode, "login": {"user": 1, "password": text}}),
        json!({"mode": mode, "login": {"user": "me", "password": text}}),
    ]
}

/// Makes calls that end in every way, and returns the content of the journal's files.
async fn kept(tool: &str, arguments: &Value) -> String {
    let crib = Crib::new();
    let journal = crib.journal_with(JournalOptions {
        arguments: true,
        ..JournalOptions::default()
    });
    let mut catalog = Catalog::new();
    vault(
        &mut catalog,
        "secret",
        &json!({"type": "string", "writeOnly": true}),
    );
    vault(&mut catalog, "plain", &json!({"type": "string"}));
    let cx = context(&journal);
    let asked = cx.clone().with_policy(Policy::by_effects());
    let denied = asked.clone().with_approver(Arc::new(No));
    // Twice at the same place: the second call is replayed.
    let placed = cx.clone().with_place(CallPlace::new(1, 0));
    for cx in [
        &cx,
        &placed,
        &placed,
        &asked,
        &denied,
        &cx.clone().with_grant(Grant::default()),
    ] {
        let _ = catalog.execute(cx, tool, arguments.clone()).await;
        let _ = catalog.execute(cx, tool, arguments.to_string()).await;
    }
    let rows = crib.entries();
    assert!(rows.len() > 5, "{rows:?}");
    let mut kept = format!("{rows:?} {}", serde_json::to_string(&rows).unwrap());
    for file in std::fs::read_dir(crib.path().parent().unwrap()).unwrap() {
        kept += &String::from_utf8_lossy(&std::fs::read(file.unwrap().path()).unwrap());
    }
    kept
}

#[tokio::test]
async fn no_canary_is_found_in_any_row_and_a_text_that_is_no_secret_is() {
    let mut canaries = 0;
    for mode in ["tell", "fail", "panic", "shout"] {
        for place in 0..5 {
            canaries += 1;
            let canary = format!("canary{place}{mode}");
            let rows = kept("secret", &arguments(mode, &canary)[place]).await;
            assert!(!rows.contains("canary"), "{mode}, {place}: {rows}");
            let rows = kept("plain", &arguments(mode, &canary)[place]).await;
            assert!(
                rows.contains(&canary),
                "{mode}, {place}: the search finds nothing"
            );
        }
    }
    assert_eq!(canaries, 20);
}
