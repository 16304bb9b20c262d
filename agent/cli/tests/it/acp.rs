//! `acp`: sessions of an editor, which starts the program.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use serde_json::{Value, json};

use crate::Crib;
use crate::mcp_server::entry;

/// An editor that has started the program, and answers each question about a call with yes.
struct Editor {
    child: Child,
    write: ChildStdin,
    read: BufReader<ChildStdout>,
    /// The messages of the program.
    log: Vec<Value>,
    next: u64,
}

impl Editor {
    fn start(crib: &Crib, arguments: &[&str]) -> Self {
        let arguments: Vec<_> = ["acp"].iter().chain(arguments).copied().collect();
        let mut child = crib.command(&arguments);
        // An editor starts it in a folder of its own.
        child.current_dir(crib.dir.path());
        let mut child = child
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let (write, read) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let read = BufReader::new(read);
        let mut editor = Self {
            child,
            write,
            read,
            log: Vec::new(),
            next: 0,
        };
        editor.request("initialize", json!({"protocolVersion": 1}));
        editor
    }

    fn send(&mut self, message: &Value) {
        writeln!(self.write, "{message}").unwrap();
    }

    fn begin(&mut self, method: &str, params: Value) -> u64 {
        self.next += 1;
        let id = self.next;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        id
    }

    /// Reads the next message, and approves a call.
    fn read(&mut self) -> Value {
        let mut line = String::new();
        self.read.read_line(&mut line).unwrap();
        let message: Value = serde_json::from_str(&line)
            .unwrap_or_else(|error| panic!("{line:?}: {error}: {:#?}", self.log));
        self.log.push(message.clone());
        if message["method"] == "session/request_permission" {
            let chosen = json!({"outcome": {"outcome": "selected", "optionId": "once"}});
            self.send(&json!({"jsonrpc": "2.0", "id": message["id"], "result": chosen}));
        }
        message
    }

    /// Sends a request and returns its answer.
    fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.begin(method, params);
        loop {
            let message = self.read();
            if message["id"] == id && message["method"].is_null() {
                return message;
            }
        }
    }

    /// Begins a session with these servers. Returns its id.
    fn new_session(&mut self, root: &Path, servers: Value) -> String {
        let params = json!({"cwd": root, "mcpServers": servers});
        let answer = self.request("session/new", params);
        let id = answer["result"]["sessionId"].as_str();
        id.unwrap_or_else(|| panic!("{answer}")).to_owned()
    }

    #[track_caller]
    fn load(&mut self, root: &Path, session: &str) {
        let params = json!({"sessionId": session, "cwd": root, "mcpServers": []});
        let answer = self.request("session/load", params);
        assert!(answer["result"].is_object(), "{answer}");
    }

    /// Sends a prompt. Returns the text of the agent's messages.
    #[track_caller]
    fn prompt(&mut self, session: &str, text: &str) -> String {
        let begin = self.log.len();
        let prompt = json!([{"type": "text", "text": text}]);
        let params = json!({"sessionId": session, "prompt": prompt});
        let answer = self.request("session/prompt", params);
        assert_eq!(answer["result"]["stopReason"], "end_turn", "{answer}");
        texts(&self.log[begin..], "agent_message_chunk")
    }

    /// Closes the connection. Returns the messages and standard error.
    fn end(self) -> (Vec<Value>, String) {
        drop(self.write);
        drop(self.read);
        let ended = self.child.wait_with_output().unwrap();
        let told = String::from_utf8(ended.stderr).unwrap();
        assert!(ended.status.success(), "{told}");
        (self.log, told)
    }
}

/// Returns the texts of the updates of a kind.
fn texts(log: &[Value], kind: &str) -> String {
    let updates = log.iter().map(|message| &message["params"]["update"]);
    let of_kind = updates.filter(|update| update["sessionUpdate"] == kind);
    of_kind
        .filter_map(|update| update["content"]["text"].as_str())
        .collect()
}

/// Returns the servers of a file as an editor passes them, all under this name.
fn passed(name: &str, entry: &Value) -> Value {
    let variables = entry["env"].as_object().unwrap().iter();
    let variables = variables.map(|(name, value)| json!({"name": name, "value": value}));
    let variables: Vec<_> = variables.collect();
    json!([{"name": name, "command": entry["command"], "args": entry["args"], "env": variables}])
}

