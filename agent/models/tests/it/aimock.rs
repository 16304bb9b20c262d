//! Sessions against a model server that others wrote, with the real file tools. It accepts any request, so its journal and
//! the bodies that it got are checked as well.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use agent::{
    Driver, KeySource, Outcome, ProviderOptions, Selection, Session, Summary, SystemText,
    tool_guidance,
};
use agent_models::Remote;
use serde_json::{Value, json};
use tempfile::TempDir;
use tools::protocol::wire::{Format, Strictness};
use tools::{Catalog, Grant, Host};
use tools_fs::Workspace;

use crate::judge::Judge;
use crate::service::{Reply, Service, sent, wire};

const KEY: &str = "sk-not-a-key-of-anybody";

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Node and Python; run .ci/aimock, which installs the server and the SDKs"]
async fn a_session_of_three_turns_reads_and_changes_files_by_parallel_calls() {
    let mut bodies = Vec::new();
    for format in wire::ALL {
        let place = place();
        let server = Server::start(format, place.path());
        for streaming in [false, true] {
            server.forget();
            let place = self::place();
            let mut session = session(&place.path().join("root"));
            let relay = Service::new(vec![Reply::Relay(server.address.clone()); 3]).await;
            let model = Server::model(format, streaming, &relay.url, place.path());
            let summary = Driver::new(Arc::new(model))
                .run(&mut session, "Mend the notes.")
                .await;
            let summary = summary.unwrap_or_else(|error| {
                panic!("{format}: {error}: {:#?}", server.journal().last())
            });
            eprintln!("{format}, streaming {streaming}: {summary:?}");
            judge_answer(&summary);
            judge_files(&place.path().join("root"));
            judge_journal(&server.journal(), format, streaming, &session);
            judge_bodies(&relay, format);
            bodies.extend((0..relay.requests()).map(|turn| (format, relay.body(turn))));
        }
    }
    assert_eq!(bodies.len(), 2 * 3 * wire::ALL.len());
    judge_whole(&bodies, &["request"]);
}

/// Checks the bodies, each as a whole, against the types of the services' own SDKs. Of the kinds that are asked, each format has one.
fn judge_whole(bodies: &[(Format, Value)], asked: &[&str]) {
    let python = std::env::var_os("TOOLCRIB_SDK_PYTHON")
        .expect("TOOLCRIB_SDK_PYTHON names a Python with the SDKs");
    let mut judge = Command::new(python)
        .arg(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../protocol/tests/it/sdk/judge.py"
        ))
        .args(asked)
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = judge.stdin.take().unwrap();
    for (format, body) in bodies {
        writeln!(
            lines,
            "{}",
            json!({"format": format.name(), "kind": "request", "value": body})
        )
        .unwrap();
    }
    drop(lines);
    assert!(judge.wait().unwrap().success());
}

fn judge_answer(summary: &Summary) {
    let Outcome::Answer { text, .. } = &summary.outcome else {
        panic!("{summary:?}")
    };
    assert_eq!(text, "The notes are mended: café, 色.");
    assert_eq!(
        (summary.steps, summary.calls, summary.failed_calls),
        (3, 5, 1)
    );
}

fn judge_files(root: &Path) {
    let expected = [
        ("notes.md", "# Notes\nThe color of the color.\n"),
        ("sub/done.md", "é, done\n"),
        ("sub/more.md", "More colour.\n"),
    ];
    let expected: BTreeMap<_, _> = expected
        .iter()
        .map(|(path, text)| (root.join(path), (*text).to_owned()))
        .collect();
    assert_eq!(files(root), expected);
}

/// Checks the requests as they were sent.
fn judge_bodies(relay: &Service, format: Format) {
    let judge = Judge::new(format, Strictness::Relaxed);
    for (turn, calls) in [
        &[][..],
        &["call_read", "call_search"],
        &["call_edit", "call_write", "call_missing"],
    ]
    .iter()
    .enumerate()
    {
        let body = relay.body(turn);
        let definitions = sent::definitions(format, &body);
        assert_eq!(definitions.len(), 8);
        for definition in definitions {
            assert_eq!(
                judge.violations(&definition),
                [],
                "{format}: {definition:#}"
            );
        }
        let made: Vec<_> = sent::calls(format, &body)
            .into_iter()
            .map(|call| call.id)
            .collect();
        let answered: Vec<_> = sent::results(format, &body)
            .into_iter()
            .map(|result| result.id)
            .collect();
        assert_eq!(made, answered, "{format} {turn}: {body:#}");
        // The server has no ids of Ollama's calls.
        let last = &made[made.len() - calls.len()..];
        assert!(
            last == *calls || format == Format::Ollama,
            "{format} {turn}: {body:#}"
        );
    }
}

