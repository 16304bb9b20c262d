//! Tools with a former name: callable by it, listed by the present one.

use std::sync::Arc;

use serde_json::json;
use tools::call::{CallPlace, Resolve};
use tools::policy::{Rule, Verdict};
use tools::protocol::wire::Format;
use tools::{
    Catalog, ErrorCode, Grant, Host, Policy, RegisterError, SharedCatalog, Submission, Tool,
    ToolContext, ToolName, ToolResult, tool,
};

use crate::notebook::Notebook;
use crate::sample::{echo, holding, pure, reader};

/// Reads a note.
#[tool(name = "renamed.read", was = ["renamed.cat", "renamed.type"], pure)]
fn read() -> &'static str {
    "a note"
}

/// Takes over a name that another tool has.
#[tool(name = "renamed.greedy", was = "renamed.taken", pure)]
fn greedy() {}

/// Has the name.
#[tool(name = "renamed.taken", pure)]
fn taken() {}

/// Takes over a former name that another tool takes over too.
#[tool(name = "renamed.one", was = "renamed.both", pure)]
fn one() {}

/// Takes it over too.
#[tool(name = "renamed.other", was = "renamed.both", pure)]
fn other() {}

fn was(tool: Tool, names: &[&str]) -> Tool {
    tool.with_was(names.iter().map(|name| ToolName::new(name).unwrap()))
}

