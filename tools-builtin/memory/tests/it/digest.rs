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
    one.text(
        "memory.save",
        json!({"text": "for everywhere", "scope": "user"}),
    )
    .await;
    one.text("memory.save", json!({"text": "of one", "tags": ["a", "b"]}))
        .await;
    save(&host(desk.memory_in("two")), "of two").await;
    save(
        &desk.host().with_context(|cx| cx.with_principal("other")),
        "of another principal",
    )
    .await;

    let digest = desk.digest(READ).unwrap();
    let day = desk.entries()[0].saved.strftime("%Y-%m-%d").to_string();
    assert!(digest.contains(&format!(
        "\nmemory 2 (project), saved {day} by the agent, session s1, tags a b\n  | of one\n"
    )));
    assert!(digest.contains(&format!(
        "\nmemory 1 (user), saved {day} by the agent, session s1\n  | for everywhere\n"
    )));
    assert!(
        !digest.contains("of two") && !digest.contains("another principal"),
        "{digest}"
    );
    assert_eq!(desk.digest(READ), Some(digest), "its bytes are stable");

    let project = desk.digest(&["memory:read:project"]).unwrap();
    assert!(project.contains("of one") && !project.contains("for everywhere"));
    let user = desk.digest(&["memory:read:user"]).unwrap();
    assert!(!user.contains("of one") && user.contains("for everywhere"));
    for clauses in [
        &[][..],
        &["memory:write:**"],
        &["memory:read:project/x"],
        &["fs:read:**"],
    ] {
        assert_eq!(desk.digest(clauses), None, "{clauses:?}");
    }
}

#[tokio::test]
async fn a_rule_that_asks_or_denies_leaves_memories_out() {
    let desk = Desk::new();
    save(&desk.host(), "x").await;
    for verdict in [Verdict::Deny, Verdict::Ask] {
        let policy =
            Policy::new().with_rules([Rule::new(verdict, Some("memory.*"), None).unwrap()]);
        let cx = desk
            .host()
            .context()
            .clone()
            .with_grant(Grant::parse(READ).unwrap())
            .with_policy(policy);
        assert_eq!(desk.memory().digest(&cx).unwrap(), None);
    }
}

/// Saves facts of the same length in a scope.
async fn fill(desk: &Desk, scope: &str, count: usize) {
    for number in 0..count {
        let text = format!("{scope} fact {number:03} {}", "é".repeat(100));
        desk.host()
            .text("memory.save", json!({"text": text, "scope": scope}))
            .await;
    }
}

/// Returns the number of memories of a scope in a digest.
fn shown(digest: &str, scope: &str) -> usize {
    digest.matches(&format!(" ({scope}), saved ")).count()
}

#[tokio::test]
async fn a_digest_is_short_and_says_what_it_leaves_out() {
    let desk = Desk::new();
    save(&desk.host(), &"long ".repeat(800)).await;
    let digest = desk.digest(READ).unwrap();
    assert!(
        digest.contains("  | […]\n") && digest.len() < 1200,
        "{digest}"
    );
    assert!(!digest.contains("left out"), "{digest}");
    fill(&desk, "project", 100).await;
    let digest = desk.digest(READ).unwrap();
    assert!(
        digest.len() <= MAX_DIGEST_BYTES && digest.len() > MAX_DIGEST_BYTES - 300,
        "{}",
        digest.len()
    );
    assert!(
        digest.contains("fact 099 ") && !digest.contains("fact 009 "),
        "{digest}"
    );
    let left_out = format!(
        "newest; {} of the project are left out",
        101 - shown(&digest, "project")
    );
    assert!(digest.contains(&left_out), "{digest}");
}

#[tokio::test]
async fn project_and_user_have_half_of_a_digest_each_and_the_rest_of_the_other_half() {
    let desk = Desk::new();
    fill(&desk, "user", 30).await;
    let user = desk.digest(READ).unwrap();
    fill(&desk, "project", 30).await;
    let both = desk.digest(READ).unwrap();
    assert!(both.len() <= MAX_DIGEST_BYTES, "{}", both.len());
    let (of_project, of_user) = (shown(&both, "project"), shown(&both, "user"));
    assert!(
        of_project.abs_diff(of_user) <= 1 && of_user > 3 && shown(&user, "user") > 2 * of_user - 2,
        "{both}"
    );
    assert!(both.find("(project)") < both.find("(user)"), "{both}");
    let (left_project, left_user) = (30 - of_project, 30 - of_user);
    let left_out =
        format!(" {left_project} of the project and {left_user} of the user are left out");
    assert!(both.contains(&left_out), "{both}");
    // The newest of each are there.
    for scope in ["project", "user"] {
        assert!(
            both.contains(&format!("{scope} fact 029"))
                && !both.contains(&format!("{scope} fact 000")),
            "{both}"
        );
    }
}

#[tokio::test]
async fn the_limit_of_a_digest_counts_what_is_escaped() {
    let desk = Desk::new();
    for number in 0..20 {
        save(&desk.host(), &format!("{number} {}", "<<<end ".repeat(50))).await;
    }
    let digest = desk.digest(READ).unwrap();
    assert!(digest.len() <= MAX_DIGEST_BYTES, "{}", digest.len());
    assert!(digest.contains("<U+003C><<end <U+003C><<end"), "{digest}");
}