/// Checks the requests in the server's journal, which records every API as chat completions.
fn judge_journal(journal: &[Value], format: Format, streaming: bool, session: &Session) {
    assert_eq!(journal.len(), 3, "{journal:#?}");
    let system = session.system_message().unwrap().to_text();
    for entry in journal {
        let path = match (format, streaming) {
            (Format::OpenAiChat, _) => "/v1/chat/completions",
            (Format::OpenAiResponses, _) => "/v1/responses",
            (Format::Anthropic, _) => "/v1/messages",
            (Format::Gemini, false) => "/v1beta/models/gemini-3-flash-preview:generateContent",
            (Format::Gemini, true) => {
                "/v1beta/models/gemini-3-flash-preview:streamGenerateContent?alt=sse"
            }
            _ => "/api/chat",
        };
        assert_eq!(
            (entry["path"].as_str(), entry["response"]["status"].as_u64()),
            (Some(path), Some(200))
        );
        let body = &entry["body"];
        assert_eq!(
            body["stream"].as_bool().unwrap_or_default(),
            streaming,
            "{body:#}"
        );
        assert_eq!(
            (
                body["messages"][0]["role"].as_str(),
                text(&body["messages"][0])
            ),
            (Some("system"), system.clone())
        );
        assert_eq!(
            (
                body["messages"][1]["role"].as_str(),
                text(&body["messages"][1])
            ),
            (Some("user"), "Mend the notes.".into())
        );
        let names: Vec<_> = body["tools"]
            .as_array()
            .unwrap()
            .iter()
            .map(|tool| tool["function"]["name"].as_str().unwrap())
            .collect();
        let expected = [
            "edit", "glob", "list", "move", "read", "remove", "search", "write",
        ];
        assert_eq!(
            names,
            expected.map(|name| format.names().encode(&format!("fs.{name}")).into_owned())
        );
        assert_eq!(body["tools"], journal[0]["body"]["tools"]);
        assert!(!entry.to_string().contains(KEY));
    }
    let second = results_of(format, &journal[1]["body"], &["call_read", "call_search"]);
    assert!(
        second["call_read"].contains("The colour of the colour."),
        "{second:?}"
    );
    assert!(
        second["call_search"].contains("notes.md") && second["call_search"].contains("sub/more.md"),
        "{second:?}"
    );
    let third = results_of(
        format,
        &journal[2]["body"],
        &["call_edit", "call_write", "call_missing"],
    );
    assert!(
        third["call_edit"].contains("+The color of the color."),
        "{third:?}"
    );
    assert!(third["call_missing"].contains("missing.md"), "{third:?}");
    // Each prompt starts with the one before it, so that the provider's cache applies.
    for (earlier, later) in journal.iter().zip(&journal[1..]) {
        let earlier = earlier["body"]["messages"].as_array().unwrap();
        assert_eq!(
            earlier[..],
            later["body"]["messages"].as_array().unwrap()[..earlier.len()]
        );
    }
}

