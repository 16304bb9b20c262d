//! Mails to an SMTP server: encryption, login, recipients and the grant.

use serde_json::json;
use tokio_rustls::TlsAcceptor;
use tools::{Decision, ErrorCode, Secret};
use tools_http::HttpOptions;
use tools_message::ChannelSettings;
use tools_testkit::http::TestAuthority;
use tools_testkit::{RecordingApprover, TestHost};

use crate::setup::{call, host, mailbox, named, options, send};
use crate::smtp::{Behaviour, SmtpServer};

fn acceptor(authority: &TestAuthority) -> TlsAcceptor {
    TlsAcceptor::from(authority.server_config(&["mail.example"], &[]))
}

/// Returns a host whose channel encrypts and logs in.
fn encrypted(
    server: &SmtpServer,
    encryption: &str,
    password: &str,
    authority: &TestAuthority,
) -> TestHost {
    let settings = mailbox(server.address)
        .with_text("server", "mail.example")
        .with_text("encryption", encryption)
        .with_text("user", "crib")
        .with_secret("password", Secret::new(password));
    let options = HttpOptions {
        root_certificates: vec![authority.pem().into()],
        ..named("mail.example", server.address)
    };
    host("out", "email", &settings, options)
}

#[tokio::test]
async fn a_mail_goes_to_all_recipients_or_to_those_that_the_call_names() {
    let server = SmtpServer::start(Behaviour::default()).await;
    let host = host("out", "email", &mailbox(server.address), options());
    assert_eq!(send(&host, "hello").await.unwrap(), "sent to out");
    let chosen =
        json!({"channel": "out", "text": "hello", "subject": "To Bob", "to": ["bob@example.org"]});
    call(&host, chosen).await.unwrap();
    let mails = server.mails();
    assert_eq!(mails[0].from, "MAIL FROM:<crib@example.org>");
    assert_eq!(
        mails[0].to,
        ["RCPT TO:<ada@example.org>", "RCPT TO:<bob@example.org>"]
    );
    assert_eq!(mails[1].to, ["RCPT TO:<bob@example.org>"]);
    assert!(
        mails[1].content.contains("Subject: To Bob\r\n") && !mails[1].content.contains("ada@"),
        "{mails:?}"
    );

    for other in ["eve@example.net", "Ada", "ada@example.org>", "example.org"] {
        let other = json!({"channel": "out", "text": "hello", "to": [other]});
        let refused = call(&host, other).await.unwrap_err();
        assert!(
            refused
                .to_string()
                .contains("use some of: Ada <ada@example.org>, bob@example.org"),
            "{refused}"
        );
    }
    assert_eq!(server.sessions(), 2);
    call(
        &host,
        json!({"channel": "out", "text": "hello", "to": ["ada@example.org"]}),
    )
    .await
    .unwrap();
    assert_eq!(server.mails()[2].to, ["RCPT TO:<ada@example.org>"]);
}

#[tokio::test]
async fn the_question_about_a_mail_names_its_recipients_and_its_server() {
    let server = SmtpServer::start(Behaviour::default()).await;
    let approver = RecordingApprover::new(Decision::Deny {
        reason: "no".to_owned(),
    });
    let host =
        host("out", "email", &mailbox(server.address), options()).with_approver(approver.clone());
    let host = host.with_grant(&["net:write:127.0.0.1:*"]);
    let arguments = json!({"channel": "out", "text": "hello", "to": ["bob@example.org"]});
    assert_eq!(
        call(&host, arguments).await.unwrap_err().code(),
        ErrorCode::Denied
    );
    let preview = approver.requests()[0].preview.clone().unwrap().unwrap();
    assert_eq!(
        preview.text(),
        format!(
            "sends to: out, by {}\nrecipients: bob@example.org",
            server.address
        )
    );
    assert_eq!(server.sessions(), 0);
}

#[tokio::test]
async fn a_mail_is_encrypted_and_the_password_is_sent_after_that() {
    let authority = TestAuthority::new();
    for encryption in ["tls", "starttls"] {
        let mut behaviour = Behaviour {
            login: Some(("crib", "correct-horse-battery")),
            ..Behaviour::default()
        };
        match encryption {
            "tls" => behaviour.tls = Some(acceptor(&authority)),
            _ => behaviour.starttls = Some(acceptor(&authority)),
        }
        let server = SmtpServer::start(behaviour).await;
        let host = encrypted(&server, encryption, "correct-horse-battery", &authority);
        send(&host, "hello").await.unwrap();
        assert!(server.mails()[0].is_encrypted, "{encryption}");

        let wrong = encrypted(&server, encryption, "wrong-horse-battery", &authority);
        let refused = send(&wrong, "hello").await.unwrap_err();
        assert!(
            refused
                .to_string()
                .contains("refused the login (reply 535)"),
            "{refused}"
        );
        assert!(!refused.to_string().contains("correct-horse"), "{refused}");

        let distrusted = encrypted(
            &server,
            encryption,
            "correct-horse-battery",
            &TestAuthority::new(),
        );
        let refused = send(&distrusted, "hello").await.unwrap_err();
        assert!(
            refused.to_string().contains("no valid encryption"),
            "{refused}"
        );
        assert_eq!(server.mails().len(), 1);
    }
}

