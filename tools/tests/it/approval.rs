//! Approval of calls.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::sample::{Yes, echo, echoing, granted, holding, pure, reader};
use serde_json::{Value, json};
use tokio::sync::{Mutex as AsyncMutex, mpsc};
use tokio::time::sleep;
use tools::context::ApprovalFuture;
use tools::policy::{Rule, SensitivePath, SensitivePaths, Sensitivity};
use tools::{
    Access, Approval, Approver, CancellationToken, Catalog, Decision, Digest, Effects, ErrorCode,
    Host, Policy, SharedCatalog, Tool, ToolContext, ToolError, ToolErrorKind, ToolResult,
};

/// A tool with one access to the file in its arguments.
fn filer(name: &str, access: &str) -> Tool {
    let effects: Effects = serde_json::from_value(json!({access: ["fs:{path}"]})).unwrap();
    reader(name).with_effects(effects)
}

/// Tools that write, remove and read files, and one that does all three.
fn catalog() -> Catalog {
    echoing([
        reader("read"),
        filer("write", "writes"),
        filer("remove", "destroys"),
        pure("add"),
    ])
}

async fn call(
    catalog: &Catalog,
    cx: &ToolContext,
    name: &str,
    path: &str,
) -> Result<ToolResult, ToolError> {
    catalog.execute(cx, name, json!({"path": path})).await
}

fn rules(rules: Value) -> Policy {
    serde_json::from_value(rules).unwrap()
}

#[tokio::test]
async fn without_a_policy_the_grant_alone_decides() {
    let approver = Arc::new(Yes::default());
    let cx = granted(&["fs:*:**"]).with_approver(approver.clone());
    for tool in ["read", "write", "remove"] {
        call(&catalog(), &cx, tool, "a").await.unwrap();
    }
    assert_eq!(approver.asked(), [""; 0]);
}

#[tokio::test]
async fn by_effects_reads_run_and_writes_and_destroys_ask_although_they_are_granted() {
    let approver = Arc::new(Yes::default());
    let cx = granted(&["fs:*:**"]).with_policy(Policy::by_effects());
    let asking = cx.clone().with_approver(approver.clone());
    for tool in ["read", "write", "remove", "add"] {
        call(&catalog(), &asking, tool, "a").await.unwrap();
    }
    assert_eq!(approver.asked(), ["fs:write:a", "fs:destroy:a"]);
    call(&catalog(), &cx, "read", "a").await.unwrap();
    for (tool, target) in [("write", "fs:write:a"), ("remove", "fs:destroy:a")] {
        let error = call(&catalog(), &cx, tool, "a").await.unwrap_err();
        let needed = vec![target.parse().unwrap()];
        assert_eq!(
            error,
            ToolError::new(
                tool,
                ToolErrorKind::Unapproved {
                    needed,
                    sensitive: [].into(),
                    unnamed: [].into(),
                    concern: None,
                    waited: None
                }
            )
        );
    }
}

#[tokio::test]
async fn a_rule_allows_inside_of_the_grant_and_never_beyond_it() {
    let policy = rules(json!([{"verdict": "allow", "target": "fs:write:**"}]));
    let cx = granted(&["fs:write:src/**"]).with_policy(policy);
    call(&catalog(), &cx, "write", "src/a").await.unwrap();
    assert_eq!(
        call(&catalog(), &cx, "write", "b")
            .await
            .unwrap_err()
            .code(),
        ErrorCode::PermissionDenied
    );
    let approver = Arc::new(Yes::default());
    call(
        &catalog(),
        &cx.with_approver(approver.clone()),
        "write",
        "b",
    )
    .await
    .unwrap();
    assert_eq!(
        approver.asked(),
        ["fs:write:b"],
        "a person can, for this call"
    );
}

#[tokio::test]
async fn a_rule_that_denies_is_not_asked_about() {
    let policy =
        rules(json!([{"verdict": "deny", "target": "fs:*:secret/**", "reason": "it is private"}]));
    let approver = Arc::new(Yes::default());
    for grant in [&["fs:*:**"][..], &[]] {
        let cx = granted(grant)
            .with_policy(policy.clone())
            .with_approver(approver.clone());
        let error = call(&catalog(), &cx, "read", "secret/a").await.unwrap_err();
        assert!(
            matches!(error.kind(), ToolErrorKind::Denied { reason, .. } if reason.contains("it is private")),
            "{error}"
        );
    }
    assert_eq!(approver.asked(), [""; 0]);
}

