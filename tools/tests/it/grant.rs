//! Grants and the targets of calls.

use std::sync::Arc;
use std::sync::Mutex;

use crate::sample::{echo, echoing, granted, holding, pure, reader};
use serde_json::{Value, json};
use tools::context::{ApprovalFuture, Need};
use tools::{
    Access, Approval, Approver, Catalog, Decision, Effects, ErrorCode, Handler, HandlerFuture,
    Host, Input, SharedCatalog, Tool, ToolContext, ToolError, ToolErrorKind, ToolResult,
};

fn undeclared(name: &str) -> Tool {
    pure(name).with_effects(Effects::Undeclared)
}

async fn call(
    catalog: &Catalog,
    cx: &ToolContext,
    name: &str,
    path: &str,
) -> Result<ToolResult, ToolError> {
    catalog.execute(cx, name, json!({"path": path})).await
}

#[tokio::test]
async fn a_context_without_a_grant_runs_pure_tools_only() {
    let catalog = echoing([pure("pure"), reader("read"), undeclared("undeclared")]);
    let cx = Host::new();
    catalog.execute(&cx, "pure", json!({})).await.unwrap();
    for name in ["read", "undeclared"] {
        assert_eq!(
            call(&catalog, &cx, name, "a").await.unwrap_err().code(),
            ErrorCode::PermissionDenied
        );
    }
}

#[tokio::test]
async fn a_denial_says_what_is_needed_and_what_is_granted() {
    let catalog = echoing([reader("read")]);
    let error = call(
        &catalog,
        &granted(&["fs:read:src/**"]),
        "read",
        "./docs//a.md",
    )
    .await
    .unwrap_err();
    let ToolErrorKind::PermissionDenied { needed, .. } = error.kind() else {
        panic!("{error}")
    };
    assert_eq!(needed[0].to_string(), "fs:read:docs/a.md");
    let text = error.to_string();
    assert!(
        text.contains("fs:read:docs/a.md") && text.contains("fs:read:src/**"),
        "{text}"
    );
}

#[tokio::test]
async fn paths_are_normalised_before_they_are_matched_and_cannot_step_out() {
    let catalog = echoing([reader("read")]);
    let cx = granted(&["fs:read:src/**"]);
    for path in ["src/a", "src/./a", "src//a", "src/b/../a", "x/../src/a"] {
        call(&catalog, &cx, "read", path).await.unwrap();
    }
    for path in [
        "src/../a",
        "src/../../a",
        "../src/a",
        "/src/a",
        "srcs/a",
        "src\\..\\..\\a",
        "src/\0a",
        "",
    ] {
        let error = call(&catalog, &cx, "read", path).await.unwrap_err();
        let refused = matches!(
            error.code(),
            ErrorCode::PermissionDenied | ErrorCode::InvalidArguments
        );
        assert!(refused, "{path:?}: {error}");
    }
}

#[tokio::test]
async fn an_undeclared_tool_needs_a_grant_by_its_name() {
    let catalog = echoing([undeclared("x.y")]);
    call(&catalog, &granted(&["fs:*:**", "net:*:**"]), "x.y", "a")
        .await
        .unwrap_err();
    call(&catalog, &granted(&["world:read:**"]), "x.y", "a")
        .await
        .unwrap_err();
    call(&catalog, &granted(&["world:write:x.*"]), "x.y", "a")
        .await
        .unwrap();
}

#[tokio::test]
async fn a_discovered_target_passes_require() {
    let walk = async |cx: ToolContext, _: Value| -> Result<(), ToolError> {
        cx.require(Access::Read, "fs", "src/a")?;
        cx.require(Access::Read, "fs", "src/../secret")
    };
    let catalog = holding(pure("walk"), walk);
    let error = catalog
        .execute(&granted(&["fs:read:src/**"]), "walk", json!({}))
        .await
        .unwrap_err();
    let ToolErrorKind::PermissionDenied { needed, .. } = error.kind() else {
        panic!("{error}")
    };
    assert_eq!(
        (error.tool_name(), needed[0].to_string()),
        ("walk", "fs:read:secret".to_owned())
    );
}

/// An approver with a fixed decision that records its requests.
struct Scripted(Decision, Mutex<Vec<String>>);

impl Approver for Scripted {
    fn approve<'a>(&'a self, approval: Approval<'a>) -> ApprovalFuture<'a> {
        let targets: Vec<_> = approval.targets.iter().map(ToString::to_string).collect();
        self.1.lock().unwrap().push(format!(
            "{} {} {}",
            approval.tool,
            targets.join(","),
            approval.arguments
        ));
        Box::pin(async { self.0.clone() })
    }
}

