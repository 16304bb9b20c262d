//! The beginning of the prompt, which services cache, in several processes.

#[cfg(feature = "default")]
use serde_json::json;

use crate::Crib;

/// Sends nothing that changes the body of the next request.
#[cfg(feature = "default")]
const REFUSAL: &str =
    "HTTP/1.1 400 Bad Request\r\nconnection: close\r\ncontent-length: 2\r\n\r\nno";

#[cfg(feature = "default")]
#[test]
fn two_processes_send_the_same_bytes() {
    for provider in [
        "openai",
        "openai-responses",
        "anthropic",
        "gemini",
        "ollama",
    ] {
        let crib = Crib::new();
        let key = &crib.write("key", "k");
        let sent = || {
            let (url, requests) = crate::model::serve([Some(REFUSAL)]);
            let arguments = [
                "run",
                "what is in it?",
                "--provider",
                provider,
                "--model",
                "m",
                "--base-url",
                &url,
            ];
            crib.run(&[&arguments[..], &["--key-file", key]].concat())
                .expect(1);
            requests.recv().unwrap()
        };
        let (first, second) = (sent(), sent());
        assert!(
            first.contains("fs__read") && first.contains("what is in it?"),
            "{provider}: {first}"
        );
        assert_eq!(first, second, "{provider}");
    }
}

/// The second request has the conversation too: the call, its id and its result.
#[cfg(feature = "default")]
#[test]
fn two_processes_go_on_with_the_same_bytes() {
    let crib = Crib::new();
    let sent = || {
        let (url, requests) =
            crate::model::serve([Some(crate::model::CALL), Some(crate::model::ANSWER)]);
        let arguments = [
            "run",
            "what is in it?",
            "--provider",
            "openai",
            "--model",
            "m",
            "--base-url",
            &url,
        ];
        crib.run(&arguments).expect(0);
        requests.iter().collect::<Vec<_>>()
    };
    let (first, second) = (sent(), sent());
    assert_eq!((first.len(), &first), (2, &second));
    assert!(first[1].contains("tool_calls") && !first[0].contains("tool_calls"));
}

#[cfg(feature = "default")]
#[test]
fn a_resumed_session_says_that_other_tools_make_another_prompt() {
    let crib = Crib::new();
    crib.run(&["run", "time.now"]).expect(0);
    let changes = |flags: &[&str]| {
        let arguments = [&["chat", "--resume", "--output", "stream-json"], flags].concat();
        let ended = crib.run_with_input(&arguments, b"time.now\n").expect(0);
        let lines = ended.documents();
        lines
            .into_iter()
            .filter(|line| line["type"] == "prefix_changed")
            .collect::<Vec<_>>()
    };
    assert!(changes(&[]).is_empty());
    let changes = changes(&["--select", "time.*"]);
    // The stored run keeps its system text, and the next one has that for the new tools.
    let [change, next] = &changes[..] else {
        panic!("{changes:?}")
    };
    assert_eq!(
        (&change["system"], &next["system"], &next["removed"]),
        (&false.into(), &true.into(), &json!([]))
    );
    assert!(
        change["removed"]
            .as_array()
            .unwrap()
            .contains(&"fs.read".into()),
        "{change}"
    );
    assert_eq!(
        (&change["added"], &change["model"]),
        (&json!([]), &false.into())
    );

    // Without a model no service caches a prompt, so a person reads nothing about it.
    let chat = ["chat", "--resume", "--select", "fs.*"];
    let lines = |flags: &[&str]| {
        crib.run_with_input(&[&chat[..], flags].concat(), b"fs.list\n")
            .expect(0)
            .stderr
    };
    assert!(!lines(&[]).contains("no cache"));
    let script = crib.script(&[r#"{"text": "x"}"#; 20]);
    assert!(lines(&["--select", "time.*", "--script", &script]).contains("no cache"));
}
