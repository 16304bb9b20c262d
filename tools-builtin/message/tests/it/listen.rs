//! Webhooks that come in: signatures, replays, limits and hostile requests.

use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use data_encoding::HEXLOWER;
use hmac_sha256::HMAC;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tools::Secret;
use tools_message::ChannelSettings;

use crate::inbox::Listening;

const KEY: &str = "canary-of-the-signing-key";

/// A listener with the address that the system chose.
struct Hook {
    listening: Listening,
    address: String,
}

impl Hook {
    async fn start(format: &str, folder: &Path, most: usize) -> Self {
        let settings = ChannelSettings::new();
        let settings = if format == "slack" {
            settings.with_text("chat", "C1")
        } else {
            settings
        };
        let settings = settings
            .with_text("format", format)
            .with_text("listen", "127.0.0.1:0")
            .with_list("hosts", ["hook.example".to_owned()])
            .with_secret("key", Secret::new(format!("{KEY}\n")));
        let listening = Listening::start("webhook", &settings, folder, most);
        let address = |listening: &Listening| {
            let notes = listening.notes();
            Some(
                notes
                    .first()?
                    .strip_prefix("listening at http://")?
                    .strip_suffix('/')?
                    .to_owned(),
            )
        };
        let address = listening.until(address).await;
        Self { listening, address }
    }

    /// Sends a request with these lines of a head.
    async fn send(&self, first: &str, headers: &str, body: &[u8]) -> (u16, String) {
        let mut stream = TcpStream::connect(&self.address).await.unwrap();
        let length = body.len();
        let head = format!(
            "{first} HTTP/1.1\r\nconnection: close\r\ncontent-length: {length}\r\n{headers}\r\n"
        );
        let _ = stream.write_all(&[head.as_bytes(), body].concat()).await;
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer).await;
        let answer = String::from_utf8(answer).unwrap();
        let status = answer
            .split(' ')
            .nth(1)
            .and_then(|status| status.parse().ok())
            .unwrap_or_default();
        (
            status,
            answer
                .split_once("\r\n\r\n")
                .map(|(_, body)| body.to_owned())
                .unwrap_or_default(),
        )
    }

    /// Posts a body with these headers.
    async fn post(&self, headers: &str, body: &[u8]) -> (u16, String) {
        self.send(
            "POST /",
            &format!("host: {}\r\n{headers}", self.address),
            body,
        )
        .await
    }

    /// Posts a message with a valid signature.
    async fn say(&self, body: &Value) -> (u16, String) {
        let body = body.to_string();
        self.post(
            &signed("toolcrib", now(), body.as_bytes(), KEY),
            body.as_bytes(),
        )
        .await
    }
}

fn now() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap()
        .as_secs()
}

fn mac(time: &str, body: &[u8], key: &str) -> String {
    let text = [format!("v0:{time}:").as_bytes(), body].concat();
    format!("v0={}", HEXLOWER.encode(&HMAC::mac(&text, key.as_bytes())))
}

fn signed(prefix: &str, time: u64, body: &[u8], key: &str) -> String {
    let time = time.to_string();
    let signature = mac(&time, body, key);
    match prefix {
        "slack" => {
            format!("x-slack-request-timestamp: {time}\r\nx-slack-signature: {signature}\r\n")
        }
        _ => format!("x-toolcrib-timestamp: {time}\r\nx-toolcrib-signature: {signature}\r\n"),
    }
}

#[tokio::test]
async fn only_a_fresh_signature_of_the_key_is_taken() {
    let folder = tempfile::tempdir().unwrap();
    let hook = Hook::start("json", folder.path(), 100).await;
    let body = json!({"chat": "c-1", "text": "hello"}).to_string();
    let body = body.as_bytes();
    let (time, own) = (now(), |time| signed("toolcrib", time, body, KEY));
    let signature = mac(&time.to_string(), body, KEY);
    for (what, headers) in [
        ("none", String::new()),
        ("no time", format!("x-toolcrib-signature: {signature}\r\n")),
        ("no signature", format!("x-toolcrib-timestamp: {time}\r\n")),
        (
            "other key",
            signed("toolcrib", time, body, "another-key-of-some-length"),
        ),
        ("empty key", signed("toolcrib", time, body, "")),
        ("other body", signed("toolcrib", time, b"{}", KEY)),
        ("other headers", signed("slack", time, body, KEY)),
        ("old", own(time - 10 * 60)),
        ("future", own(time + 10 * 60)),
        ("far future", own(u64::MAX)),
        (
            "other time",
            own(time).replace(&format!(": {time}"), &format!(": {}", time - 1)),
        ),
        (
            "signed time",
            own(time).replace(&format!(": {time}"), &format!(": +{time}")),
        ),
        ("other version", own(time).replace("v0=", "v1=")),
        (
            "cut",
            own(time).replace(&signature, &signature[..signature.len() - 2]),
        ),
        (
            "first half",
            own(time).replace(&signature[35..], &"0".repeat(32)),
        ),
        (
            "second half",
            own(time).replace(&signature[3..35], &"0".repeat(32)),
        ),
        (
            "twice",
            format!("{}x-toolcrib-signature: {signature}\r\n", own(time)),
        ),
        (
            "two times",
            format!("x-toolcrib-timestamp: 1\r\n{}", own(time)),
        ),
    ] {
        let (status, said) = hook.post(&headers, body).await;
        assert_eq!(
            (status, hook.listening.taken().len()),
            (401, 0),
            "{what}: {said}"
        );
    }
    assert_eq!(hook.post(&own(time), body).await, (200, "taken".to_owned()));
    assert_eq!(
        hook.listening.taken(),
        [("c-1".to_owned(), "hello".to_owned())]
    );
}

