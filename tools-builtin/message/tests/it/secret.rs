//! Secrets of channels appear in no result, error, record or debug text.

use tools::{Host, Secret};
use tools_journal::{JournalOptions, SqliteJournal};
use tools_testkit::TestHost;
use tools_testkit::http::TestServer;

use crate::setup::{host, mailbox, named, options, send, webhook};
use crate::smtp::{Behaviour, SmtpServer};

const CANARY: &str = "canary-7Yt2Qx9Lm";

/// Sends a message with arguments recorded, and returns all that is said about it.
async fn said(host: TestHost, file: &std::path::Path) -> String {
    let journal = SqliteJournal::open(
        file,
        JournalOptions {
            arguments: true,
            ..JournalOptions::default()
        },
    )
    .unwrap();
    let recorded = |cx: Host| {
        cx.with_journal(std::sync::Arc::new(journal.clone()))
            .with_session("s")
    };
    let host = host.with_context(recorded);
    let sent = send(&host, "hello").await;
    let shown = match &sent {
        Ok(text) => text.clone(),
        Err(error) => format!("{error} {error:?}"),
    };
    shown + &format!("{:?}", host.context())
}

#[tokio::test]
async fn the_url_of_a_webhook_is_not_shown() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("calls.journal");
    let echo = TestServer::start(|request| {
        let head = format!(
            "HTTP/1.1 403 {CANARY}\r\nx-path: {}\r\n\r\n{CANARY}",
            request.path()
        );
        head.into_bytes()
    });
    let echo = echo.await;
    let mut texts = Vec::new();
    for url in [
        echo.url(&format!("/{CANARY}")),
        format!("http://127.0.0.1:1/{CANARY}"),
        format!("https://unknown.example:1/{CANARY}"),
        format!("https://10.0.0.1/{CANARY}"),
        format!("https://127.0.0.1:1/{CANARY}?key={CANARY}"),
    ] {
        let options = named("other.example", echo.address());
        texts.push(said(host("out", "webhook", &webhook(&url), options), &file).await);
    }
    for text in &texts {
        assert!(
            !text.contains(CANARY) && !text.contains("/canary"),
            "{text}"
        );
    }
    assert!(echo.received()[0].head.contains(CANARY));
    for end in ["calls.journal", "calls.journal-wal"] {
        let bytes = std::fs::read(folder.path().join(end)).unwrap_or_default();
        assert!(
            !bytes
                .windows(CANARY.len())
                .any(|found| found == CANARY.as_bytes()),
            "{end}"
        );
    }
}

#[tokio::test]
async fn the_password_of_a_mailbox_is_not_shown() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("calls.journal");
    // The server repeats the password.
    for refused in [
        ("EHLO", "550 canary-7Yt2Qx9Lm"),
        ("MAIL", "451 canary-7Yt2Qx9Lm"),
        ("RCPT", "550 canary-7Yt2Qx9Lm"),
        ("end", "554 canary-7Yt2Qx9Lm"),
        ("end", "no reply, canary-7Yt2Qx9Lm"),
    ] {
        let server = SmtpServer::start(Behaviour {
            refuses: Some(refused),
            ..Behaviour::default()
        })
        .await;
        let text = said(
            host("out", "email", &mailbox(server.address), options()),
            &file,
        )
        .await;
        assert!(!text.contains(CANARY), "{text}");
    }
    let settings = mailbox("127.0.0.1:1".parse().unwrap())
        .with_text("encryption", "tls")
        .with_text("user", "crib")
        .with_secret("password", Secret::new(CANARY));
    let channel = (tools_message::kind("email").unwrap().create)(&settings).unwrap();
    assert!(!format!("{settings:?} {channel:?}").contains(CANARY));
}