/// The server's turns, with the names of the format.
fn script(format: Format) -> String {
    let names = format.names().encode("fs.read").replace("read", "");
    let turns = include_str!("aimock/turns.json").replace("fs__", &names);
    match format {
        // The server has no ids of Ollama's results, so a text tells them apart.
        Format::Ollama => turns
            .replace(r#""toolCallId": "call_search", "#, "")
            .replace(
                r#""toolCallId": "call_missing""#,
                r#""toolResultContains": "missing.md""#,
            ),
        _ => turns,
    }
}

/// The results after the last turn of calls, by id: those of these calls, in their order, and no others.
fn results_of(format: Format, body: &Value, calls: &[&str]) -> BTreeMap<String, String> {
    let messages = body["messages"].as_array().unwrap();
    let last = messages
        .iter()
        .rposition(|message| message["role"] == "assistant")
        .unwrap();
    // The server records each item of the Responses API as a message.
    let first = messages[..last]
        .iter()
        .rposition(|message| message["role"] != "assistant")
        .unwrap();
    let turn = messages[first + 1..=last]
        .iter()
        .filter_map(|message| message["tool_calls"].as_array());
    let ids: Vec<_> = turn
        .flatten()
        .map(|call| call["id"].as_str().unwrap())
        .collect();
    let results = &messages[last + 1..];
    assert_eq!((ids.len(), results.len()), (calls.len(), calls.len()));
    if format != Format::Ollama {
        let answered: Vec<_> = results
            .iter()
            .map(|result| result["tool_call_id"].as_str().unwrap())
            .collect();
        assert_eq!((&ids[..], &answered[..]), (calls, calls));
    }
    results
        .iter()
        .zip(calls)
        .map(|(result, id)| ((*id).to_owned(), text(result)))
        .collect()
}

/// The text of a message, which is a string or parts.
fn text(message: &Value) -> String {
    match &message["content"] {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts
            .iter()
            .filter_map(|part| part["text"].as_str())
            .collect(),
        other => panic!("no content: {other}"),
    }
}

fn place() -> TempDir {
    let place = tempfile::tempdir().unwrap();
    let root = place.path().join("root");
    std::fs::create_dir_all(root.join("sub")).unwrap();
    std::fs::write(
        root.join("notes.md"),
        "# Notes\nThe colour of the colour.\n",
    )
    .unwrap();
    std::fs::write(root.join("sub/more.md"), "More colour.\n").unwrap();
    std::fs::write(place.path().join("key"), KEY).unwrap();
    place
}

fn session(root: &Path) -> Session {
    let mut catalog = Catalog::new();
    tools_fs::register(&mut catalog).unwrap();
    let cx = Host::new()
        .with_grant(Grant::parse(["fs:read:**", "fs:write:**"]).unwrap())
        .with_service(Workspace::open(root).unwrap());
    let system = SystemText::new()
        .with_section("identity", "You keep the notes.")
        .with_tool_section("tools", tool_guidance);
    Session::new(catalog.list(), Selection::new(), cx).with_system(system)
}

fn files(root: &Path) -> BTreeMap<PathBuf, String> {
    let mut files = BTreeMap::new();
    let mut open = vec![root.to_owned()];
    while let Some(directory) = open.pop() {
        for entry in std::fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else {
                let text = std::fs::read_to_string(&path).unwrap();
                files.insert(path, text);
            }
        }
    }
    files
}

/// The server, which ends with the test.
struct Server {
    process: Child,
    address: String,
}

impl Server {
    /// On a port that is free; it is ready when it says where it listens.
    fn start(format: Format, place: &Path) -> Self {
        let program =
            std::env::var_os("TOOLCRIB_AIMOCK").expect("TOOLCRIB_AIMOCK names the server's cli.js");
        let turns = place.join("turns.json");
        std::fs::write(&turns, script(format)).unwrap();
        let mut process = Command::new("node")
            .env_remove("OPENAI_API_KEY")
            .env_remove("ANTHROPIC_API_KEY")
            .arg(program)
            .args([
                "--port",
                "0",
                "--strict",
                "--validate-on-load",
                "--fixtures",
            ])
            .arg(turns)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut output = BufReader::new(process.stdout.take().unwrap())
            .lines()
            .map_while(Result::ok);
        let address = output
            .by_ref()
            .find_map(|line| Some(line.split_once("listening on http://")?.1.trim().to_owned()));
        // Keeps reading, because the server blocks if its output is not read.
        std::thread::spawn(move || output.for_each(drop));
        let server = Self {
            process,
            address: address.expect("the server ended before it listened"),
        };
        assert_eq!(server.ask("GET", "/ready").0, 200);
        server
    }

    fn model(format: Format, streaming: bool, url: &str, place: &Path) -> Remote {
        let options = ProviderOptions {
            model: Some(
                (if format == Format::Gemini {
                    "gemini-3-flash-preview"
                } else {
                    "a-model"
                })
                .into(),
            ),
            key: Some(KeySource::File(place.join("key"))),
            streaming: Some(streaming),
            base_url: Some(url.into()),
            ..ProviderOptions::default()
        };
        wire::remote(format, &options)
    }

    fn journal(&self) -> Vec<Value> {
        let (status, body) = self.ask("GET", "/__aimock/journal");
        assert_eq!(status, 200, "{body}");
        serde_json::from_str(&body).unwrap()
    }

    fn forget(&self) {
        assert_eq!(self.ask("POST", "/__aimock/reset/journal").0, 200);
        assert_eq!(json!(self.journal()), json!([]));
    }

    /// In HTTP/1.0, where the body is all that comes until the end.
    fn ask(&self, method: &str, path: &str) -> (u16, String) {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        write!(
            stream,
            "{method} {path} HTTP/1.0\r\nhost: {}\r\ncontent-length: 0\r\n\r\n",
            self.address
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        let status = head.split_whitespace().nth(1).unwrap().parse().unwrap();
        (status, body.to_owned())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
