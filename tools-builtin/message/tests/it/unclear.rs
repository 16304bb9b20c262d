//! A message is sent at most once: a connection that breaks is told by the place where it does.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::io::AsyncWriteExt as _;
use tokio::sync::Notify;
use tools::{CancellationToken, ErrorCode};
use tools_testkit::TestHost;
use tools_testkit::http::TestServer;

use crate::setup::{host, mailbox, options, send, webhook};
use crate::smtp::{Behaviour, SmtpServer};

/// Sends a message, and checks whether it is said to be lost for certain.
async fn fails(host: &TestHost, is_clear: bool, place: &str) {
    let error = send(host, "hello").await.unwrap_err();
    let said = if is_clear {
        "the message was not sent"
    } else {
        "may have arrived, or not"
    };
    assert!(error.to_string().contains(said), "{place}: {error}");
    assert!(
        is_clear || error.code() == ErrorCode::ExecutionFailed,
        "{place}: {error:?}"
    );
    assert_eq!(
        error.to_string().contains("do not send it again"),
        !is_clear,
        "{error}"
    );
}

#[tokio::test]
async fn a_mail_is_unclear_from_its_content_on() {
    for (place, is_clear, taken) in [
        ("greeting", true, 0),
        ("EHLO", true, 0),
        ("MAIL", true, 0),
        ("RCPT", true, 0),
        ("DATA", true, 0),
        ("content", false, 0),
        ("end", false, 1),
        ("half a reply", false, 1),
    ] {
        let server = SmtpServer::start(Behaviour {
            ends_at: Some(place),
            ..Behaviour::default()
        })
        .await;
        let host = host("out", "email", &mailbox(server.address), options());
        fails(&host, is_clear, place).await;
        assert_eq!(
            (server.sessions(), server.mails().len()),
            (1, taken),
            "{place}"
        );
    }
}

#[tokio::test]
async fn a_mail_whose_session_ends_badly_after_it_was_taken_is_sent() {
    let server = SmtpServer::start(Behaviour {
        ends_at: Some("QUIT"),
        ..Behaviour::default()
    })
    .await;
    let host = host("out", "email", &mailbox(server.address), options());
    assert_eq!(send(&host, "hello").await.unwrap(), "sent to out");
    assert_eq!(server.mails().len(), 1);
}

#[tokio::test]
async fn a_refused_mail_is_clear_and_may_be_sent_later_if_the_server_says_so() {
    for (place, reply, code) in [
        ("EHLO", "550 no", ErrorCode::ExecutionFailed),
        ("MAIL", "451 later", ErrorCode::Transient),
        ("RCPT", "550 5.1.1 nobody", ErrorCode::ExecutionFailed),
        ("DATA", "452 full", ErrorCode::Transient),
        ("end", "554 spam", ErrorCode::ExecutionFailed),
        ("end", "451 later", ErrorCode::Transient),
    ] {
        let server = SmtpServer::start(Behaviour {
            refuses: Some((place, reply)),
            ..Behaviour::default()
        })
        .await;
        let host = host("out", "email", &mailbox(server.address), options());
        let error = send(&host, "hello").await.unwrap_err();
        assert_eq!(error.code(), code, "{place} {reply}: {error}");
        assert!(error.to_string().contains(&reply[..3]), "{error}");
        assert_eq!((server.sessions(), server.mails().len()), (1, 0), "{place}");
    }
}

#[tokio::test]
async fn a_webhook_is_unclear_from_its_request_on() {
    const ANSWER: &str = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";
    for cut in [0, 1, 12, ANSWER.len() - 5] {
        let requests = Arc::new(AtomicUsize::new(0));
        let counted = requests.clone();
        let server = TestServer::start_streaming(move |_, mut stream| {
            counted.fetch_add(1, Ordering::Relaxed);
            async move { stream.write_all(&ANSWER.as_bytes()[..cut]).await.unwrap() }
        });
        let server = server.await;
        let host = host("out", "webhook", &webhook(&server.url("/hook")), options());
        fails(&host, false, ANSWER.get(..cut).unwrap()).await;
        assert_eq!(requests.load(Ordering::Relaxed), 1, "{cut}");
    }
    // With its head, the answer is clear.
    let server = TestServer::start_streaming(async |_, mut stream| {
        stream
            .write_all(&ANSWER.as_bytes()[..ANSWER.len() - 1])
            .await
            .unwrap();
    });
    let server = server.await;
    let host = host("out", "webhook", &webhook(&server.url("/hook")), options());
    assert_eq!(send(&host, "hello").await.unwrap(), "sent to out");
}

