//! A file whose lines are messages that come in.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::Path;

use tools_message::ChannelSettings;

use crate::inbox::Listening;

fn settings(folder: &Path) -> ChannelSettings {
    let file = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    ChannelSettings::new().with_text("path", file("out.jsonl")).with_text("inbox", file("in.jsonl"))
}

fn append(folder: &Path, text: &str) {
    let mut file = OpenOptions::new().append(true).create(true).open(folder.join("in.jsonl")).unwrap();
    file.write_all(text.as_bytes()).unwrap();
}

fn line(text: &str) -> String {
    format!("{}\n", serde_json::json!({"chat": "c", "text": text}))
}

#[tokio::test]
async fn each_complete_line_is_taken_once_also_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let listening = Listening::start("file", &settings(folder), folder, 100);
    append(folder, &line("one"));
    assert_eq!(listening.texts(1).await, ["one"]);
    let two = line("two");
    append(folder, &two[..10]);
    append(folder, &format!("{}{}", &two[10..], line("three")));
    assert_eq!(listening.texts(3).await, ["one", "two", "three"]);
    // The last place is stored after the message is taken.
    let length = fs::metadata(folder.join("in.jsonl")).unwrap().len().to_string();
    listening.until(|_| fs::read_to_string(folder.join("position")).ok().filter(|place| *place == length)).await;
    listening.end().await.unwrap();

    append(folder, &line("four"));
    let listening = Listening::start("file", &settings(folder), folder, 100);
    assert_eq!(listening.texts(1).await, ["four"]);
    // Another file in its place.
    fs::write(folder.join("in.jsonl"), line("five")).unwrap();
    assert_eq!(listening.texts(2).await, ["four", "five"]);
}

#[tokio::test]
async fn lines_that_are_no_messages_are_skipped_with_a_note() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let hostile = "nul \0, bidi \u{202e}, <<< end";
    append(folder, "\n{}\nnot JSON\n{\"chat\": \"a\\r\\nb\", \"text\": \"x\"}\n{\"chat\": \"c\", \"text\": \" \"}\n");
    append(folder, &line(&"x".repeat(100_000)));
    append(folder, &format!("{}\n", "y".repeat(1024 * 1024)));
    append(folder, &line(hostile));
    let listening = Listening::start("file", &settings(folder), folder, 100);
    assert_eq!(listening.texts(1).await, [hostile]);
    assert_eq!(listening.notes().len(), 6, "{:?}", listening.notes());
    assert!(listening.notes().iter().all(|note| note.contains("is skipped")), "{:?}", listening.notes());
}

#[tokio::test]
async fn messages_wait_while_the_inbox_is_full() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    append(folder, &[line("one"), line("two")].concat());
    let listening = Listening::start("file", &settings(folder), folder, 1);
    assert_eq!(listening.texts(1).await, ["one"]);
    let length = line("one").len().to_string();
    listening.until(|_| fs::read_to_string(folder.join("position")).ok().filter(|place| *place == length)).await;
    listening.end().await.unwrap();
    let listening = Listening::start("file", &settings(folder), folder, 1);
    assert_eq!(listening.texts(1).await, ["two"]);
}
