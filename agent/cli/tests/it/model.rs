use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, channel};

use serde_json::Value;

use crate::Crib;
use crate::chat_terminal::READS;
use crate::config::{user_file, write_user};
use crate::terminal::{on_terminal, rest, say, with_stty};

pub(crate) const CALL: &str = concat!(
    "data: {\"id\":\"x\",\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"c\",\"type\":\"function\",",
    "\"function\":{\"name\":\"fs__read\",\"arguments\":\"{\\\"path\\\":\\\"README.md\\\"}\"}}]},\"finish_reason\":\"tool_calls\"}]}\n\n",
    "data: [DONE]\n\n",
);
pub(crate) const ANSWER: &str = concat!(
    "data: {\"id\":\"y\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"It says \"},\"finish_reason\":null}]}\n\n",
    "data: {\"id\":\"y\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"hello.\"},\"finish_reason\":\"stop\"}]}\n\n",
    "data: {\"id\":\"y\",\"choices\":[],\"usage\":{\"prompt_tokens\":12,\"completion_tokens\":3,\"total_tokens\":15}}\n\n",
    "data: [DONE]\n\n",
);

#[test]
fn a_model_reads_a_file_and_answers() {
    let (url, _) = serve([Some(CALL), Some(ANSWER)]);
    let crib = Crib::new();
    let key = &crib.write("key", "sk-secret");
    let arguments = [
        "run",
        "what is in it?",
        "--provider",
        "openai",
        "--model",
        "m",
        "--base-url",
        &url,
        "--key-file",
        key,
    ];
    let ended = crib.run(&arguments).expect(0);
    assert_eq!(ended.stdout.trim_end(), "It says hello.");
    assert!(
        ended
            .stderr
            .contains("-> fs.read path=README.md  fs:read:README.md"),
        "{ended:#?}"
    );
    assert!(
        ended
            .stderr
            .contains("summary: 2 steps, 1 call, 12 tokens in, 3 out, "),
        "{ended:#?}"
    );
    assert!(!format!("{ended:?}").contains("sk-secret"));
}

/// A turn with a call, whose request had 7000 tokens.
const LARGE: &str = concat!(
    "data: {\"id\":\"x\",\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"c\",\"type\":\"function\",",
    "\"function\":{\"name\":\"fs__read\",\"arguments\":\"{\\\"path\\\":\\\"README.md\\\"}\"}}]},\"finish_reason\":\"tool_calls\"}]}\n\n",
    "data: {\"id\":\"x\",\"choices\":[],\"usage\":{\"prompt_tokens\":7000,\"completion_tokens\":9,\"total_tokens\":7009}}\n\n",
    "data: [DONE]\n\n",
);

#[test]
fn a_conversation_near_the_limit_of_the_context_is_compacted_and_shown() {
    let crib = Crib::new();
    std::fs::write(
        crib.root().join("README.md"),
        "a line of the file\n".repeat(300),
    )
    .unwrap();
    let run = |more: &[&str]| {
        let (url, requests) = serve([Some(CALL), Some(LARGE), Some(ANSWER)]);
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
        let limits = ["--select", "fs.read", "--context-tokens", "8000"];
        let ended = crib
            .run(&[&arguments[..], &limits, more].concat())
            .expect(0);
        (ended, requests.iter().collect::<Vec<_>>())
    };
    let (ended, requests) = run(&[]);
    assert!(
        ended
            .stderr
            .contains("compacted: 1 result left out; from about "),
        "{ended:#?}"
    );
    let lines = |body: &str| body.matches("a line of the file").count();
    assert_eq!(
        requests.iter().map(|body| lines(body)).collect::<Vec<_>>(),
        [0, 300, 300]
    );
    assert!(requests[2].contains("left out to save context"));

    let (ended, _) = run(&["--output", "stream-json"]);
    let lines = ended.documents();
    let compacted = lines
        .iter()
        .find(|line| line["type"] == "compacted")
        .unwrap();
    assert_eq!(
        (
            compacted["cause"].as_str(),
            compacted["replaced"][0].as_str()
        ),
        (Some("near_limit"), Some("c"))
    );
    assert!(
        compacted["tokens_after"].as_u64() < compacted["tokens_before"].as_u64(),
        "{compacted}"
    );
}

