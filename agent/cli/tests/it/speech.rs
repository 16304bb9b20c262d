//! The speech of a session, by a service on the loopback.

use serde_json::Value;
use tools_testkit::http::TestServer;

use crate::config::write_user;
use crate::loopback::Loopback;
use crate::{Crib, Ended};

const CANARY: &str = "canary-0123456789";

/// Returns a small WAV file with the dummy lengths of a stream.
fn stream() -> Vec<u8> {
    let head =
        b"RIFF\xff\xff\xff\xffWAVEfmt \x10\0\0\0\x01\0\x01\0\x22\x56\0\0\x44\xac\0\0\x02\0\x10\0data\xff\xff\xff\xff";
    [&head[..], &[1, 2, 3, 4]].concat()
}

fn service() -> Loopback {
    Loopback::new(|_| TestServer::ok("audio/wav", stream()))
}

fn speak(crib: &Crib, flags: &[&str]) -> Ended {
    let call = [
        "run",
        "--provider",
        "direct",
        "tts.speak text=hello path=hello.wav",
        "--grant",
        "fs:write:hello.wav",
    ];
    crate::ended(
        crib.command(&[&call[..], flags].concat())
            .env("OPENAI_API_KEY", CANARY)
            .env("MY_KEY", "another-key"),
        b"",
    )
}

#[test]
fn a_configured_service_speaks_without_a_grant_of_its_host() {
    let (crib, server) = (Crib::new(), service());
    let settings = format!(
        "[tts]\nbackend = 'openai'\nurl = '{}'\nmodel = 'small'\nvoice = 'nova'\n",
        server.url("/v1")
    );
    write_user(&crib, &settings);
    let ended = speak(&crib, &[]).expect(0);
    assert!(
        ended
            .stdout
            .contains("wrote `hello.wav`: audio/wav, 48 bytes, spoken by openai"),
        "{ended:#?}"
    );
    let bytes = std::fs::read(crib.root().join("hello.wav")).unwrap();
    assert_eq!(
        (&bytes[4..8], &bytes[40..44]),
        (&40_u32.to_le_bytes()[..], &4_u32.to_le_bytes()[..])
    );
    let [request] = &server.received()[..] else {
        panic!("one request")
    };
    let body: Value = serde_json::from_slice(&request.body).unwrap();
    assert_eq!(
        (&body["model"], &body["voice"], &body["input"]),
        (&"small".into(), &"nova".into(), &"hello".into())
    );
    // The key of the usual service is for its own address alone.
    assert_eq!(request.header("authorization"), None);

    write_user(&crib, &format!("{settings}key_env = 'MY_KEY'\n"));
    speak(&crib, &[]).expect(0);
    assert_eq!(
        server.received()[1].header("authorization"),
        Some("Bearer another-key")
    );
    // The host is for this tool alone, and the file needs a grant.
    let fetch = format!("web.fetch url={}", server.url("/v1"));
    crib.run(&[
        "run",
        "--provider",
        "direct",
        &fetch,
        "--grant",
        "net:read:**",
    ])
    .expect(5);
    write_user(&crib, &settings);
    crib.run(&[
        "run",
        "--provider",
        "direct",
        "tts.speak text=hello path=other.wav",
    ])
    .expect(5);
    speak(&crib, &["--no-default-grants"]).expect(5);
    assert_eq!(server.received().len(), 2);
}

#[test]
fn a_missing_key_and_a_mistake_are_named() {
    let crib = Crib::new();
    write_user(&crib, "[tts]\nbackend = 'openai'\n");
    let ended = crib
        .run(&[
            "call",
            "tts.speak",
            "text=hello",
            "--grant",
            "speech:read:text",
        ])
        .expect(10);
    assert!(
        ended
            .stderr
            .replace('\n', " ")
            .contains("needs a key, and OPENAI_API_KEY is empty or missing"),
        "{ended:#?}"
    );
    for (settings, part) in [
        ("backend = 'espeak'", "tts.backend cannot be used"),
        (
            "backend = 'espeak-ng'\nurl = 'http://localhost'",
            "tts.url cannot be used",
        ),
        ("model = 'x'", "tts.model cannot be used"),
        ("backend = 'espeak-ng'\nkey_env = 'KEY'", "takes no key"),
        (
            "backend = 'openai'\nkey_env = 'KEY'\nkey_file = 'k'",
            "conflicts with tts.key_env",
        ),
    ] {
        write_user(&crib, &format!("[tts]\n{settings}\n"));
        let ended = crib
            .run(&["run", "--provider", "direct", "time.now"])
            .expect(2);
        assert!(
            ended
                .stderr
                .split_whitespace()
                .collect::<Vec<_>>()
                .join(" ")
                .contains(part),
            "{settings}: {ended:#?}"
        );
    }
}

