//! Calls through a test host and its recording doubles.

use std::time::Duration;

use serde_json::json;
use tools::policy::Policy;
use tools::{Catalog, Decision, ErrorCode, Progress, ToolContext, ToolError, tool};
use tools_testkit::{RecordingApprover, RecordingProgress, TempWorkspace, TestHost};

/// The service of the tools below.
struct Drawer(std::path::PathBuf);

/// Saves a note.
#[tool(name = "note.save", writes = "fs:{name}", needs = Drawer)]
fn save(
    cx: &ToolContext,
    /// The name of the note.
    name: String,
    /// Its text.
    text: String,
) -> Result<usize, ToolError> {
    cx.report(Progress::message("saving"));
    cx.report(Progress::new(1.0, 1.0));
    std::fs::write(cx.need::<Drawer>()?.0.join(name), &text)?;
    Ok(text.len())
}

/// Waits for a minute.
#[tool(name = "note.wait", pure)]
async fn wait() {
    tokio::time::sleep(Duration::from_secs(60)).await;
}

fn host(workspace: &TempWorkspace) -> TestHost {
    TestHost::new(&[&SAVE_TOOL, &WAIT_TOOL]).with_service(Drawer(workspace.path().to_owned()))
}

#[tokio::test]
async fn a_tool_is_called_with_everything_granted() {
    let workspace = TempWorkspace::new();
    let host = host(&workspace);
    assert_eq!(
        host.value("note.save", json!({"name": "a", "text": "xy"}))
            .await,
        2
    );
    assert_eq!(
        host.text("note.save", json!({"name": "a", "text": "xyz"}))
            .await,
        "3"
    );
    assert_eq!(workspace.read("a"), "xyz");
    let error = host
        .call("note.save", json!({"name": "a"}))
        .await
        .unwrap_err();
    assert_eq!(error.code(), ErrorCode::InvalidArguments);
}

#[tokio::test]
async fn a_grant_and_a_timeout_are_enforced() {
    let workspace = TempWorkspace::new();
    let host = host(&workspace).with_grant(&["fs:write:a"]);
    let save = |name| host.call("note.save", json!({"name": name, "text": ""}));
    assert!(save("a").await.is_ok());
    assert_eq!(
        save("b").await.unwrap_err().code(),
        ErrorCode::PermissionDenied
    );
    let host = host.with_timeout(Duration::from_millis(10));
    assert_eq!(
        host.call("note.wait", json!({})).await.unwrap_err().code(),
        ErrorCode::Timeout
    );
    assert_eq!(workspace.files(), ["a"]);
    let none = host.with_grant(&[]);
    assert_eq!(
        none.call("note.wait", json!({})).await.unwrap_err().code(),
        ErrorCode::Timeout
    );
}

#[tokio::test]
async fn a_missing_service_is_reported() {
    let error = TestHost::new(&[&SAVE_TOOL])
        .call("note.save", json!({"name": "a", "text": ""}))
        .await
        .unwrap_err();
    assert_eq!(error.code(), ErrorCode::Unavailable);
}

#[tokio::test]
async fn tools_come_from_a_register_function_or_a_catalog() {
    let register = |catalog: &mut Catalog| catalog.submit(&[&SAVE_TOOL, &WAIT_TOOL]);
    let host = TestHost::new(register);
    assert_eq!(host.catalog().names().len(), 2);
    let same = TestHost::new(host.catalog());
    assert_eq!(same.catalog().names(), host.catalog().names());
    assert!(TestHost::new(Catalog::new()).catalog().names().is_empty());
}

#[test]
#[should_panic(expected = "note.save exists")]
fn a_name_that_is_taken_fails_the_test() {
    let register = |catalog: &mut Catalog| {
        let tool = tools::Tool::new("note.save", "Saves.", json!({"type": "object"}))?;
        catalog.register(tool, async |_: ToolContext, _: serde_json::Value| {
            Ok::<_, String>(())
        })?;
        catalog.submit(&[&SAVE_TOOL])
    };
    TestHost::new(register);
}

#[tokio::test]
async fn approvals_are_decided_by_script_and_recorded() {
    let workspace = TempWorkspace::new();
    let deny = Decision::Deny {
        reason: "not now".to_owned(),
    };
    let approver = RecordingApprover::from_script([deny, Decision::Allow]);
    let host = host(&workspace)
        .with_context(|cx| cx.with_policy(Policy::by_effects()))
        .with_approver(approver.clone());
    let save = |name| host.call("note.save", json!({"name": name, "text": ""}));
    let denied = save("a").await.unwrap_err();
    assert!(
        denied.code() == ErrorCode::Denied && denied.to_string().contains("not now"),
        "{denied}"
    );
    save("b").await.unwrap();
    assert_eq!(
        save("c").await.unwrap_err().code(),
        ErrorCode::Unapproved,
        "the script is over"
    );
    assert_eq!(workspace.files(), ["b"]);

    let requests = approver.requests();
    assert_eq!(requests.len(), 3);
    assert_eq!(requests[0].tool.as_str(), "note.save");
    assert_eq!(requests[0].arguments.value()["name"], "a");
    assert_eq!(requests[1].targets[0].to_string(), "fs:write:b");
    assert_eq!(
        requests[1].tool_digest,
        host.catalog().get("note.save").unwrap().digest()
    );
    assert_ne!(requests[0].arguments_digest, requests[1].arguments_digest);
}

#[tokio::test]
async fn an_approver_decides_by_a_closure_and_sees_sensitive_paths() {
    let workspace = TempWorkspace::new();
    let approver = RecordingApprover::from_fn(|request| match request.sensitive.as_slice() {
        [(target, _)] if target.value() == ".envrc" => Decision::Allow,
        _ => Decision::Abstain,
    });
    let host = host(&workspace).with_approver(approver.clone());
    host.call("note.save", json!({"name": ".envrc", "text": ""}))
        .await
        .unwrap();
    assert!(
        host.call("note.save", json!({"name": ".bashrc", "text": ""}))
            .await
            .is_err()
    );
    host.call("note.save", json!({"name": "plain", "text": ""}))
        .await
        .unwrap();
    assert_eq!(
        approver.requests().len(),
        2,
        "a plain file needs no approval"
    );
}

#[test]
fn progress_is_recorded_with_its_tool() {
    let workspace = TempWorkspace::new();
    let progress = RecordingProgress::new();
    let host = host(&workspace).with_progress(progress.clone());
    host.call_blocking("note.save", json!({"name": "a", "text": ""}))
        .unwrap();
    assert_eq!(progress.messages(), ["saving"]);
    let reports = progress.reports();
    assert_eq!(reports[1].progress, Progress::new(1.0, 1.0));
    assert!(
        reports
            .iter()
            .all(|report| report.tool.as_deref() == Some("note.save"))
    );
}

#[tokio::test]
#[should_panic(expected = "the call of note.save failed: ")]
async fn a_text_of_a_failed_call_fails_the_test() {
    TestHost::new(&[&SAVE_TOOL])
        .text("note.save", json!({}))
        .await;
}

#[test]
#[should_panic(expected = "the grant of the test host is invalid: ")]
fn an_invalid_clause_fails_the_test() {
    let _ = TestHost::new(Catalog::new()).with_grant(&["fs"]);
}
