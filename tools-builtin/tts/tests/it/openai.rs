//! A service with OpenAI's `/audio/speech`, on loopback over real HTTP. No backend was run against the real service.

use std::io::Cursor;

use serde_json::{Value, json};
use tools::context::Exposure;
use tools::{Content, ErrorCode, ToolError, ToolResult};
use tools_exec::Sandbox;
use tools_fs::Workspace;
use tools_http::{HttpClient, HttpOptions};
use tools_testkit::http::TestServer;
use tools_testkit::{TempWorkspace, TestHost};
use tools_tts::Speech;

/// Returns a WAV file with the dummy lengths of a stream.
fn stream() -> Vec<u8> {
    let mut bytes = Cursor::new(Vec::new());
    let spec = hound::WavSpec {
        channels: 1,
        sample_rate: 24_000,
        bits_per_sample: 16,
        sample_format: hound::SampleFormat::Int,
    };
    let mut writer = hound::WavWriter::new(&mut bytes, spec).unwrap();
    (0..480_i16).for_each(|sample| writer.write_sample(sample * 10).unwrap());
    writer.finalize().unwrap();
    let mut bytes = bytes.into_inner();
    bytes[4..8].copy_from_slice(&u32::MAX.to_le_bytes());
    bytes[40..44].copy_from_slice(&u32::MAX.to_le_bytes());
    bytes
}

async fn service(media: &'static str, body: Vec<u8>) -> TestServer {
    TestServer::start(move |_| TestServer::ok(media, &body)).await
}

fn speech(server: &TestServer) -> Speech {
    Speech::new(tools_tts::get("openai").unwrap(), Some(&server.url("/v1/"))).unwrap()
}

fn host(workspace: &TempWorkspace, speech: Speech) -> TestHost {
    let key = speech.bind_key("a-secret-key").unwrap().unwrap();
    let options = HttpOptions {
        private_hosts: vec!["127.0.0.1".into()],
        secrets: vec![key],
        ..HttpOptions::default()
    };
    let grant: Vec<String> = speech
        .targets()
        .iter()
        .map(ToString::to_string)
        .chain(["fs:write:**".to_owned()])
        .collect();
    let grant: Vec<&str> = grant.iter().map(String::as_str).collect();
    TestHost::new(tools_tts::register)
        .with_grant(&grant)
        .with_service(Workspace::open(workspace.path()).unwrap())
        .with_service(speech.with_client(HttpClient::from_options(options).unwrap()))
}

#[tokio::test]
async fn a_service_answers_from_outside_and_a_program_does_not() {
    let server = service("audio/wav", stream()).await;
    let workspace = TempWorkspace::new();
    let of_service = host(&workspace, speech(&server)).with_service(Exposure::new());
    let espeak = Speech::new(tools_tts::get("espeak-ng").unwrap(), None).unwrap();
    let of_program = TestHost::new(tools_tts::register)
        .with_grant(&["speech:read:text", "fs:write:**"])
        .with_service(Workspace::open(workspace.path()).unwrap())
        .with_service(Sandbox::default())
        .with_service(espeak)
        .with_service(Exposure::new());
    let arguments = json!({"text": "hi", "path": "a.wav"});
    of_service
        .call("tts.speak", arguments.clone())
        .await
        .unwrap();
    // These tests start no programs, so this call fails.
    of_program.call("tts.speak", arguments).await.unwrap_err();
    assert!(of_service.context().is_exposed() && !of_program.context().is_exposed());
}

async fn call(server: &TestServer, arguments: Value) -> Result<ToolResult, ToolError> {
    host(&TempWorkspace::new(), speech(server))
        .call("tts.speak", arguments)
        .await
}

#[tokio::test]
async fn the_request_has_the_text_the_voice_and_the_key() {
    let server = service("audio/mpeg", b"ID3 sound".to_vec()).await;
    let workspace = TempWorkspace::new();
    let speech = speech(&server)
        .with_model("local-tts")
        .unwrap()
        .with_voice("nova");
    let host = host(&workspace, speech);
    host.call(
        "tts.speak",
        json!({"text": "say \"hi\"\n", "path": "a/hi.MP3"}),
    )
    .await
    .unwrap();
    host.call(
        "tts.speak",
        json!({"text": "hi", "voice": "echo", "path": "hi.ogg"}),
    )
    .await
    .unwrap();
    assert_eq!(workspace.read_bytes("a/hi.MP3"), b"ID3 sound");
    let [first, second] = &server.received()[..] else {
        panic!("two requests")
    };
    assert!(
        first.head.starts_with("POST /v1/audio/speech HTTP"),
        "{}",
        first.head
    );
    assert_eq!(first.header("authorization"), Some("Bearer a-secret-key"));
    let body = |received: &tools_testkit::http::Received| {
        serde_json::from_slice::<Value>(&received.body).unwrap()
    };
    assert_eq!(
        body(first),
        json!({"model": "local-tts", "input": "say \"hi\"\n", "voice": "nova", "response_format": "mp3"})
    );
    assert_eq!(
        (&body(second)["voice"], &body(second)["response_format"]),
        (&json!("echo"), &json!("opus"))
    );
}

