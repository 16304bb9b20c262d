//! Servers in a running session: approvals of another process, and requests for messages of the session's model.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use serde_json::{Value, json};

use crate::mcp::write_user;
use crate::{Crib, Ended, mcp_server};

/// The number of times that a test looks for a change.
const LOOKS: usize = 300;

/// A chat of the provider direct.
struct Chat {
    child: Child,
    input: ChildStdin,
    errors: Receiver<String>,
}

impl Chat {
    fn start(crib: &Crib) -> Self {
        let mut command =
            crib.command(&["chat", "--provider", "direct", "--allow", "world:write:**"]);
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let (sender, errors) = channel();
        let lines = BufReader::new(child.stderr.take().unwrap()).lines();
        std::thread::spawn(move || {
            lines
                .map_while(Result::ok)
                .try_for_each(|line| sender.send(line))
        });
        Self {
            input: child.stdin.take().unwrap(),
            child,
            errors,
        }
    }

    /// Returns what a line prints to standard error.
    fn say(&mut self, line: &str) -> String {
        // An unknown command ends the page.
        writeln!(self.input, "{line}\n/end").unwrap();
        let page: Vec<_> = self
            .errors
            .iter()
            .take_while(|line| !line.contains("unknown command /end"))
            .collect();
        page.join("\n")
    }

    /// Waits until the list of tools passes the check.
    fn wait_for(&mut self, check: impl Fn(&str) -> bool) {
        for _ in 0..LOOKS {
            if check(&self.say("/tools")) {
                return;
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        panic!("{}", self.say("/tools"));
    }

    fn end(mut self) {
        drop(self.input);
        self.child.wait().unwrap();
    }
}

fn write_project(crib: &Crib, servers: &Value) {
    std::fs::write(
        crib.root().join(".mcp.json"),
        json!({"mcpServers": servers}).to_string(),
    )
    .unwrap();
}

/// Approves by the digest that is shown.
fn approve(crib: &Crib) -> Ended {
    let shown = crib.run(&["mcp", "approve", "s"]).expect(5);
    let digest = shown
        .stdout
        .lines()
        .find_map(|line| line.trim().strip_prefix("digest: "))
        .unwrap();
    crib.run(&["mcp", "approve", "s", "--digest", digest])
        .expect(0)
}

#[test]
fn a_server_that_is_approved_joins_a_running_chat_and_a_removed_one_leaves_it() {
    let crib = Crib::new();
    write_project(&crib, &json!({"s": mcp_server::entry("Does it.", false)}));
    let mut chat = Chat::start(&crib);
    assert!(!chat.say("/tools").contains("mcp:s/"));
    approve(&crib);
    chat.wait_for(|page| page.contains("mcp:s/read"));
    let called = chat.say("mcp:s/read path=README.md");
    assert!(
        called.contains("-> mcp:s/read") && !called.contains("failed"),
        "{called}"
    );
    crib.run(&["mcp", "remove", "s", "--project"]).expect(0);
    chat.wait_for(|page| !page.contains("mcp:s/"));
    chat.end();
}

#[test]
fn an_approved_definition_replaces_the_earlier_one_in_a_running_chat() {
    let crib = Crib::new();
    let description = crib.write("description", "One.");
    write_user(
        &crib,
        &json!({"mcpServers": {"s": mcp_server::entry(&format!("@{description}"), false)}}),
    );
    let mut chat = Chat::start(&crib);
    chat.wait_for(|page| page.contains("One."));
    std::fs::write(Path::new(&description), "Two.").unwrap();
    let shown = crib.run(&["mcp", "approve", "s"]).expect(5).stdout;
    assert!(
        shown.contains("-description: One.") || shown.contains("One."),
        "{shown}"
    );
    assert!(chat.say("/tools").contains("One."));
    approve(&crib);
    chat.wait_for(|page| page.contains("Two."));
    let called = chat.say("mcp:s/read path=README.md");
    assert!(
        called.contains("-> mcp:s/read") && !called.contains("failed"),
        "{called}"
    );
    chat.end();
}

#[test]
fn a_chat_tells_of_a_new_tool_when_its_server_adds_it() {
    let crib = Crib::new();
    let description = crib.write("description", "One.");
    let entry = mcp_server::entry(&format!("@{description}"), true);
    write_user(&crib, &json!({"mcpServers": {"s": entry}}));
    crib.run(&["mcp", "test", "s"]).expect(0);
    let mut chat = Chat::start(&crib);
    chat.wait_for(|page| page.contains("One."));
    let append = json!({"path": description, "append": "\nfresh", "notify": true});
    let is_told = |page: &str| page.contains("wait for approval: mcp:s/fresh;");
    if !is_told(&chat.say(&format!("mcp:s/read {append}"))) {
        chat.wait_for(is_told);
    }
    chat.end();
}

/// Runs a session whose server asks for a message. Returns the result of the call, and the rows of the journal.
fn sampled(decisions: &Value, is_legacy: bool) -> (Value, Vec<Value>) {
    let crib = Crib::new();
    let mut entry = mcp_server::entry("Does it.", is_legacy);
    entry["toolcrib"] = decisions.clone();
    write_user(&crib, &json!({"mcpServers": {"s": entry}}));
    // The server's conversation is a new one, so the model answers it with the text of the first turn.
    let call = r#"{"text": "blue", "calls": [{"name": "mcp:s/sample", "arguments": {}}]}"#;
    let script = crib.script(&[call, r#"{"text": "finished"}"#]);
    let journal = crib.dir.path().join("calls.journal");
    let journal = journal.to_str().unwrap();
    let select = [
        "--select",
        "mcp:*",
        "--select",
        "llm.generate",
        "--allow",
        "world:write:**",
        "--output",
        "stream-json",
    ];
    let run = [
        "run",
        "x",
        "--script",
        &script,
        "--journal",
        journal,
        "--journal-arguments",
    ];
    let ended = crib.run(&[&run[..], &select].concat());
    let result = ended
        .documents()
        .into_iter()
        .find(|line| line["type"] == "result" && line["name"] == "mcp:s/sample");
    let rows = crib
        .run(&["audit", "show", journal, "--json"])
        .expect(0)
        .documents();
    (result.unwrap_or_else(|| panic!("{ended:#?}")), rows)
}

#[test]
fn a_server_gets_messages_of_the_sessions_model_if_the_user_permits_it() {
    for is_legacy in [false, true] {
        let (result, rows) = sampled(&json!({"sampling": true}), is_legacy);
        let text = result["content"][0]["text"].as_str().unwrap();
        let answer: Value = serde_json::from_str(text).unwrap_or_else(|_| panic!("{result}"));
        assert_eq!(
            answer["content"],
            json!({"type": "text", "text": "blue"}),
            "{answer}"
        );
        assert_eq!(
            (&answer["role"], &answer["model"]),
            (&json!("assistant"), &json!("scripted/default"))
        );
        // The call passes the pipeline like any other.
        let nested = rows
            .iter()
            .find(|row| row["tool"] == "llm.generate" && row["kind"] == "intent")
            .unwrap();
        assert_eq!(nested["arguments"]["prompt"], "Which<U+200B> colour?");
        assert_eq!(nested["arguments"]["system"], "Be brief.");
    }
}

#[test]
fn a_server_gets_no_message_by_default() {
    for is_legacy in [false, true] {
        let (result, rows) = sampled(&json!({}), is_legacy);
        assert!(
            result.to_string().contains("no access to its model"),
            "{result}"
        );
        assert!(
            rows.iter().all(|row| row["tool"] != "llm.generate"),
            "{rows:?}"
        );
    }
}
