//! Limits, whose errors say the next step.

use serde_json::json;
use tools_memory::{ImportError, MAX_ENTRIES, MAX_TEXT_BYTES};

use crate::desk::{Desk, found, host, refusal, save};

fn lines(count: usize, scope: &str, text: impl Fn(usize) -> String) -> String {
    let line =
        |number| json!({"scope": scope, "text": text(number), "confirmed": true}).to_string();
    (0..count).map(line).collect::<Vec<_>>().join("\n")
}

#[tokio::test]
async fn a_text_has_a_limit() {
    let desk = Desk::new();
    let host = desk.host();
    assert_eq!(
        save(&host, &"ä".repeat(MAX_TEXT_BYTES / 2)).await,
        "saved as memory 1"
    );
    let error = refusal(
        &host,
        "memory.save",
        json!({"text": "x".repeat(MAX_TEXT_BYTES + 1)}),
    )
    .await;
    assert!(
        error.contains("has 4097 bytes") && error.contains("save a shorter one"),
        "{error}"
    );
    for empty in ["", " \n\t"] {
        assert!(
            refusal(&host, "memory.save", json!({"text": empty}))
                .await
                .contains("write the fact")
        );
    }
    assert!(
        refusal(&host, "memory.save", json!({"text": "x".repeat(1_000_000)}))
            .await
            .contains("save a shorter one")
    );
}

#[tokio::test]
async fn a_full_scope_names_the_memory_to_forget() {
    let desk = Desk::new();
    let host = desk.host();
    save(&host, "the first one").await;
    let memory = desk.memory();
    let scope = desk.entries()[0].scope.clone();
    memory
        .import(
            lines(MAX_ENTRIES - 1, &scope, |number| format!("fact {number}")).as_bytes(),
            true,
        )
        .unwrap();
    let error = refusal(&host, "memory.save", json!({"text": "one more"})).await;
    assert!(
        error.contains("1000 memories, its limit; forget one first, such as 1")
            && !error.contains("first one"),
        "{error}"
    );
    assert_eq!(save(&host, "fact 7").await, "known already as memory 9");
    host.text("memory.save", json!({"text": "one more", "scope": "user"}))
        .await;
    host.text("memory.forget", json!({"id": 1})).await;
    assert_eq!(save(&host, "one more").await, "saved as memory 1002");
}

#[tokio::test]
async fn the_host_sets_the_limit_and_a_frequent_word_hides_no_other() {
    let desk = Desk::new();
    let memory = || desk.memory().with_max_entries(3000);
    let text = lines(2500, "user", |number| match number {
        0 => "common zebra".to_owned(),
        _ => format!("common {number}"),
    });
    memory().import(text.as_bytes(), true).unwrap();
    let giraffe = lines(1, "project/other", |_| "giraffe".to_owned());
    memory().import(giraffe.as_bytes(), true).unwrap();
    let host = host(memory());
    let search =
        async |query| found(&host, json!({"query": query, "scope": "user", "limit": 2})).await;
    assert_eq!(
        search("common zebra").await,
        ["common zebra", "common 2499"]
    );
    assert_eq!(
        search("giraffe common").await,
        ["common 2499", "common 2498"]
    );
}

#[tokio::test]
async fn all_memories_together_have_a_limit() {
    let desk = Desk::new();
    let memory = desk.memory();
    let text = |number| format!("{number:04}{}", "x".repeat(MAX_TEXT_BYTES - 4));
    let half = 1024 * 1024 / MAX_TEXT_BYTES / 2;
    for scope in ["user", "project/big"] {
        memory
            .import(lines(half, scope, text).as_bytes(), true)
            .unwrap();
    }
    let host = desk.host();
    let error = refusal(&host, "memory.save", json!({"text": "x"})).await;
    assert!(
        error.contains("forget one first, such as 1") && !error.contains("xxx"),
        "{error}"
    );
    let other = desk.host().with_context(|cx| cx.with_principal("other"));
    assert!(save(&other, "x").await.starts_with("saved"));
}

#[test]
fn an_import_has_a_number_of_memories() {
    let desk = Desk::new();
    let text = |count: usize| lines(count, "user", |number| format!("fact {}", number % 10));
    let error = desk
        .memory()
        .import(text(10_001).as_bytes(), true)
        .unwrap_err();
    assert!(matches!(error, ImportError::TooMany), "{error}");
    assert!(!desk.path().exists());
    let imported = desk.memory().import(text(10_000).as_bytes(), true).unwrap();
    assert_eq!((imported.added, imported.known), (10, 9_990));
}

#[test]
fn an_import_without_room_names_its_line_and_no_memory_of_its_own() {
    let desk = Desk::new();
    let many = lines(1001, "user", |number| format!("fact {number}"));
    let long = lines(257, "user", |number| {
        format!("{number:04}{}", "x".repeat(MAX_TEXT_BYTES - 4))
    });
    for (text, line) in [(many, 1001), (long, 257)] {
        let error = desk.memory().import(text.as_bytes(), true).unwrap_err();
        assert_eq!(
            error.to_string(),
            format!(
                "there is no room for line {line}: a scope has at most 1000 memories, and all memories of a principal have at most \
                 1048576 bytes; import fewer, or forget some first"
            )
        );
        assert!(desk.entries().is_empty());
    }
}

#[tokio::test]
async fn tags_are_few_and_plain() {
    let desk = Desk::new();
    for tags in [
        json!(["A"]),
        json!(["a b"]),
        json!([""]),
        json!(["x".repeat(33)]),
        json!(vec!["a"; 9]),
    ] {
        refusal(
            &desk.host(),
            "memory.save",
            json!({"text": "x", "tags": tags}),
        )
        .await;
    }
    assert!(!desk.path().exists());
}