#[tokio::test]
async fn a_request_is_taken_once_also_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let hook = Hook::start("json", folder.path(), 100).await;
    let body = json!({"chat": "c", "text": "hello", "id": "m-1"}).to_string();
    let (time, body) = (now(), body.as_bytes());
    let headers = signed("toolcrib", time, body, KEY);
    assert_eq!(hook.post(&headers, body).await.1, "taken");
    assert_eq!(hook.post(&headers, body).await.1, "taken before");
    // The same message, signed again.
    assert_eq!(
        hook.post(&signed("toolcrib", time - 1, body, KEY), body)
            .await
            .1,
        "taken before"
    );
    assert_eq!(hook.listening.taken().len(), 1);
    hook.listening.end().await.unwrap();

    let hook = Hook::start("json", folder.path(), 100).await;
    assert_eq!(hook.post(&headers, body).await.1, "taken before");
    assert_eq!(
        hook.post(&signed("toolcrib", time - 2, body, KEY), body)
            .await
            .1,
        "taken before"
    );
    assert!(hook.listening.taken().is_empty());
    let seen = std::fs::read_to_string(folder.path().join("seen")).unwrap();
    assert!(!seen.contains(KEY) && !seen.contains("hello"), "{seen}");
}

#[tokio::test]
async fn a_message_that_found_no_room_can_be_sent_again() {
    let folder = tempfile::tempdir().unwrap();
    let hook = Hook::start("json", folder.path(), 1).await;
    let message = |id: &str| json!({"chat": "c", "text": id, "id": id});
    assert_eq!(hook.say(&message("one")).await.0, 200);
    for _ in 0..2 {
        assert_eq!(hook.say(&message("two")).await.0, 503);
    }
    assert_eq!(hook.listening.texts(1).await, ["one"]);
    hook.listening.end().await.unwrap();
    // The listener did not remember it as taken.
    let hook = Hook::start("json", folder.path(), 1).await;
    assert_eq!(hook.say(&message("two")).await, (200, "taken".to_owned()));
}

#[tokio::test]
async fn slack_is_understood() {
    let folder = tempfile::tempdir().unwrap();
    let hook = Hook::start("slack", folder.path(), 100).await;
    let say = async |body: Value| {
        let body = body.to_string();
        hook.post(
            &signed("slack", now(), body.as_bytes(), KEY),
            body.as_bytes(),
        )
        .await
    };
    let event = |id: &str, more: Value| {
        let mut event = json!({"type": "message", "channel": "C1", "user": "U1", "text": "hello"});
        event
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        json!({"type": "event_callback", "event_id": id, "event": event})
    };
    assert_eq!(
        say(json!({"type": "url_verification", "challenge": "3eZbrw1a"})).await,
        (200, "3eZbrw1a".to_owned())
    );
    assert_eq!(say(event("E1", json!({}))).await.1, "taken");
    assert_eq!(say(event("E1", json!({}))).await.1, "taken before");
    assert_eq!(
        say(event(
            "E2",
            json!({"thread_ts": "17.5", "text": "in a thread"})
        ))
        .await
        .1,
        "taken"
    );
    // One text that mentions the app comes in two events.
    assert_eq!(
        say(event(
            "E4",
            json!({"ts": "18.1", "text": "&lt;hi&gt; <@U9|crib>"})
        ))
        .await
        .1,
        "taken"
    );
    assert_eq!(
        say(event("E5", json!({"ts": "18.1", "type": "app_mention"})))
            .await
            .1,
        "taken before"
    );
    assert_eq!(
        say(event("E6", json!({"ts": "18.1", "channel": "C2"})))
            .await
            .1,
        "ignored: the settings name another channel"
    );
    let is_noted =
        |note: &&String| note.contains("other channels of Slack than `chat` are ignored");
    assert_eq!(hook.listening.notes().iter().filter(is_noted).count(), 1);
    for more in [
        json!({"bot_id": "B1"}),
        json!({"subtype": "message_changed"}),
        json!({"type": "reaction_added"}),
    ] {
        assert_eq!(say(event("E3", more)).await.1, "ignored");
    }
    // Without a signature there is no answer to the challenge.
    let challenge = json!({"type": "url_verification", "challenge": "x"}).to_string();
    assert_eq!(hook.post("", challenge.as_bytes()).await.0, 401);
    let expected = [
        ("C1", "hello"),
        ("C1:17.5", "in a thread"),
        ("C1", "<hi> @crib"),
    ];
    let expected = expected.map(|(chat, text)| (chat.to_owned(), text.to_owned()));
    assert_eq!(hook.listening.taken(), expected);
}

