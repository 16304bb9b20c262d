//! The text and the headers of mails, also hostile ones.

use data_encoding::HEXUPPER;
use serde_json::json;
use tools::ErrorCode;

use crate::setup::{call, host, mailbox, options, send};
use crate::smtp::{Behaviour, Mail, SmtpServer};

/// Returns the text of a mail.
fn text(mail: &Mail) -> String {
    let (head, body) = mail.content.split_once("\r\n\r\n").unwrap();
    assert!(
        head.contains("Content-Transfer-Encoding: quoted-printable"),
        "{head}"
    );
    let (mut bytes, mut rest) = (
        Vec::new(),
        body.strip_suffix("\r\n").unwrap().replace("=\r\n", ""),
    );
    while let Some((before, after)) = rest.clone().split_once('=') {
        bytes.extend_from_slice(before.as_bytes());
        bytes.extend(HEXUPPER.decode(&after.as_bytes()[..2]).unwrap());
        rest = after[2..].to_owned();
    }
    bytes.extend_from_slice(rest.as_bytes());
    String::from_utf8(bytes).unwrap()
}

#[tokio::test]
async fn any_text_arrives_as_it_is_and_is_one_mail() {
    let server = SmtpServer::start(Behaviour::default()).await;
    let host = host("out", "email", &mailbox(server.address), options());
    let texts = [
        "hello".to_owned(),
        ".\r\n.\r\nMAIL FROM:<eve@example.net>\r\n..".to_owned(),
        "\r\n.\r\nRCPT TO:<eve@example.net>".to_owned(),
        "nul \0, bidi \u{202e}, tag \u{e0041}, esc \u{1b}[2J".to_owned(),
        "Grüße, 漢字, 🦀 = 100 %".to_owned(),
        "x".repeat(20_000),
        "é".repeat(20_000),
        "line\r\n".repeat(3000),
    ];
    for sent in &texts {
        send(&host, sent).await.unwrap();
        let mails = server.mails();
        let mail = mails.last().unwrap();
        assert_eq!(text(mail), *sent);
        assert!(mail.content.is_ascii() && mail.content.lines().all(|line| line.len() <= 998));
        assert_eq!(mail.to.len(), 2, "{mail:?}");
    }
    assert_eq!(server.mails().len(), texts.len());
    assert_eq!(
        server
            .commands()
            .iter()
            .filter(|line| line.starts_with("MAIL"))
            .count(),
        texts.len()
    );
}

#[tokio::test]
async fn a_subject_adds_no_header() {
    let server = SmtpServer::start(Behaviour::default()).await;
    let host = host("out", "email", &mailbox(server.address), options());
    let subject = |subject: &str| json!({"channel": "out", "text": "hello", "subject": subject});
    for hostile in [
        "a\r\nBcc: eve@example.net",
        "a\nBcc: eve@example.net",
        "a\rb",
        "a\0b",
        "a\u{202e}b",
        "a\u{2028}b",
        " ",
        "a\u{85}b",
    ] {
        let refused = call(&host, subject(hostile)).await.unwrap_err();
        assert!(
            refused.to_string().contains("one plain line"),
            "{hostile:?} {refused}"
        );
    }
    assert_eq!(server.sessions(), 0);
    let long = format!("Grüße {}", "🦀".repeat(150));
    call(&host, subject(&long)).await.unwrap();
    let content = &server.mails()[0].content;
    assert!(
        content.is_ascii() && content.contains("Subject: =?utf-8?b?"),
        "{content}"
    );
    assert!(content.lines().all(|line| line.len() <= 998));
}

#[tokio::test]
async fn a_text_beyond_the_limit_is_not_sent() {
    let server = SmtpServer::start(Behaviour::default()).await;
    let host = host("out", "email", &mailbox(server.address), options());
    for arguments in [
        json!({"channel": "out", "text": "x".repeat(1024 * 1024)}),
        json!({"channel": "out", "text": "é".repeat(20_001)}),
        json!({"channel": "out", "text": ""}),
        json!({"channel": "out", "text": "x", "subject": "s".repeat(201)}),
        json!({"channel": "out\r\n", "text": "x"}),
        json!({"channel": "out", "text": "x", "bcc": "eve@example.net"}),
    ] {
        assert_eq!(
            call(&host, arguments).await.unwrap_err().code(),
            ErrorCode::InvalidArguments
        );
    }
    assert_eq!(server.sessions(), 0);
}