#[test]
fn doctor_names_the_backend_and_the_line_that_installs_it() {
    let crib = Crib::new();
    let doctor = crib
        .run(&["doctor"])
        .expect(0)
        .stdout
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ");
    let is_ready = doctor.contains("speech: espeak-ng, ready; linked: espeak-ng, openai");
    let is_missing = doctor.contains("apt-get install espeak-ng");
    assert!(
        is_ready != is_missing && doctor.contains("never run against the real service: openai"),
        "{doctor}"
    );
}

#[test]
fn doctor_speaks_with_the_configured_voice_of_a_program() {
    let crib = Crib::new();
    let doctor = |settings: &str| {
        write_user(&crib, settings);
        let ended = crib.run(&["doctor"]);
        (
            ended.code,
            ended
                .stdout
                .split_whitespace()
                .collect::<Vec<_>>()
                .join(" "),
        )
    };
    if !doctor("").1.contains("speech: espeak-ng, ready") {
        return;
    }
    let (code, shown) = doctor("[tts]\nvoice = 'nova'\n");
    assert!(
        code == Some(8) && shown.contains("toolcrib.toml:2: the voice \"nova\" does not speak: "),
        "{shown}"
    );
    assert!(!shown.contains("espeak-ng, ready"), "{shown}");
    let (code, shown) = doctor("[tts]\nvoice = 'en-us+f3'\n");
    assert!(
        code == Some(0) && shown.contains("speech: espeak-ng, ready"),
        "{shown}"
    );
}

#[test]
fn doctor_says_what_a_service_lacks() {
    let crib = Crib::new();
    let speech = |settings: &str| {
        write_user(&crib, &format!("[tts]\nbackend = 'openai'\n{settings}"));
        let ended = crib.run(&["doctor"]);
        let shown = ended
            .stdout
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ");
        (
            ended.code,
            shown[shown.rfind("speech: ").unwrap()..].to_owned(),
            shown,
        )
    };
    let (code, missing, shown) = speech("key_env = 'NO_SUCH_KEY'\n");
    assert!(
        shown.contains(
            "toolcrib.toml:2: tts.speak is not available: the speech backend openai needs a key"
        ),
        "{shown}"
    );
    assert_eq!(code, Some(8));
    assert!(
        missing.starts_with("speech: openai at https://api.openai.com/v1, not available: the speech backend openai needs a key, and NO_SUCH_KEY is empty or missing;"),
        "{missing}"
    );
    let (code, without, _) = speech("url = 'http://127.0.0.1:1/v1'\n");
    assert!(
        without.starts_with(
            "speech: openai at http://127.0.0.1:1/v1, ready; linked: espeak-ng, openai;"
        ),
        "{without}"
    );
    assert_eq!(code, Some(0));
}

#[test]
fn a_key_is_read_from_its_file_and_tools_cannot_read_it() {
    let (crib, server) = (Crib::new(), service());
    let file = crib.root().join("speech.key");
    std::fs::write(&file, format!("{CANARY}\n")).unwrap();
    std::fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    let (url, key) = (server.url("/v1"), file.to_str().unwrap());
    write_user(
        &crib,
        &format!("[tts]\nbackend = 'openai'\nurl = '{url}'\nkey_file = '{key}'\n"),
    );
    speak(&crib, &[]).expect(0);
    assert_eq!(
        server.received()[0].header("authorization"),
        Some(&*format!("Bearer {CANARY}"))
    );
    let read = crib.run(&["run", "--provider", "direct", "fs.read path=speech.key"]);
    assert!(
        read.code != Some(0) && !read.stdout.contains(CANARY),
        "{read:#?}"
    );
}