#[tokio::test]
async fn hostile_requests_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let hook = Hook::start("json", folder.path(), 100).await;
    let good = json!({"chat": "c", "text": "hello"}).to_string();
    let own = || signed("toolcrib", now(), good.as_bytes(), KEY);
    for (first, headers, status) in [
        ("POST /", "host: evil.example\r\n".to_owned(), 403),
        (
            "POST /",
            "host: 127.0.0.1\r\nhost: 127.0.0.1\r\n".to_owned(),
            400,
        ),
        ("POST /", String::new(), 400),
        (
            "POST http://evil.example/",
            "host: 127.0.0.1\r\n".to_owned(),
            400,
        ),
        ("POST /", "host: user@127.0.0.1\r\n".to_owned(), 400),
        (
            "POST /",
            "host: 127.0.0.1\r\norigin: https://evil.example\r\n".to_owned(),
            403,
        ),
        ("POST /other", "host: 127.0.0.1\r\n".to_owned(), 404),
        ("GET /", "host: 127.0.0.1\r\n".to_owned(), 405),
    ] {
        let answered = hook
            .send(first, &format!("{headers}{}", own()), good.as_bytes())
            .await;
        assert_eq!(answered.0, status, "{first} {headers} {answered:?}");
    }
    for (body, status) in [
        (json!({"chat": "c", "text": "x".repeat(1024 * 1024)}), 413),
        (json!({"chat": "c", "text": "x".repeat(65 * 1024)}), 400),
        (json!({"chat": "c\r\nx", "text": "hello"}), 400),
        (json!({"chat": "c\u{202e}", "text": "hello"}), 400),
        (json!({"chat": "", "text": "hello"}), 400),
        (json!({"chat": "c", "text": "\n"}), 400),
        (json!({"chat": 1, "text": "hello"}), 400),
        (json!([]), 400),
    ] {
        assert_eq!(
            hook.say(&body).await.0,
            status,
            "{}",
            &body.to_string()[..20.min(body.to_string().len())]
        );
    }
    assert!(hook.listening.taken().is_empty());
    let hostile = "nul \0, bidi \u{202e}, \r\n.\r\n";
    let named = json!({"chat": "c", "text": hostile}).to_string();
    let headers = format!(
        "host: hook.example\r\n{}",
        signed("toolcrib", now(), named.as_bytes(), KEY)
    );
    assert_eq!(hook.send("POST /", &headers, named.as_bytes()).await.0, 200);
    assert_eq!(hook.listening.texts(1).await, [hostile]);
}

#[tokio::test]
async fn messages_beyond_the_rate_are_sent_again_later() {
    let folder = tempfile::tempdir().unwrap();
    let hook = Hook::start("json", folder.path(), 1000).await;
    let mut refused = 0;
    for number in 0..80 {
        let (status, _) = hook
            .say(&json!({"chat": "c", "text": "x", "id": number.to_string()}))
            .await;
        refused += usize::from(status == 429);
    }
    assert!(
        refused > 0 && hook.listening.taken().len() + refused == 80,
        "{refused}"
    );
    // Requests without a signature do not use up the rate.
    assert!(hook.listening.taken().len() >= 50);
}

#[test]
fn a_listener_needs_a_key_that_cannot_be_guessed() {
    let create = tools_message::kind("webhook").unwrap().create;
    let settings = ChannelSettings::new;
    for (settings, said) in [
        (
            settings().with_text("listen", "127.0.0.1:0"),
            "key is missing",
        ),
        (
            settings().with_secret("key", Secret::new(KEY)),
            "listen is missing",
        ),
        (
            settings()
                .with_text("listen", "127.0.0.1:0")
                .with_secret("key", Secret::new("short")),
            "fewer than 16",
        ),
        (
            settings()
                .with_text("listen", "127.0.0.1:0")
                .with_secret("key", Secret::new(KEY))
                .with_text("format", "slack"),
            "chat is missing",
        ),
        (
            settings()
                .with_text("listen", "localhost")
                .with_secret("key", Secret::new(KEY)),
            "listen is not",
        ),
    ] {
        let error = create(&settings).err().unwrap().to_string();
        assert!(
            error.contains(said) && !error.contains(KEY) && !error.contains("short"),
            "{error}"
        );
    }
}
