//! Tests of the tools: the house rules for all, and calls.

use serde_json::json;
use @library@_tools::register;
use tools::{Decision, ErrorCode};
use tools_fs::Workspace;
use tools_testkit::{HouseRules, RecordingApprover, TempWorkspace, TestHost};

#[test]
fn the_tools_follow_the_house_rules() {
    HouseRules::new().assert(register);
}

#[test]
fn words_of_some_lines_are_counted() {
    let count = |last: usize| {
        let arguments = json!({"text": "a b\nc", "lines": {"first": 2, "last": last}});
        TestHost::new(register).call_blocking("text.count", arguments)
    };
    assert_eq!(count(2).unwrap().to_text(), "1");
    assert_eq!(count(1).unwrap_err().code(), ErrorCode::ExecutionFailed);
}

#[test]
fn a_note_is_saved_only_with_an_approval() {
    let files = TempWorkspace::new();
    let denied = Decision::Deny { reason: "not now".to_owned() };
    let host = TestHost::new(register)
        .with_grant(&["fs:read:**"])
        .with_service(Workspace::open(files.path()).unwrap())
        .with_approver(RecordingApprover::from_script([denied, Decision::Allow]));
    let save = || host.call_blocking("note.save", json!({"name": "milk", "text": "Buy some."}));
    assert_eq!(save().unwrap_err().code(), ErrorCode::Denied);
    assert!(files.files().is_empty());
    save().unwrap();
    assert_eq!(files.read("notes/milk.md"), "Buy some.");
}
