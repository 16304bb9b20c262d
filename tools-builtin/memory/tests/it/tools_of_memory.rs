//! The four tools.

use serde_json::json;
use tools_testkit::HouseRules;

use crate::desk::{Desk, found, refusal, save, texts};

#[tokio::test]
async fn a_memory_is_found_by_any_of_its_words_in_a_later_session() {
    let desk = Desk::new();
    assert_eq!(
        save(&desk.host(), "The tests need PostgreSQL on port 5433.").await,
        "saved as memory 1"
    );
    save(&desk.host(), "Releases are tagged on Fridays.").await;
    let later = desk.host();
    for query in ["postgresql", "which port?", "testing", "Größe PORT", "5433"] {
        let found = found(&later, json!({"query": query})).await;
        assert_eq!(
            found,
            ["The tests need PostgreSQL on port 5433."],
            "{query}"
        );
    }
    let none = later
        .value("memory.search", json!({"query": "zebra"}))
        .await;
    assert_eq!(none["memories"], json!([]));
    assert!(
        none["note"].as_str().unwrap().contains("try other words"),
        "{none}"
    );
}

#[tokio::test]
async fn memories_with_more_of_the_words_come_first_and_tags_count() {
    let desk = Desk::new();
    let host = desk.host();
    for (text, tags) in [
        ("red", json!([])),
        ("red green", json!([])),
        ("blue", json!(["red", "green", "colour"])),
    ] {
        host.text("memory.save", json!({"text": text, "tags": tags}))
            .await;
    }
    let found = found(&host, json!({"query": "red green colour", "limit": 2})).await;
    assert_eq!(found, ["blue", "red green"]);
}

#[tokio::test]
async fn a_search_with_many_words_says_which_ones_it_left_out() {
    let desk = Desk::new();
    let host = desk.host();
    save(&host, "needle").await;
    let words = |count| {
        (0..count)
            .map(|number| format!("word{number} "))
            .collect::<String>()
    };
    let found = host
        .value("memory.search", json!({"query": words(31) + "needle"}))
        .await;
    assert_eq!(
        (texts(&found), &found["note"]),
        (vec!["needle".to_owned()], &json!(null))
    );
    for (query, expected) in [
        (words(32) + "needle", 0),
        ("needle ".to_owned() + &words(32), 1),
    ] {
        let found = host.value("memory.search", json!({"query": query})).await;
        assert_eq!(texts(&found).len(), expected);
        assert!(
            found["note"]
                .as_str()
                .unwrap()
                .starts_with("only the first 32 different words"),
            "{found}"
        );
    }
}

#[tokio::test]
async fn a_page_of_the_longest_texts_is_whole() {
    let desk = Desk::new();
    let host = desk.host();
    let tags: Vec<_> = (0..8)
        .map(|number| format!("{number}{}", "x".repeat(31)))
        .collect();
    for number in 0..20 {
        let text = format!(
            "{number:02} needle {}",
            "\u{1}".repeat(tools_memory::MAX_TEXT_BYTES - 10)
        );
        host.text("memory.save", json!({"text": text, "tags": tags}))
            .await;
    }
    for (tool, arguments, count) in [
        ("memory.list", json!({}), 20),
        ("memory.search", json!({"query": "needle", "limit": 10}), 10),
    ] {
        let result = host.call(tool, arguments).await.unwrap();
        let found: serde_json::Value = serde_json::from_str(&result.to_text()).unwrap();
        assert_eq!(texts(&found).len(), count);
        assert!(
            texts(&found).iter().all(|text| text.ends_with("<U+0001>")),
            "{tool}"
        );
    }
}

#[tokio::test]
async fn the_same_text_is_saved_once() {
    let desk = Desk::new();
    assert_eq!(save(&desk.host(), "x").await, "saved as memory 1");
    assert_eq!(
        save(&desk.host(), " x\n").await,
        "known already as memory 1"
    );
    assert_eq!(desk.entries().len(), 1);
}

#[tokio::test]
async fn a_list_has_the_newest_first_and_goes_on_with_its_note() {
    let desk = Desk::new();
    let host = desk.host();
    for number in 1..=45 {
        let tags = if number % 2 == 0 {
            json!(["even"])
        } else {
            json!([])
        };
        host.text(
            "memory.save",
            json!({"text": format!("fact {number}"), "tags": tags}),
        )
        .await;
    }
    let mut before = json!(null);
    let mut all = Vec::new();
    loop {
        let page = host.value("memory.list", json!({"before": before})).await;
        all.extend(texts(&page));
        let Some(note) = page["note"].as_str() else {
            break;
        };
        before = note
            .rsplit_once("= ")
            .unwrap()
            .1
            .parse::<i64>()
            .unwrap()
            .into();
    }
    let expected: Vec<_> = (1..=45)
        .rev()
        .map(|number| format!("fact {number}"))
        .collect();
    assert_eq!(all, expected);
    let even = host.value("memory.list", json!({"tag": "even"})).await;
    assert_eq!(texts(&even)[..2], ["fact 44", "fact 42"]);
    assert_eq!(
        host.value("memory.list", json!({"tag": "eve"})).await["memories"],
        json!([])
    );
}

#[tokio::test]
async fn a_forgotten_memory_is_found_no_more_and_its_bytes_are_gone() {
    let desk = Desk::new();
    let host = desk.host();
    save(&host, &"the launch code is swordfish ".repeat(20)).await;
    save(&host, "another").await;
    assert!(has_bytes(&desk, b"swordfish"));
    let forgot = host.text("memory.forget", json!({"id": 1})).await;
    assert!(
        forgot.starts_with("forgot memory 1: the launch code is swordfish the"),
        "{forgot}"
    );
    assert!(
        found(&host, json!({"query": "swordfish launch"}))
            .await
            .is_empty()
    );
    let error = refusal(&host, "memory.forget", json!({"id": 1})).await;
    assert!(
        error.contains("has no memory 1; list its memories"),
        "{error}"
    );
    drop(host);
    assert!(!has_bytes(&desk, b"swordfish"));
    assert_eq!(
        save(&desk.host(), "third").await,
        "saved as memory 3",
        "a number is not used again"
    );
}

/// Returns true if a file of the store has the bytes.
fn has_bytes(desk: &Desk, bytes: &[u8]) -> bool {
    let files = std::fs::read_dir(desk.path().parent().unwrap()).unwrap();
    files
        .map(|file| std::fs::read(file.unwrap().path()).unwrap())
        .any(|content| content.windows(bytes.len()).any(|window| window == bytes))
}

#[tokio::test]
async fn nothing_is_created_before_the_first_memory() {
    let desk = Desk::new();
    assert!(desk.digest(&["memory:read:**"]).is_none() && desk.entries().is_empty());
    assert_eq!(desk.memory().counts().unwrap().all, 0);
    assert!(desk.memory().confirm(&[1]).is_err() && !desk.path().exists());
}

#[test]
fn the_house_rules_hold() {
    HouseRules::new()
        .with_prefix("memory")
        .assert(tools_memory::register);
}
