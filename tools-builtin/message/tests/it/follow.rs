//! A file whose lines are messages that come in.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::time::timeout;
use tools::CancellationToken;
use tools_message::{ChannelSettings, Inbox};

use crate::inbox::Listening;

/// The time after which a note is missing.
const LONG: Duration = Duration::from_secs(20);

fn settings(folder: &Path) -> ChannelSettings {
    let file = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    ChannelSettings::new()
        .with_text("path", file("out.jsonl"))
        .with_text("inbox", file("in.jsonl"))
}

fn append(folder: &Path, text: &str) {
    let mut file = OpenOptions::new()
        .append(true)
        .create(true)
        .open(folder.join("in.jsonl"))
        .unwrap();
    file.write_all(text.as_bytes()).unwrap();
}

/// Returns the stored place in the inbox.
fn place(folder: &Path) -> PathBuf {
    let files = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let is_place = |path: &PathBuf| {
        path.file_name()
            .unwrap()
            .to_str()
            .unwrap()
            .starts_with("position-")
    };
    files
        .filter(is_place)
        .find(|path| path.extension().is_none())
        .unwrap()
}

/// Returns the number of bytes up to the stored place.
fn position(folder: &Path) -> u64 {
    fs::read_to_string(place(folder))
        .unwrap()
        .split(' ')
        .next()
        .unwrap()
        .parse()
        .unwrap()
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
    assert_eq!(
        position(folder),
        fs::metadata(folder.join("in.jsonl")).unwrap().len()
    );
    listening.end().await.unwrap();

    append(folder, &line("four"));
    let listening = Listening::start("file", &settings(folder), folder, 100);
    assert_eq!(listening.texts(1).await, ["four"]);
    // The file is emptied for new lines.
    fs::write(folder.join("in.jsonl"), "").unwrap();
    listening
        .until(|_| (position(folder) == 0).then_some(()))
        .await;
    append(folder, &line("five"));
    assert_eq!(listening.texts(2).await, ["four", "five"]);
}

#[tokio::test]
async fn an_inbox_that_is_no_file_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    // Opening it for reading waits for a writer.
    assert!(
        std::process::Command::new("mkfifo")
            .arg(folder.join("in.jsonl"))
            .status()
            .unwrap()
            .success()
    );
    let listening = Listening::start("file", &settings(folder), folder, 100);
    listening
        .until(|listening| listening.has_ended().then_some(()))
        .await;
    let error = listening.end().await.unwrap_err();
    assert!(
        error.to_string().contains("in.jsonl cannot be read"),
        "{error}"
    );
}

#[tokio::test]
async fn the_lines_of_a_file_that_becomes_shorter_are_not_taken_again() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    append(folder, &[line("one"), line("two")].concat());
    let listening = Listening::start("file", &settings(folder), folder, 100);
    assert_eq!(listening.texts(2).await, ["one", "two"]);
    listening.end().await.unwrap();
    fs::write(folder.join("in.jsonl"), line("two")).unwrap();
    let listening = Listening::start("file", &settings(folder), folder, 100);
    listening
        .until(|listening| listening.has_ended().then_some(()))
        .await;
    let error = listening.end().await.unwrap_err();
    assert!(
        error
            .to_string()
            .contains("became shorter; write the number of bytes"),
        "{error}"
    );
}

#[tokio::test]
async fn the_lines_of_another_file_at_the_path_are_neither_taken_nor_lost_silently() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path();
    for is_running in [false, true] {
        fs::write(folder.join("in.jsonl"), line("one")).unwrap();
        let listening = Listening::start("file", &settings(folder), folder, 100);
        assert_eq!(listening.texts(1).await, ["one"]);
        let others = [line("new"), line("two"), line("three")].concat();
        let listening = if is_running {
            fs::write(folder.join("other"), others).unwrap();
            fs::rename(folder.join("other"), folder.join("in.jsonl")).unwrap();
            listening
        } else {
            listening.end().await.unwrap();
            fs::remove_file(folder.join("in.jsonl")).unwrap();
            fs::write(folder.join("in.jsonl"), others).unwrap();
            Listening::start("file", &settings(folder), folder, 100)
        };
        timeout(
            LONG,
            listening.until(|listening| listening.has_ended().then_some(())),
        )
        .await
        .unwrap();
        assert_eq!(listening.taken().len(), usize::from(is_running));
        let error = listening.end().await.unwrap_err();
        assert!(error.to_string().contains("changed before byte"), "{error}");
        // The next step of the error.
        fs::remove_file(place(folder)).unwrap();
        let listening = Listening::start("file", &settings(folder), folder, 100);
        assert_eq!(listening.texts(3).await, ["new", "two", "three"]);
        listening.end().await.unwrap();
        fs::remove_file(place(folder)).unwrap();
    }
}