#[tokio::test]
async fn the_lengths_of_a_streamed_wav_file_are_corrected() {
    let server = service("audio/wav", stream()).await;
    let result = call(&server, json!({"text": "hi"})).await.unwrap();
    let [_, Content::Audio { data, mime_type }] = &result.content[..] else {
        panic!("{result:?}")
    };
    let bytes = data_encoding::BASE64.decode(data.as_bytes()).unwrap();
    let reader = hound::WavReader::new(Cursor::new(&bytes)).unwrap();
    assert_eq!((reader.len(), mime_type.as_str()), (480, "audio/wav"));
    assert_eq!(
        reader.into_samples::<i16>().map(Result::unwrap).last(),
        Some(4790)
    );
}

#[tokio::test]
async fn a_refusal_says_what_to_do_and_has_no_key() {
    for (status, part, code) in [
        (
            "401 Unauthorized",
            "check the key",
            ErrorCode::ExecutionFailed,
        ),
        (
            "404 Not Found",
            "check the address and the model",
            ErrorCode::ExecutionFailed,
        ),
        (
            "429 Too Many Requests",
            "try again later",
            ErrorCode::Transient,
        ),
        (
            "400 Bad Request",
            "change the text or the voice",
            ErrorCode::ExecutionFailed,
        ),
    ] {
        let body = r#"{"error": {"message": "no\u202e such voice"}}"#;
        let answer = format!(
            "HTTP/1.1 {status}\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        );
        let server = TestServer::start(move |_| answer.clone().into_bytes()).await;
        let error = call(&server, json!({"text": "hi"})).await.unwrap_err();
        let text = error.to_string();
        assert!(
            text.contains(part)
                && text.contains("no<U+202E> such voice")
                && !text.contains("a-secret-key"),
            "{text}"
        );
        assert_eq!(error.code(), code, "{text}");
    }
}

#[tokio::test]
async fn an_answer_that_is_no_sound_is_refused() {
    for (media, body, part) in [
        (
            "application/json",
            &b"{}"[..],
            "answered with application/json",
        ),
        ("text/html", b"<html>", "answered with text/html"),
        ("audio/wav", b"<html>", "no WAV file"),
        ("audio/wav", b"", "it is empty"),
    ] {
        let server = service(media, body.to_vec()).await;
        let workspace = TempWorkspace::new();
        let error = host(&workspace, speech(&server))
            .call("tts.speak", json!({"text": "hi", "path": "a.wav"}))
            .await;
        let error = error.unwrap_err().to_string();
        assert!(
            error.contains(part) && !workspace.contains("a.wav"),
            "{error}"
        );
    }
    let server = service("audio/mpeg", vec![0; Speech::MAX_BYTES + 1]).await;
    let error = call(&server, json!({"text": "hi", "path": "a.mp3"}))
        .await
        .unwrap_err()
        .to_string();
    assert!(error.contains("is longer than"), "{error}");
}

#[tokio::test]
async fn a_service_needs_the_grant_of_its_host() {
    let server = service("audio/wav", stream()).await;
    let workspace = TempWorkspace::new();
    let host = host(&workspace, speech(&server)).with_grant(&["speech:read:text", "fs:write:**"]);
    let error = host
        .call("tts.speak", json!({"text": "hi"}))
        .await
        .unwrap_err();
    assert_eq!(error.code(), ErrorCode::PermissionDenied, "{error}");
    assert!(error.to_string().contains("net:write:127.0.0.1"), "{error}");
    let host = host.with_grant(&["fs:write:**"]);
    assert_eq!(
        host.call("tts.speak", json!({"text": "hi"}))
            .await
            .unwrap_err()
            .code(),
        ErrorCode::PermissionDenied
    );
    assert!(server.received().is_empty());
}