const TOO_LONG: &str = concat!(
    "HTTP/1.1 400 Bad Request\r\ncontent-type: application/json\r\nconnection: close\r\ncontent-length: 67\r\n\r\n",
    "{\"error\":{\"message\":\"no room\",\"code\":\"context_length_exceeded\"}}\n\n\n",
);

#[test]
fn a_request_that_the_service_refuses_as_too_long_is_compacted_and_repeated() {
    let crib = Crib::new();
    std::fs::write(
        crib.root().join("README.md"),
        "a line of the file\n".repeat(300),
    )
    .unwrap();
    let (url, requests) = serve([Some(CALL), Some(CALL), Some(TOO_LONG), Some(ANSWER)]);
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
    let ended = crib
        .run(&[&arguments[..], &["--select", "fs.read"]].concat())
        .expect(0);
    assert_eq!(ended.stdout.trim_end(), "It says hello.");
    assert!(
        ended.stderr.contains("compacted: 1 result left out"),
        "{ended:#?}"
    );
    let lines = requests
        .iter()
        .map(|body| body.matches("a line of the file").count());
    assert_eq!(lines.collect::<Vec<_>>(), [0, 300, 600, 300]);
}

#[test]
fn a_prompt_that_does_not_fit_into_the_context_has_a_hint_that_names_flags() {
    let crib = Crib::new();
    let (url, _) = serve([Some(TOO_LONG); 6]);
    let arguments = [
        "run",
        "what is in it?",
        "--provider",
        "openai",
        "--model",
        "m",
        "--base-url",
        &url,
        "--select",
        "fs.read",
    ];
    let shown = crib.run(&arguments).stderr.replace('\n', " ");
    assert!(
        shown.contains("--select GLOB") && shown.contains("/clear"),
        "{shown}"
    );
}

/// A response that asks for another attempt.
const BUSY: &str =
    "HTTP/1.1 503 Busy\r\nretry-after: 1.2\r\nconnection: close\r\ncontent-length: 4\r\n\r\nbusy";
const LIMITED: &str = "HTTP/1.1 429 Limit\r\nretry-after: 0.1\r\nconnection: close\r\ncontent-length: 9\r\n\r\nslow down";

#[test]
fn a_retry_is_shown_with_its_reason_and_wait() {
    let (url, _) = serve([Some(BUSY), Some(LIMITED), Some(ANSWER)]);
    let crib = Crib::new();
    let arguments = [
        "run",
        "x",
        "--provider",
        "openai",
        "--model",
        "m",
        "--base-url",
        &url,
    ];
    let ended = crib.run(&arguments).expect(0);
    assert_eq!(ended.stdout.trim_end(), "It says hello.");
    let retries: Vec<_> = ended
        .stderr
        .lines()
        .filter(|line| line.starts_with("retry "))
        .collect();
    let [busy, limited] = retries[..] else {
        panic!("{ended:#?}")
    };
    assert!(
        busy.contains("1 of ") && busy.contains("1.2s: status 503: busy"),
        "{busy}"
    );
    assert!(
        limited.contains("2 of ") && limited.contains("s: status 429: slow down"),
        "{limited}"
    );

    let (url, _) = serve([Some(BUSY), Some(ANSWER)]);
    let arguments = [&arguments[..7], &[&url, "--output", "stream-json"]].concat();
    let ended = crib.run(&arguments).expect(0);
    assert_eq!(crate::stream::check(&ended)["input_tokens"], 12);
    let lines = ended.documents();
    let retry = lines
        .iter()
        .find(|line| line["type"] == "request_retried")
        .unwrap();
    assert_eq!(
        (retry["cause"].as_str(), retry["status"].as_u64()),
        (Some("status"), Some(503)),
        "{retry}"
    );
    assert_eq!(
        (retry["wait_ms"].as_u64(), retry["message"].as_str()),
        (Some(1200), Some("busy")),
        "{retry}"
    );
    assert_eq!(retry["kind"], "overloaded");
}