#[tokio::test]
async fn a_rule_can_ask_about_a_call_that_touches_nothing() {
    let policy = rules(json!([{"verdict": "ask", "tool": "add"}]));
    let cx = Host::new().with_policy(policy);
    let error = catalog().execute(&cx, "add", json!({})).await.unwrap_err();
    assert_eq!(
        error,
        ToolError::new(
            "add",
            ToolErrorKind::Unapproved {
                needed: vec![],
                sensitive: [].into(),
                unnamed: [].into(),
                concern: None,
                waited: None
            }
        )
    );
    let approver = Arc::new(Yes::default());
    catalog()
        .execute(&cx.with_approver(approver.clone()), "add", json!({}))
        .await
        .unwrap();
    assert_eq!(approver.asked(), [""]);
}

#[tokio::test]
async fn an_approval_carries_the_digests_of_the_tool_and_of_the_arguments() {
    struct Bound(Mutex<Vec<(Digest, Digest)>>);
    impl Approver for Bound {
        fn approve<'a>(&'a self, approval: Approval<'a>) -> ApprovalFuture<'a> {
            self.0
                .lock()
                .unwrap()
                .push((approval.tool_digest, approval.arguments_digest));
            Box::pin(async { Decision::Allow })
        }
    }
    let approver = Arc::new(Bound(Mutex::default()));
    let catalog = catalog();
    let cx = Host::new().with_approver(approver.clone());
    call(&catalog, &cx, "write", "a").await.unwrap();
    let expected = (
        catalog.get("write").unwrap().digest(),
        Digest::hash_json(&json!({"path": "a"})),
    );
    assert_eq!(*approver.0.lock().unwrap(), [expected]);
}

/// An approver that changes the catalog while it decides.
struct Meddler(SharedCatalog, fn(&SharedCatalog));

impl Approver for Meddler {
    fn approve<'a>(&'a self, _approval: Approval<'a>) -> ApprovalFuture<'a> {
        Box::pin(async {
            tokio::task::yield_now().await;
            (self.1)(&self.0);
            Decision::Allow
        })
    }
}

#[tokio::test]
async fn an_approval_does_not_hold_for_a_tool_that_was_replaced_meanwhile() {
    async fn other(_cx: ToolContext, _arguments: Value) -> Result<String, String> {
        Ok("somebody else's".to_owned())
    }
    let shared = SharedCatalog::from(catalog());
    let replace: fn(&SharedCatalog) =
        |catalog| drop(catalog.replace(filer("write", "writes"), other).unwrap());
    let cx = Host::new().with_approver(Arc::new(Meddler(shared.clone(), replace)));
    let error = shared
        .execute(&cx, "write", json!({"path": "a"}))
        .await
        .unwrap_err();
    assert_eq!(error, ToolError::new("write", ToolErrorKind::Replaced));
    assert!(error.is_recoverable());

    let unregister: fn(&SharedCatalog) = |catalog| assert!(catalog.unregister("write"));
    let cx = Host::new().with_approver(Arc::new(Meddler(shared.clone(), unregister)));
    assert_eq!(
        shared
            .execute(&cx, "write", json!({"path": "a"}))
            .await
            .unwrap_err()
            .code(),
        ErrorCode::NotFound
    );

    let touch_another: fn(&SharedCatalog) =
        |catalog| drop(catalog.register(pure("new"), echo).unwrap());
    let cx = Host::new().with_approver(Arc::new(Meddler(shared.clone(), touch_another)));
    shared
        .execute(&cx, "remove", json!({"path": "a"}))
        .await
        .unwrap();
}

struct Never;

impl Approver for Never {
    fn approve<'a>(&'a self, _approval: Approval<'a>) -> ApprovalFuture<'a> {
        Box::pin(std::future::pending())
    }
}