fn other_root(crib: &Crib) -> PathBuf {
    let root = crib.dir.path().join("other");
    fs::create_dir_all(&root).unwrap();
    root
}

#[test]
fn a_session_goes_from_the_editor_to_the_terminal_and_back() {
    let crib = Crib::new();
    let mut editor = Editor::start(&crib, &["--provider", "direct"]);
    let session = editor.new_session(&crib.root(), json!([]));
    editor.prompt(&session, "fs.write path=a.txt content=from-the-editor");
    let (log, told) = editor.end();
    assert!(
        log.iter()
            .any(|message| message["method"] == "session/request_permission"),
        "{told}"
    );
    let resumed = crib.run(&[
        "run",
        "fs.read path=a.txt",
        "--provider",
        "direct",
        "--resume",
        &session,
    ]);
    assert!(resumed.expect(0).stdout.contains("from-the-editor"));

    let mut editor = Editor::start(&crib, &["--provider", "direct"]);
    editor.load(&crib.root(), &session);
    let shown = texts(&editor.log, "user_message_chunk");
    assert_eq!(
        shown,
        "fs.write path=a.txt content=from-the-editorfs.read path=a.txt"
    );
    editor.prompt(&session, "fs.read path=README.md");
    let (log, _) = editor.end();
    let ended = log.iter().filter(|message| {
        let update = &message["params"]["update"];
        update["sessionUpdate"] == "tool_call_update" && update["status"] == "completed"
    });
    assert_eq!(ended.count(), 3, "{log:#?}");
}