#[test]
fn the_kind_of_a_failed_request_is_shown() {
    const NO_CREDIT: &str = "HTTP/1.1 429 Limit\r\nconnection: close\r\ncontent-length: 53\r\n\r\n\
        {\"error\":{\"code\":\"insufficient_quota\",\"message\":\"x\"}}";
    let (url, _) = serve([Some(NO_CREDIT)]);
    let arguments = [
        "run",
        "x",
        "--provider",
        "openai",
        "--model",
        "m",
        "--base-url",
        &url,
        "--output",
        "stream-json",
    ];
    let ended = Crib::new().run(&arguments).expect(1);
    let outcome = crate::stream::check(&ended);
    assert_eq!(
        (outcome["outcome"].as_str(), outcome["kind"].as_str()),
        (Some("failed"), Some("quota")),
        "{outcome}"
    );
    assert!(ended.stderr.contains("status 429 (quota)"), "{ended:#?}");
}

/// On a pseudo-terminal, which echoes `^C`.
#[test]
fn an_interrupt_ends_the_line_that_it_interrupts() {
    const PIECE: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: 9999\r\n\r\n\
        data: {\"id\":\"y\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"It says\"},\"finish_reason\":null}]}\n\n";
    for (reply, before, output) in [
        (Some(PIECE), "It says", "text"),
        (None, "s the model", "text"),
        (None, "", "json"),
    ] {
        // The service waits for a second request, which never comes, and leaves the first one open.
        let (url, requests) = serve([reply, None]);
        let arguments =
            format!("run x --provider openai --model m --base-url {url} --output {output}");
        let crib = Crib::new();
        let mut session = with_stty(&crib, "echo echoctl", &arguments);
        requests.recv().unwrap();
        session.exp_string(before).unwrap();
        session.send_control('c').unwrap();
        let (shown, code) = rest(session);
        let after = shown
            .split_once("^C")
            .unwrap_or_else(|| panic!("{shown:?}"))
            .1;
        let is_ended = after.starts_with("\r\n") || after.starts_with("\r\u{1b}[2K");
        assert!(is_ended && !after.contains("\r\n\r\n"), "{shown:?}");
        assert_eq!(code, 130);
    }
}

#[test]
fn a_missing_model_name_is_refused_with_advice() {
    let ended = Crib::new().run(&[
        "run",
        "hello",
        "--provider",
        "openai",
        "--base-url",
        "http://127.0.0.1:9",
    ]);
    assert_ne!(ended.code, Some(0));
    assert!(ended.stderr.contains("name of a model"), "{ended:#?}");
}

/// On a pseudo-terminal: the model reads a file and then hangs, so the person cancels the turn and prompts again.
#[test]
fn a_model_that_hangs_is_interrupted_and_the_conversation_goes_on() {
    let (url, requests) = serve([Some(CALL), None, Some(ANSWER)]);
    let crib = Crib::new();
    let key = &crib.write("key", "sk-secret");
    let arguments = [
        "chat",
        "--provider",
        "openai",
        "--model",
        "m",
        "--base-url",
        &url,
        "--key-file",
        key,
    ];
    let mut session = on_terminal(&crib, &arguments);
    session.exp_string(READS).unwrap();
    say(&mut session, "what is in it?", &["8 bytes"]);
    // The spinner is shown while the model is silent.
    session.exp_string("s the model").unwrap();
    requests.recv().unwrap();
    requests.recv().unwrap();
    session.send_control('c').unwrap();
    session
        .exp_string("cancelled; the conversation continues")
        .unwrap();
    session.exp_string(READS).unwrap();
    say(&mut session, "well?", &["It says hello.", READS]);
    session.send_control('d').unwrap();
    assert_eq!(rest(session).1, 0);

    let request: Value = serde_json::from_str(&requests.recv().unwrap()).unwrap();
    let roles: Vec<_> = request["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|message| &message["role"])
        .collect();
    let first = roles.iter().position(|role| *role == "user").unwrap();
    assert_eq!(
        roles[first..],
        ["user", "assistant", "tool", "user"],
        "{request:#}"
    );
}

#[test]
fn a_model_of_the_users_file_needs_no_flags() {
    let (url, _requests) = serve([Some(CALL), Some(ANSWER)]);
    let crib = Crib::new();
    write_user(
        &crib,
        &format!("provider = 'openai'\nmodel = 'm'\nbase_url = '{url}'\nkey_file = 'my.key'"),
    );
    std::fs::write(user_file(&crib).with_file_name("my.key"), "sk-secret\n").unwrap();
    let ended = crib.run(&["run", "what is in it?"]).expect(0);
    assert_eq!(ended.stdout.trim_end(), "It says hello.");
    assert!(!format!("{ended:?}").contains("sk-secret"));
}

#[test]
fn an_unusual_stop_reason_is_reported() {
    for (reason, part) in [
        ("length", "length limit"),
        (
            "busy\\nhint: x",
            "stopped with the reason busy\n  hint: x\n",
        ),
    ] {
        let reply = ANSWER.replace("\"stop\"", &format!("\"{reason}\""));
        let (url, _) = serve([Some(reply.leak())]);
        let ended = Crib::new()
            .run(&[
                "run",
                "x",
                "--provider",
                "openai",
                "--model",
                "m",
                "--base-url",
                &url,
            ])
            .expect(0);
        assert!(ended.stderr.contains(part), "{ended:#?}");
    }
}

#[test]
fn config_names_the_variable_in_which_the_provider_looks() {
    let crib = Crib::new();
    for provider in ["openai", "anthropic"] {
        let arguments = ["--provider", provider, "--model", "m"];
        let without_keys = |first: &[&str]| {
            let mut command = crib.command(&[first, &arguments[..]].concat());
            command.output().unwrap()
        };
        let page = String::from_utf8(without_keys(&["config"]).stdout).unwrap();
        let variable = page
            .split_whitespace()
            .find(|word| word.ends_with("_API_KEY"))
            .unwrap();
        let refusal = String::from_utf8(without_keys(&["run", "x"]).stderr).unwrap();
        assert!(refusal.contains(variable), "{variable} is not in {refusal}");
    }
}

/// Serves one stream, or one whole response, per request, and sends the request bodies to the receiver. For `None`, the request is never answered.
/// A question about models gets the next reply only if it is one of JSON.
pub(crate) fn serve<const N: usize>(
    replies: [Option<&'static str>; N],
) -> (String, Receiver<String>) {
    serve_with_models(Value::Null, replies)
}

/// Serves these replies, and this list of models if it is not null.
pub(crate) fn serve_with_models<const N: usize>(
    models: Value,
    replies: [Option<&'static str>; N],
) -> (String, Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    let (sender, requests) = channel();
    std::thread::spawn(move || {
        let mut left_open = Vec::new();
        for reply in replies {
            let is_list = reply.is_some_and(|reply| {
                reply.starts_with("HTTP/1.1 200 OK\r\ncontent-type: application/json")
            });
            let (mut stream, request) = loop {
                let (mut stream, request) = accept(&listener);
                let is_about_model = request
                    .lines()
                    .next()
                    .is_some_and(|line| line.contains("/api/show"));
                if !(!is_list && request.starts_with("GET ") || is_about_model) {
                    break (stream, request);
                }
                let is_listed = models.is_object() && request.starts_with("GET /v1/models ");
                let (status, body) = if is_listed {
                    ("200 OK", models.to_string())
                } else {
                    ("404 Not Found", String::new())
                };
                let length = body.len();
                write!(
                    stream,
                    "HTTP/1.1 {status}\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n{body}"
                )
                .unwrap();
            };
            // A test that ignores the requests has dropped the receiver.
            let _ = sender.send(request.split_once("\r\n\r\n").unwrap().1.to_owned());
            match reply {
                Some(reply) if reply.starts_with("HTTP/") => {
                    write!(stream, "{reply}").unwrap();
                    // The client reads to the end of the length, so an incomplete response must not end.
                    left_open.push(stream);
                }
                Some(reply) => {
                    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n";
                    write!(
                        stream,
                        "{head}content-length: {}\r\n\r\n{reply}",
                        reply.len()
                    )
                    .unwrap();
                }
                None => left_open.push(stream),
            }
        }
    });
    (url, requests)
}

/// Reads the next request.
fn accept(listener: &TcpListener) -> (TcpStream, String) {
    let (mut stream, _) = listener.accept().unwrap();
    let mut request = Vec::new();
    while !is_whole(&request) {
        let mut piece = [0; 4096];
        let length = stream.read(&mut piece).unwrap();
        request.extend_from_slice(&piece[..length]);
    }
    (stream, String::from_utf8(request).unwrap())
}

fn is_whole(request: &[u8]) -> bool {
    let text = String::from_utf8_lossy(request).to_lowercase();
    let Some((head, body)) = text.split_once("\r\n\r\n") else {
        return false;
    };
    let length = head
        .lines()
        .find_map(|line| line.strip_prefix("content-length: ")?.parse::<usize>().ok());
    body.len() >= length.unwrap_or_default()
}
