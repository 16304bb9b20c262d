//! A server of tools as a process of its own, with streams of each kind.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, Stdio};

use libtest_mimic::Trial;
use serde_json::{Value, json};
use tools::{CancellationToken, Catalog, Effects, Host, Tool, ToolContext};
use tools_mcp::server::{ServedTools, ToolServer};

use crate::setup::{run, trial};

pub(crate) const TOOLS: &str = "tools";

/// The number of characters that the tool prints and the test compares: less than a pipe or a result can take.
const PART: usize = 20_000;

/// Serves a tool that prints the begin of its text and returns it.
#[expect(clippy::print_stdout, reason = "the client must not read it")]
pub(crate) fn serve() {
    let print = async |_: ToolContext, arguments: Value| {
        let text: String = arguments["text"]
            .as_str()
            .unwrap_or_default()
            .chars()
            .take(PART)
            .collect();
        println!("{text}");
        text
    };
    let tool = Tool::new("print", "Prints.", json!({"type": "object"}))
        .unwrap()
        .with_effects(Effects::Pure);
    let mut catalog = Catalog::new();
    catalog.register(tool, print).unwrap();
    let served = ServedTools::new(catalog.list(), catalog).unwrap();
    run(ToolServer::new(served, |_| Host::new()).serve_stdio(CancellationToken::new())).unwrap();
    println!("after the end");
}

fn start(input: impl Into<Stdio>, output: impl Into<Stdio>) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .arg(TOOLS)
        .stdin(input)
        .stdout(output)
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Returns the messages of a client that calls the tool with these texts.
fn messages(texts: &[&str]) -> Vec<String> {
    let client = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "a", "version": "1"}});
    let mut messages = vec![
        json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": client}),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
    ];
    messages.extend(texts.iter().enumerate().map(|(number, text)| {
        let params = json!({"name": "print", "arguments": {"text": text}});
        json!({"jsonrpc": "2.0", "id": number + 1, "method": "tools/call", "params": params})
    }));
    messages
        .into_iter()
        .map(|message| format!("{message}\n"))
        .collect()
}

/// Makes the calls one after the other and ends the input. Each line of the output must be the answer to the latest request.
fn check(mut child: Child, mut input: impl Write, output: impl Read) {
    let long = "x".repeat(1_000_000);
    let texts = ["first", &long, "last"];
    let mut lines = BufReader::new(output).lines();
    for message in messages(&texts) {
        input.write_all(message.as_bytes()).unwrap();
        let message: Value = serde_json::from_str(&message).unwrap();
        if message.get("id").is_some() {
            let answer: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
            assert_eq!(answer["id"], message["id"]);
            if let Some(text) = message["params"]["arguments"]["text"].as_str() {
                assert_eq!(
                    answer["result"]["content"][0]["text"],
                    text[..text.len().min(PART)]
                );
            }
        }
    }
    drop(input);
    assert_eq!(lines.next().transpose().unwrap(), None);
    let mut printed = String::new();
    child
        .stderr
        .take()
        .unwrap()
        .read_to_string(&mut printed)
        .unwrap();
    assert!(child.wait().unwrap().success());
    let expected = texts
        .iter()
        .chain(&["after the end"])
        .map(|text| &text[..text.len().min(PART)]);
    assert!(printed.lines().eq(expected), "{printed}");
}

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial(
            "prints_of_a_tool_do_not_reach_the_client_of_pipes",
            async || {
                let mut child = start(Stdio::piped(), Stdio::piped());
                let (input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
                std::thread::spawn(|| check(child, input, output))
                    .join()
                    .unwrap();
            },
        ),
        trial(
            "prints_of_a_tool_do_not_reach_the_client_of_sockets",
            async || {
                let (input, theirs) = UnixStream::pair().unwrap();
                let (output, other) = UnixStream::pair().unwrap();
                let child = start(OwnedFd::from(theirs), OwnedFd::from(other));
                check(child, input, output);
            },
        ),
        trial("a_file_of_messages_is_answered_in_a_file", async || {
            let folder = tempfile::tempdir().unwrap();
            let (input, output) = (folder.path().join("input"), folder.path().join("output"));
            std::fs::write(&input, messages(&["a"])[0].as_bytes()).unwrap();
            let child = start(
                std::fs::File::open(input).unwrap(),
                std::fs::File::create(&output).unwrap(),
            );
            let ended = child.wait_with_output().unwrap();
            let answer: Value =
                serde_json::from_str(&std::fs::read_to_string(output).unwrap()).unwrap();
            assert!(
                ended.status.success() && answer["id"] == 0,
                "{answer} {ended:?}"
            );
        }),
        trial(
            "another_process_that_has_the_pipe_still_waits_for_it",
            async || {
                // The mode of a pipe belongs to all descriptors of one opening, as those of this test's copy.
                let (input, write) = std::io::pipe().unwrap();
                let child = start(input.try_clone().unwrap(), Stdio::piped());
                drop(write);
                assert!(child.wait_with_output().unwrap().status.success());
                let flags = rustix::fs::fcntl_getfl(&input).unwrap();
                assert!(!flags.contains(rustix::fs::OFlags::NONBLOCK));
            },
        ),
    ]
}
