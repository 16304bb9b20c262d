//! Whether a context has read text from the open world.

use std::sync::Arc;

use serde_json::{Value, json};
use tools::call::CallPlace;
use tools::context::Exposure;
use tools::{Catalog, Effects, Grant, Host, Tool, ToolContext};

use crate::notebook::Notebook;

fn tool(name: &str, effects: Value) -> Tool {
    let tool = Tool::new(name, "A tool.", json!({"type": "object"})).unwrap();
    match effects {
        Value::Null => tool.with_effects(Effects::Undeclared),
        effects => tool.with_effects(serde_json::from_value(effects).unwrap()),
    }
}

fn catalog() -> Catalog {
    let mut catalog = Catalog::new();
    for (name, effects) in [
        ("page", json!({"reads": ["page:any"], "open_world": true})),
        ("unknown", Value::Null),
        ("file", json!({"reads": ["fs:a"]})),
        ("pure", json!("pure")),
    ] {
        catalog
            .register(tool(name, effects), async |_: ToolContext, _: Value| {
                "text".to_owned()
            })
            .unwrap();
    }
    let fails = tool("fails", json!({"reads": ["page:any"], "open_world": true}));
    catalog
        .register(fails, async |_: ToolContext, _: Value| {
            Err::<(), _>("text of a stranger")
        })
        .unwrap();
    let outer = async |cx: ToolContext, arguments: Value| {
        let name = arguments["name"].as_str().unwrap_or_default().to_owned();
        cx.execute(&name, json!({}))
            .await
            .map(|result| result.to_text())
    };
    catalog
        .register(tool("outer", json!("pure")), outer)
        .unwrap();
    catalog
}

fn context() -> Host {
    Host::new()
        .with_grant(Grant::all())
        .with_service(Exposure::new())
}

#[tokio::test]
async fn a_tool_with_open_world_effects_exposes_its_session_whatever_it_returns() {
    for (name, is_exposed) in [
        ("page", true),
        ("unknown", true),
        ("fails", true),
        ("file", false),
        ("pure", false),
        ("gone", false),
    ] {
        for nested in [false, true] {
            let cx = context();
            let (called, arguments) = if nested {
                ("outer", json!({"name": name}))
            } else {
                (name, json!({}))
            };
            let _ = catalog().execute(&cx, called, arguments).await;
            assert_eq!(cx.is_exposed(), is_exposed, "{name} {nested}");
        }
    }
}

#[tokio::test]
async fn a_refused_call_reads_nothing() {
    let cx = context().with_grant(Grant::parse(["page:read:other"]).unwrap());
    catalog().execute(&cx, "page", json!({})).await.unwrap_err();
    assert!(!cx.is_exposed());
}

#[tokio::test]
async fn a_replayed_call_exposes_because_its_nested_calls_are_not_known() {
    let notebook = Notebook::default();
    let cx = || {
        let cx = context().with_journal(Arc::new(notebook.clone()));
        cx.with_session("s").with_place(CallPlace::new(1, 0))
    };
    for expected in [false, true] {
        let cx = cx();
        catalog()
            .execute(&cx, "outer", json!({"name": "file"}))
            .await
            .unwrap();
        assert_eq!(cx.is_exposed(), expected);
    }
}

#[test]
fn a_context_that_records_nothing_counts_as_exposed() {
    let cx = Host::new();
    cx.record_exposure();
    assert!(cx.is_exposed());
}