/// Cancels the call when the server has the message, and then checks that the end is unclear.
async fn is_unclear_when_cancelled(host: TestHost, has_message: Arc<Notify>) {
    let token = CancellationToken::new();
    let host = host.with_context(|cx| cx.with_cancellation(token.clone()));
    let cancel = async {
        has_message.notified().await;
        token.cancel();
    };
    let (sent, ()) = tokio::join!(send(&host, "hello"), cancel);
    let error = sent.unwrap_err();
    assert!(
        error.code() == ErrorCode::Cancelled && error.is_unclear(),
        "{error}"
    );
    assert!(
        error.to_string().contains("may have taken effect"),
        "{error}"
    );
}

#[tokio::test]
async fn a_message_is_unclear_if_the_call_ends_before_the_answer() {
    let has_message = Arc::new(Notify::new());
    let of_server = has_message.clone();
    let server = TestServer::start_streaming(move |_, stream| {
        of_server.notify_one();
        async move {
            std::future::pending::<()>().await;
            drop(stream);
        }
    });
    let server = server.await;
    let of_webhook = || host("out", "webhook", &webhook(&server.url("/hook")), options());
    is_unclear_when_cancelled(of_webhook(), has_message).await;
    let late = send(
        &of_webhook().with_timeout(Duration::from_millis(500)),
        "hello",
    )
    .await
    .unwrap_err();
    assert!(
        late.code() == ErrorCode::Timeout && late.to_string().contains("may have taken effect"),
        "{late}"
    );

    let has_message = Arc::new(Notify::new());
    let behaviour = Behaviour {
        holds_content: Some(has_message.clone()),
        ..Behaviour::default()
    };
    let server = SmtpServer::start(behaviour).await;
    is_unclear_when_cancelled(
        host("out", "email", &mailbox(server.address), options()),
        has_message,
    )
    .await;
    assert_eq!(server.mails().len(), 1);
}

#[tokio::test]
async fn the_status_of_a_webhook_decides() {
    for (status, code) in [
        (200, None),
        (204, None),
        (301, Some("may have arrived")),
        (302, Some("may have arrived")),
        (303, Some("may have arrived")),
        (307, Some("may have arrived")),
        (304, Some("may have arrived")),
        (400, Some("was not sent")),
        (401, Some("was not sent")),
        (404, Some("was not sent")),
        (408, Some("may have arrived")),
        (409, Some("may have arrived")),
        (410, Some("was not sent")),
        (413, Some("was not sent")),
        (429, Some("was not sent")),
        (450, Some("was not sent")),
        (500, Some("may have arrived")),
        (501, Some("was not sent")),
        (502, Some("may have arrived")),
        (503, Some("may have arrived")),
        (504, Some("may have arrived")),
        (599, Some("may have arrived")),
        (700, Some("may have arrived")),
    ] {
        let answer =
            format!("HTTP/1.1 {status} X\r\nlocation: /other\r\ncontent-length: 0\r\n\r\n");
        let server = TestServer::start(move |received| match received.path() {
            "/hook" => answer.clone().into_bytes(),
            _ => TestServer::ok("text/plain", "ok"),
        });
        let server = server.await;
        let host = host("out", "webhook", &webhook(&server.url("/hook")), options());
        let sent = send(&host, "hello").await;
        match code {
            None => assert!(sent.is_ok(), "{status} {sent:?}"),
            Some(said) => assert!(
                sent.as_ref().unwrap_err().to_string().contains(said),
                "{status} {sent:?}"
            ),
        }
        assert_eq!(server.received().len(), 1, "{status}");
    }
}

#[tokio::test]
async fn an_endless_reply_of_a_mail_server_is_not_read_to_its_end() {
    for place in ["EHLO", "MAIL"] {
        let endless = Box::leak("2".repeat(64 * 1024 * 1024).into_boxed_str());
        let server = SmtpServer::start(Behaviour {
            refuses: Some((place, endless)),
            ..Behaviour::default()
        })
        .await;
        let host = host("out", "email", &mailbox(server.address), options());
        send(&host, "hello").await.unwrap_err();
        assert_eq!(server.refusals(), 0, "{place}");
    }
}