#[tokio::test(start_paused = true)]
async fn an_answer_has_a_time_of_its_own() {
    let cx = Host::new()
        .with_approver(Arc::new(Never))
        .with_timeout(Duration::from_secs(1));
    let needed = || vec!["fs:write:a".parse().unwrap()];
    let unanswered = |waited| {
        ToolError::new(
            "write",
            ToolErrorKind::Unapproved {
                needed: needed(),
                sensitive: [].into(),
                unnamed: [].into(),
                concern: None,
                waited: Some(waited),
            },
        )
    };
    let start = tokio::time::Instant::now();
    let error = call(&catalog(), &cx, "write", "a").await.unwrap_err();
    assert_eq!(
        error,
        unanswered(tools::Approval::DEFAULT_TIMEOUT),
        "not the second that the tool may take"
    );
    assert_eq!(start.elapsed().as_secs(), 300);
    let short = cx.with_approval_timeout(Duration::from_secs(7));
    assert_eq!(
        call(&catalog(), &short, "write", "a").await.unwrap_err(),
        unanswered(Duration::from_secs(7))
    );
    let forever = short
        .with_approval_timeout(Duration::MAX)
        .with_deadline(std::time::Instant::now() + Duration::from_secs(1));
    assert_eq!(
        call(&catalog(), &forever, "write", "a")
            .await
            .unwrap_err()
            .code(),
        ErrorCode::Timeout
    );
}

/// Removes the file in its arguments, and files that it discovers below it or elsewhere.
async fn discovers(cx: ToolContext, arguments: Value) -> Result<(), ToolError> {
    cx.require(Access::Destroy, "fs", arguments["found"].as_str().unwrap())
}

#[tokio::test]
async fn a_discovered_target_is_covered_by_an_approval_or_a_rule() {
    let catalog = holding(filer("remove", "destroys"), discovers);
    let policy = rules(json!([
        {"verdict": "allow", "target": "fs:destroy:tmp/**"},
        {"verdict": "deny", "target": "fs:*:dir/keep/**"},
    ]));
    let cx = granted(&["fs:*:**"])
        .with_policy(policy)
        .with_approver(Arc::new(Yes::default()));
    let remove = async |path: &str, found: &str| {
        catalog
            .execute(&cx, "remove", json!({"path": path, "found": found}))
            .await
            .map(drop)
    };
    for (path, found) in [
        ("dir", "dir"),
        ("dir", "dir/a/b"),
        (".", "dir/a"),
        ("tmp/a", "tmp/b"),
        ("dir", "tmp/b"),
    ] {
        remove(path, found).await.unwrap();
    }
    for (path, found) in [("dir", "dirs"), ("dir", "other"), ("tmp/a", "dir/a")] {
        assert_eq!(
            remove(path, found).await.unwrap_err().code(),
            ErrorCode::Unapproved,
            "{path} {found}"
        );
    }
    for path in ["dir", "."] {
        assert_eq!(
            remove(path, "dir/keep/a").await.unwrap_err().code(),
            ErrorCode::Denied
        );
    }
}

#[tokio::test]
async fn an_approved_directory_covers_a_control_file_only_if_each_entry_of_the_file_was_shown() {
    let catalog = holding(filer("remove", "destroys"), discovers);
    let control = |pattern: &&str| {
        SensitivePath::new(*pattern, Sensitivity::Settings, "a control file").unwrap()
    };
    let remove = async |patterns: &[&str]| {
        let paths = SensitivePaths::default().with_paths(patterns.iter().map(control));
        let cx = granted(&["fs:*:**"])
            .with_sensitive_paths(paths)
            .with_approver(Arc::new(Yes::default()));
        catalog
            .execute(
                &cx,
                "remove",
                json!({"path": "sub", "found": "sub/rules.toml"}),
            )
            .await
            .map(drop)
    };
    remove(&["/sub/rules.toml"]).await.unwrap();
    // The second entry is about files of that name anywhere, so a question about `sub` does not show it.
    for patterns in [&["rules.toml"][..], &["/sub/rules.toml", "rules.toml"]] {
        assert_eq!(
            remove(patterns).await.unwrap_err().code(),
            ErrorCode::Unapproved,
            "{patterns:?}"
        );
    }
}

