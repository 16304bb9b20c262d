//! The results of `tools.search`.

use std::sync::Arc;

use agent::{Disclosure, DisclosureBudget, Event, Selection, Session, ToolFinder, Turn};
use serde_json::{Value, json};
use tools::{Catalog, Effects, Grant, Host, Tool, ToolContext};

use crate::disclosure::{Model, entries, session, shop, turn};
use crate::workshop::{EventLog, results};

#[tokio::test]
async fn a_search_shows_definitions_within_its_budget_and_says_what_is_left_out() {
    let query = json!({"query": "invoice", "limit": 10});
    let model = Model::new([turn("tools__search", query), Turn::answer("done")]);
    let budget = DisclosureBudget {
        search_tokens: 400,
        ..DisclosureBudget::default()
    };
    let disclosure = Disclosure::Search {
        always: Selection::none(),
        budget,
    };
    let (mut session, log) = (
        session(&shop(200)).with_disclosure(disclosure),
        EventLog::default(),
    );
    model
        .driver()
        .with_events(log.clone())
        .run(&mut session, "go")
        .await
        .unwrap();
    let text = results(session.messages())[0].1.to_text();
    assert!(text.len() < 400 * 4 + 1000, "{text}");
    assert!(
        text.contains(r#"_invoice","description":"Can "#) && text.contains("matches: invoice ("),
        "{text}"
    );
    assert!(
        text.contains("10 less relevant") && text.contains("too large"),
        "{text}"
    );
    assert!(text.contains("tools__call"), "{text}");
    let events = log.events();
    let searched = events.iter().find_map(|event| match event {
        Event::ToolsSearched {
            query,
            found,
            others,
        } => Some((query.as_str(), found.len(), *others)),
        _ => None,
    });
    let (query, found, others) = searched.unwrap();
    assert!(
        query == "invoice" && found >= 1 && found + others == 20,
        "{found} {others}"
    );
}

#[tokio::test]
async fn all_further_matches_are_counted() {
    let session = session(&shop(100));
    let search = ToolFinder::new(session.tools().clone()).search(session.context(), "mail", 3);
    assert_eq!((search.found.len(), search.others), (3, 97));
}

#[tokio::test]
async fn a_search_after_a_refresh_finds_the_tools_of_the_new_catalog_alone() {
    let found = async |session: &Session, query: &str| {
        let search = ToolFinder::new(session.tools().clone()).search(session.context(), query, 50);
        search
            .found
            .iter()
            .map(|found| found.entry.name().to_string())
            .collect::<Vec<_>>()
    };
    let mut session = session(&shop(20));
    assert_eq!(found(&session, "create invoice").await.len(), 11);
    let mut catalog = shop(10);
    let tool = Tool::new("roof.mend", "Creates roofs.", json!({"type": "object"})).unwrap();
    catalog
        .register(
            tool.with_effects(Effects::Pure),
            async |_: ToolContext, _: Value| "done",
        )
        .unwrap();
    session.refresh(entries(&catalog));
    assert_eq!(found(&session, "create").await, ["roof.mend"]);
    assert_eq!(found(&session, "invoice").await, ["mail.archive_invoice"]);
}

/// Finds tools in a way of its own.
#[tools::tool(name = "own.find", pure, needs = ToolFinder)]
fn own_find() -> String {
    "found".to_owned()
}

#[test]
fn another_tool_that_needs_the_finder_stays_in_the_session() {
    let mut catalog = Catalog::new();
    catalog.submit(&[&OWN_FIND_TOOL]).unwrap();
    let finder = ToolFinder::new(session(&shop(1)).tools().clone());
    let session = Session::new(
        catalog.list(),
        Selection::new(),
        Host::new().with_service(finder),
    );
    assert!(session.tools().contains("own.find"));
}

#[tokio::test]
async fn the_grant_and_the_policy_decide_which_tools_are_found() {
    let mut catalog = Catalog::new();
    for (name, effects) in [
        ("notes.read", json!({"reads": ["notes:{path}"]})),
        ("notes.write", json!({"writes": ["notes:{path}"]})),
        ("notes.send", Value::Null),
        ("notes.count", json!("pure")),
    ] {
        let parameters = json!({"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]});
        let effects: Effects = serde_json::from_value(effects).unwrap();
        let tool = Tool::new(name, "Works on notes.", parameters)
            .unwrap()
            .with_effects(effects);
        catalog
            .register(tool, async |_: ToolContext, _: Value| "done")
            .unwrap();
    }
    let found = async |cx: Host| {
        let session = Session::new(entries(&catalog), Selection::new(), cx);
        let search = ToolFinder::new(session.tools().clone()).search(session.context(), "notes", 9);
        let mut found: Vec<_> = search
            .found
            .iter()
            .map(|found| {
                format!(
                    "{}{}",
                    found.entry.name(),
                    if found.is_granted { "" } else { "?" }
                )
            })
            .collect();
        found.sort();
        found
    };
    let granted = |grant: &[&str]| Host::new().with_grant(Grant::parse(grant).unwrap());
    assert_eq!(found(Host::new()).await, ["notes.count"]);
    assert_eq!(
        found(granted(&["notes:read:a.md"])).await,
        ["notes.count", "notes.read"]
    );
    assert_eq!(found(granted(&["fs:*:**"])).await, ["notes.count"]);
    assert_eq!(found(granted(&["*:*:**"])).await.len(), 4);
    let policy = tools::Policy::from(
        serde_json::from_str::<Vec<tools::policy::Rule>>(
            r#"[{"verdict": "deny", "tool": "notes.s*"}]"#,
        )
        .unwrap(),
    );
    assert_eq!(
        found(granted(&["*:*:**"]).with_policy(policy.clone()))
            .await
            .len(),
        3
    );
    let approver = tools_testkit::RecordingApprover::from_script([]);
    let asked = granted(&["notes:read:**"])
        .with_policy(policy)
        .with_approver(Arc::new(approver));
    assert_eq!(
        found(asked).await,
        ["notes.count", "notes.read", "notes.write?"]
    );
}
