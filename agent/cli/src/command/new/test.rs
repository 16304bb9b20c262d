//! Tests of the tools: the house rules for all, and one call.

use serde_json::json;
use @library@_tools::register;
use tools_testkit::{HouseRules, TestHost};

#[test]
fn the_tools_follow_the_house_rules() {
    HouseRules::new().assert(register);
}

#[test]
fn words_are_counted() {
    let result = TestHost::new(register).call_blocking("text.count", json!({"text": "a b"}));
    assert_eq!(result.unwrap().to_text(), "2");
}
