//! Scopes, principals and grants.

use serde_json::json;
use tools::policy::{Policy, Rule, Verdict};
use tools::{ErrorCode, Grant};
use tools_memory::{Filter, MemoryError};

use crate::desk::{Desk, found, host, name, refusal, save};

#[tokio::test]
async fn a_project_the_user_and_a_principal_have_memories_of_their_own() {
    let desk = Desk::new();
    let one = desk.host();
    save(&one, "fact of one").await;
    save(&host(desk.memory_in("two")), "fact of two").await;
    one.text(
        "memory.save",
        json!({"text": "fact of the user", "scope": "user"}),
    )
    .await;
    let other = desk.host().with_context(|cx| cx.with_principal("other"));
    save(&other, "fact of another principal").await;

    let query = |scope: &str| json!({"query": "fact", "scope": scope});
    assert_eq!(found(&one, query("project")).await, ["fact of one"]);
    for host in [&one, &host(desk.memory_in("two"))] {
        assert_eq!(found(host, query("user")).await, ["fact of the user"]);
    }
    assert_eq!(
        found(&other, query("project")).await,
        ["fact of another principal"]
    );
    assert!(found(&other, query("user")).await.is_empty());
    let error = refusal(&other, "memory.forget", json!({"id": 1})).await;
    assert!(error.contains("has no memory 1"), "{error}");
    assert_eq!(desk.entries().len(), 4);
}

#[test]
fn a_filter_of_a_wrong_scope_is_an_error() {
    let desk = Desk::new();
    for wrong in ["user/x", "project/A", "mine", ""] {
        let filter = Filter {
            scope: Some(wrong.to_owned()),
            ..Filter::default()
        };
        let error = desk.memory().entries(&filter).unwrap_err();
        assert!(
            matches!(&error, MemoryError::Scope { scope } if scope == wrong),
            "{error}"
        );
    }
    let filter = Filter {
        scope: Some("project".to_owned()),
        ..Filter::default()
    };
    assert!(matches!(
        desk.memory().entries(&filter),
        Err(MemoryError::UnnamedProject)
    ));
}

#[tokio::test]
async fn a_model_reaches_another_project_only_if_the_grant_names_it() {
    let desk = Desk::new();
    save(&host(desk.memory_in("two")), "fact of two").await;
    let two = format!("project/{}", name(&desk.folder.path().join("two")));
    let other = format!("memory:read:{two}");
    let query = json!({"query": "fact", "scope": two});
    for clauses in [
        &["memory:read:project", "memory:read:user", "memory:write:**"][..],
        &["memory:read:project/one"],
    ] {
        let error = desk
            .host()
            .with_grant(clauses)
            .call("memory.search", query.clone())
            .await
            .unwrap_err();
        assert_eq!(error.code(), ErrorCode::PermissionDenied);
        assert!(error.to_string().contains(&other), "{error}");
    }
    for clause in ["memory:read:project/**", &other] {
        assert_eq!(
            found(&desk.host().with_grant(&[clause]), query.clone()).await,
            ["fact of two"]
        );
    }
    let own = desk.host().with_grant(&["memory:read:project/**"]);
    assert!(found(&own, json!({"query": "fact"})).await.is_empty());
}

#[tokio::test]
async fn a_rule_about_the_own_project_holds_for_its_name_too() {
    let desk = Desk::new();
    save(&desk.host(), "fact").await;
    let own = format!("project/{}", name(&desk.folder.path().join("one")));
    let rules = ["write", "destroy", "read"].map(|access| {
        Rule::for_target(
            Verdict::Deny,
            format!("memory:{access}:project").parse().unwrap(),
        )
    });
    let grant = Grant::parse(["memory:*:**"]).unwrap();
    let host = desk.host().with_context(|cx| {
        cx.with_grant(grant)
            .with_policy(Policy::new().with_rules(rules))
    });
    for (tool, arguments) in [
        ("memory.save", json!({"text": "evil"})),
        ("memory.forget", json!({"id": 1})),
        ("memory.list", json!({})),
        ("memory.search", json!({"query": "fact"})),
    ] {
        let scoped = |scope: &str| {
            let mut arguments = arguments.clone();
            arguments["scope"] = json!(scope);
            arguments
        };
        let error = host.call(tool, scoped("project")).await.unwrap_err();
        assert_eq!(error.code(), ErrorCode::Denied, "{error}");
        let error = refusal(&host, tool, scoped(&own)).await;
        assert!(
            error.contains("is this session's project; use the scope \"project\""),
            "{tool}: {error}"
        );
    }
    let texts: Vec<_> = desk.entries().into_iter().map(|entry| entry.text).collect();
    assert_eq!(texts, ["fact"]);
}

#[tokio::test]
async fn each_access_needs_its_own_clause() {
    let desk = Desk::new();
    save(&desk.host(), "x").await;
    let host = desk.host().with_grant(&["memory:read:project"]);
    for (tool, arguments, needed) in [
        ("memory.save", json!({"text": "y"}), "memory:write:project"),
        ("memory.forget", json!({"id": 1}), "memory:destroy:project"),
        ("memory.list", json!({"scope": "user"}), "memory:read:user"),
    ] {
        let error = refusal(&host, tool, arguments).await;
        assert!(error.contains(needed), "{error}");
    }
}

#[tokio::test]
async fn other_scopes_are_refused_before_the_call() {
    let desk = Desk::new();
    for scope in [
        "",
        "project/",
        "project/../user",
        "project/A b",
        "users",
        "USER",
        "project/a/b",
        "*",
    ] {
        for tool in ["memory.search", "memory.list"] {
            let arguments = json!({"query": "x", "scope": scope});
            let error = desk.host().call(tool, arguments).await.unwrap_err();
            assert_eq!(
                error.code(),
                ErrorCode::InvalidArguments,
                "{scope:?} {error}"
            );
        }
    }
    let nowhere = host(tools_memory::Memory::in_memory().unwrap());
    assert!(
        refusal(&nowhere, "memory.list", json!({}))
            .await
            .contains("use the scope \"user\"")
    );
    assert_eq!(
        nowhere
            .text("memory.save", json!({"text": "x", "scope": "user"}))
            .await,
        "saved as memory 1"
    );
}