#[test]
fn a_session_into_which_the_editor_embeds_a_file_has_read_text_of_strangers() {
    for (block, is_confirmed) in [
        (json!({"type": "text", "text": " "}), true),
        (
            json!({"type": "resource_link", "uri": "file:///notes.md", "name": "notes.md"}),
            true,
        ),
        (
            json!({"type": "resource", "resource": {"uri": "file:///notes.md", "text": "x"}}),
            false,
        ),
        (
            json!({"type": "image", "data": "aGk=", "mimeType": "image/png"}),
            false,
        ),
    ] {
        let crib = Crib::new();
        let save = r#"{"calls": [{"name": "memory.save", "arguments": {"text": "a fact"}}]}"#;
        let script = crib.script(&[save, r#"{"text": "saved"}"#]);
        let arguments = ["--script", &script, "--grant", "memory:write:**"];
        let mut editor = Editor::start(&crib, &arguments);
        let session = editor.new_session(&crib.root(), json!([]));
        let prompt = json!([{"type": "text", "text": "save"}, block]);
        let params = json!({"sessionId": session, "prompt": prompt});
        editor.request("session/prompt", params);
        editor.end();
        let listed = crib.run(&["memory", "list", "--json"]).expect(0).document();
        assert_eq!(listed["confirmed"], is_confirmed, "{block} {listed}");
    }
}

#[test]
fn a_session_has_the_root_and_the_settings_of_the_folder_that_the_editor_names() {
    let crib = Crib::new();
    let other = other_root(&crib);
    fs::write(other.join("README.md"), "# Other\n").unwrap();
    fs::write(other.join("toolcrib.toml"), "select = ['time.*']\n").unwrap();
    let mut editor = Editor::start(&crib, &["--provider", "direct"]);
    let first = editor.new_session(&crib.root(), json!([]));
    let second = editor.new_session(&other, json!([]));
    editor.prompt(&first, "fs.read path=README.md");
    editor.prompt(&second, "time.now zone=UTC");
    let outside = json!({"sessionId": second, "cwd": crib.root(), "mcpServers": []});
    let refused = editor.request("session/load", outside);
    assert!(refused["error"]["code"].is_i64(), "{refused}");
    let listed = editor.request("session/list", json!({"cwd": other}));
    let listed = listed["result"]["sessions"].as_array().unwrap().clone();
    assert!(
        listed.len() == 1 && listed[0]["sessionId"] == second,
        "{listed:?}"
    );
    let (log, _) = editor.end();
    assert!(json!(log).to_string().contains("# Hello"), "{log:#?}");
}

#[test]
fn the_run_of_a_killed_process_is_finished_before_the_first_prompt_and_no_call_runs_twice() {
    let crib = Crib::new();
    let call =
        json!({"calls": [{"name": "fs.write", "arguments": {"path": "a.txt", "content": "1"}}]});
    let wait =
        json!({"calls": [{"name": "fs.write", "arguments": {"path": "b.txt", "content": "1"}}]});
    let turns = json!([call, wait, {"text": "Both are written."}, {"text": "Nothing is left."}]);
    let script = crib.write("turns.json", &turns.to_string());
    let mut editor = Editor::start(&crib, &["--script", &script]);
    let session = editor.new_session(&crib.root(), json!([]));
    let prompt = json!([{"type": "text", "text": "Write both."}]);
    editor.begin(
        "session/prompt",
        json!({"sessionId": session, "prompt": prompt}),
    );
    let is_second = |message: &Value| {
        message["method"] == "session/request_permission" && message.to_string().contains("b.txt")
    };
    // The second call asks, and is answered in `read`: the process is killed at some point behind.
    while !is_second(&editor.read()) {}
    editor.child.kill().unwrap();
    editor.child.wait().unwrap();
    fs::write(crib.root().join("a.txt"), "changed since").unwrap();

    let mut editor = Editor::start(&crib, &["--script", &script]);
    editor.load(&crib.root(), &session);
    let shown = texts(&editor.log, "user_message_chunk");
    assert_eq!(shown, "Write both.");
    let said = editor.prompt(&session, "And what is left?");
    assert_eq!(said, "Both are written.Nothing is left.");
    editor.end();
    let first = fs::read_to_string(crib.root().join("a.txt")).unwrap();
    assert_eq!(first, "changed since");
    assert!(crib.root().join("b.txt").exists());
}

#[test]
fn a_server_of_the_editor_waits_for_its_approval_and_belongs_to_one_session() {
    let crib = Crib::new();
    let other = other_root(&crib);
    let servers = passed("s", &entry("Does it.", false));
    let mut editor = Editor::start(&crib, &["--provider", "direct"]);
    let first = editor.new_session(&crib.root(), servers.clone());
    let said = editor.prompt(&first, "time.now zone=UTC");
    let note = "the MCP server s waits for approval; run toolcrib mcp approve s";
    assert!(said.contains(note), "{said}");
    let said = editor.prompt(&first, "time.now zone=UTC");
    assert!(!said.contains(note), "{said}");
    let shown = crib.run(&["mcp", "approve", "s"]).expect(5);
    let digest = crate::mcp_trust::digest(&shown);
    let approve = ["mcp", "approve", "s", "--digest", &digest];
    crib.run(&approve).expect(0);
    let closed = editor.request("session/close", json!({"sessionId": first}));
    assert!(closed["result"].is_object(), "{closed}");

    let first = editor.new_session(&crib.root(), servers.clone());
    let begin = editor.log.len();
    editor.prompt(&first, "mcp:s/read path=README.md");
    let calls = json!(editor.log[begin..]).to_string();
    assert!(calls.contains(r#""status":"completed""#), "{calls}");
    // Another folder has the server not approved, nor the tools of the first one.
    let second = editor.new_session(&other, servers);
    assert!(editor.prompt(&second, "time.now zone=UTC").contains(note));
    let third = editor.new_session(&other, json!([]));
    let begin = editor.log.len();
    let prompt = json!([{"type": "text", "text": "mcp:s/read path=README.md"}]);
    editor.request(
        "session/prompt",
        json!({"sessionId": third, "prompt": prompt}),
    );
    let calls = json!(editor.log[begin..]).to_string();
    assert!(!calls.contains(r#""status":"completed""#), "{calls}");
    editor.end();
}

#[test]
fn a_server_that_is_reached_in_a_way_that_is_not_offered_is_refused() {
    let crib = Crib::new();
    let mut editor = Editor::start(&crib, &["--provider", "direct"]);
    let servers = json!([{"type": "http", "name": "s", "url": "http://localhost/", "headers": []}]);
    let params = json!({"cwd": crib.root(), "mcpServers": servers});
    let refused = editor.request("session/new", params);
    assert_eq!(refused["error"]["code"], -32602, "{refused}");
    editor.end();
}