#[tokio::test]
async fn a_file_that_an_editor_replaces_goes_on_if_its_beginning_is_the_same() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path();
    let mut lines: String = (0..100)
        .map(|number| line(&"x".repeat(number + 1)))
        .collect();
    append(folder, &lines);
    let listening = Listening::start("file", &settings(folder), folder, 200);
    listening.texts(100).await;
    lines += &line("added");
    fs::write(folder.join("draft"), lines).unwrap();
    fs::rename(folder.join("draft"), folder.join("in.jsonl")).unwrap();
    assert_eq!(
        timeout(LONG, listening.texts(101))
            .await
            .unwrap()
            .last()
            .unwrap(),
        "added"
    );
}

#[tokio::test]
async fn a_place_that_a_person_has_written_is_taken_as_it_is() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path();
    append(folder, &[line("one"), line("two")].concat());
    let listening = Listening::start("file", &settings(folder), folder, 1);
    assert_eq!(listening.texts(1).await, ["one"]);
    listening.end().await.unwrap();
    append(folder, "[]\n");
    fs::write(
        place(folder),
        format!("{}\n", [line("one"), line("two")].concat().len()),
    )
    .unwrap();
    let listening = Listening::start("file", &settings(folder), folder, 100);
    let noted = listening.until(|listening| listening.notes().get(1).cloned());
    assert!(
        timeout(LONG, noted)
            .await
            .unwrap()
            .starts_with("line 3 of ")
    );
    append(folder, &line("three"));
    assert_eq!(timeout(LONG, listening.texts(1)).await.unwrap(), ["three"]);
}

#[tokio::test]
async fn each_line_is_taken_once_however_the_path_is_written() {
    use std::os::unix::fs::symlink;

    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path();
    fs::create_dir(folder.join("sub")).unwrap();
    symlink(folder, folder.join("sub/link")).unwrap();
    // It leads to a file that is still missing.
    symlink("in.jsonl", folder.join("link.jsonl")).unwrap();
    for (number, path) in [
        "link.jsonl",
        "in.jsonl",
        "sub/../in.jsonl",
        "sub/link/in.jsonl",
    ]
    .into_iter()
    .enumerate()
    {
        let settings = settings(folder).with_text("inbox", folder.join(path).to_str().unwrap());
        let listening = Listening::start("file", &settings, folder, 100);
        listening
            .until(|listening| listening.notes().first().map(drop))
            .await;
        append(folder, &line(&number.to_string()));
        assert_eq!(listening.texts(1).await, [number.to_string()], "{path}");
        listening.end().await.unwrap();
    }
}

#[tokio::test]
async fn lines_that_are_no_messages_are_skipped_with_a_note() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let hostile = "nul \0, bidi \u{202e}, <<< end";
    append(
        folder,
        "\n{}\nnot JSON\n{\"chat\": \"a\\r\\nb\", \"text\": \"x\"}\n{\"chat\": \"c\", \"text\": \" \"}\n",
    );
    append(folder, &line(&"x".repeat(100_000)));
    append(folder, &format!("{}\n", "y".repeat(1024 * 1024)));
    append(folder, &line(hostile));
    let listening = Listening::start("file", &settings(folder), folder, 100);
    assert_eq!(listening.texts(1).await, [hostile]);
    let notes = listening.notes();
    let Some((first, skipped)) = notes.split_first() else {
        panic!("no notes")
    };
    assert_eq!(
        *first,
        format!("following {}", folder.join("in.jsonl").display())
    );
    let [shape, json, chat, text, long, longer] = skipped else {
        panic!("{skipped:?}")
    };
    for (number, note, reason) in [
        (2, shape, "the texts `chat` and `text`"),
        (3, json, "not JSON from column 2"),
        (4, chat, "needs a name"),
        (5, text, "blank"),
        (6, long, "longer than"),
        (7, longer, "more than 262144 bytes"),
    ] {
        assert!(
            note.starts_with(&format!("line {number} of ")) && note.contains(reason),
            "{note}"
        );
        assert!(
            note.contains(r#"one such as {"chat": "a", "text": "hello"}"#),
            "{note}"
        );
    }
    listening.end().await.unwrap();

    // A later listener counts from the start of the file.
    append(folder, "[]\n");
    let listening = Listening::start("file", &settings(folder), folder, 100);
    let noted = listening.until(|listening| listening.notes().get(1).cloned());
    assert!(
        timeout(LONG, noted)
            .await
            .unwrap()
            .starts_with("line 9 of ")
    );
}