#[tokio::test]
async fn an_approver_is_asked_about_ungranted_targets_only() {
    let catalog = echoing([reader("read")]);
    let asked = |decision| Arc::new(Scripted(decision, Mutex::default()));

    let allow = asked(Decision::Allow);
    let cx = granted(&["fs:read:src/**"]).with_approver(allow.clone());
    call(&catalog, &cx, "read", "src/a").await.unwrap();
    call(&catalog, &cx, "read", "b").await.unwrap();
    assert_eq!(*allow.1.lock().unwrap(), [r#"read fs:read:b {"path":"b"}"#]);

    let cx = Host::new().with_approver(asked(Decision::Deny {
        reason: "not now".into(),
    }));
    let error = call(&catalog, &cx, "read", "b").await.unwrap_err();
    assert_eq!(
        error,
        ToolError::new(
            "read",
            ToolErrorKind::Denied {
                reason: "not now".into()
            }
        )
    );

    let cx = Host::new().with_approver(asked(Decision::Abstain));
    assert_eq!(
        call(&catalog, &cx, "read", "b").await.unwrap_err().code(),
        ErrorCode::PermissionDenied
    );
}

#[tokio::test]
async fn an_approver_that_never_answers_or_panics_ends_with_an_error() {
    struct Never(bool);
    impl Approver for Never {
        fn approve<'a>(&'a self, approval: Approval<'a>) -> ApprovalFuture<'a> {
            assert_eq!(approval.cx.session(), Some("session"));
            assert!(!self.0, "no answer");
            Box::pin(std::future::pending())
        }
    }
    let catalog = echoing([reader("read")]);
    let cx = Host::new().with_session("session");
    let deadline = std::time::Instant::now() + std::time::Duration::from_millis(30);
    let late = cx
        .clone()
        .with_deadline(deadline)
        .with_approver(Arc::new(Never(false)));
    assert_eq!(
        call(&catalog, &late, "read", "b").await.unwrap_err().code(),
        ErrorCode::Timeout
    );
    let error = call(
        &catalog,
        &cx.with_approver(Arc::new(Never(true))),
        "read",
        "b",
    )
    .await
    .unwrap_err();
    assert!(
        matches!(error.kind(), ToolErrorKind::Internal { message, .. } if message.contains("no answer")),
        "{error}"
    );
}

#[tokio::test]
async fn invalid_arguments_are_never_put_before_an_approver() {
    let catalog = echoing([reader("read")]);
    let approver = Arc::new(Scripted(Decision::Allow, Mutex::default()));
    let cx = Host::new().with_approver(approver.clone());
    catalog
        .execute(&cx, "read", json!({"path": 1.5}))
        .await
        .unwrap_err();
    assert!(approver.1.lock().unwrap().is_empty());
}

#[tokio::test]
async fn an_approval_covers_what_is_below_its_target_and_nothing_else() {
    let walk = async |cx: ToolContext, arguments: Value| -> Result<(), ToolError> {
        let found = arguments["found"].as_str().unwrap_or_default();
        cx.require(
            if found == "dir/write" {
                Access::Write
            } else {
                Access::Read
            },
            "fs",
            found,
        )
    };
    let parameters = json!({"type": "object", "properties": {"path": {"type": "string"}, "found": {"type": "string"}},
        "required": ["path", "found"]});
    let tool = Tool::new("walk", "Walks.", parameters)
        .unwrap()
        .with_effects(reader("walk").effects);
    let catalog = holding(tool, walk);
    let cx = Host::new().with_approver(Arc::new(Scripted(Decision::Allow, Mutex::default())));
    let walk = async |found: &str| {
        catalog
            .execute(&cx, "walk", json!({"path": "dir", "found": found}))
            .await
    };
    for found in ["dir", "dir/b", "dir/b/c"] {
        walk(found).await.unwrap();
    }
    for found in ["di", "directory", "dir2/b", "other", ".", "dir/write"] {
        assert_eq!(
            walk(found).await.unwrap_err().code(),
            ErrorCode::PermissionDenied,
            "{found}"
        );
    }
}

#[tokio::test]
async fn an_approval_covers_a_sensitive_path_only_if_every_entry_for_it_was_shown() {
    let fill = async |cx: ToolContext, arguments: Value| -> Result<(), ToolError> {
        cx.require(
            Access::Write,
            "fs",
            arguments["found"].as_str().unwrap_or_default(),
        )
    };
    let effects: Effects = serde_json::from_value(json!({"writes": ["fs:{path}"]})).unwrap();
    let parameters = json!({"type": "object", "properties": {"path": {"type": "string"}, "found": {"type": "string"}},
        "required": ["path", "found"]});
    let catalog = holding(
        Tool::new("fill", "Fills.", parameters)
            .unwrap()
            .with_effects(effects),
        fill,
    );
    let cx = Host::new().with_approver(Arc::new(Scripted(Decision::Allow, Mutex::default())));
    let fill = async |path: &str, found: &str| {
        catalog
            .execute(&cx, "fill", json!({"path": path, "found": found}))
            .await
    };
    for (path, found) in [
        (".vscode", ".vscode/tasks.json"),
        (".vscode/.git/config", ".vscode/.git/config"),
        ("a", "a/b"),
    ] {
        fill(path, found).await.unwrap();
    }
    for (path, found) in [
        (".vscode", ".vscode/.git/config"),
        ("a", "a/.envrc"),
        (".", "toolcrib.toml"),
    ] {
        assert_eq!(
            fill(path, found).await.unwrap_err().code(),
            ErrorCode::Unapproved,
            "{path} {found}"
        );
    }
}

#[tokio::test]
async fn a_nested_call_inherits_the_grant_and_may_be_narrowed() {
    let outer = async |cx: ToolContext, arguments: Value| -> Result<ToolResult, ToolError> {
        cx.execute("read", arguments.clone()).await?;
        let narrowed = cx.narrow(["fs:read:src/sub/**".parse().unwrap()]);
        narrowed.execute("read", arguments).await
    };
    let mut catalog = holding(pure("outer"), outer);
    catalog.register(reader("read"), echo).unwrap();
    let cx = granted(&["fs:read:src/**"]);
    call(&catalog, &cx, "outer", "src/sub/a").await.unwrap();
    for path in ["docs/a", "src/a"] {
        let error = call(&catalog, &cx, "outer", path).await.unwrap_err();
        assert!(
            error.code() == ErrorCode::PermissionDenied && error.tool_name() == "read",
            "{error}"
        );
    }
}

#[tokio::test]
async fn calling_in_a_circle_ends() {
    let catalog = SharedCatalog::new();
    let circle = async |cx: ToolContext, arguments: Value| cx.execute("circle", arguments).await;
    catalog.register(pure("circle"), circle).unwrap();
    let error = catalog
        .execute(&Host::new(), "circle", json!({}))
        .await
        .unwrap_err();
    assert!(
        error.to_string().contains("nested deeper than 16"),
        "{error}"
    );
}

#[tokio::test]
async fn outside_of_a_call_a_context_calls_nothing() {
    assert_eq!(
        Host::new()
            .execute("anything", json!({}))
            .await
            .unwrap_err()
            .code(),
        ErrorCode::Internal
    );
}

struct Database(&'static str);

struct Query;

impl Handler for Query {
    fn call<'a>(&'a self, cx: ToolContext, _: Input) -> HandlerFuture<'a> {
        HandlerFuture::new(async move { Ok(ToolResult::text(cx.need::<Database>()?.0)) })
    }

    fn needs(&self) -> &[Need] {
        const { &[Need::new::<Database>()] }
    }
}

#[tokio::test]
async fn a_tool_whose_needs_are_not_met_is_unavailable_and_says_what_is_missing() {
    let catalog = holding(pure("query"), Query);
    let error = catalog
        .execute(&Host::new(), "query", json!({}))
        .await
        .unwrap_err();
    assert!(
        matches!(error.kind(), ToolErrorKind::Unavailable { reason, .. } if reason.contains("Database")),
        "{error}"
    );
    let cx = Host::new().with_service(Database("rows"));
    assert_eq!(
        catalog
            .execute(&cx, "query", json!({}))
            .await
            .unwrap()
            .to_text(),
        "rows"
    );
}

#[tokio::test]
async fn a_host_says_why_it_lacks_a_service() {
    let catalog = holding(pure("query"), Query);
    let cx = Host::new().with_absent_service::<Database>("write database = \"…\" in the settings");
    let error = catalog.execute(&cx, "query", json!({})).await.unwrap_err();
    assert!(
        matches!(error.kind(), ToolErrorKind::Unavailable { reason } if reason == "write database = \"…\" in the settings"),
        "{error}"
    );
    let cx = cx.with_service(Database("rows"));
    assert_eq!(
        catalog
            .execute(&cx, "query", json!({}))
            .await
            .unwrap()
            .to_text(),
        "rows"
    );
}
