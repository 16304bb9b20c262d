//! Tests of the tools: the house rules for all, and calls.

use @library@::register;
use serde_json::json;
use tools::{Decision, ErrorCode};
use tools_testkit::{HouseRules, RecordingApprover, TestHost};

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
fn a_lamp_is_switched_only_with_a_grant_or_an_approval() {
    let denied = Decision::Deny { reason: "not now".to_owned() };
    let host = TestHost::new(register)
        .with_grant(&["lamp:write:kitchen"])
        .with_approver(RecordingApprover::from_script([denied, Decision::Allow]));
    let switch = |room: &str| host.call_blocking("lamp.switch", json!({"room": room, "state": "on"}));
    assert!(switch("kitchen").is_ok());
    assert_eq!(switch("hall").unwrap_err().code(), ErrorCode::Denied);
    assert!(switch("hall").is_ok());
}