#[tokio::test]
async fn a_call_inside_of_an_approved_one_is_asked_about_on_its_own_and_no_tool_changes_the_policy()
{
    let mut catalog = catalog();
    let outer = async |cx: ToolContext, arguments: Value| {
        assert!(cx.host().is_none());
        cx.execute("write", arguments).await
    };
    catalog.register(filer("outer", "writes"), outer).unwrap();
    let approver = Arc::new(Yes::default());
    let cx = granted(&["fs:*:**"])
        .with_policy(Policy::by_effects())
        .with_approver(approver.clone());
    call(&catalog, &cx, "outer", "a").await.unwrap();
    assert_eq!(approver.asked(), ["fs:write:a", "fs:write:a"]);
}

/// An approver that needs a minute for each answer.
struct Slow;

impl Approver for Slow {
    fn approve<'a>(&'a self, _: Approval<'a>) -> ApprovalFuture<'a> {
        Box::pin(async {
            sleep(Duration::from_secs(60)).await;
            Decision::Allow
        })
    }
}

#[tokio::test(start_paused = true)]
async fn the_approval_of_a_nested_call_does_not_count_against_the_deadlines_of_its_outer_calls() {
    let mut catalog = catalog();
    for (name, inner) in [("middle", "write"), ("outer", "middle")] {
        let around = async move |cx: ToolContext, arguments: Value| {
            sleep(Duration::from_millis(600)).await;
            let result = cx.execute(inner, arguments).await;
            sleep(Duration::from_millis(100)).await;
            result
        };
        catalog.register(pure(name), around).unwrap();
    }
    let cx = Host::new()
        .with_approver(Arc::new(Slow))
        .with_timeout(Duration::from_secs(2));
    call(&catalog, &cx, "outer", "a").await.unwrap();

    let start = tokio::time::Instant::now();
    let host = cx.with_deadline((start + Duration::from_secs(5)).into_std());
    assert_eq!(
        call(&catalog, &host, "outer", "a")
            .await
            .unwrap_err()
            .code(),
        ErrorCode::Timeout
    );
    assert_eq!(start.elapsed().as_secs(), 5, "the host's deadline holds");
}

#[tokio::test]
async fn an_answer_needs_no_clock() {
    let rule = Rule::for_target(tools::policy::Verdict::Ask, "fs:read:**".parse().unwrap());
    let cx = granted(&["fs:*:**"])
        .with_policy(Policy::new().with_rules([rule]))
        .with_approver(Arc::new(Yes::default()));
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap();
        runtime
            .block_on(call(&catalog(), &cx, "read", "a"))
            .unwrap();
    })
    .join()
    .unwrap();
}

/// An approver that reports each request and never answers.
struct Silent(mpsc::UnboundedSender<()>);

impl Approver for Silent {
    fn approve<'a>(&'a self, _: Approval<'a>) -> ApprovalFuture<'a> {
        self.0.send(()).unwrap();
        Box::pin(std::future::pending())
    }
}

#[tokio::test(start_paused = true)]
async fn a_question_about_a_nested_call_ends_with_the_call_around_it_whatever_token_it_has() {
    let (asks, asked) = mpsc::unbounded_channel();
    let asked = Arc::new(AsyncMutex::new(asked));
    let (nested, mut left) = mpsc::unbounded_channel();
    let mut catalog = catalog();
    let leaves = move |cx: ToolContext, _: Value| {
        let (asked, nested) = (asked.clone(), nested.clone());
        async move {
            let own = cx.clone().with_cancellation(CancellationToken::new());
            nested
                .send(tokio::spawn(own.execute("write", json!({"path": "a"}))))
                .unwrap();
            asked.lock().await.recv().await.unwrap();
        }
    };
    catalog.register(pure("leave"), leaves).unwrap();
    let cx = Host::new().with_approver(Arc::new(Silent(asks)));
    catalog.execute(&cx, "leave", json!({})).await.unwrap();
    assert_eq!(
        left.recv()
            .await
            .unwrap()
            .await
            .unwrap()
            .unwrap_err()
            .code(),
        ErrorCode::Cancelled
    );
}