#[tokio::test]
async fn no_mail_and_no_password_goes_to_a_server_without_encryption() {
    let authority = TestAuthority::new();
    let server = SmtpServer::start(Behaviour {
        login: Some(("crib", "correct-horse-battery")),
        ..Behaviour::default()
    });
    let server = server.await;
    let host = encrypted(&server, "starttls", "correct-horse-battery", &authority);
    let refused = send(&host, "hello").await.unwrap_err();
    assert!(
        refused.to_string().contains("does not offer STARTTLS"),
        "{refused}"
    );
    assert!(
        server.mails().is_empty()
            && server
                .commands()
                .iter()
                .all(|line| line.starts_with("EHLO"))
    );
}

#[tokio::test]
async fn replies_from_before_the_encryption_are_not_taken_for_later_ones() {
    let authority = TestAuthority::new();
    let behaviour = Behaviour {
        starttls: Some(acceptor(&authority)),
        login: Some(("crib", "correct-horse-battery")),
        injected: "250-mail.example\r\n250 AUTH LOGIN\r\n",
        ..Behaviour::default()
    };
    let server = SmtpServer::start(behaviour).await;
    let host = encrypted(&server, "starttls", "correct-horse-battery", &authority);
    let refused = send(&host, "hello").await.unwrap_err();
    assert!(refused.to_string().contains("was not sent"), "{refused}");
    assert!(
        server.mails().is_empty()
            && !server
                .commands()
                .iter()
                .any(|line| line.starts_with("AUTH"))
    );
}

#[tokio::test]
async fn a_mail_needs_the_grant_and_a_server_that_the_user_permits() {
    let server = SmtpServer::start(Behaviour::default()).await;
    let granted = host("out", "email", &mailbox(server.address), options());
    for grant in [
        &["message:write:other", "net:write:127.0.0.1:*"],
        &["message:write:out", "net:read:127.0.0.1:*"],
    ] {
        let refused = send(&granted.clone().with_grant(grant), "hello")
            .await
            .unwrap_err();
        assert_eq!(
            refused.code(),
            ErrorCode::PermissionDenied,
            "{grant:?} {refused}"
        );
    }
    let filtered = host(
        "out",
        "email",
        &mailbox(server.address),
        HttpOptions::default(),
    );
    let refused = send(&filtered, "hello").await.unwrap_err();
    assert!(refused.to_string().contains("not public"), "{refused}");
    assert_eq!(server.sessions(), 0);
}

#[test]
fn settings_that_cannot_work_or_would_reveal_the_password_are_refused() {
    let create = tools_message::kind("email").unwrap().create;
    let complete = || mailbox("127.0.0.1:25".parse().unwrap());
    let password = |settings: ChannelSettings| {
        settings.with_secret("password", Secret::new("correct-horse-battery"))
    };
    for (settings, said) in [
        (
            password(complete()).with_text("user", "crib"),
            "without encryption",
        ),
        (
            password(complete()).with_text("encryption", "tls"),
            "user is missing",
        ),
        (complete().with_text("user", "crib"), "password is missing"),
        (
            complete().with_text("encryption", "ssl"),
            "encryption is not",
        ),
        (complete().with_text("port", "70000"), "port is not"),
        (
            complete().with_text("server", "mail.example/path"),
            "server is not a host",
        ),
        (
            complete().with_text("server", "user@mail.example"),
            "server is not a host",
        ),
        (complete().with_text("from", "nobody"), "from has"),
        (
            complete().with_text("from", "a\r\nBcc: eve@example.net <a@example.org>"),
            "from has",
        ),
        (complete().with_list("to", []), "to has no recipient"),
        (
            complete().with_list("to", ["ada@example.org, eve@example.net".to_owned()]),
            "to has",
        ),
    ] {
        let error = create(&settings).err().unwrap().to_string();
        assert!(
            error.contains(said) && !error.contains("correct-horse"),
            "{said}: {error}"
        );
    }
}
