//! Files of JSON lines.

use std::fs;

use serde_json::{Value, json};
use tools::context::Exposure;
use tools_http::HttpOptions;
use tools_message::ChannelSettings;
use tools_testkit::TestHost;

use crate::setup::{call, host, send};

fn into(path: &std::path::Path) -> TestHost {
    let settings = ChannelSettings::new().with_text("path", path.to_str().unwrap());
    host("out", "file", &settings, HttpOptions::default())
}

#[tokio::test]
async fn each_message_is_one_line() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("messages.jsonl");
    let host = into(&path);
    let texts = [
        "hello",
        "two\nlines\r\n{\"text\":\"forged\"}",
        "nul \0, bidi \u{202e}, line \u{2028}",
    ];
    for text in texts {
        assert_eq!(send(&host, text).await.unwrap(), "sent to out");
    }
    call(
        &host,
        json!({"channel": "out", "text": "x", "subject": "s"}),
    )
    .await
    .unwrap();
    let written = fs::read_to_string(&path).unwrap();
    let lines: Vec<Value> = written
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let found: Vec<_> = lines
        .iter()
        .map(|line| line["text"].as_str().unwrap())
        .collect();
    assert_eq!(found, [&texts[..], &["x"]].concat());
    assert_eq!(
        (&lines[3]["subject"], &lines[3]["channel"]),
        (&json!("s"), &json!("out"))
    );
    assert!(lines[0].get("subject").is_none() && lines[0]["at"].as_str().unwrap().ends_with('Z'));
    assert_eq!(
        std::os::unix::fs::PermissionsExt::mode(&fs::metadata(&path).unwrap().permissions())
            & 0o077,
        0
    );
}

#[tokio::test]
async fn a_missing_folder_is_created_for_the_user_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("logs/of/messages.jsonl");
    send(&into(&path), "hello").await.unwrap();
    assert!(fs::read_to_string(&path).unwrap().contains("hello"));
    for made in ["logs", "logs/of"] {
        let permissions = fs::metadata(folder.path().join(made))
            .unwrap()
            .permissions();
        assert_eq!(
            std::os::unix::fs::PermissionsExt::mode(&permissions) & 0o077,
            0,
            "{made}"
        );
    }
}

#[tokio::test]
async fn a_blank_text_is_no_message() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("messages.jsonl");
    for blank in ["\n", " \t\r\n ", "\u{200b}"] {
        let refused = send(&into(&path), blank).await.unwrap_err();
        assert!(refused.to_string().contains("blank"), "{refused}");
    }
    assert!(!path.exists());
}

#[tokio::test]
async fn a_message_that_is_sent_exposes_its_session_to_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let host = into(&folder.path().join("messages.jsonl")).with_service(Exposure::new());
    send(&host, "hello").await.unwrap();
    assert!(!host.context().is_exposed());
}

#[tokio::test]
async fn messages_of_many_calls_do_not_mix() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("messages.jsonl");
    let host = into(&path);
    let calls = (0..50).map(|number| {
        let (host, text) = (host.clone(), format!("{number} {}", "x".repeat(10_000)));
        tokio::spawn(async move { send(&host, &text).await.unwrap() })
    });
    for call in calls.collect::<Vec<_>>() {
        call.await.unwrap();
    }
    let written = fs::read_to_string(&path).unwrap();
    let lines: Vec<Value> = written
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(lines.len(), 50);
}

#[tokio::test]
async fn a_file_that_takes_no_message_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    let refused = send(&into(&file.join("messages.jsonl")), "hello")
        .await
        .unwrap_err();
    assert!(refused.to_string().contains("was not sent"), "{refused}");
    let device = std::path::Path::new("/dev/null");
    for path in [folder.path(), device] {
        let settings = ChannelSettings::new().with_text("path", path.to_str().unwrap());
        let refused = (tools_message::kind("file").unwrap().create)(&settings).unwrap_err();
        assert!(refused.to_string().contains("name a file"), "{refused}");
    }
}

#[test]
fn messages_do_not_come_from_the_file_that_they_go_to() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    std::fs::create_dir(file("folder")).unwrap();
    let create = |[path, inbox]: [&str; 2]| {
        let settings = ChannelSettings::new()
            .with_text("path", file(path))
            .with_text("inbox", file(inbox));
        (tools_message::kind("file").unwrap().create)(&settings)
    };
    let written = [
        ["a", "a"],
        ["a", "folder/../a"],
        ["new/a", "folder/../new/a"],
    ];
    for _ in 0..2 {
        written
            .iter()
            .for_each(|paths| assert!(create(*paths).is_err(), "{paths:?}"));
        create(["a", "b"]).unwrap();
        // The second time, the file exists.
        std::fs::write(file("a"), "").unwrap();
    }
    for target in ["a", "missing"] {
        std::os::unix::fs::symlink(target, file(&format!("link-{target}"))).unwrap();
        assert!(create([&format!("link-{target}"), target]).is_err());
    }
}
