//! The digest with which a session begins.

use serde_json::json;
use tools::policy::{Rule, Verdict};
use tools::{Grant, Policy};
use tools_memory::MAX_DIGEST_BYTES;

use crate::desk::{Desk, host, save};

const READ: &[&str] = &["memory:read:project", "memory:read:user"];

#[tokio::test]
async fn a_digest_has_the_memories_of_the_granted_scopes_with_their_provenance() {
    let desk = Desk::new();
    let one = desk.host().with_context(|cx| cx.with_session("s1"));
    one.text("memory.save", json!({"text": "for everywhere", "scope": "user"})).await;
    one.text("memory.save", json!({"text": "of one", "tags": ["a", "b"]})).await;
    save(&host(desk.memory_in("two")), "of two").await;
    save(&desk.host().with_context(|cx| cx.with_principal("other")), "of another principal").await;

    let digest = desk.digest(READ).unwrap();
    let day = desk.entries()[0].saved.strftime("%Y-%m-%d").to_string();
    assert!(
        digest.contains(&format!("\nmemory 2 (project), saved {day} by the agent, session s1, tags a b\n  | of one\n"))
    );
    assert!(digest.contains(&format!("\nmemory 1 (user), saved {day} by the agent, session s1\n  | for everywhere\n")));
    assert!(!digest.contains("of two") && !digest.contains("another principal"), "{digest}");
    assert_eq!(desk.digest(READ), Some(digest), "its bytes are stable");

    let project = desk.digest(&["memory:read:project"]).unwrap();
    assert!(project.contains("of one") && !project.contains("for everywhere"));
    let user = desk.digest(&["memory:read:user"]).unwrap();
    assert!(!user.contains("of one") && user.contains("for everywhere"));
    for clauses in [&[][..], &["memory:write:**"], &["memory:read:project/x"], &["fs:read:**"]] {
        assert_eq!(desk.digest(clauses), None, "{clauses:?}");
    }
}

#[tokio::test]
async fn a_rule_that_asks_or_denies_leaves_memories_out() {
    let desk = Desk::new();
    save(&desk.host(), "x").await;
    for verdict in [Verdict::Deny, Verdict::Ask] {
        let policy = Policy::new().with_rule(Rule::new(verdict, Some("memory.*"), None).unwrap());
        let cx = desk.host().context().clone().with_grant(Grant::parse(READ).unwrap()).with_policy(policy);
        assert_eq!(desk.memory().digest(&cx).unwrap(), None);
    }
}

#[tokio::test]
async fn a_digest_is_short_and_says_what_it_leaves_out() {
    let desk = Desk::new();
    let host = desk.host();
    save(&host, &"long ".repeat(800)).await;
    let digest = desk.digest(READ).unwrap();
    assert!(digest.contains("  | […]\n") && digest.len() < 1200, "{digest}");
    for number in 0..100 {
        save(&host, &format!("fact {number} {}", "é".repeat(100))).await;
    }
    let digest = desk.digest(READ).unwrap();
    assert!(digest.len() < MAX_DIGEST_BYTES + 600, "{}", digest.len());
    assert!(digest.contains("fact 99 ") && !digest.contains("fact 9 "), "{digest}");
    let left_out = 101 - digest.matches("\nmemory ").count();
    assert!(digest.contains(&format!("{left_out} older ones are left out")), "{digest}");
}