#[tokio::test]
async fn a_last_line_without_a_line_break_waits_for_it_and_is_noted_once() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    append(
        folder,
        &format!("{}{}", line("one"), line("two").trim_end()),
    );
    let listening = Listening::start("file", &settings(folder), folder, 100);
    let count = |listening: &Listening| {
        listening
            .notes()
            .iter()
            .filter(|note| note.contains("line break"))
            .count()
    };
    timeout(
        LONG,
        listening.until(|listening| (count(listening) > 0).then_some(())),
    )
    .await
    .unwrap();
    // Several reads later.
    tokio::time::sleep(Duration::from_millis(1000)).await;
    let notes = listening.notes();
    assert!(
        count(&listening) == 1 && notes.last().unwrap().starts_with("line 2 of "),
        "{notes:?}"
    );
    assert_eq!(listening.taken().len(), 1);
    append(folder, "\n");
    assert_eq!(listening.texts(2).await, ["one", "two"]);
}

#[tokio::test]
async fn messages_wait_while_the_inbox_is_full() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    append(folder, &[line("one"), line("two")].concat());
    let listening = Listening::start("file", &settings(folder), folder, 1);
    assert_eq!(listening.texts(1).await, ["one"]);
    listening.end().await.unwrap();
    assert_eq!(position(folder), line("one").len() as u64);
    let listening = Listening::start("file", &settings(folder), folder, 1);
    assert_eq!(listening.texts(1).await, ["two"]);
}

#[tokio::test]
async fn the_place_is_stored_before_a_message_is_taken() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    append(folder, &line("one"));
    // The process ends with the message in hand.
    let channel = (tools_message::kind("file").unwrap().create)(&settings(folder)).unwrap();
    let inbox = Inbox::new(folder, CancellationToken::new(), |_, claim| {
        claim().unwrap();
        panic!("killed")
    });
    tokio::spawn(async move { channel.listen(inbox).unwrap().await })
        .await
        .unwrap_err();
    append(folder, &line("two"));
    assert_eq!(
        Listening::start("file", &settings(folder), folder, 100)
            .texts(1)
            .await,
        ["two"]
    );
}

#[tokio::test]
async fn a_damaged_place_is_no_reason_to_handle_all_again_and_each_file_has_one_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    append(folder, &line("one"));
    let listening = Listening::start("file", &settings(folder), folder, 100);
    assert_eq!(listening.texts(1).await, ["one"]);
    listening.end().await.unwrap();

    let other = folder.join("other.jsonl");
    fs::write(
        &other,
        line("long enough to be behind the place in the first file"),
    )
    .unwrap();
    let of_other = settings(folder).with_text("inbox", other.to_str().unwrap());
    let listening = Listening::start("file", &of_other, folder, 100);
    assert_eq!(listening.texts(1).await.len(), 1);
    listening.end().await.unwrap();
    fs::remove_file(other).unwrap();

    for file in fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
    {
        if file
            .file_name()
            .unwrap()
            .to_str()
            .unwrap()
            .starts_with("position-")
        {
            fs::write(file, "").unwrap();
        }
    }
    let listening = Listening::start("file", &settings(folder), folder, 100);
    listening
        .until(|listening| listening.has_ended().then_some(()))
        .await;
    let error = listening.end().await.unwrap_err();
    assert!(
        error
            .to_string()
            .contains("is not a number; write the number of bytes"),
        "{error}"
    );
}
