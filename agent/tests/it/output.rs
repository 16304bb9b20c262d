//! A session reads truncated output.

use agent::{Selection, Session};
use serde_json::{Value, json};
use tools::{Catalog, Effects, ErrorCode, Host, OutputStore, Tool, ToolContext};

fn catalog() -> Catalog {
    let mut catalog = Catalog::new();
    agent::tool::register(&mut catalog).unwrap();
    let tool = Tool::new("long", "Says a lot.", json!({"type": "object"}))
        .unwrap()
        .with_effects(Effects::Pure);
    let long = async |_: ToolContext, _: Value| whole();
    catalog.register(tool, long).unwrap();
    catalog
}

fn whole() -> String {
    (0..40_000)
        .map(|line| format!("Zeile {line} ü\n"))
        .collect()
}

fn session() -> Session {
    let cx = Host::new()
        .with_session("s")
        .with_service(OutputStore::default());
    Session::new(catalog().list(), Selection::new(), cx)
}

/// The number after a word.
fn number(text: &str, word: &str) -> u64 {
    let rest = text.rsplit(word).next().unwrap();
    rest.split(|c: char| !c.is_ascii_digit())
        .next()
        .unwrap()
        .parse()
        .unwrap()
}

#[tokio::test]
async fn truncated_output_is_read_to_its_end_by_the_hints_in_the_results() {
    let session = session();
    let cut = session.execute("long", json!({})).await.unwrap().to_text();
    let note = cut
        .lines()
        .find(|line| line.contains("tools.output"))
        .unwrap();
    let handle = note
        .split("handle ")
        .nth(1)
        .unwrap()
        .split(',')
        .next()
        .unwrap();
    let mut start = number(note, "start ");
    let mut read = whole()[..start as usize].to_owned();
    loop {
        let arguments = json!({"handle": handle, "start": start, "length": 60_000});
        let text = session
            .execute("tools.output", arguments)
            .await
            .unwrap()
            .to_text();
        assert!(!text.contains("left out"), "what is read is not cut again");
        let (part, note) = text.rsplit_once("\n[bytes ").unwrap();
        read.push_str(part);
        if note.ends_with("this is the end]") {
            break;
        }
        start = number(note, "continue with start ");
    }
    assert_eq!(read, whole());
}

#[tokio::test]
async fn missing_output_is_an_error_with_the_next_step() {
    let session = session();
    let call = async |arguments: Value| {
        session
            .execute("tools.output", arguments)
            .await
            .unwrap_err()
    };
    let error = call(json!({"handle": "out-0"})).await;
    assert!(
        error.to_string().contains("make the original call again"),
        "{error}"
    );
    for length in [json!(0), json!(60_001)] {
        let error = call(json!({"handle": "out-0", "length": length})).await;
        assert_eq!(error.code(), ErrorCode::InvalidArguments, "{error}");
    }
    let store = session.context().service::<OutputStore>().unwrap();
    let handle = store.keep(Some("s"), "short".to_owned()).unwrap();
    let error = call(json!({"handle": handle, "start": 5})).await;
    assert!(error.to_string().contains("ends at byte 5"), "{error}");
    let text = session
        .execute("tools.output", json!({"handle": handle, "start": 1}))
        .await
        .unwrap()
        .to_text();
    assert_eq!(text, "hort\n[bytes 1 to 5 of 5; this is the end]");
}

#[tokio::test]
async fn without_a_store_a_session_has_no_such_tool() {
    let session = Session::new(catalog().list(), Selection::new(), Host::new());
    assert!(!session.tools().contains("tools.output"));
    let cut = session.execute("long", json!({})).await.unwrap().to_text();
    assert!(cut.contains("bytes left out: the result is over its limit …]"));
}