fn submitted(submissions: &[&'static Submission]) -> Catalog {
    let mut catalog = Catalog::new();
    catalog.submit(submissions).unwrap();
    catalog
}

#[tokio::test]
async fn a_former_name_is_callable_and_the_result_names_the_present_one() {
    for catalog in [submitted(&[&READ_TOOL]), Catalog::linked()] {
        let cx = Host::new();
        for former in ["renamed.cat", "renamed.type"] {
            let result = catalog.execute(&cx, former, json!({})).await.unwrap();
            let texts: Vec<_> = result
                .content
                .iter()
                .filter_map(|content| content.as_text())
                .collect();
            let [answer, note] = texts[..] else {
                panic!("{result:?}")
            };
            assert!(
                answer == "a note" && note.contains(former) && note.contains("renamed.read"),
                "{note}"
            );
        }
        let result = catalog
            .execute(&cx, "renamed.read", json!({}))
            .await
            .unwrap();
        assert_eq!(result.to_text(), "a note");
        assert_eq!(catalog.get("renamed.cat").unwrap().name(), "renamed.read");
    }
}

#[test]
fn a_former_name_is_in_no_list() {
    let catalog = submitted(&[&READ_TOOL]);
    assert_eq!(catalog.names(), ["renamed.read"]);
    assert_eq!(catalog.list().len(), 1);
    assert!(
        catalog.contains("renamed.cat")
            && catalog.problems().is_empty()
            && catalog.conflicts().is_empty()
    );
    let near = catalog.get("renamed.cad").unwrap_err().to_string();
    assert!(!near.contains("renamed.cat"), "{near}");
    assert_eq!(
        catalog.list()[0].tool().was,
        ["renamed.cat", "renamed.type"].map(|it| ToolName::new(it).unwrap())
    );
}

#[tokio::test]
async fn a_nested_call_gets_no_note_and_an_error_names_the_present_name() {
    let mut catalog = submitted(&[&READ_TOOL]);
    let forward = async |cx: ToolContext, _: serde_json::Value| {
        cx.execute("renamed.cat", json!({}))
            .await
            .map(|result| result.to_text())
            .map_err(|error| error.to_string())
    };
    catalog.register(pure("forward"), forward).unwrap();
    let cx = Host::new();
    assert_eq!(
        catalog
            .execute(&cx, "forward", json!({}))
            .await
            .unwrap()
            .to_text(),
        "a note"
    );

    let error = catalog
        .execute(&cx, "renamed.cat", json!({"x": 1}))
        .await
        .unwrap_err();
    assert_eq!(
        (error.tool_name(), error.code()),
        ("renamed.read", ErrorCode::InvalidArguments)
    );
}

#[tokio::test]
async fn a_failed_call_by_a_former_name_names_the_present_one() {
    let catalog = submitted(&[&READ_TOOL]);
    let cx = Host::new().with_wire(Format::Anthropic);
    let text = |result: ToolResult| result.to_text();
    for (name, is_noted) in [("renamed.cat", true), ("renamed.read", false)] {
        let error = catalog
            .execute(&cx, name, json!({"x": 1}))
            .await
            .unwrap_err();
        let result = text(cx.error_result(catalog.get(name).ok().as_deref(), &error));
        assert_eq!(
            result.contains("renamed__cat is now called renamed__read"),
            is_noted,
            "{result}"
        );
        assert_eq!(
            text(error.into()).contains("renamed.cat is now called renamed.read"),
            is_noted
        );
    }
}

#[tokio::test]
async fn the_journal_has_the_note_and_a_replayed_call_has_it_once() {
    let (notebook, catalog) = (Notebook::default(), submitted(&[&READ_TOOL]));
    let cx = || {
        let cx = Host::new()
            .with_journal(Arc::new(notebook.clone()))
            .with_session("s");
        cx.with_place(CallPlace::new(1, 0))
    };
    let first = catalog
        .execute(&cx(), "renamed.cat", json!({}))
        .await
        .unwrap();
    let replayed = catalog
        .execute(&cx(), "renamed.cat", json!({}))
        .await
        .unwrap();
    assert_eq!(first, replayed);
    assert_eq!(replayed.to_text().matches("is now called").count(), 1);
    assert_eq!(
        notebook.lines().len(),
        2,
        "one intent and one outcome: {:?}",
        notebook.lines()
    );
}

#[test]
fn a_former_name_that_another_tool_has_is_refused() {
    let refused = |catalog: &mut Catalog, tool| match catalog.register(tool, echo).unwrap_err() {
        RegisterError::FormerName {
            name,
            was,
            existing,
        } => (name.to_string(), was.to_string(), existing.len()),
        error => panic!("{error}"),
    };
    let mut catalog = holding(was(pure("a"), &["old"]), echo);
    let taken = |name: &str, was: &str| (name.to_owned(), was.to_owned(), 1);
    assert_eq!(
        refused(&mut catalog, was(pure("b"), &["a"])),
        taken("b", "a")
    );
    assert_eq!(
        refused(&mut catalog, was(pure("b"), &["old"])),
        taken("b", "old")
    );
    assert_eq!(
        refused(&mut catalog, was(pure("b"), &["b"])),
        taken("b", "b")
    );
    let exists = catalog.register(pure("old"), echo).unwrap_err();
    assert!(
        matches!(&exists, RegisterError::Exists { name, .. } if *name == "old"),
        "{exists}"
    );
    assert_eq!(catalog.names(), ["a"]);

    // All submissions are registered or none.
    let error = Catalog::new()
        .submit(&[&GREEDY_TOOL, &TAKEN_TOOL])
        .unwrap_err();
    assert!(matches!(error, RegisterError::Exists { .. }), "{error}");
    let error = Catalog::new()
        .submit(&[&TAKEN_TOOL, &GREEDY_TOOL])
        .unwrap_err();
    assert!(matches!(error, RegisterError::FormerName { .. }), "{error}");
}

#[tokio::test]
async fn a_linked_tool_that_claims_a_name_of_another_cannot_be_used() {
    let catalog = Catalog::linked();
    let problems = catalog.problems();
    for (name, was) in [
        ("renamed.greedy", "renamed.taken"),
        ("renamed.one", "renamed.both"),
        ("renamed.other", "renamed.both"),
    ] {
        assert_eq!(
            catalog.get(name).unwrap_err().code(),
            ErrorCode::Internal,
            "{name}"
        );
        let problem = problems
            .iter()
            .find(|problem| problem.name == name)
            .unwrap();
        let RegisterError::FormerName {
            was: claimed,
            existing,
            ..
        } = &problem.error
        else {
            panic!("{problem}")
        };
        assert_eq!((claimed.as_str(), existing.len()), (was, 1), "{problem}");
        assert!(catalog.list().iter().all(|entry| entry.name() != name));
    }
    assert_eq!(
        catalog.get("renamed.taken").unwrap().name(),
        "renamed.taken"
    );
    assert_eq!(
        catalog.get("renamed.both").unwrap_err().code(),
        ErrorCode::NotFound
    );
    assert!(
        !catalog
            .conflicts()
            .iter()
            .any(|conflict| conflict.name.starts_with("renamed."))
    );
}

#[test]
fn former_names_follow_their_tool() {
    let mut catalog = holding(was(pure("a"), &["old"]), echo);
    assert!(
        !catalog.unregister("old"),
        "a former name is removed with its tool"
    );
    catalog
        .replace(was(pure("a"), &["old", "older"]), echo)
        .unwrap();
    assert_eq!(catalog.resolve("older").unwrap().name(), "a");
    catalog.replace(pure("a"), echo).unwrap();
    assert!(!catalog.contains("old") && !catalog.contains("older"));
    catalog.replace(was(pure("a"), &["old"]), echo).unwrap();
    let exists = catalog.replace(pure("old"), echo).unwrap_err();
    assert!(
        matches!(&exists, RegisterError::Exists { name, .. } if *name == "old"),
        "{exists}"
    );
    assert_eq!(
        catalog.get("old").unwrap().name(),
        "a",
        "rules about the old name stay rules about one tool"
    );
    catalog.unregister("a");
    assert!(!catalog.contains("old") && catalog.replace(pure("old"), echo).is_ok());

    let shared = SharedCatalog::from(holding(pure("b"), echo));
    let error = shared.replace(was(pure("a"), &["b"]), echo).unwrap_err();
    assert!(
        matches!(error, RegisterError::FormerName { .. }) && !shared.contains("a"),
        "{error}"
    );
}

#[tokio::test]
async fn rules_about_a_former_name_are_rules_about_the_tool() {
    let catalog = holding(was(reader("fs.read"), &["fs.cat"]), echo);
    let cx = Host::new().with_grant(Grant::all());
    let rule = |verdict| Rule::new(verdict, Some("fs.cat"), None).unwrap();
    let policy = |verdict| Policy::new().with_rules([rule(verdict)]);
    for name in ["fs.read", "fs.cat"] {
        let denied = catalog
            .execute(
                &cx.clone().with_policy(policy(Verdict::Deny)),
                name,
                json!({"path": "a"}),
            )
            .await;
        assert_eq!(denied.unwrap_err().code(), ErrorCode::Denied);
        let asked = catalog
            .execute(
                &cx.clone().with_policy(policy(Verdict::Ask)),
                name,
                json!({"path": "a"}),
            )
            .await;
        assert_eq!(asked.unwrap_err().code(), ErrorCode::Unapproved);
    }
}
